/* approvals: held calls on disk, and the only way to move one.
 *
 * Every change is a compare-and-set on state and version: who loses gets
 * ERR_APPROVAL_MOVED and nothing is written.  All changes run on the STORE writer lane
 * inside a job; the caller appends the record in the same job.  Bodies wait sealed
 * under a key of their own, itself sealed under the master key; the key is shredded
 * when the approval ends without running. */
#ifndef STORE_APPROVALS_H
#define STORE_APPROVALS_H

#include "base/arena.h"
#include "core/canon.h"
#include "store/approval.h"
#include "store/approval_runs.h"
#include "store/store.h"

/* How a held call meets what is already there. */
enum attach {
    ATTACH_NEW,      /* nothing to join: create it */
    ATTACH_JOIN,     /* open, and nobody waits for it: now we do */
    ATTACH_COLLECT,  /* finished and not yet collected: the answer is stored */
    ATTACH_COOLING,  /* declined a moment ago: refuse with the same words */
    ATTACH_MISMATCH, /* the idempotency key was used for another call */
};

struct attach_query {
    const char *agent, *environment, *operation, *skill,
        *idempotency_key; /* NULL: by digest */
    const unsigned char *digest;
    const char *waiter; /* ours */
    int64_t now_ms, cooldown_ms;
};

/* Looks, and takes the waiter's place when it joins. `*found` for all but NEW.  By key,
 * what is open is joined even if it is waited for, and what is finished is told again.
 */
enum err approvals_attach(struct db *db, const struct attach_query *query,
                          struct arena *arena, enum attach *how,
                          struct approval *found);

enum err approvals_create(struct db *db, const struct approval *held,
                          const struct sealed_call *call);
enum err approvals_get(struct db *db, const char *id, struct arena *arena,
                       struct approval *found);

struct approval_filter {
    const char *state; /* NULL: any; "open": all open ones */
    const char *agent, *environment;
    size_t limit;
};

/* Newest first. */
enum err approvals_list(struct db *db, const struct approval_filter *filter,
                        struct arena *arena,
                        bool (*each)(void *context, const struct approval *approval),
                        void *context);

struct approval_counts {
    int64_t pending, approved, executing, unknown;
};
enum err approvals_count(struct db *db, struct approval_counts *counts);

/* One vote a person: a second one replaces the first while votes are open. */
enum err approvals_vote(struct db *db, const char *id, int64_t version,
                        const struct vote *vote);
enum err approvals_votes(struct db *db, const char *id, struct arena *arena,
                         struct vote votes[static APPROVAL_VOTES], size_t *count);

/* Moves by the table of core/approval; anything else is ERR_APPROVAL_MOVED, and so is
 * every move but EVENT_EXPIRE past the deadline. */
enum err approvals_move(struct db *db, const struct approval_move *move,
                        enum approval_state *now);

#endif

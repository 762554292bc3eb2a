/* approval_runs: an approval from the approved call to the collected answer, and what
 * becomes of those that nobody comes for.  Part of approvals.h, by the same rules. */
#ifndef STORE_APPROVAL_RUNS_H
#define STORE_APPROVAL_RUNS_H

#include "base/arena.h"
#include "store/approval.h"
#include "store/store.h"

/* Approved, and either it runs without its agent or its agent waits in this boot. */
bool approval_due(const struct approval *approval);

/* Other terms from here on: policy became stricter while it waited. */
enum err approvals_set_verdict(struct db *db, const char *id, const char *verdict);

/* approved -> executing under `run` (the move's event is not looked at); checks
 * version, expiry (both clocks) and that the sealed bytes still have the digest
 * (ERR_INTERNAL otherwise, loudly). */
enum err approvals_claim(struct db *db, const struct approval_move *move,
                         const char *run, struct arena *arena,
                         struct sealed_call *call);

/* The same bytes without claiming, to judge them again; ERR_INTERNAL when they were
 * tampered with. */
enum err approvals_sealed(struct db *db, const char *id, struct arena *arena,
                          struct sealed_call *call);

/* executing -> executed, failed or unknown; keeps the answer sealed for the agent.  The
 * sealed call has done its duty and goes.  NULL: there is no answer. */
enum err approvals_settle(struct db *db, const char *id, enum approval_event event,
                          const struct answer *answer, int64_t now_ms);

/* The stored answer; marks it collected when `collect`.  When none was kept, it is
 * "outcome_unknown". */
enum err approvals_answer(struct db *db, const char *id, bool collect, int64_t now_ms,
                          struct arena *arena, struct answer *answer);

/* The waiter is gone or has had enough; only if it is still the one. */
enum err approvals_leave(struct db *db, const char *id, const char *waiter);

/* Everything that is due: pending past their deadline, approved past their collect
 * window.  Calls `each` after the move, inside the job, so that it can append the
 * record.  Returns the next deadline (wall ms) or 0; one in the past when there is
 * more to do than fits one job or the arena. */
enum err approvals_expire(struct db *db, int64_t now_ms, struct arena *arena,
                          enum err (*each)(void *context, struct db *db,
                                           const struct approval *approval),
                          void *context, int64_t *next_ms);

#endif

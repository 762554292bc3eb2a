/* call: what a handler is given and what it gives back.  Parts of serve/serve.h. */
#ifndef SERVE_CALL_H
#define SERVE_CALL_H

#include "base/arena.h"
#include "core/approval.h"
#include "core/doc.h"
#include "core/writer.h"
#include "store/log.h"
#include "store/registry.h"

struct call;
struct endpoint;
struct policy;

/* An approval that moved: to be told to whoever waits, and run when it is time. */
struct announcement {
    char approval[ID_TEXT];
    enum approval_state state;
    int64_t version;
    bool run; /* start it now */
};

/* The one read of E2B that an endpoint may ask for before its handler runs. */
struct probe {
    const char *base_url, *e2b_key; /* asked */
    int status;                     /* 0: not reached; `why` says why */
    int64_t running;                /* X-Total-Running, or -1 */
    char why[128];
};

struct reply {
    enum err err;
    int status;         /* 0: by err */
    const char *detail; /* goes behind the error's text */
    const char *type;   /* NULL: application/json */
    struct buf body;
    int fd; /* an unlinked file to send, or -1 */
    uint64_t fd_size;
    const char *wait_for; /* long poll: call again when this approval moved, or late */
};

enum { CALL_ARGS = 2, ANNOUNCEMENTS = 4, REPLY_MAX = 16 << 20 };

struct call {
    const struct endpoint *endpoint;
    const char *args[CALL_ARGS];
    const char *query; /* raw, "" when none */
    const struct node *body;
    const struct identity *identity; /* agents */
    int64_t uid;                     /* admin socket */
    struct person person;            /* people: resolved by serve_authorise */
    struct arena *arena;
    int64_t now_ms, mono_ms;
    bool again; /* the second call of a long poll: answer now */
    struct probe probe;
    struct announcement announced[ANNOUNCEMENTS];
    size_t announcements;
    struct policy *activate; /* swapped in once the job is durable */
};

struct reply reply_error(enum err err, const char *detail);
struct reply reply_start(struct writer *w, struct buf *body); /* opens the object */
struct reply reply_end(struct writer *w,
                       struct buf *body); /* closes it, moves the buf */

/* Value of a query key, in the arena; NULL when absent. Decoded once. */
const char *call_query(const struct call *call, const char *key);
void call_announce(struct call *call, const char *approval, enum approval_state state,
                   int64_t version, bool run);

#endif

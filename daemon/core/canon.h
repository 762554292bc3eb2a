/* canon: a client's raw request -> one operation, its arguments and one canonical form.
 *
 * Strict in, canonical out; everything ambiguous is refused with a sentence that names
 * what was wrong.  What is judged, shown, sealed and sent is this form and nothing
 * else. Pure; the arena and, for the body's tree, canon_free bound all lifetimes.
 *
 * In stages, because the body comes later: canon_headers and canon_target as soon as
 * the header section is there, canon_body when it is whole. */
#ifndef CORE_CANON_H
#define CORE_CANON_H

#include "base/arena.h"
#include "core/catalogue.h"
#include "core/err.h"

#include <stdint.h>

struct header {
    const char *name, *value;
    size_t name_size, value_size;
};

/* As received; nothing has been unescaped, folded or dropped. */
struct raw_request {
    const char *method, *target; /* target with its query, as on the request line */
    const char *version;         /* "HTTP/1.1" */
    const struct header *headers;
    size_t header_count;
    const char *body;
    size_t body_size;
};

enum { CANON_ARGS = 3, CANON_DIGEST = 32, CANON_WHY = 240 };

struct canon {
    const struct operation *operation; /* never NULL after a stage: maybe unknown */
    const struct route *route;
    const char *args[CANON_ARGS]; /* decoded path parameters, in order */
    const char *target_id;        /* short sandbox id, template reference ..., or "" */
    const char *path;             /* canonical, re-encoded */
    const char *query;            /* canonical, without '?'; "" when none */
    const char *body;             /* canonical JSON bytes, or NULL when none is sent */
    size_t body_size;
    struct doc *doc;                 /* the body's tree, or NULL */
    const char *const *unrecognised; /* body keys without a row, NULL-terminated */
    const struct header *forward;    /* the client's headers that may go upstream */
    size_t forward_count;
    bool chunked;
    size_t content_length; /* SIZE_MAX when unknown */
    char why[CANON_WHY];   /* the refusal's sentence, printable ASCII */
};

/* Headers that Sandgate itself reads: bounded, printable.  NULL: absent. */
struct agent_headers {
    const char *key; /* X-API-Key, or the bearer */
    const char *skill, *reason, *ticket, *idempotency_key, *traceparent, *user_agent;
    int64_t wait_s; /* Sandgate-Wait, or -1 */
    struct arena *arena;
};

/* Framing and header rules alone: they apply to every listener.  Also fills `agent`. */
enum err canon_headers(const struct raw_request *raw, struct arena *arena,
                       struct canon *canon, struct agent_headers *agent);

/* ERR_OPERATION_UNKNOWN leaves `operation` at the unknown one. */
enum err canon_target(const struct raw_request *raw, struct arena *arena,
                      struct canon *canon);

/* The body, once it is whole. `lenient`: unknown keys become `unrecognised`. */
enum err canon_body(const struct raw_request *raw, bool lenient, struct arena *arena,
                    struct canon *canon);

/* BLAKE2b-256 over agent, environment, operation, path, query and body, each with its
 * length: what an approval is bound to. */
void canon_digest(const struct canon *canon, const char *agent, const char *environment,
                  unsigned char digest[static CANON_DIGEST]);

void canon_free(struct canon *canon); /* the tree only; the rest is the arena's */

#endif

/* operation: what a row of the catalogue says.  All of it is constant data. */
#ifndef CORE_OPERATION_H
#define CORE_OPERATION_H

#include "core/body_field.h"

#include <stddef.h>

enum effect { EFFECT_READ, EFFECT_WRITE, EFFECT_DESTRUCTIVE, EFFECT_UNKNOWN };

/* When no policy file says anything.  NEVER: none can loosen it. */
enum treatment { TREAT_ALLOW, TREAT_HOLD, TREAT_DENY, TREAT_NEVER };

/* A snapshot is a template. */
enum target_kind {
    TARGET_NONE,
    TARGET_SANDBOX,
    TARGET_TEMPLATE,
    TARGET_WEBHOOK,
    TARGET_VOLUME,
    TARGET_SECRET
};

/* Credentials in the answer, when policy is silent. */
enum credentials { CREDENTIALS_NONE, CREDENTIALS_PASS, CREDENTIALS_STRIP };

/* An approval came and the agent is gone: run now, or when it asks again, because a
 * clock starts with the call or its answer carries a credential. */
enum when_absent { ABSENT_RUN, ABSENT_ASK };

struct route {
    const char *method;
    const char *path;           /* "/sandboxes/{sandbox}/pause" */
    const char *version;        /* "v1" "v2" "v3" */
    const char *const *query;   /* allowed keys, NULL-terminated; NULL: none */
    bool deprecated, forwarded; /* not forwarded: known, and always refused */
};

struct operation {
    const char *name, *title; /* "sandbox.kill", "Delete Sandbox" */
    const char *tool;         /* "sandbox_kill", or NULL */
    enum effect effect;       /* of the path alone; facts raise it by value */
    enum treatment treatment;
    enum target_kind target;
    enum credentials credentials;
    enum when_absent when_absent;
    enum target_kind creates_kind;
    const char *creates; /* pointer to the id of what was made, or NULL */
    const char *const *credential_paths; /* JSON pointers with *, NULL-terminated */
    const struct route *routes;          /* newest first, {NULL} terminated */
    const struct body_field *body; /* {NULL} terminated; NULL: a body is refused */
    const char *const *facts;      /* request.* attributes, NULL-terminated, or NULL */
    const char *const *offers;     /* safer alternatives, NULL-terminated, or NULL */
    const char *undo;    /* how to take it back, for the card; NULL: it cannot be */
    const char *summary; /* "kill sandbox {target}"; NULL: the title will do */
    size_t body_cap;     /* bytes */
    bool body_optional;
    bool answers_by_status; /* 403, 404 are answers: a refusal of ours is 451 */
};

#endif

/* approval: a held call and what belongs to it, as the store gives and takes it. */
#ifndef STORE_APPROVAL_H
#define STORE_APPROVAL_H

#include "core/approval.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Texts are borrowed when writing and the arena's when reading. */
struct approval {
    const char *id;
    enum approval_state state;
    int64_t version; /* one more with each move; votes and waiters do not count */
    const char *agent, *key_id, *team, *environment, *skill, *owner, *minted_by;
    const char *operation, *effect, *target_kind, *target_id;
    const char *summary; /* one sentence */
    const char *shown;   /* JSON: redacted request, facts, risks: what a card shows */
    const char *reason, *ticket, *idempotency_key, *trace;
    const char *verdict; /* JSON of verdict_write: its terms bind this approval */
    const char *policy;  /* digest text */
    const unsigned char *digest; /* CANON_DIGEST */
    bool run_when_absent;        /* catalogue's when_absent */
    int64_t created_ms, expires_ms, decided_ms, finished_ms, collect_s;
    int64_t expires_mono_ms; /* stricter of both clocks; 0 when another boot held it */
    const char *waiter;      /* who waits for it: boot id and serial, or "" */
    bool collected;
    const char *decided_by, *decided_reason;
    const char *run;     /* run id, or "" */
    int status;          /* E2B's, once executed or failed; or 0 */
    uint64_t hold_index; /* record that told of the hold */
    const char *hold_id;
};

struct vote {
    const char *person, *choice /* approve decline */, *reason;
    int64_t at_ms;
};

enum { APPROVAL_VOTES = 32 };

/* What is sealed: everything that is sent, and nothing is sent but this. */
struct sealed_call {
    const char *method, *path, *query, *body; /* body NULL: none */
    size_t body_size;
    const char *headers; /* "name: value\n"...: the allow-listed ones */
};

/* What came of it, kept sealed for the agent. */
struct answer {
    int status;
    const char *headers; /* "name: value\n"... as passed back */
    const char *body;
    size_t body_size;
    const char *error_code; /* when the answer is our own: err_code, else NULL */
};

/* What is to happen to which version of which approval, by whom and why (or NULL). */
struct approval_move {
    const char *id;
    int64_t version;
    enum approval_event event;
    const char *by, *reason;
    int64_t now_ms;
};

#endif

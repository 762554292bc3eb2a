/* record: one entry of the audit log as its leaf bytes.
 *
 * One line of printable ASCII JSON, members in fixed order, no floats, no null, absent
 * is left out; these bytes are stored, hashed and exported as they are (docs/AUDIT.md).
 * Over-long texts are cut at a code point and named in "cut"; a record never exceeds
 * RECORD_MAX.  Texts are borrowed until record_write returned. */
#ifndef CORE_RECORD_H
#define CORE_RECORD_H

#include "base/buf.h"
#include "core/catalogue.h"

#include <stdint.h>

enum { RECORD_MAX = 60000, RECORD_ID = 33, RECORD_WHY = 160 };

/* "t" and "ph" */
enum record_type {
    RECORD_CALL,
    RECORD_VOTE,
    RECORD_DECISION,
    RECORD_SETTLED,
    RECORD_SYS
};
enum record_phase { PHASE_NONE, PHASE_INTENT, PHASE_OUTCOME, PHASE_EVENT };

struct record {
    enum record_type type;
    enum record_phase phase;
    char id[RECORD_ID];    /* filled by record_write when empty: time-ordered 32 hex */
    const char *ref, *run; /* id of the intent that this outcome ends; run id */
    const char *event;     /* sys: "start", "key.add", "policy.activated", ... */
    int64_t wall_us, mono_us; /* filled when 0 */

    struct { /* who */
        const char *agent, *key, *team, *environment, *skill;
        bool claimed; /* the skill was the agent's claim */
        const char *ip, *user_agent, *via, *person;
    } actor;
    struct {                                   /* what was asked */
        const char *operation, *method, *path; /* path: the template */
        enum effect effect;
        bool known; /* effect is set */
        enum target_kind target_kind;
        const char *target_id, *idempotency_key, *trace;
        const char *input; /* what redact_request wrote under the key NULL, or NULL */
        int64_t bytes;
        const unsigned char *digest; /* 32 bytes or NULL */
    } call;
    struct {                      /* what was decided */
        const char *verdict;      /* allow hold deny refused */
        const char *policy, *why; /* policy: digest text */
        const char *const *because;
    } decision;
    struct {
        const char *id, *state, *choice, *vote; /* vote: approve decline withdraw */
        const char *const *by;
    } approval;
    const char *ticket, *reason;
    struct {                 /* what came of it */
        const char *outcome; /* ok failed unknown not_sent */
        int status;
        int64_t bytes, us;
        const char *body; /* commitment "c1:..." */
        const char *created_kind, *created_id, *stripped, *err;
    } result;
    const char *detail; /* sys: ready JSON object with what else there is, or NULL */
};

/* Process-wide members of every record; once, before the first. `boot` is hex. */
void record_start(const char *gateway, const char boot[static 17]);

/* False when the buffer failed: then nothing may run. Any thread. Too large a record
 * is shortened further: first `input` and `detail` go, then parts of all texts. */
bool record_write(struct record *record, struct buf *out);

/* Are these bytes a leaf? Byte rules and known shape; `why` says what is wrong. */
bool record_check(const char *leaf, size_t size, char why[static RECORD_WHY]);

#endif

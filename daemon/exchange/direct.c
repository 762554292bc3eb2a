/* Calls that run at once, and calls that are refused. */
#include "base/clock.h"
#include "exchange/inside.h"

#include <string.h>

enum { LEAF_MAX = RECORD_MAX };

/* Intent record and run, durable before the first byte leaves. */
enum err begin(struct exchange *x, struct db *db)
{
    struct record intent = {.phase = PHASE_INTENT};
    int64_t now_ms = clock_wall_ms();
    keys_id("run_", now_ms, x->run);
    record_fill(x, &intent);
    intent.run = x->run;
    if (record_add(x, db, &intent))
        return ERR_STORE;
    memcpy(x->intent, intent.id, sizeof(x->intent));
    const struct run run = {.id = x->run,
                            .approval = "",
                            .agent = x->identity->agent,
                            .environment = x->identity->environment,
                            .operation = x->canon.operation->name,
                            .target_id = x->canon.target_id,
                            .digest = x->digest,
                            .intent_id = x->intent,
                            .started_ms = now_ms};
    return runs_begin(db, &run);
}

enum err forward(struct exchange *x, struct db *db)
{
    (void)db;
    x->target = x->identity->target;
    x->outcome = RUN_NOT_SENT;
    struct sealed_call call;
    if (!call_of(x, &call))
        return ERR_TOO_LARGE;
    return transfer_begin(x, &call, x->facts.effect == EFFECT_READ);
}

/* A read's one record is written and hashed here, so that the writer only stores it. */
enum err note_read(struct exchange *x, struct db *db)
{
    (void)db;
    struct record record = {.phase = PHASE_EVENT};
    record_fill(x, &record);
    record_outcome(x, &record);
    x->leaf = BUF(LEAF_MAX);
    if (!record_write(&record, &x->leaf))
        return ERR_STORE;
    tlog_leaf(x->leaf.data, x->leaf.size, x->leaf_hash);
    return ERR_OK;
}

static enum err settle_run(struct exchange *x, struct db *db)
{
    struct record outcome = {.phase = PHASE_OUTCOME};
    record_fill(x, &outcome);
    outcome.ref = x->intent;
    outcome.run = x->run;
    record_outcome(x, &outcome);
    if (record_add(x, db, &outcome))
        return ERR_STORE;
    return runs_settle(db, x->run, x->outcome, x->transfer.status, clock_wall_ms());
}

enum err settle(struct exchange *x, struct db *db)
{
    if (x->marks & BEGUN)
        return settle_run(x, db);
    if (x->leaf.size == 0)
        return ERR_STORE;
    if (log_append_leaf(db, x->leaf.data, x->leaf.size, x->leaf_hash, &x->receipt))
        return ERR_STORE;
    x->recording = true;
    return ERR_OK;
}

enum err refuse(struct exchange *x, struct db *db)
{
    struct record record = {.phase = PHASE_EVENT};
    record_fill(x, &record);
    record.decision.why = *x->why ? x->why : err_text(x->err);
    if (!x->policy)
        record.decision.verdict = "refused";
    record.result.outcome = "not_sent";
    record.result.status = err_status(x->err);
    record.result.err = err_code(x->err);
    return record_add(x, db, &record);
}

#include "store/runs.h"

#include "core/catalogue.h"
#include "store/approvals.h"
#include "store/db.h"
#include "store/log.h"

enum { ARENA_MAX = 4 << 20 };

static const char *const outcomes[] = {
    [RUN_OK] = "ok",
    [RUN_FAILED] = "failed",
    [RUN_UNKNOWN] = "unknown",
    [RUN_NOT_SENT] = "not_sent",
};

const char *run_outcome_name(enum run_outcome outcome)
{
    must((size_t)outcome < COUNT(outcomes));
    return outcomes[outcome];
}

enum err runs_begin(struct db *db, const struct run *run)
{
    return db_run(db, SQL_RUN_ADD,
                  IN(P(run->id), P(run->approval), P(run->agent), P(run->environment),
                     P(run->operation), P(run->target_id),
                     BLOB(run->digest, CANON_DIGEST), P(run->intent_id),
                     P(run->started_ms)),
                  NULL);
}

enum err runs_settle(struct db *db, const char *id, enum run_outcome outcome,
                     int status, int64_t now_ms)
{
    int changed = 0;
    enum err err =
        db_run(db, SQL_RUN_SETTLE,
               IN(P(id), P(run_outcome_name(outcome)), P(status), P(now_ms)), &changed);
    return err ? err : changed ? ERR_OK : ERR_NOT_FOUND;
}

/* ---- what a stop or a crash left ---- */

/* Sent or not, nobody knows; the record says so under the intent's id. */
static enum err record_unknown(struct db *db, const struct run *run, const char *state)
{
    struct receipt receipt;
    const struct operation *operation = operation_named(run->operation);
    struct record record = {
        .type = RECORD_CALL,
        .phase = PHASE_OUTCOME,
        .ref = run->intent_id,
        .run = *run->id ? run->id : NULL,
        .actor = {.agent = run->agent,         .environment = run->environment},
        .call = {.operation = run->operation,
                  .target_kind = operation ? operation->target : TARGET_NONE,
                  .target_id = *run->target_id ? run->target_id : NULL,
                  .digest = run->digest},
        .approval = {.id = *run->approval ? run->approval : NULL,       .state = state                                     },
        .result = {.outcome = run_outcome_name(RUN_UNKNOWN),       .err = "recovered"},
    };
    return log_append(db, &record, &receipt);
}

/* The approval behind the run, if it still waits for its outcome. */
static enum err lose_approval(struct db *db, const char *id, int64_t now_ms,
                              struct arena *arena, const char **state)
{
    struct approval approval;
    enum approval_state now;
    *state = NULL;
    enum err err = *id ? approvals_get(db, id, arena, &approval) : ERR_NOT_FOUND;
    if (err == ERR_NOT_FOUND || (!err && approval.state != APPROVAL_EXECUTING))
        return ERR_OK;
    if (!err)
        err = approvals_move(db,
                             &(struct approval_move){.id = id,
                                                     .version = approval.version,
                                                     .event = EVENT_LOSS,
                                                     .now_ms = now_ms},
                             &now);
    if (!err)
        *state = approval_state_name(now);
    return err;
}

static enum err recover_run(struct db *db, const struct run *run, int64_t now_ms,
                            struct arena *arena)
{
    const char *state;
    enum err err = *run->id ? runs_settle(db, run->id, RUN_UNKNOWN, 0, now_ms) : ERR_OK;
    if (!err)
        err = lose_approval(db, run->approval, now_ms, arena, &state);
    return err ? err : record_unknown(db, run, state);
}

static enum err next_run(struct db *db, struct arena *arena, struct run *run)
{
    const char *digest;
    enum err err =
        db_one(db, SQL_RUN_LOST, NOTHING,
               OUT(KEEP(&run->id, arena), KEEP(&run->approval, arena),
                   KEEP(&run->agent, arena), KEEP(&run->environment, arena),
                   KEEP(&run->operation, arena), KEEP(&run->target_id, arena),
                   KEEP(&digest, arena), KEEP(&run->intent_id, arena)));
    if (!err)
        run->digest = (const unsigned char *)digest;
    return err;
}

/* Claim and run are one transaction, so this finds nothing; but an approval that stays
 * executing for ever would be worse than a query. */
static enum err next_approval(struct db *db, struct arena *arena, struct run *run)
{
    struct approval found;
    const char *id;
    enum err err = db_one(db, SQL_APPROVAL_LOST, NOTHING, OUT(KEEP(&id, arena)));
    if (!err)
        err = approvals_get(db, id, arena, &found);
    if (!err)
        *run = (struct run){.id = "",
                            .approval = found.id,
                            .agent = found.agent,
                            .environment = found.environment,
                            .operation = found.operation,
                            .target_id = found.target_id,
                            .digest = found.digest};
    return err;
}

static enum err recover_one(struct db *db, int64_t now_ms, bool *any)
{
    struct run run;
    struct arena *arena = arena_new(ARENA_MAX);
    enum err err = arena ? next_run(db, arena, &run) : ERR_STORE;
    if (err == ERR_NOT_FOUND)
        err = next_approval(db, arena, &run);
    *any = !err;
    if (*any)
        err = recover_run(db, &run, now_ms, arena);
    arena_free(arena);
    return err == ERR_NOT_FOUND && !*any ? ERR_OK : err;
}

enum err runs_recover(struct db *db, int64_t now_ms, size_t *recovered)
{
    bool any = true;
    enum err err = ERR_OK;
    for (*recovered = 0; any && !err; *recovered += any)
        err = recover_one(db, now_ms, &any);
    return err;
}

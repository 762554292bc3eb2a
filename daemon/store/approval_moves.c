/* The moves of an approval: by the table of core/approval, compare-and-set on state and
 * version, and with what belongs to the move in the same statement or the next. */
#include "base/clock.h"
#include "store/approval_rows.h"

/* What an event does besides changing the state. */
enum { DECIDES = 1, REOPENS = 2, FINISHES = 4, SHREDS = 8, COLLECTABLE = 16 };

static const unsigned deeds[APPROVAL_EVENTS] = {
    [EVENT_QUORUM] = DECIDES | COLLECTABLE,
    [EVENT_DECLINE] = DECIDES | FINISHES | SHREDS,
    [EVENT_EXPIRE] = FINISHES | SHREDS,
    [EVENT_CANCEL] = DECIDES | FINISHES | SHREDS,
    [EVENT_SUPERSEDE] = DECIDES | FINISHES | SHREDS,
    [EVENT_TIGHTEN] = REOPENS,
    [EVENT_CLAIM] = 0,
    [EVENT_DONE] = FINISHES,
    [EVENT_FAIL] = FINISHES,
    [EVENT_LOSS] = FINISHES,
    [EVENT_SETTLE_DONE] = 0,
    [EVENT_SETTLE_FAILED] = 0,
};

static const struct param unchanged = {
    PARAM_BYTES, 0, {NULL, 0}
};

struct change {
    struct param by, reason, decided_ms, finished_ms, due_ms, due_mono_ms, due_boot;
};

static struct change change_of(const struct approval_row *row, unsigned deed,
                               const char *by, const char *reason, int64_t now_ms)
{
    const struct approval *approval = &row->approval;
    struct change change = {unchanged, unchanged, unchanged, unchanged,
                            unchanged, unchanged, unchanged};
    if (deed & DECIDES) {
        change.by = P(by ? by : "");
        change.reason = P(reason ? reason : "");
        change.decided_ms = P(now_ms);
    }
    if (deed & FINISHES)
        change.finished_ms = P(now_ms);
    if (deed & COLLECTABLE) { /* from now on its agent has so long to come for it */
        change.due_ms = P(now_ms + approval->collect_s * 1000);
        change.due_mono_ms = P(clock_mono_ms() + approval->collect_s * 1000);
        change.due_boot = P(store_boot());
    }
    if (deed & REOPENS) { /* the votes' own deadline stays what it was */
        change.by = change.reason = P("");
        change.decided_ms = P(0);
        change.due_ms = P(approval->expires_ms);
        change.due_mono_ms = P(approval->expires_mono_ms);
        change.due_boot = P(approval->expires_mono_ms ? store_boot() : "");
    }
    return change;
}

static bool can_expire(enum approval_state state)
{
    return state == APPROVAL_PENDING || state == APPROVAL_APPROVED;
}

/* Moves what was read; `row` tells the new state and version afterwards. */
static enum err shift(struct db *db, struct approval_row *row,
                      enum approval_event event, const char *by, const char *reason,
                      int64_t now_ms)
{
    int changed = 0;
    enum approval_state next;
    struct approval *approval = &row->approval;
    if (!approval_next(approval->state, event, &next))
        return ERR_APPROVAL_MOVED;
    if (event != EVENT_EXPIRE && can_expire(approval->state)
        && approval_past(row->due_ms, row->due_mono_ms, row->due_boot, now_ms))
        return ERR_APPROVAL_MOVED;
    const struct change change = change_of(row, deeds[event], by, reason, now_ms);
    enum err err =
        db_run(db, SQL_APPROVAL_MOVE,
               IN(P(approval->id), P(approval->version),
                  P(approval_state_name(approval->state)), P(approval_state_name(next)),
                  change.by, change.reason, change.decided_ms, change.finished_ms,
                  change.due_ms, change.due_mono_ms, change.due_boot),
               &changed);
    if (!err && !changed)
        err = ERR_APPROVAL_MOVED;
    if (!err && (deeds[event] & SHREDS))
        err = db_run(db, SQL_APPROVAL_SHRED, IN(P(approval->id)), NULL);
    if (err)
        return err;
    approval->state = next;
    approval->version++;
    return ERR_OK;
}

/* A move needs little of the row, but its texts want a place for a moment. */
enum { ROW_ARENA = 8 << 20 };

enum err approvals_move(struct db *db, const struct approval_move *move,
                        enum approval_state *now)
{
    struct approval_row row;
    struct arena *arena = arena_new(ROW_ARENA);
    enum err err = arena ? approval_row(db, move->id, arena, &row) : ERR_STORE;
    if (!err && row.approval.version != move->version)
        err = ERR_APPROVAL_MOVED;
    if (!err)
        err = shift(db, &row, move->event, move->by, move->reason, move->now_ms);
    if (!err)
        *now = row.approval.state;
    arena_free(arena);
    return err;
}

enum err approvals_sealed(struct db *db, const char *id, struct arena *arena,
                          struct sealed_call *call)
{
    struct approval_row row;
    enum err err = approval_row(db, id, arena, &row);
    return err ? err : approval_open_call(db, &row.approval, arena, call);
}

enum err approvals_claim(struct db *db, const struct approval_move *move,
                         const char *run, struct arena *arena, struct sealed_call *call)
{
    struct approval_row row;
    enum err err = approval_row(db, move->id, arena, &row);
    if (!err
        && (row.approval.version != move->version
            || row.approval.state != APPROVAL_APPROVED))
        err = ERR_APPROVAL_MOVED;
    if (!err)
        err = approval_open_call(db, &row.approval, arena, call);
    if (!err)
        err = shift(db, &row, EVENT_CLAIM, NULL, NULL, move->now_ms);
    return err ? err : db_run(db, SQL_APPROVAL_RUN, IN(P(move->id), P(run)), NULL);
}

enum err approvals_settle(struct db *db, const char *id, enum approval_event event,
                          const struct answer *answer, int64_t now_ms)
{
    struct approval_row row;
    own_buf box = BUF(APPROVAL_BOX);
    struct arena *arena = arena_new(ROW_ARENA);
    enum err err = arena ? approval_row(db, id, arena, &row) : ERR_STORE;
    if (!err && answer)
        err = approval_seal_answer(db, id, answer, &box);
    if (!err)
        err = shift(db, &row, event, NULL, NULL, now_ms);
    if (!err)
        err = db_run(
            db, SQL_APPROVAL_SETTLE,
            IN(P(id), P(answer ? answer->status : 0), BLOB(box.data, box.size)), NULL);
    arena_free(arena);
    return err;
}

/* ---- expiry ---- */

enum { EXPIRE_MAX = 1000 };

static enum err expire_one(struct db *db, int64_t now_ms, struct arena *arena,
                           struct approval_row *row, bool *any)
{
    char id[ID_TEXT];
    enum err err =
        db_one(db, SQL_APPROVAL_OVERDUE,
               IN(P(now_ms), P(store_boot()), P(clock_mono_ms())), OUT(ROOM(id)));
    *any = false;
    if (err)
        return err == ERR_NOT_FOUND ? ERR_OK : err;
    err = approval_row(db, id, arena, row);
    if (!err)
        err = shift(db, row, EVENT_EXPIRE, NULL, NULL, now_ms);
    *any = !err;
    return err;
}

static enum err next_due(struct db *db, int64_t now_ms, int64_t *next_ms)
{
    int64_t wall_ms = 0, mono_ms = 0;
    enum err err = db_one(db, SQL_APPROVAL_NEXT, IN(P(store_boot())),
                          OUT(O(&wall_ms), O(&mono_ms)));
    if (err)
        return err;
    if (mono_ms)
        mono_ms += now_ms - clock_mono_ms();
    *next_ms = mono_ms && (!wall_ms || mono_ms < wall_ms) ? mono_ms : wall_ms;
    return ERR_OK;
}

enum err approvals_expire(struct db *db, int64_t now_ms, struct arena *arena,
                          enum err (*each)(void *context, struct db *db,
                                           const struct approval *approval),
                          void *context, int64_t *next_ms)
{
    struct approval_row row;
    bool any = true;
    size_t count = 0;
    enum err err = ERR_OK;
    for (; any && !err && count < EXPIRE_MAX; count += any) {
        err = expire_one(db, now_ms, arena, &row, &any);
        if (err == ERR_TOO_LARGE && count > 0) { /* the arena is full: the rest later */
            err = ERR_OK;
            break;
        }
        if (any)
            err = each(context, db, &row.approval);
    }
    return err ? err : next_due(db, now_ms, next_ms);
}

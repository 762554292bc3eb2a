/* How a held call meets what is there already: the same call again, or a new one. */
#include "base/text.h"
#include "store/approval_rows.h"

enum { NEWEST = 64, WAITER = 64 }; /* so many of the same bytes are looked at */

/* What deciding takes: the row itself is read once it is the one. */
struct candidate {
    char id[ID_TEXT], state_name[16], waiter[WAITER], due_boot[17];
    enum approval_state state;
    bool collected;
    int64_t decided_ms, finished_ms, collect_s, due_ms, due_mono_ms;
};

static bool next_candidate(struct db *db, enum sql sql, struct candidate *one)
{
    if (!db_next(db, sql,
                 OUT(ROOM(one->id), ROOM(one->state_name), ROOM(one->waiter),
                     O(&one->collected), O(&one->decided_ms), O(&one->finished_ms),
                     O(&one->collect_s), O(&one->due_ms), O(&one->due_mono_ms),
                     ROOM(one->due_boot))))
        return false;
    must(approval_state_named(one->state_name, &one->state));
    return true;
}

static bool waited_for(const struct candidate *one)
{
    return *one->waiter && text_starts(one->waiter, store_boot());
}

/* ---- by digest ---- */

static bool joinable(const struct candidate *one, const struct attach_query *query)
{
    if (!approval_open(one->state) || waited_for(one))
        return false;
    return one->state == APPROVAL_EXECUTING
           || !approval_past(one->due_ms, one->due_mono_ms, one->due_boot,
                             query->now_ms);
}

/* While somebody still waits for it, the outcome is his. */
static bool collectable(const struct candidate *one, const struct attach_query *query)
{
    bool ran = one->state == APPROVAL_EXECUTED || one->state == APPROVAL_FAILED
               || one->state == APPROVAL_UNKNOWN;
    return ran && !one->collected && !waited_for(one)
           && query->now_ms <= one->finished_ms + one->collect_s * 1000;
}

static bool cooling(const struct candidate *one, const struct attach_query *query)
{
    return one->state == APPROVAL_DECLINED
           && query->now_ms < one->decided_ms + query->cooldown_ms;
}

static enum attach judge(const struct candidate *one, const struct attach_query *query)
{
    if (joinable(one, query))
        return ATTACH_JOIN;
    if (collectable(one, query))
        return ATTACH_COLLECT;
    return cooling(one, query) ? ATTACH_COOLING : ATTACH_NEW;
}

static enum err by_digest(struct db *db, const struct attach_query *query,
                          enum attach *how, struct candidate *one)
{
    const enum sql sql = SQL_ATTACH_DIGEST;
    *how = ATTACH_NEW;
    db_start(db, sql,
             IN(BLOB(query->digest, CANON_DIGEST), P(query->agent),
                P(query->environment), P(query->operation), P((int)NEWEST),
                P(query->skill ? query->skill : "")));
    while (*how == ATTACH_NEW && next_candidate(db, sql, one))
        *how = judge(one, query);
    return db_end(db, sql);
}

/* ---- by idempotency key ---- */

static enum err by_key(struct db *db, const struct attach_query *query,
                       enum attach *how, struct candidate *one)
{
    const enum sql sql = SQL_ATTACH_KEY;
    db_start(db, sql,
             IN(P(query->agent), P(query->environment), P(query->idempotency_key)));
    bool found = next_candidate(db, sql, one);
    *how = !found                      ? ATTACH_NEW
           : approval_open(one->state) ? ATTACH_JOIN
                                       : ATTACH_COLLECT;
    return db_end(db, sql);
}

static bool same_call(const struct approval *approval, const struct attach_query *query)
{
    return text_same(approval->operation, query->operation)
           && keys_same(approval->digest, query->digest, CANON_DIGEST);
}

enum err approvals_attach(struct db *db, const struct attach_query *query,
                          struct arena *arena, enum attach *how, struct approval *found)
{
    struct candidate one = {.id = ""};
    struct approval approval = {0};
    enum attach met = ATTACH_NEW;
    bool keyed = query->idempotency_key && *query->idempotency_key;
    enum err err = (keyed ? by_key : by_digest)(db, query, &met, &one);
    if (!err && keyed && met == ATTACH_NEW) { /* a fresh key is no way round a "no" */
        err = by_digest(db, query, &met, &one);
        met = met == ATTACH_COOLING ? met : ATTACH_NEW;
    }
    if (!err && met != ATTACH_NEW)
        err = approvals_get(db, one.id, arena, &approval);
    if (!err && met != ATTACH_NEW && !same_call(&approval, query))
        met = ATTACH_MISMATCH; /* only a key can lead to another call */
    if (!err && met == ATTACH_JOIN
        && !waited_for(&one)) { /* one place, not taken over */
        approval.waiter = query->waiter;
        err = db_run(db, SQL_APPROVAL_WAIT, IN(P(one.id), P(query->waiter)), NULL);
    }
    if (err)
        return err;
    *how = met;
    if (met != ATTACH_NEW)
        *found = approval;
    return ERR_OK;
}

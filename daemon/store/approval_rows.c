#include "store/approval_rows.h"

#include "base/clock.h"
#include "base/text.h"

#include <string.h>

enum kind { TEXT, DIGEST, BOOL, INT, INT64 };

struct member {
    size_t offset;
    enum kind kind;
};

#define HELD(member, kind)                                   \
    {                                                        \
        offsetof(struct approval_row, approval.member), kind \
    }
#define ROW(member, kind)                           \
    {                                               \
        offsetof(struct approval_row, member), kind \
    }

/* In the order of APPROVAL_HELD and APPROVAL_ROW in statements.def. */
static const struct member members[APPROVAL_COLUMNS] = {
    HELD(id, TEXT),
    HELD(agent, TEXT),
    HELD(key_id, TEXT),
    HELD(team, TEXT),
    HELD(environment, TEXT),
    HELD(skill, TEXT),
    HELD(owner, TEXT),
    HELD(minted_by, TEXT),
    HELD(operation, TEXT),
    HELD(effect, TEXT),
    HELD(target_kind, TEXT),
    HELD(target_id, TEXT),
    HELD(summary, TEXT),
    HELD(shown, TEXT),
    HELD(reason, TEXT),
    HELD(ticket, TEXT),
    HELD(idempotency_key, TEXT),
    HELD(trace, TEXT),
    HELD(verdict, TEXT),
    HELD(policy, TEXT),
    ROW(digest, DIGEST),
    HELD(run_when_absent, BOOL),
    HELD(created_ms, INT64),
    HELD(expires_ms, INT64),
    HELD(expires_mono_ms, INT64),
    HELD(collect_s, INT64),
    HELD(waiter, TEXT),
    HELD(hold_index, INT64),
    HELD(hold_id, TEXT),
    ROW(state, TEXT),
    HELD(version, INT64),
    HELD(decided_by, TEXT),
    HELD(decided_reason, TEXT),
    HELD(decided_ms, INT64),
    HELD(run, TEXT),
    HELD(status, INT),
    HELD(finished_ms, INT64),
    HELD(collected, BOOL),
    ROW(boot, TEXT),
    ROW(due_ms, INT64),
    ROW(due_mono_ms, INT64),
    ROW(due_boot, TEXT),
};

static struct param param_of(const struct approval_row *row,
                             const struct member *member)
{
    const char *at = (const char *)row + member->offset;
    switch (member->kind) {
    case TEXT:
        return param_text(*(const char *const *)at);
    case DIGEST:
        return BLOB(row->approval.digest, CANON_DIGEST);
    case BOOL:
        return param_int(*(const bool *)at);
    case INT:
        return param_int(*(const int *)at);
    case INT64:
        return param_int(*(const int64_t *)at);
    }
    return param_int(0);
}

void approval_params(const struct approval *held, struct param params[APPROVAL_PARAMS])
{
    const struct approval_row row = {.approval = *held};
    for (size_t i = 0; i < APPROVAL_PARAMS; i++)
        params[i] = param_of(&row, &members[i]);
}

static struct column column_of(struct approval_row *row, const struct member *member,
                               struct arena *arena)
{
    void *at = (char *)row + member->offset;
    switch (member->kind) {
    case TEXT:
    case DIGEST:
        return KEEP(at, arena);
    case BOOL:
        return column_bool(at);
    case INT:
        return column_int(at);
    case INT64:
        break;
    }
    return column_int64(at);
}

bool approval_next_row(struct db *db, enum sql sql, struct arena *arena,
                       struct approval_row *row)
{
    struct column columns[APPROVAL_COLUMNS];
    struct approval *approval = &row->approval;
    for (size_t i = 0; i < APPROVAL_COLUMNS; i++)
        columns[i] = column_of(row, &members[i], arena);
    if (!db_next(db, sql, (struct columns){columns, APPROVAL_COLUMNS}))
        return false;
    must(approval_state_named(row->state, &approval->state)); /* a CHECK holds them */
    approval->digest = (const unsigned char *)row->digest;
    if (!text_same(row->boot, store_boot()))
        approval->expires_mono_ms = 0; /* another boot's clock: not comparable */
    return true;
}

enum err approval_row(struct db *db, const char *id, struct arena *arena,
                      struct approval_row *row)
{
    db_start(db, SQL_APPROVAL, IN(P(id)));
    bool found = approval_next_row(db, SQL_APPROVAL, arena, row);
    enum err err = db_end(db, SQL_APPROVAL);
    return err ? err : found ? ERR_OK : ERR_NOT_FOUND;
}

bool approval_past(int64_t due_ms, int64_t due_mono_ms, const char *due_boot,
                   int64_t now_ms)
{
    return now_ms >= due_ms
           || (text_same(due_boot, store_boot()) && clock_mono_ms() >= due_mono_ms);
}

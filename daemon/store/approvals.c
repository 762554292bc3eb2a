/* Approvals: holding, looking, voting. */
#include "base/clock.h"
#include "base/text.h"
#include "store/approval_rows.h"

enum err approvals_create(struct db *db, const struct approval *held,
                          const struct sealed_call *call)
{
    own_buf key_box = BUF(SEAL_KEY + SEAL_EXTRA);
    own_buf call_box = BUF(APPROVAL_BOX);
    struct param params[APPROVAL_PARAMS + 3];
    enum err err = approval_seal_call(held->id, call, &key_box, &call_box);
    if (err)
        return err;
    approval_params(held, params);
    params[APPROVAL_PARAMS] = param_text(held->expires_mono_ms ? store_boot() : "");
    params[APPROVAL_PARAMS + 1] = BLOB(key_box.data, key_box.size);
    params[APPROVAL_PARAMS + 2] = BLOB(call_box.data, call_box.size);
    return db_run(db, SQL_APPROVAL_ADD, (struct params){params, COUNT(params)}, NULL);
}

enum err approvals_get(struct db *db, const char *id, struct arena *arena,
                       struct approval *found)
{
    struct approval_row row;
    enum err err = approval_row(db, id, arena, &row);
    if (!err)
        *found = row.approval;
    return err;
}

enum err approvals_list(struct db *db, const struct approval_filter *filter,
                        struct arena *arena,
                        bool (*each)(void *context, const struct approval *approval),
                        void *context)
{
    struct approval_row row;
    enum sql sql = !filter->state                     ? SQL_APPROVALS
                   : text_same(filter->state, "open") ? SQL_APPROVALS_OPEN
                                                      : SQL_APPROVALS_IN;
    if (sql == SQL_APPROVALS_IN)
        db_start(db, sql,
                 IN(P(filter->agent), P(filter->environment), P(filter->limit),
                    P(filter->state)));
    else
        db_start(db, sql,
                 IN(P(filter->agent), P(filter->environment), P(filter->limit)));
    while (approval_next_row(db, sql, arena, &row) && each(context, &row.approval))
        ;
    return db_end(db, sql);
}

enum err approvals_count(struct db *db, struct approval_counts *counts)
{
    return db_one(db, SQL_APPROVAL_COUNTS, NOTHING,
                  OUT(O(&counts->pending), O(&counts->approved), O(&counts->executing),
                      O(&counts->unknown)));
}

enum err approvals_set_verdict(struct db *db, const char *id, const char *verdict)
{
    int changed = 0;
    enum err err = db_run(db, SQL_APPROVAL_VERDICT, IN(P(id), P(verdict)), &changed);
    return err ? err : changed ? ERR_OK : ERR_NOT_FOUND;
}

enum err approvals_leave(struct db *db, const char *id, const char *waiter)
{
    return db_run(db, SQL_APPROVAL_LEAVE, IN(P(id), P(waiter)), NULL);
}

/* ---- votes ---- */

/* Votes are counted by others; here it matters that they are still being asked for. */
enum err approvals_vote(struct db *db, const char *id, int64_t version,
                        const struct vote *vote)
{
    int64_t others = 0, open = 0;
    int64_t mono_ms = clock_mono_ms();
    enum err err =
        db_one(db, SQL_VOTE_OPEN,
               IN(P(id), P(version), P(vote->at_ms), P(store_boot()), P(mono_ms)),
               OUT(O(&open)));
    if (err)
        return err;
    if (!open)
        return ERR_APPROVAL_MOVED;
    err = db_one(db, SQL_VOTE_COUNT, IN(P(id), P(vote->person)), OUT(O(&others)));
    if (!err && others >= APPROVAL_VOTES)
        err = ERR_OVERLOADED;
    return err ? err
               : db_run(db, SQL_VOTE_PUT,
                        IN(P(id), P(vote->person), P(vote->choice),
                           P(vote->reason ? vote->reason : ""), P(vote->at_ms)),
                        NULL);
}

enum err approvals_votes(struct db *db, const char *id, struct arena *arena,
                         struct vote votes[static APPROVAL_VOTES], size_t *count)
{
    size_t n = 0;
    db_start(db, SQL_VOTES, IN(P(id), P((int)APPROVAL_VOTES)));
    while (n < APPROVAL_VOTES
           && db_next(db, SQL_VOTES,
                      OUT(KEEP(&votes[n].person, arena), KEEP(&votes[n].choice, arena),
                          KEEP(&votes[n].reason, arena), O(&votes[n].at_ms))))
        n++;
    enum err err = db_end(db, SQL_VOTES);
    if (!err)
        *count = n;
    return err;
}

/* Gateway keys: their hashes, never themselves. */
#include "base/clock.h"
#include "base/text.h"
#include "store/db.h"
#include "store/registry.h"
#include "store/secrets.h"

/* The row's columns in the order of the statements KEY, KEYS, KEYS_OF. */
#define KEY_COLUMNS(row)                                                    \
    OUT(ROOM((row)->id), ROOM((row)->agent), ROOM((row)->environment),      \
        ROOM((row)->minted_by), ROOM((row)->skills), O(&(row)->created_ms), \
        O(&(row)->expires_ms), O(&(row)->revoked_ms))

enum err key_get(struct db *db, const char *id, struct agent_key *row)
{
    return db_one(db, SQL_KEY, IN(P(id)), KEY_COLUMNS(row));
}

enum err key_list(struct db *db, const char *agent,
                  bool (*each)(void *, const struct agent_key *), void *context)
{
    struct agent_key row;
    enum sql sql = agent ? SQL_KEYS_OF : SQL_KEYS;
    db_start(db, sql, agent ? IN(P(agent)) : NOTHING);
    while (db_next(db, sql, KEY_COLUMNS(&row)) && each(context, &row))
        ;
    return db_end(db, sql);
}

enum err key_add(struct db *db, struct agent_key *row, char text[static KEY_TEXT])
{
    unsigned char hash[KEY_HASH];
    gateway_key_mint(text, row->id);
    keys_hash(secret_key(SECRET_GATEWAY_KEY), text, KEY_TEXT - 1, hash);
    enum err err = db_run(db, SQL_KEY_ADD,
                          IN(P(row->id), BLOB(hash, sizeof(hash)), P(row->agent),
                             P(row->environment), P(row->minted_by), P(row->skills),
                             P(row->created_ms), P(row->expires_ms)),
                          NULL);
    db->registry_changed |= !err;
    return err;
}

enum err key_rotate(struct db *db, const char *id, int64_t old_expires_ms,
                    const char *by, struct agent_key *fresh, char text[static KEY_TEXT])
{
    struct agent_key old;
    int changed = 0;
    enum err err = key_get(db, id, &old);
    if (!err && old.revoked_ms)
        err = ERR_NOT_FOUND; /* a dead key has no successor */
    if (!err)                /* never later than it would have ended anyway */
        err = db_run(db, SQL_KEY_EXPIRE, IN(P(id), P(old_expires_ms)), &changed);
    if (err)
        return err;
    *fresh = old;
    fresh->created_ms = clock_wall_ms();
    if (old.expires_ms) /* as long a life as the old one was given */
        fresh->expires_ms = fresh->created_ms + (old.expires_ms - old.created_ms);
    (void)text_copy(fresh->minted_by, sizeof(fresh->minted_by), by);
    return key_add(db, fresh, text);
}

enum err key_revoke(struct db *db, const char *id, int64_t now_ms)
{
    int changed = 0;
    struct agent_key row;
    enum err err = db_run(db, SQL_KEY_REVOKE, IN(P(id), P(now_ms)), &changed);
    if (err)
        return err;
    db->registry_changed |= changed != 0;
    return changed ? ERR_OK : key_get(db, id, &row); /* revoked already: fine */
}

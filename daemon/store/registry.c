/* Environments and agents. */
#include "store/registry.h"

#include "store/db.h"
#include "store/secrets.h"

#include <string.h>

enum { E2B_KEY_MAX = 1024 };

static enum err changed_one(struct db *db, enum err err, int changed)
{
    if (err)
        return err;
    db->registry_changed |= changed != 0;
    return changed ? ERR_OK : ERR_NOT_FOUND;
}

/* ---- environments ---- */

/* Sealed to the name: a box moved to another environment does not open. */
static enum err seal_key(const char *name, const char *e2b_key, struct buf *box)
{
    return keys_seal(secret_key(SECRET_ENVIRONMENT), name, e2b_key, strlen(e2b_key),
                     box)
               ? ERR_OK
               : ERR_STORE;
}

enum err environment_add(struct db *db, const struct environment *row,
                         const char *e2b_key)
{
    own_buf box = BUF(E2B_KEY_MAX + SEAL_EXTRA);
    enum err err = seal_key(row->name, e2b_key, &box);
    if (err)
        return err;
    err = db_run(db, SQL_ENVIRONMENT_ADD,
                 IN(P(row->name), P(row->base_url), P(row->team),
                    BLOB(box.data, box.size), P(row->key_hint), P(row->lenient),
                    P(row->created_ms)),
                 NULL);
    db->registry_changed |= !err;
    return err;
}

enum err environment_set_key(struct db *db, const char *name, const char *e2b_key,
                             const char *hint)
{
    own_buf box = BUF(E2B_KEY_MAX + SEAL_EXTRA);
    int changed = 0;
    enum err err = seal_key(name, e2b_key, &box);
    if (err)
        return err;
    err = db_run(db, SQL_ENVIRONMENT_SET_KEY,
                 IN(P(name), BLOB(box.data, box.size), P(hint)), &changed);
    return changed_one(db, err, changed);
}

enum err environment_list(struct db *db,
                          bool (*each)(void *, const struct environment *),
                          void *context)
{
    struct environment row;
    db_start(db, SQL_ENVIRONMENTS, NOTHING);
    while (db_next(db, SQL_ENVIRONMENTS,
                   OUT(ROOM(row.name), ROOM(row.base_url), ROOM(row.team),
                       ROOM(row.key_hint), O(&row.disabled), O(&row.lenient),
                       O(&row.created_ms)))
           && each(context, &row))
        ;
    return db_end(db, SQL_ENVIRONMENTS);
}

/* ---- agents ---- */

#define AGENT_COLUMNS(row)                                                             \
    OUT(ROOM((row)->name), ROOM((row)->team), ROOM((row)->owner), O(&(row)->disabled), \
        O(&(row)->created_ms))

enum err agent_add(struct db *db, const struct agent *row)
{
    return db_run(db, SQL_AGENT_ADD,
                  IN(P(row->name), P(row->team), P(row->owner), P(row->created_ms)),
                  NULL);
}

enum err agent_get(struct db *db, const char *name, struct agent *row)
{
    return db_one(db, SQL_AGENT, IN(P(name)), AGENT_COLUMNS(row));
}

enum err agent_disable(struct db *db, const char *name)
{
    int changed = 0;
    enum err err = db_run(db, SQL_AGENT_DISABLE, IN(P(name)), &changed);
    return changed_one(db, err, changed);
}

enum err agent_list(struct db *db, bool (*each)(void *, const struct agent *),
                    void *context)
{
    struct agent row;
    db_start(db, SQL_AGENTS, NOTHING);
    while (db_next(db, SQL_AGENTS, AGENT_COLUMNS(&row)) && each(context, &row))
        ;
    return db_end(db, SQL_AGENTS);
}

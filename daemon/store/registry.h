/* registry: who may call, and where calls go: environments, agents, their keys, people.
 *
 * Changes run on the STORE writer lane inside a job, with their record in the same
 * transaction (the caller appends it).  When a job changed the registry, the store
 * rebuilds the keyring and swaps it after COMMIT and before `done`: so a revoked key is
 * dead before anybody hears that it was revoked. */
#ifndef STORE_REGISTRY_H
#define STORE_REGISTRY_H

#include "core/keys.h"
#include "store/keyring.h"
#include "store/store.h"

#include <stdint.h>

struct environment {
    char name[NAME], base_url[URL], team[NAME]; /* team: E2B's id or "" */
    char key_hint[16];                          /* "e2b_1a2b…": never the key */
    bool disabled, lenient;                     /* lenient: unknown body keys pass */
    int64_t created_ms;
};

struct agent {
    char name[NAME], team[NAME], owner[NAME]; /* owner: a person or "" */
    bool disabled;
    int64_t created_ms;
};

struct agent_key {
    char id[KEY_ID], agent[NAME], environment[NAME], minted_by[NAME];
    char skills[LIST];                          /* comma separated; "" none, "*" any */
    int64_t created_ms, expires_ms, revoked_ms; /* 0: never */
};

struct person {
    char name[NAME],
        roles[LIST]; /* comma separated: viewer approver auditor policy-admin admin */
    int64_t uid;     /* of the admin socket's peer, or -1 */
    bool disabled;
};

enum err environment_add(struct db *db, const struct environment *row,
                         const char *e2b_key);
enum err environment_set_key(struct db *db, const char *name, const char *e2b_key,
                             const char *hint);
enum err environment_list(struct db *db,
                          bool (*each)(void *, const struct environment *),
                          void *context);

enum err agent_add(struct db *db, const struct agent *row); /* ERR_CONFLICT: exists */
enum err agent_get(struct db *db, const char *name, struct agent *row);
enum err agent_disable(struct db *db, const char *name);
enum err agent_list(struct db *db, bool (*each)(void *, const struct agent *),
                    void *context);

/* `text` is the fresh key: shown once, stored only as its keyed hash. */
enum err key_add(struct db *db, struct agent_key *row, char text[static KEY_TEXT]);
/* A fresh key like `id`; the old one expires at `old_expires_ms`. */
enum err key_rotate(struct db *db, const char *id, int64_t old_expires_ms,
                    const char *by, struct agent_key *fresh,
                    char text[static KEY_TEXT]);
enum err key_revoke(struct db *db, const char *id, int64_t now_ms);
enum err key_get(struct db *db, const char *id, struct agent_key *row);
enum err key_list(struct db *db, const char *agent, /* NULL: all */
                  bool (*each)(void *, const struct agent_key *), void *context);

enum err person_put(struct db *db, const struct person *row); /* adds or replaces */
enum err person_named(struct db *db, const char *name, struct person *row);
enum err person_by_uid(struct db *db, int64_t uid, struct person *row);
enum err person_list(struct db *db, bool (*each)(void *, const struct person *),
                     void *context);
bool person_has_role(const struct person *person,
                     const char *role); /* admin has none but its own */

#endif

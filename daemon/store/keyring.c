/* The keyring: built from a transaction's view, immutable, shared by counting. */
#include "store/keyring_build.h"

#include "base/buf.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/text.h"
#include "store/secrets.h"

#include <string.h>

enum { E2B_ROOM = 1024 }; /* in locked memory, a NUL included */

struct entry {
    struct identity identity;
    unsigned char hash[KEY_HASH];
    bool disabled; /* revoked, or its agent is disabled */
};

struct keyring {
    struct shared shared;
    struct upstream_target *targets;
    size_t target_count;
    struct entry *entries;
    size_t entry_count;
    uint32_t *slots; /* by key id: entry + 1, or 0; open addressing */
    size_t mask;
    char (*secrets)[E2B_ROOM]; /* one a target */
};

struct snapshot keyring_snapshot;

static void free_keyring(struct shared *shared)
{
    struct keyring *keyring = (struct keyring *)shared;
    keys_free(keyring->secrets);
    memory_free(keyring->targets);
    memory_free(keyring->entries);
    memory_free(keyring->slots);
    memory_free(keyring);
}

void keyring_free(struct shared *keyring)
{
    if (keyring)
        free_keyring(keyring);
}

/* ---- building ---- */

static bool make_room(struct db *db, struct keyring *keyring)
{
    uint64_t targets = 0, entries = 0;
    size_t slots = 16;
    if (db_one(db, SQL_ENVIRONMENT_COUNT, NOTHING, OUT(O(&targets)))
        || db_one(db, SQL_KEY_COUNT, NOTHING, OUT(O(&entries))))
        return false;
    while (slots < 2 * entries)
        slots *= 2;
    keyring->mask = slots - 1;
    keyring->slots = memory_new(slots * sizeof(*keyring->slots));
    keyring->targets = memory_new((targets + 1) * sizeof(*keyring->targets));
    keyring->entries = memory_new((entries + 1) * sizeof(*keyring->entries));
    keyring->secrets = keys_alloc((targets + 1) * sizeof(*keyring->secrets));
    return keyring->slots && keyring->targets && keyring->entries && keyring->secrets;
}

static bool open_key(const char *name, struct bytes box, char out[static E2B_ROOM])
{
    struct buf key = BUF(E2B_ROOM - 1);
    bool opened =
        keys_open(secret_key(SECRET_ENVIRONMENT), name, box.data, box.size, &key)
        && key.size && strlen(key.data) == key.size
        && text_copy(out, E2B_ROOM, key.data);
    buf_wipe(&key);
    if (!opened)
        log_error("store",
                  "environment=%s its E2B key does not open with this master key; "
                  "set it again",
                  name);
    return opened;
}

static bool read_targets(struct db *db, struct keyring *keyring)
{
    struct bytes box;
    struct upstream_target row;
    db_start(db, SQL_ENVIRONMENT_KEYS, NOTHING);
    while (db_next(
        db, SQL_ENVIRONMENT_KEYS,
        OUT(ROOM(row.environment), ROOM(row.base_url), O(&row.lenient), LENT(&box)))) {
        char *key = keyring->secrets[keyring->target_count];
        if (!open_key(row.environment, box, key))
            continue;
        row.e2b_key = key;
        keyring->targets[keyring->target_count++] = row;
    }
    return db_end(db, SQL_ENVIRONMENT_KEYS) == ERR_OK;
}

static size_t slot_of(const struct keyring *keyring, const char *id)
{
    uint32_t number = 0; /* the id is 8 random hex digits: as good as any hash */
    for (; *id; id++)
        number = number << 4 | (uint32_t)(*id <= '9' ? *id - '0' : *id - 'a' + 10);
    return number & keyring->mask;
}

static void put(struct keyring *keyring, const struct entry *entry)
{
    size_t slot = slot_of(keyring, entry->identity.key_id);
    while (keyring->slots[slot])
        slot = (slot + 1) & keyring->mask;
    keyring->entries[keyring->entry_count] = *entry;
    keyring->slots[slot] = (uint32_t)++keyring->entry_count;
}

static bool read_entries(struct db *db, struct keyring *keyring)
{
    struct entry row;
    struct identity *who = &row.identity;
    db_start(db, SQL_KEYRING, NOTHING);
    while (db_next(db, SQL_KEYRING,
                   OUT(ROOM(who->key_id), EXACT(row.hash, KEY_HASH), ROOM(who->agent),
                       ROOM(who->team), ROOM(who->environment), ROOM(who->owner),
                       ROOM(who->minted_by), ROOM(who->skills), O(&who->expires_ms),
                       O(&row.disabled)))) {
        who->target = keyring_target(keyring, who->environment);
        put(keyring, &row);
    }
    return db_end(db, SQL_KEYRING) == ERR_OK;
}

struct shared *keyring_build(struct db *db)
{
    struct keyring *keyring = memory_new(sizeof(*keyring));
    if (!keyring)
        return NULL;
    keyring->shared.free = free_keyring;
    if (make_room(db, keyring) && read_targets(db, keyring)
        && read_entries(db, keyring))
        return &keyring->shared;
    free_keyring(&keyring->shared);
    return NULL;
}

/* ---- asking ---- */

static const struct entry *find(const struct keyring *keyring, const char *id)
{
    for (size_t slot = slot_of(keyring, id); keyring->slots[slot];
         slot = (slot + 1) & keyring->mask) {
        const struct entry *entry = &keyring->entries[keyring->slots[slot] - 1];
        if (text_same(entry->identity.key_id, id))
            return entry;
    }
    return NULL;
}

/* The entry of exactly this key, usable or not. */
static const struct entry *match(const struct keyring *keyring, const char *key,
                                 size_t size)
{
    static const unsigned char nothing[KEY_HASH];
    unsigned char hash[KEY_HASH];
    char id[KEY_ID];
    if (!gateway_key_parse(key, size, id))
        return NULL;
    const struct entry *entry = find(keyring, id);
    keys_hash(secret_key(SECRET_GATEWAY_KEY), key, size, hash);
    bool same = keys_same(hash, entry ? entry->hash : nothing, KEY_HASH);
    return same ? entry : NULL;
}

enum err keyring_identify(const struct keyring *keyring, const char *key, size_t size,
                          int64_t now_ms, const struct identity **identity)
{
    const struct entry *entry = match(keyring, key, size);
    if (!entry || entry->disabled || !entry->identity.target)
        return ERR_BAD_KEY;
    if (entry->identity.expires_ms && now_ms >= entry->identity.expires_ms)
        return ERR_BAD_KEY;
    *identity = &entry->identity;
    return ERR_OK;
}

const struct upstream_target *keyring_target(const struct keyring *keyring,
                                             const char *environment)
{
    for (size_t i = 0; i < keyring->target_count; i++)
        if (text_same(keyring->targets[i].environment, environment))
            return &keyring->targets[i];
    return NULL;
}

bool keyring_is_gateway_key(const struct keyring *keyring, const char *key)
{
    return match(keyring, key, strlen(key)) != NULL;
}

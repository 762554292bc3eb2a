/* keyring: what FRONT knows of keys and environments, without SQL.
 *
 * Immutable and counted: take it from the snapshot, ask, let it go.  Keys that are
 * revoked or expired, and those of a disabled agent or environment, identify nobody. */
#ifndef STORE_KEYRING_H
#define STORE_KEYRING_H

#include "base/snapshot.h"
#include "core/err.h"
#include "core/keys.h"

enum { NAME = 64, URL = 256, LIST = 512 };

/* Where a call goes. The key is in locked memory and is wiped with the keyring. */
struct upstream_target {
    char environment[NAME], base_url[URL];
    bool lenient;
    const char *e2b_key;
};

struct identity {
    char key_id[KEY_ID], agent[NAME], team[NAME], environment[NAME], owner[NAME],
        minted_by[NAME], skills[LIST];
    int64_t expires_ms;
    const struct upstream_target *target;
};

struct keyring; /* first member: struct shared */

extern struct snapshot keyring_snapshot; /* of struct keyring */

/* ERR_BAD_KEY when unknown, wrong, expired, revoked or disabled; constant time in the
 * key's bytes.  The identity lives as long as the keyring is held. */
enum err keyring_identify(const struct keyring *keyring, const char *key, size_t size,
                          int64_t now_ms, const struct identity **identity);
const struct upstream_target *keyring_target(const struct keyring *keyring,
                                             const char *environment); /* or NULL */
/* May this identity act under the skill?  "" always. */
bool identity_may_claim(const struct identity *identity, const char *skill);
/* Is this text one of our own keys, dead ones too?  For `env add`. */
bool keyring_is_gateway_key(const struct keyring *keyring, const char *key);

#endif

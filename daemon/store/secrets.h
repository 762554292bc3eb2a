/* secrets: the keys of the store, derived from the master key, in locked memory.
 * Private to store/; any thread between start and stop. */
#ifndef STORE_SECRETS_H
#define STORE_SECRETS_H

#include "core/keys.h"

enum secret {
    SECRET_ENVIRONMENT, /* seals E2B keys */
    SECRET_APPROVAL,    /* seals the approvals' own keys */
    SECRET_GATEWAY_KEY, /* keys the hashes of gateway keys */
    SECRETS
};

bool secrets_start(const unsigned char master[static MASTER_KEY]);
void secrets_stop(void);

const unsigned char *secret_key(enum secret secret); /* 32 bytes */

#endif

#include "store/secrets.h"

#include "base/must.h"

static const char *const purposes[SECRETS] = {
    [SECRET_ENVIRONMENT] = "environment",
    [SECRET_APPROVAL] = "approval",
    [SECRET_GATEWAY_KEY] = "gateway-key",
};

static unsigned char (*keys)[SEAL_KEY];

bool secrets_start(const unsigned char master[static MASTER_KEY])
{
    keys = keys_alloc(SECRETS * sizeof(*keys));
    for (size_t i = 0; keys && i < SECRETS; i++)
        keys_derive(master, purposes[i], keys[i]);
    return keys != NULL;
}

void secrets_stop(void)
{
    keys_free(keys);
    keys = NULL;
}

const unsigned char *secret_key(enum secret secret)
{
    must(keys);
    return keys[secret];
}

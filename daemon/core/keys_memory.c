#include "core/keys.h"

#include "base/fault.h"

#include <sodium.h>

void *keys_alloc(size_t size)
{
    void *secret = fault_alloc() ? NULL : sodium_malloc(size);
    if (secret)
        sodium_memzero(secret, size);
    return secret;
}

void keys_free(void *secret)
{
    sodium_free(secret); /* wipes it; takes NULL */
}

/* environments: storing an E2B key, for `env add` and `init`. */
#ifndef CLI_ENVIRONMENTS_H
#define CLI_ENVIRONMENTS_H

#include "base/buf.h"
#include "cli/api.h"

struct new_environment {
    const char *name, *url, *team; /* url NULL: E2B's own */
    bool lenient;
    const struct buf *key;
};

/* What the key will let the gateway do, on stderr. */
void environment_powers(struct call *call);

/* The daemon tries the key at E2B before it stores it. Told when not DONE. */
int environment_store(struct call *call, const struct new_environment *fresh,
                      struct answer *answer);

#endif

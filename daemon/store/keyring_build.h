/* keyring_build: how the store makes a keyring.  Private to store/. */
#ifndef STORE_KEYRING_BUILD_H
#define STORE_KEYRING_BUILD_H

#include "store/db.h"
#include "store/keyring.h"

/* From what the transaction sees; NULL when there is no memory or the rows cannot be
 * read.  An environment whose E2B key does not open is left out, loudly. */
struct shared *keyring_build(struct db *db);
void keyring_free(struct shared *keyring); /* one that was never shared; NULL is fine */

#endif

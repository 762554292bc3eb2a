/* signer: the two signatures over the log, and what is remembered outside of it.
 *
 * Private to store/.  The seal key is new at each boot and seals every batch inside its
 * transaction.  The log key signs checkpoints of what is durable, and only after size
 * and root are in the state file: so a database that is older than what was ever signed
 * is noticed at the next start.  STORE writer lane; the vkey is for any thread. */
#ifndef STORE_TREE_SIGNER_H
#define STORE_TREE_SIGNER_H

#include "core/note.h"
#include "store/store.h"

bool signer_start(const struct store_config *config, char *error);
void signer_stop(void);

void signer_seal(uint64_t size, const unsigned char root[static HASH],
                 unsigned char seal[static TLOG_SIGNATURE]);
void signer_seal_key(char hex[static 2 * TLOG_PUBLIC + 1]);
bool signer_check_seal(const char *key_hex, uint64_t size,
                       const unsigned char root[static HASH],
                       const unsigned char seal[static TLOG_SIGNATURE]);

/* Remembers, then signs. False: nothing was signed (and the log says why). */
bool signer_checkpoint(uint64_t size, const unsigned char root[static HASH],
                       struct buf *note);
bool signer_open(const char *note, size_t note_size, struct checkpoint *checkpoint);

/* What was signed last. `*found` is false when there is no state file; false when there
 * is one that cannot be used. */
bool signer_state(bool *found, struct checkpoint *state, char *error);

const char *signer_origin(void);

#endif

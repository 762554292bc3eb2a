/* keys: gateway keys, sealing, keyed hashes, random ids.  Pure but for randomness.
 *
 * Secrets are fixed-size arrays that their owner wipes (keys_wipe). */
#ifndef CORE_KEYS_H
#define CORE_KEYS_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    MASTER_KEY = 32,
    KEY_TEXT = 45, /* "e2b_" + 40 hex + NUL */
    KEY_ID = 9,    /* the first 8 hex + NUL: public */
    KEY_HASH = 32,
    SEAL_KEY = 32,
    SEAL_EXTRA = 24 + 16, /* nonce and tag */
    ID_TEXT = 32,         /* "apr_" + 20 base32 + NUL fits */
};

/* Once, before any thread. Aborts when the system has no randomness. */
void keys_start(void);

void keys_random(void *bytes, size_t size);
void keys_wipe(void *bytes, size_t size);

/* Memory for secrets: locked, not in core dumps, wiped by keys_free (NULL is fine).
 * NULL when the system has no lockable memory left. */
void *keys_alloc(size_t size);
void keys_free(void *secret);

bool keys_same(const void *a, const void *b, size_t size); /* constant time */

/* prefix + 20 characters of [0-9a-z], time-ordered; any thread. */
void keys_id(const char *prefix, int64_t wall_ms, char out[static ID_TEXT]);

/* A fresh gateway key; `text` is the secret. */
void gateway_key_mint(char text[static KEY_TEXT], char id[static KEY_ID]);

/* Shape only: "e2b_" + 40 lower-case hex. Fills the public id. */
bool gateway_key_parse(const char *text, size_t size, char id[static KEY_ID]);

/* Keyed BLAKE2b-256 under a key derived from the master key for `purpose`
 * ("gateway-key", "redact", ...). */
void keys_derive(const unsigned char master[static MASTER_KEY], const char *purpose,
                 unsigned char out[static 32]);
void keys_hash(const unsigned char key[static 32], const void *bytes, size_t size,
               unsigned char out[static KEY_HASH]);
/* "h1:" + 22 characters of base64url: for records and cards. */
void keys_hash_text(const unsigned char key[static 32], const void *bytes, size_t size,
                    char out[static 32]);
void keys_digest(const void *bytes, size_t size,
                 unsigned char out[static 32]); /* BLAKE2b-256 */

/* XChaCha20-Poly1305; `context` is authenticated and not stored.  Output: nonce, box.
 */
bool keys_seal(const unsigned char key[static SEAL_KEY], const char *context,
               const void *bytes, size_t size, struct buf *out);
bool keys_open(const unsigned char key[static SEAL_KEY], const char *context,
               const void *box, size_t size,
               struct buf *out); /* false: not ours or changed */

#endif

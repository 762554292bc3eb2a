/* sha256: SHA-256 of pieces that lie apart, with the processor's SHA extensions where
 * it has them and libsodium where not.  Pure; any thread after sha256_start. */
#ifndef CORE_SHA256_H
#define CORE_SHA256_H

#include <stdbool.h>
#include <stddef.h>

enum { HASH = 32 };

struct piece {
    const void *bytes;
    size_t size;
};

/* Once, before any thread: chooses, and aborts when the choice and libsodium disagree.
 * True: the extensions are used. */
bool sha256_start(void);

/* Of the pieces one behind the other. */
void sha256_pieces(const struct piece *pieces, size_t count,
                   unsigned char out[static HASH]);

#endif

/* tlog: the mathematics of the log.  Pure.
 *
 * Leaf and node hashes, inclusion and consistency proofs as RFC 6962 / RFC 9162 §2.1;
 * tiles of height 8 as C2SP tlog-tiles.  Signatures over heads: core/note.h. */
#ifndef CORE_TLOG_H
#define CORE_TLOG_H

#include "core/note.h"
#include "core/sha256.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TLOG_LEVELS = 64,
    TILE_WIDTH = 256,
    TILE_LEVELS = TLOG_LEVELS / 8,
    TILE_BYTES = TILE_WIDTH * HASH,
    TLOG_PROOF = 64,
};

void tlog_start(
    void); /* once, after keys_start: self-test of SHA-256; aborts on error */

void tlog_sha256(const void *bytes, size_t size, unsigned char out[static HASH]);
void tlog_leaf(const void *bytes, size_t size, unsigned char out[static HASH]);
void tlog_node(const unsigned char left[static HASH],
               const unsigned char right[static HASH], unsigned char out[static HASH]);

/* ---- the growing tree ---- */

/* The roots of the perfect subtrees, largest first: all that is needed to append. */
struct frontier {
    uint64_t size;
    unsigned char stack[TLOG_LEVELS][HASH];
    int height;
};

void frontier_push(struct frontier *frontier, const unsigned char leaf[static HASH]);
/* A perfect subtree of 2^level leaves at once; the size must be a multiple of that. */
void frontier_push_subtree(struct frontier *frontier, int level,
                           const unsigned char hash[static HASH]);
void frontier_root(const struct frontier *frontier, unsigned char out[static HASH]);

/* The full tiles of every level while leaves arrive; level 0 holds leaf hashes. Starts
 * zeroed, or with the partial tiles, their widths and indexes as they were. */
struct tile_writer {
    unsigned char partial[TILE_LEVELS][TILE_BYTES];
    unsigned width[TILE_LEVELS];
    uint64_t index[TILE_LEVELS]; /* of the tile that is being filled */
    bool (*emit)(void *context, int level, uint64_t index,
                 const unsigned char bytes[static TILE_BYTES]);
    void *context;
};

/* Adds a leaf to the tiles; emits those that became full. False when emit did. */
bool tiles_push(struct tile_writer *tiles, const unsigned char leaf[static HASH]);

/* ---- proofs ----  Hashes are read through a callback: the hash of the perfect subtree
 * at (level, index), level 0 being leaves.  Proof generation asks O(log² n) times.
 * False: the callback failed, or there is no such proof. */
typedef bool tlog_read(void *context, int level, uint64_t index,
                       unsigned char out[static HASH]);

bool tlog_root_at(tlog_read *read, void *context, uint64_t size,
                  unsigned char out[static HASH]);
bool tlog_inclusion(tlog_read *read, void *context, uint64_t index, uint64_t size,
                    unsigned char proof[static TLOG_PROOF][HASH], size_t *count);
bool tlog_consistency(tlog_read *read, void *context, uint64_t from, uint64_t to,
                      unsigned char proof[static 2 * TLOG_PROOF][HASH], size_t *count);

bool tlog_check_inclusion(const unsigned char leaf[static HASH], uint64_t index,
                          uint64_t size, const unsigned char (*proof)[HASH],
                          size_t count, const unsigned char root[static HASH]);
bool tlog_check_consistency(uint64_t from, const unsigned char from_root[static HASH],
                            uint64_t to, const unsigned char to_root[static HASH],
                            const unsigned char (*proof)[HASH], size_t count);

#endif

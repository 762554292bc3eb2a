#include "core/tlog.h"

#include "base/must.h"

#include <string.h>

/* RFC 6962 §2.1: a leaf can never be taken for a node. */
static const unsigned char leaf_prefix = 0, node_prefix = 1;

void tlog_start(void)
{
    (void)sha256_start(); /* either way is right */
}

void tlog_sha256(const void *bytes, size_t size, unsigned char out[static HASH])
{
    sha256_pieces(&(struct piece){bytes, size}, 1, out);
}

void tlog_leaf(const void *bytes, size_t size, unsigned char out[static HASH])
{
    const struct piece pieces[] = {
        {&leaf_prefix, 1   },
        {bytes,        size}
    };
    sha256_pieces(pieces, COUNT(pieces), out);
}

void tlog_node(const unsigned char left[static HASH],
               const unsigned char right[static HASH], unsigned char out[static HASH])
{
    const struct piece pieces[] = {
        {&node_prefix, 1   },
        {left,         HASH},
        {right,        HASH}
    };
    sha256_pieces(pieces, COUNT(pieces), out);
}

/* ---- frontier ---- */

/* Each one bit of the size, from `level` up, is a waiting left sibling. */
void frontier_push_subtree(struct frontier *frontier, int level,
                           const unsigned char hash[static HASH])
{
    unsigned char node[HASH];
    uint64_t leaves = (uint64_t)1 << level;
    must(frontier->size % leaves == 0);
    memcpy(node, hash, HASH);
    for (uint64_t left = frontier->size / leaves; left & 1; left >>= 1) {
        must(frontier->height > 0);
        tlog_node(frontier->stack[--frontier->height], node, node);
    }
    must(frontier->height < TLOG_LEVELS);
    memcpy(frontier->stack[frontier->height++], node, HASH);
    frontier->size += leaves;
}

void frontier_push(struct frontier *frontier, const unsigned char leaf[static HASH])
{
    frontier_push_subtree(frontier, 0, leaf);
}

void frontier_root(const struct frontier *frontier, unsigned char out[static HASH])
{
    int at = frontier->height - 1;
    if (at < 0) {
        tlog_sha256("", 0, out);
        return;
    }
    memcpy(out, frontier->stack[at], HASH);
    while (--at >= 0)
        tlog_node(frontier->stack[at], out, out);
}

/* ---- tiles ---- */

static void tile_root(const unsigned char bytes[static TILE_BYTES],
                      unsigned char out[static HASH])
{
    struct frontier frontier = {.size = 0};
    for (size_t i = 0; i < TILE_WIDTH; i++)
        frontier_push(&frontier, bytes + i * HASH);
    frontier_root(&frontier, out);
}

bool tiles_push(struct tile_writer *tiles, const unsigned char leaf[static HASH])
{
    unsigned char hash[HASH];
    memcpy(hash, leaf, HASH);
    for (int level = 0; level < TILE_LEVELS; level++) {
        unsigned char *tile = tiles->partial[level];
        memcpy(tile + (size_t)tiles->width[level]++ * HASH, hash, HASH);
        if (tiles->width[level] < TILE_WIDTH)
            return true;
        if (!tiles->emit(tiles->context, level, tiles->index[level], tile))
            return false;
        tile_root(tile, hash);
        tiles->width[level] = 0;
        tiles->index[level]++;
    }
    return true;
}

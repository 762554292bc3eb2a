/* tree: the log's tree on disk (tiles, leaves) and in the writer's memory.
 *
 * Private to store/.  The memory runs ahead of the disk while a batch is being written:
 * whatever fails before COMMIT returned, it is thrown away and loaded again. */
#ifndef STORE_TREE_TREE_H
#define STORE_TREE_TREE_H

#include "core/tlog.h"
#include "store/db.h"

struct tree {
    struct frontier frontier;
    struct tile_writer tiles;
};

enum err tree_load(struct db *db, uint64_t size, struct tree *tree);

/* Adds a leaf; tiles that it fills become rows. */
enum err tree_push(struct db *db, struct tree *tree,
                   const unsigned char leaf[static HASH]);

/* The context of tree_read: holds the tile that was read last. */
struct tree_reader {
    struct db *db;
    bool held;
    int level;
    uint64_t index;
    unsigned char tile[TILE_BYTES];
};

/* A tlog_read: the hash of a subtree, from tiles and leaves. */
bool tree_read(void *context, int level, uint64_t index,
               unsigned char out[static HASH]);

/* Hashes the leaves of [from, size) again and compares; `*bad` is the first record that
 * is missing or differs from its tile, or `size`.  The last, partial tile has nothing
 * to be compared with: its leaves count through the root. */
enum err tree_check(struct db *db, uint64_t from, uint64_t size, uint64_t *bad);

#endif

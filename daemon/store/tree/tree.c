#include "store/tree/tree.h"

#include <string.h>

enum { TILE_BITS = 8 };

/* ---- reading ---- */

static bool read_tile(struct db *db, int level, uint64_t index, void *out)
{
    return db_one(db, SQL_TILE, IN(P(level), P(index)), OUT(EXACT(out, TILE_BYTES)))
           == ERR_OK;
}

/* The root over `count` hashes side by side, a power of two; overwrites them. */
static void fold(unsigned char *hashes, size_t count)
{
    for (; count > 1; count /= 2)
        for (size_t i = 0; i < count / 2; i++)
            tlog_node(hashes + 2 * i * HASH, hashes + (2 * i + 1) * HASH,
                      hashes + i * HASH);
}

/* One hash of a tile: that of a leaf, or of the whole tile below. */
static bool read_hash(struct db *db, int tile_level, uint64_t index,
                      unsigned char out[static HASH])
{
    if (tile_level == 0) {
        struct bytes leaf;
        db_start(db, SQL_ENTRY, IN(P(index)));
        bool found = db_next(db, SQL_ENTRY, OUT(LENT(&leaf)));
        if (found)
            tlog_leaf(leaf.data, leaf.size, out);
        return db_end(db, SQL_ENTRY) == ERR_OK && found;
    }
    unsigned char tile[TILE_BYTES];
    if (!read_tile(db, tile_level - 1, index, tile))
        return false;
    fold(tile, TILE_WIDTH);
    memcpy(out, tile, HASH);
    return true;
}

static bool read_hashes(struct db *db, int tile_level, uint64_t first, size_t count,
                        unsigned char *out)
{
    for (size_t i = 0; i < count; i++)
        if (!read_hash(db, tile_level, first + i, out + i * HASH))
            return false;
    return true;
}

static bool hold_tile(struct tree_reader *reader, int level, uint64_t index)
{
    if (!reader->held || reader->level != level || reader->index != index)
        reader->held = read_tile(reader->db, level, index, reader->tile);
    reader->level = level;
    reader->index = index;
    return reader->held;
}

bool tree_read(void *context, int level, uint64_t index, unsigned char out[static HASH])
{
    struct tree_reader *reader = context;
    unsigned char hashes[TILE_BYTES];
    size_t count = (size_t)1 << (level % TILE_BITS);
    uint64_t first = index * count;
    int tile_level = level / TILE_BITS;
    if (hold_tile(reader, tile_level, first / TILE_WIDTH))
        memcpy(hashes, reader->tile + first % TILE_WIDTH * HASH, count * HASH);
    else if (!read_hashes(reader->db, tile_level, first, count, hashes))
        return false;
    fold(hashes, count);
    memcpy(out, hashes, HASH);
    return true;
}

/* ---- loading ---- */

static bool load_tiles(struct db *db, uint64_t size, struct tile_writer *tiles)
{
    for (int level = 0; level < TILE_LEVELS; level++) {
        uint64_t hashes = size >> (level * TILE_BITS);
        tiles->index[level] = hashes / TILE_WIDTH;
        tiles->width[level] = (unsigned)(hashes % TILE_WIDTH);
        if (!read_hashes(db, level, hashes - tiles->width[level], tiles->width[level],
                         tiles->partial[level]))
            return false;
    }
    return true;
}

static bool load_frontier(struct db *db, uint64_t size, struct frontier *frontier)
{
    unsigned char hash[HASH];
    struct tree_reader reader = {.db = db};
    for (int level = TLOG_LEVELS - 1; level >= 0; level--) {
        if (!(size >> level & 1))
            continue;
        if (!tree_read(&reader, level, (size >> level) - 1, hash))
            return false;
        frontier_push_subtree(frontier, level, hash);
    }
    return true;
}

enum err tree_load(struct db *db, uint64_t size, struct tree *tree)
{
    memset(tree, 0, sizeof(*tree));
    return load_tiles(db, size, &tree->tiles)
                   && load_frontier(db, size, &tree->frontier)
               ? ERR_OK
               : ERR_STORE;
}

/* ---- writing ---- */

static bool add_tile(void *context, int level, uint64_t index,
                     const unsigned char bytes[static TILE_BYTES])
{
    return db_run(context, SQL_TILE_ADD,
                  IN(P(level), P(index), BLOB(bytes, TILE_BYTES)), NULL)
           == ERR_OK;
}

enum err tree_push(struct db *db, struct tree *tree,
                   const unsigned char leaf[static HASH])
{
    tree->tiles.emit = add_tile;
    tree->tiles.context = db;
    frontier_push(&tree->frontier, leaf);
    return tiles_push(&tree->tiles, leaf) ? ERR_OK : ERR_STORE;
}

/* ---- checking ---- */

static enum err check_tile(struct db *db, uint64_t index, uint64_t *bad)
{
    unsigned char tile[TILE_BYTES], hash[HASH];
    struct bytes leaf;
    uint64_t first = index * TILE_WIDTH, at = first, seq;
    bool same = read_tile(db, 0, index, tile);
    db_start(db, SQL_ENTRIES, IN(P(first), P(first + TILE_WIDTH)));
    while (same && db_next(db, SQL_ENTRIES, OUT(O(&seq), LENT(&leaf)))) {
        tlog_leaf(leaf.data, leaf.size, hash);
        same = seq == at && memcmp(hash, tile + (at - first) * HASH, HASH) == 0;
        at += same;
    }
    *bad = at;
    return db_end(db, SQL_ENTRIES);
}

enum err tree_check(struct db *db, uint64_t from, uint64_t size, uint64_t *bad)
{
    for (uint64_t tile = from / TILE_WIDTH; tile < size / TILE_WIDTH; tile++) {
        enum err err = check_tile(db, tile, bad);
        if (err || *bad != (tile + 1) * TILE_WIDTH)
            return err;
    }
    *bad = size;
    return ERR_OK;
}

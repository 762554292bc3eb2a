/* Proofs: generation by walking down from the root, checks as RFC 9162 §2.1.3 and
 * §2.1.4 write them. */
#include "core/tlog.h"

#include "base/must.h"

#include <string.h>

static const uint64_t size_max = INT64_MAX;

/* ---- hashes of ranges ---- */

struct source {
    tlog_read *read;
    void *context;
};

/* The largest power of two below `leaves`, for leaves > 1. */
static uint64_t split_of(uint64_t leaves)
{
    return (uint64_t)1 << (63 - __builtin_clzll(leaves - 1));
}

/* Root of the leaves [low, high); low is a multiple of the range's split. The perfect
 * subtrees that make it up are read from the left and folded from the right. */
static bool range_root(const struct source *source, uint64_t low, uint64_t high,
                       unsigned char out[static HASH])
{
    unsigned char parts[TLOG_LEVELS][HASH];
    size_t count = 0;
    while (low < high) {
        int level = 63 - __builtin_clzll(high - low);
        must(low >> level << level == low && count < TLOG_LEVELS);
        if (!source->read(source->context, level, low >> level, parts[count++]))
            return false;
        low += (uint64_t)1 << level;
    }
    while (count > 1) {
        tlog_node(parts[count - 2], parts[count - 1], parts[count - 2]);
        count--;
    }
    must(count == 1);
    memcpy(out, parts[0], HASH);
    return true;
}

bool tlog_root_at(tlog_read *read, void *context, uint64_t size,
                  unsigned char out[static HASH])
{
    unsigned char root[HASH];
    const struct source source = {read, context};
    if (size > size_max)
        return false;
    if (size == 0)
        tlog_sha256("", 0, root);
    else if (!range_root(&source, 0, size, root))
        return false;
    memcpy(out, root, HASH);
    return true;
}

/* ---- generation ---- */

/* Found from the root down; a proof is read from the leaf up. */
static void turn_round(unsigned char (*proof)[HASH], size_t count)
{
    for (size_t i = 0; i < count / 2; i++) {
        unsigned char swap[HASH];
        memcpy(swap, proof[i], HASH);
        memcpy(proof[i], proof[count - 1 - i], HASH);
        memcpy(proof[count - 1 - i], swap, HASH);
    }
}

bool tlog_inclusion(tlog_read *read, void *context, uint64_t index, uint64_t size,
                    unsigned char proof[static TLOG_PROOF][HASH], size_t *count)
{
    const struct source source = {read, context};
    uint64_t low = 0, high = size;
    size_t hashes = 0;
    if (size > size_max || index >= size)
        return false;
    while (high - low > 1) {
        uint64_t middle = low + split_of(high - low);
        bool right = index >= middle;
        if (!range_root(&source, right ? low : middle, right ? middle : high,
                        proof[hashes++]))
            return false;
        low = right ? middle : low;
        high = right ? high : middle;
    }
    turn_round(proof, hashes);
    *count = hashes;
    return true;
}

bool tlog_consistency(tlog_read *read, void *context, uint64_t from, uint64_t to,
                      unsigned char proof[static 2 * TLOG_PROOF][HASH], size_t *count)
{
    const struct source source = {read, context};
    uint64_t low = 0, high = to;
    size_t hashes = 0;
    if (to > size_max || from > to)
        return false;
    while (from > 0 && high > from) { /* `from` ends inside [low, high) */
        uint64_t middle = low + split_of(high - low);
        bool right = from > middle;
        if (!range_root(&source, right ? low : middle, right ? middle : high,
                        proof[hashes++]))
            return false;
        low = right ? middle : low;
        high = right ? high : middle;
    }
    if (low > 0 && from > 0 && !range_root(&source, low, high, proof[hashes++]))
        return false; /* the old tree's right edge, which its root does not show */
    turn_round(proof, hashes);
    *count = hashes;
    return true;
}

/* ---- checks ---- */

/* A node on its way from a leaf to the root, and the last node of its level. */
struct path {
    uint64_t at, last;
};

static void climb(struct path *path)
{
    path->at >>= 1;
    path->last >>= 1;
}

/* A node of the right edge has no sibling on every level: up to where it has one. */
static void climb_lone(struct path *path)
{
    while (path->at && !(path->at & 1))
        climb(path);
}

static bool has_left_sibling(const struct path *path)
{
    return (path->at & 1) || path->at == path->last;
}

bool tlog_check_inclusion(const unsigned char leaf[static HASH], uint64_t index,
                          uint64_t size, const unsigned char (*proof)[HASH],
                          size_t count, const unsigned char root[static HASH])
{
    unsigned char hash[HASH];
    if (size > size_max || index >= size)
        return false;
    struct path path = {index, size - 1};
    memcpy(hash, leaf, HASH);
    for (size_t i = 0; i < count; i++, climb(&path)) {
        if (path.last == 0)
            return false;
        if (has_left_sibling(&path)) {
            tlog_node(proof[i], hash, hash);
            climb_lone(&path);
        } else {
            tlog_node(hash, proof[i], hash);
        }
    }
    return path.last == 0 && memcmp(hash, root, HASH) == 0;
}

/* The old and the new root are folded side by side from the hash where they part. */
static bool fold_both(struct path path, const unsigned char (*proof)[HASH],
                      size_t count, unsigned char roots[static 2][HASH])
{
    while (path.at & 1)
        climb(&path);
    for (size_t i = 0; i < count; i++, climb(&path)) {
        if (path.last == 0)
            return false;
        if (has_left_sibling(&path)) {
            tlog_node(proof[i], roots[0], roots[0]);
            tlog_node(proof[i], roots[1], roots[1]);
            climb_lone(&path);
        } else {
            tlog_node(roots[1], proof[i], roots[1]);
        }
    }
    return path.last == 0;
}

bool tlog_check_consistency(uint64_t from, const unsigned char from_root[static HASH],
                            uint64_t to, const unsigned char to_root[static HASH],
                            const unsigned char (*proof)[HASH], size_t count)
{
    unsigned char roots[2][HASH], empty[HASH];
    if (to > size_max || from > to)
        return false;
    if (from == to)
        return count == 0 && memcmp(from_root, to_root, HASH) == 0;
    if (from == 0) {
        tlog_sha256("", 0, empty);
        return count == 0 && memcmp(from_root, empty, HASH) == 0;
    }
    bool perfect = (from & (from - 1)) == 0; /* its root is itself a node of the new */
    if (!perfect && count == 0)
        return false;
    memcpy(roots[0], perfect ? from_root : proof[0], HASH);
    memcpy(roots[1], roots[0], HASH);
    size_t used = perfect ? 0 : 1;
    return fold_both((struct path){from - 1, to - 1}, proof + used, count - used, roots)
           && memcmp(roots[0], from_root, HASH) == 0
           && memcmp(roots[1], to_root, HASH) == 0;
}

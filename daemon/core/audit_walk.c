#include "core/audit_walk.h"

#include "base/must.h"

#include <string.h>

void walk_start(struct walk *walk, struct findings *findings, uint64_t first,
                uint64_t end)
{
    *walk = (struct walk){.findings = findings, .first = first, .end = end};
}

/* ---- the block of leaf hashes ---- */

static const unsigned char *told_leaf(const struct walk *walk, uint64_t index)
{
    bool inside = index >= walk->block && index - walk->block < walk->count;
    return inside ? walk->leaves + (index - walk->block) * HASH : NULL;
}

/* The told tree at `size`, if that lies in the block. */
static bool told_at(const struct walk *walk, uint64_t size, struct frontier *told)
{
    if (size < walk->block || size - walk->block > walk->count
        || walk->told.size != walk->block)
        return false;
    *told = walk->told;
    for (uint64_t at = walk->block; at < size; at++)
        frontier_push(told, told_leaf(walk, at));
    return true;
}

/* The block is over: from its end on the told tree goes on, or the only one. */
static void close_block(struct walk *walk)
{
    struct frontier told;
    if (!walk->parted)
        walk->told = walk->read;
    else if (told_at(walk, walk->block + walk->count, &told))
        walk->told = told;
    walk->block = walk->told.size;
    walk->count = 0;
}

/* At `at` the two are one again. */
static void join(struct walk *walk, const struct frontier *tree)
{
    uint64_t skip = tree->size - walk->block;
    walk->read = walk->told = *tree;
    walk->parted = false;
    walk->suspect_count = 0;
    if (tree->size < walk->block || skip > walk->count)
        skip = walk->count;
    walk->count -= skip;
    memmove(walk->leaves, walk->leaves + skip * HASH, walk->count * HASH);
    walk->block = tree->size;
}

static void lose(struct walk *walk)
{
    walk->lost = true;
    walk->parted = false;
    walk->count = 0;
}

/* ---- suspects ---- */

static void suspect(struct walk *walk, enum suspicion how, uint64_t first, uint64_t end)
{
    walk->parted = true;
    if (walk->suspect_count < SUSPECTS)
        walk->suspects[walk->suspect_count] = (struct suspect){how, first, end};
    walk->suspect_count++;
}

static const char *const hows[] = {
    [CHANGED] = "is not the one that was logged",
    [MISSING] = "is missing",
    [INSERTED] = "has a record before it that was never logged",
};

static void tell_suspects(struct walk *walk, const char *sure)
{
    for (size_t i = 0; i < walk->suspect_count && i < SUSPECTS; i++) {
        const struct suspect *one = &walk->suspects[i];
        findings_bad(walk->findings, one->first, one->first + 1);
        if (one->end - one->first > 1)
            findings_add(walk->findings, AUDIT_TAMPERED,
                         "each of the records %llu to %llu %s (%s)", number(one->first),
                         number(one->end - 1), hows[one->how], sure);
        else
            findings_add(walk->findings, AUDIT_TAMPERED, "record %llu %s (%s)",
                         number(one->first), hows[one->how], sure);
    }
    if (walk->suspect_count > SUSPECTS)
        findings_add(walk->findings, AUDIT_TAMPERED, "and %zu more such findings",
                     walk->suspect_count - SUSPECTS);
    walk->suspect_count = 0;
}

/* The record before was taken for a changed one; if this is the one that was due there,
 * that one was an insertion. */
static bool was_inserted(struct walk *walk, const unsigned char hash[static HASH])
{
    size_t last = walk->suspect_count - 1;
    if (walk->suspect_count == 0 || last >= SUSPECTS)
        return false;
    struct suspect *one = &walk->suspects[last];
    const unsigned char *due =
        one->first + 1 == walk->at ? told_leaf(walk, one->first) : NULL;
    if (one->how != CHANGED || !due || memcmp(due, hash, HASH) != 0)
        return false;
    one->how = INSERTED;
    return true;
}

/* Of a hash that is not due yet: where in the block it would be, or `at`. */
static uint64_t find_later(const struct walk *walk, const unsigned char *hash)
{
    const unsigned char *leaf;
    for (uint64_t at = walk->at + 1; (leaf = told_leaf(walk, at)); at++)
        if (memcmp(leaf, hash, HASH) == 0)
            return at;
    return walk->at;
}

/* A record that is not the one that is due; gives its index. */
static uint64_t part(struct walk *walk, const unsigned char hash[static HASH])
{
    uint64_t later = find_later(walk, hash);
    if (later > walk->at)
        suspect(walk, MISSING, walk->at, later);
    else
        suspect(walk, CHANGED, walk->at, walk->at + 1);
    walk->at = later + 1;
    return later;
}

/* ---- what comes along ---- */

void walk_expect(struct walk *walk, uint64_t place, const char *what)
{
    if (walk->count && walk->at == walk->block)
        findings_add(walk->findings, AUDIT_TAMPERED,
                     "%s of size %llu stands between leaf hashes and their records",
                     what, number(place));
    if (place == walk->at)
        return;
    if (place < walk->at) {
        findings_add(walk->findings, AUDIT_TAMPERED,
                     "%s of size %llu stands behind record %llu: records were put in, "
                     "or lines moved",
                     what, number(place), number(walk->at - 1));
        lose(walk);
    } else if (told_leaf(walk, place - 1)) {
        suspect(walk, MISSING, walk->at, place);
        walk->at = place;
    } else {
        findings_add(walk->findings, AUDIT_TAMPERED,
                     "%s of size %llu stands where record %llu should: records are "
                     "missing",
                     what, number(place), number(walk->at));
        findings_bad(walk->findings, walk->at, walk->at + 1);
        lose(walk);
    }
}

void walk_subtree(struct walk *walk, const struct line *line)
{
    uint64_t leaves = (uint64_t)1 << line->level, limit = INT64_MAX;
    bool before = walk->at < walk->first;
    if (line->index > limit >> line->level) {
        findings_add(walk->findings, AUDIT_TAMPERED, "a subtree beyond every tree");
        return;
    }
    uint64_t from = line->index << line->level, to = from + leaves;
    walk_expect(walk, from, "a subtree hash behind the tree");
    if ((before && to > walk->first) || (!before && from < walk->end) || to > limit) {
        findings_add(walk->findings, AUDIT_TAMPERED,
                     "a hash stands for records that the export promises");
        lose(walk);
    }
    if (walk->lost)
        return;
    close_block(walk);
    if (walk->told.size != from) {
        lose(walk); /* said already */
        return;
    }
    frontier_push_subtree(&walk->told, line->level, line->hash);
    if (walk->read.size == from)
        frontier_push_subtree(&walk->read, line->level, line->hash);
    walk->at = walk->block = to;
}

void walk_tile(struct walk *walk, const struct line *line)
{
    walk_expect(walk, line->first, "a block of leaf hashes behind a tree");
    if (walk->lost)
        return;
    if (line->first < walk->first || line->first != walk->block + walk->count
        || line->end != tile_end(line->first, walk->end)) {
        findings_add(walk->findings, AUDIT_TAMPERED,
                     "the leaf hashes from %llu on are no block of the export",
                     number(line->first));
        lose(walk);
        return;
    }
    close_block(walk);
    walk->count = (size_t)(line->end - line->first);
    memcpy(walk->leaves, line->leaves, walk->count * HASH);
}

/* May a record stand here, and is it known which? */
static bool record_due(struct walk *walk)
{
    if (walk->at < walk->first || walk->at >= walk->end) {
        findings_add(walk->findings, AUDIT_TAMPERED,
                     "a record stands where record %llu would be, outside of what the "
                     "export promises",
                     number(walk->at));
        lose(walk);
        return false;
    }
    if (walk->lost || told_leaf(walk, walk->at))
        return true;
    findings_add(walk->findings, AUDIT_TAMPERED,
                 "the leaf hashes of record %llu and its block are missing",
                 number(walk->at));
    lose(walk);
    return true;
}

int64_t walk_record(struct walk *walk, const unsigned char hash[static HASH])
{
    uint64_t index = walk->at;
    if (walk->parted && was_inserted(walk, hash)) {
        frontier_push(&walk->read, hash);
        return (int64_t)walk->at - 1;
    }
    if (!record_due(walk))
        return -1;
    const unsigned char *due = told_leaf(walk, walk->at);
    if (!due || memcmp(due, hash, HASH) == 0)
        walk->at++;
    else
        index = part(walk, hash);
    if (!walk->lost)
        frontier_push(&walk->read, hash);
    return (int64_t)index;
}

/* ---- roots ---- */

static bool has_root(const struct frontier *tree, const unsigned char root[static HASH])
{
    unsigned char own[HASH];
    frontier_root(tree, own);
    return memcmp(own, root, HASH) == 0;
}

/* `told` is the told tree of that size on MATCH_TOLD. */
static enum match match_root(const struct walk *walk, uint64_t size,
                             const unsigned char root[static HASH],
                             struct frontier *told)
{
    if (walk->lost)
        return MATCH_LOST;
    bool is_read = walk->read.size == size;
    if (is_read && has_root(&walk->read, root))
        return MATCH_READ;
    bool is_told = walk->parted && told_at(walk, size, told);
    if (is_told && has_root(told, root))
        return MATCH_TOLD;
    return is_read || is_told ? MATCH_NONE : MATCH_AWAY;
}

enum match walk_compare(struct walk *walk, uint64_t size,
                        const unsigned char root[static HASH], const char *what)
{
    struct frontier told;
    enum match match = match_root(walk, size, root, &told);
    if (match != MATCH_READ && match != MATCH_TOLD)
        return match;
    if (match == MATCH_TOLD)
        tell_suspects(walk, what);
    else if (walk->parted)
        findings_add(walk->findings, AUDIT_TAMPERED,
                     "the leaf hashes from record %llu on were changed; the records "
                     "below %llu are as signed",
                     number(walk->suspects[0].first), number(size));
    if (walk->parted && size == walk->at)
        join(walk, match == MATCH_TOLD ? &told : &walk->read);
    if (size > walk->proven)
        walk->proven = size;
    return match;
}

void walk_refuse(struct walk *walk, uint64_t size, const char *what)
{
    uint64_t from = walk->proven > walk->first ? walk->proven : walk->first;
    tell_suspects(walk, "by its leaf hash, which is not proven itself");
    if (from < size && from < walk->end) {
        uint64_t to = size < walk->end ? size : walk->end;
        findings_bad(walk->findings, from, to);
        findings_add(walk->findings, AUDIT_TAMPERED,
                     "%s of size %llu has another root: something in the records %llu "
                     "to %llu, or a hash beside them, is not as signed",
                     what, number(size), number(from), number(to - 1));
    } else {
        findings_add(walk->findings, AUDIT_TAMPERED,
                     "%s of size %llu has another root: a hash beside the records is "
                     "not as signed",
                     what, number(size));
    }
    lose(walk);
}

void walk_finish(struct walk *walk)
{
    tell_suspects(walk, "by its leaf hash");
}

#include "core/keys.h"
#include "core/tlog.h"

#include "base/text.h"
#include "test.h"

#include <string.h>

/* ---- a naive tree: RFC 6962 §2.1 as it is written, by recursion ---- */

enum { LEAVES = 130, MANY = 70000 };

static unsigned char leaf_hashes[MANY][HASH];

static void start(void)
{
    static bool started;
    if (started)
        return;
    keys_start();
    tlog_start();
    for (uint32_t i = 0; i < MANY; i++)
        tlog_leaf(&i, sizeof(i), leaf_hashes[i]);
    started = true;
}

static size_t split(size_t leaves)
{
    size_t half = 1;
    while (2 * half < leaves)
        half *= 2;
    return half;
}

static void naive_root(size_t low, size_t high, unsigned char out[static HASH])
{
    unsigned char left[HASH], right[HASH];
    if (high == low) {
        tlog_sha256("", 0, out);
    } else if (high - low == 1) {
        memcpy(out, leaf_hashes[low], HASH);
    } else {
        size_t middle = low + split(high - low);
        naive_root(low, middle, left);
        naive_root(middle, high, right);
        tlog_node(left, right, out);
    }
}

struct proof {
    unsigned char hash[2 * TLOG_PROOF][HASH];
    size_t count;
};

static void naive_path(size_t index, size_t low, size_t high, struct proof *proof)
{
    if (high - low == 1)
        return;
    size_t middle = low + split(high - low);
    if (index < middle) {
        naive_path(index, low, middle, proof);
        naive_root(middle, high, proof->hash[proof->count++]);
    } else {
        naive_path(index, middle, high, proof);
        naive_root(low, middle, proof->hash[proof->count++]);
    }
}

static void naive_subproof(size_t from, size_t low, size_t high, bool whole,
                           struct proof *proof)
{
    if (from == high) {
        if (!whole)
            naive_root(low, high, proof->hash[proof->count++]);
        return;
    }
    size_t middle = low + split(high - low);
    if (from <= middle) {
        naive_subproof(from, low, middle, whole, proof);
        naive_root(middle, high, proof->hash[proof->count++]);
    } else {
        naive_subproof(from, middle, high, false, proof);
        naive_root(low, middle, proof->hash[proof->count++]);
    }
}

static bool naive_read(void *context, int level, uint64_t index,
                       unsigned char out[static HASH])
{
    const size_t *limit = context;
    size_t low = (size_t)index << level, high = (size_t)(index + 1) << level;
    if (limit && high > *limit)
        return false;
    naive_root(low, high, out);
    return true;
}

#define CONST(proof) ((const unsigned char(*)[HASH])(proof))

/* ---- hashes ---- */

static void eq_hex(const unsigned char hash[static HASH], const char *hex)
{
    char text[2 * HASH + 1];
    text_hex(hash, HASH, text);
    EQ_TEXT(text, hex);
}

static const char *const sha_texts[] = {
    "", "abc", "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
    "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
    "ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"};
static const char *const sha_hashes[] = {
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"};

static void eq_published(void)
{
    unsigned char hash[HASH];
    for (size_t i = 0; i < COUNT(sha_texts); i++) {
        CASE("%s", sha_texts[i]);
        tlog_sha256(sha_texts[i], strlen(sha_texts[i]), hash);
        eq_hex(hash, sha_hashes[i]);
    }
}

/* The first test of the file: before the start it is libsodium that hashes. */
TEST(sha256_gives_the_published_values_either_way)
{
    eq_published();
    start();
    eq_published();
}

TEST(sha256_of_pieces_is_that_of_the_whole)
{
    unsigned char bytes[400], whole[HASH], hash[HASH];
    start();
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)(i * 31);
    for (size_t size = 0; size < sizeof(bytes); size += 7) {
        tlog_sha256(bytes, size, whole);
        for (size_t cut = 0; cut <= size; cut++) {
            const struct piece pieces[] = {
                {bytes,           cut / 2      },
                {bytes + cut / 2, cut - cut / 2},
                {bytes + cut,     size - cut   }
            };
            sha256_pieces(pieces, COUNT(pieces), hash);
            CASE("%zu of %zu", cut, size);
            EQ_MEM(hash, whole, HASH);
        }
    }
}

/* The eight leaves of the Certificate Transparency reference tests. */
static const struct {
    const char *bytes;
    size_t size;
} reference[] = {
    {"",                                                                 0 },
    {"\x00",                                                             1 },
    {"\x10",                                                             1 },
    {"\x20\x21",                                                         2 },
    {"\x30\x31",                                                         2 },
    {"\x40\x41\x42\x43",                                                 4 },
    {"\x50\x51\x52\x53\x54\x55\x56\x57",                                 8 },
    {"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f", 16}
};

TEST(roots_are_those_of_rfc_6962)
{
    static const char *const roots[] = {
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"};
    struct frontier frontier = {.size = 0};
    unsigned char leaf[HASH], root[HASH];
    start();
    for (size_t size = 0; size < COUNT(roots); size++) {
        CASE("%zu leaves", size);
        frontier_root(&frontier, root);
        eq_hex(root, roots[size]);
        if (size == COUNT(reference))
            break;
        tlog_leaf(reference[size].bytes, reference[size].size, leaf);
        frontier_push(&frontier, leaf);
    }
}

TEST(a_leaf_is_never_taken_for_a_node)
{
    unsigned char bytes[1 + 2 * HASH] = {1}, leaf[HASH], node[HASH];
    start();
    memcpy(bytes + 1, leaf_hashes[0], HASH);
    memcpy(bytes + 1 + HASH, leaf_hashes[1], HASH);
    tlog_node(leaf_hashes[0], leaf_hashes[1], node);
    tlog_sha256(bytes, sizeof(bytes), leaf);
    EQ_MEM(leaf, node, HASH); /* without the prefix they would be the same */
    tlog_leaf(bytes, sizeof(bytes), leaf);
    OK(memcmp(leaf, node, HASH) != 0);
}

/* ---- the growing tree ---- */

TEST(frontier_follows_the_naive_tree)
{
    struct frontier frontier = {.size = 0};
    unsigned char root[HASH], naive[HASH];
    start();
    for (size_t size = 0; size <= 600; size++) {
        CASE("%zu leaves", size);
        frontier_root(&frontier, root);
        naive_root(0, size, naive);
        EQ_MEM(root, naive, HASH);
        EQ_INT(frontier.size, size);
        EQ_INT(frontier.height, __builtin_popcountll(size));
        frontier_push(&frontier, leaf_hashes[size]);
    }
}

TEST(subtrees_stand_for_their_leaves)
{
    unsigned char hash[HASH], root[HASH], naive[HASH];
    start();
    for (size_t first = 0; first <= LEAVES; first++) {
        struct frontier frontier = {.size = 0};
        for (int level = 10; level >= 0; level--) {
            if (!(first >> level & 1))
                continue;
            size_t low = (size_t)frontier.size;
            naive_root(low, low + ((size_t)1 << level), hash);
            frontier_push_subtree(&frontier, level, hash);
        }
        for (size_t i = first; i < LEAVES; i++)
            frontier_push(&frontier, leaf_hashes[i]);
        CASE("from %zu", first);
        frontier_root(&frontier, root);
        naive_root(0, LEAVES, naive);
        EQ_MEM(root, naive, HASH);
    }
    struct frontier odd = {.size = 0};
    frontier_push(&odd, leaf_hashes[0]);
    DIES(frontier_push_subtree(&odd, 1, hash)); /* would not be a tree */
}

struct tiles {
    struct tile_writer writer;
    uint64_t emitted[TILE_LEVELS];
    unsigned char level1[TILE_BYTES];
    bool refuse;
};

static bool keep_tile(void *context, int level, uint64_t index,
                      const unsigned char bytes[static TILE_BYTES])
{
    struct tiles *tiles = context;
    if (tiles->refuse)
        return false;
    EQ_INT(index, tiles->emitted[level]);
    tiles->emitted[level]++;
    if (level == 0)
        EQ_MEM(bytes, leaf_hashes[index * TILE_WIDTH], TILE_BYTES);
    if (level == 1)
        memcpy(tiles->level1, bytes, TILE_BYTES);
    return true;
}

TEST(tiles_are_full_levels_of_the_tree)
{
    static struct tiles tiles;
    unsigned char root[HASH], naive[HASH];
    start();
    tiles.writer.emit = keep_tile;
    tiles.writer.context = &tiles;
    struct frontier frontier = {.size = 0}, level1 = {.size = 0};
    for (size_t i = 0; i < MANY; i++) {
        OK(tiles_push(&tiles.writer, leaf_hashes[i]));
        frontier_push(&frontier, leaf_hashes[i]);
        EQ_INT(tiles.emitted[0], (i + 1) / TILE_WIDTH);
        EQ_INT(tiles.writer.width[0], (i + 1) % TILE_WIDTH);
    }
    EQ_INT(tiles.emitted[1], 1); /* 65536 leaves */
    EQ_INT(tiles.writer.width[1], MANY / TILE_WIDTH - TILE_WIDTH);
    EQ_INT(tiles.writer.width[2], 1);
    for (size_t i = 0; i < TILE_WIDTH; i++) {
        naive_root(i * TILE_WIDTH, (i + 1) * TILE_WIDTH, naive);
        EQ_MEM(tiles.level1 + i * HASH, naive, HASH);
        frontier_push(&level1, tiles.level1 + i * HASH);
    }
    frontier_root(&level1, root);
    EQ_MEM(root, tiles.writer.partial[2], HASH);
    EQ_MEM(root, frontier.stack[0], HASH);
}

TEST(a_tile_that_is_not_taken_stops_the_push)
{
    static struct tiles tiles = {.refuse = true};
    start();
    tiles.writer.emit = keep_tile;
    tiles.writer.context = &tiles;
    for (size_t i = 0; i + 1 < TILE_WIDTH; i++)
        OK(tiles_push(&tiles.writer, leaf_hashes[i]));
    NOT(tiles_push(&tiles.writer, leaf_hashes[TILE_WIDTH - 1]));
}

/* ---- proofs ---- */

TEST(inclusion_proofs_are_the_naive_ones)
{
    struct proof proof, naive;
    unsigned char root[HASH], at[HASH];
    start();
    for (size_t size = 1; size <= LEAVES; size++) {
        naive_root(0, size, root);
        OK(tlog_root_at(naive_read, NULL, size, at));
        EQ_MEM(at, root, HASH);
        for (size_t index = 0; index < size; index++) {
            CASE("%zu of %zu", index, size);
            naive.count = 0;
            naive_path(index, 0, size, &naive);
            OK(tlog_inclusion(naive_read, &size, index, size, proof.hash,
                              &proof.count));
            EQ_INT(proof.count, naive.count);
            EQ_MEM(proof.hash, naive.hash, naive.count * HASH);
            OK(tlog_check_inclusion(leaf_hashes[index], index, size, CONST(proof.hash),
                                    proof.count, root));
        }
    }
}

TEST(consistency_proofs_are_the_naive_ones)
{
    struct proof proof, naive;
    unsigned char old_root[HASH], new_root[HASH];
    start();
    for (size_t to = 1; to <= LEAVES; to++) {
        naive_root(0, to, new_root);
        for (size_t from = 1; from <= to; from++) {
            CASE("%zu to %zu", from, to);
            naive_root(0, from, old_root);
            naive.count = 0;
            if (from < to)
                naive_subproof(from, 0, to, true, &naive);
            OK(tlog_consistency(naive_read, &to, from, to, proof.hash, &proof.count));
            EQ_INT(proof.count, naive.count);
            EQ_MEM(proof.hash, naive.hash, naive.count * HASH);
            OK(tlog_check_consistency(from, old_root, to, new_root, CONST(proof.hash),
                                      proof.count));
        }
    }
}

TEST(changed_inclusion_proofs_are_refused)
{
    struct proof proof;
    unsigned char root[HASH];
    start();
    for (size_t size = 1; size <= 40; size++) {
        naive_root(0, size, root);
        for (size_t index = 0; index < size; index++) {
            const unsigned char *leaf = leaf_hashes[index];
            OK(tlog_inclusion(naive_read, NULL, index, size, proof.hash, &proof.count));
            CASE("%zu of %zu", index, size);
            size_t n = proof.count;
#define CHECK(index, size, n) \
    tlog_check_inclusion(leaf, (index), (size), CONST(proof.hash), (n), root)
            NOT(n && CHECK(index, size, n - 1));
            NOT(CHECK(index, size, n + 1));
            NOT(CHECK(size, size, n));
            NOT(CHECK(index ^ 1, size, n));
            NOT(CHECK(index, 0, n));
            NOT(CHECK(index, UINT64_MAX, n));
            NOT(CHECK(index, (uint64_t)1 << 63, n));
            for (size_t i = 0; i < n; i++) {
                proof.hash[i][i % HASH] ^= 4;
                NOT(CHECK(index, size, n));
                proof.hash[i][i % HASH] ^= 4;
            }
            OK(CHECK(index, size, n));
#undef CHECK
        }
    }
}

TEST(changed_consistency_proofs_are_refused)
{
    struct proof proof;
    unsigned char old_root[HASH], new_root[HASH];
    start();
    for (size_t to = 1; to <= 40; to++) {
        naive_root(0, to, new_root);
        for (size_t from = 1; from < to; from++) {
            naive_root(0, from, old_root);
            OK(tlog_consistency(naive_read, NULL, from, to, proof.hash, &proof.count));
            CASE("%zu to %zu", from, to);
            size_t n = proof.count;
#define CHECK(from, to, n) \
    tlog_check_consistency((from), old_root, (to), new_root, CONST(proof.hash), (n))
            NOT(CHECK(from, to, n - 1));
            NOT(CHECK(from, to, n + 1));
            NOT(CHECK(from, to, 0));
            NOT(CHECK(to, from, n));
            NOT(CHECK(from, (uint64_t)1 << 63, n));
            NOT(CHECK(from, UINT64_MAX, n));
            NOT(CHECK(0, to, n));
            for (size_t i = 0; i < n; i++) {
                proof.hash[i][i % HASH] ^= 4;
                NOT(CHECK(from, to, n));
                proof.hash[i][i % HASH] ^= 4;
            }
            old_root[7] ^= 1;
            NOT(CHECK(from, to, n));
            old_root[7] ^= 1;
            OK(CHECK(from, to, n));
#undef CHECK
        }
    }
}

TEST(impossible_proofs_are_not_made)
{
    struct proof proof = {.count = 77};
    unsigned char root[HASH], empty[HASH];
    size_t small = 3;
    start();
    NOT(tlog_inclusion(naive_read, NULL, 5, 5, proof.hash, &proof.count));
    NOT(tlog_inclusion(naive_read, NULL, 0, 0, proof.hash, &proof.count));
    NOT(tlog_inclusion(naive_read, NULL, 0, (uint64_t)1 << 63, proof.hash,
                       &proof.count));
    NOT(tlog_inclusion(naive_read, &small, 0, 8, proof.hash, &proof.count));
    NOT(tlog_consistency(naive_read, NULL, 6, 5, proof.hash, &proof.count));
    NOT(tlog_consistency(naive_read, &small, 2, 8, proof.hash, &proof.count));
    NOT(tlog_root_at(naive_read, &small, 8, root));
    NOT(tlog_root_at(naive_read, NULL, (uint64_t)1 << 63, root));
    EQ_INT(proof.count, 77); /* written on success only */

    naive_root(0, 0, empty);
    naive_root(0, 5, root);
    OK(tlog_consistency(naive_read, NULL, 0, 5, proof.hash, &proof.count));
    EQ_INT(proof.count, 0);
    OK(tlog_check_consistency(0, empty, 5, root, CONST(proof.hash), 0));
    NOT(tlog_check_consistency(0, root, 5, root, CONST(proof.hash), 0));
    OK(tlog_check_consistency(5, root, 5, root, CONST(proof.hash), 0));
    NOT(tlog_check_consistency(5, empty, 5, root, CONST(proof.hash), 0));
}

TEST(proofs_reach_across_tiles)
{
    static const size_t sizes[] = {255,  256,   257,   511,   513,
                                   4096, 65535, 65536, 65537, MANY};
    struct proof proof;
    unsigned char root[HASH], old_root[HASH];
    start();
    for (size_t i = 0; i < COUNT(sizes); i++) {
        size_t size = sizes[i];
        OK(tlog_root_at(naive_read, NULL, size, root));
        for (size_t index = 0; index < size; index += size / 5 + 1) {
            CASE("%zu of %zu", index, size);
            OK(tlog_inclusion(naive_read, NULL, index, size, proof.hash, &proof.count));
            OK(tlog_check_inclusion(leaf_hashes[index], index, size, CONST(proof.hash),
                                    proof.count, root));
            OK(tlog_root_at(naive_read, NULL, index + 1, old_root));
            OK(tlog_consistency(naive_read, NULL, index + 1, size, proof.hash,
                                &proof.count));
            OK(tlog_check_consistency(index + 1, old_root, size, root,
                                      CONST(proof.hash), proof.count));
        }
    }
}

#include "core/sha256.h"

#include "base/must.h"

#include <sodium.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

enum { BLOCK = 64, SELF_TEST_MAX = 300 };

/* ---- the portable way ---- */

static void with_sodium(const struct piece *pieces, size_t count,
                        unsigned char out[static HASH])
{
    crypto_hash_sha256_state state;
    (void)crypto_hash_sha256_init(&state); /* these three cannot fail */
    for (size_t i = 0; i < count; i++)
        (void)crypto_hash_sha256_update(&state, pieces[i].bytes, pieces[i].size);
    (void)crypto_hash_sha256_final(&state, out);
}

static void (*hash_pieces)(const struct piece *pieces, size_t count,
                           unsigned char out[static HASH]) = with_sodium;

/* ---- the processor's way: four times as fast ---- */

#if defined(__x86_64__)

#define WITH_SHA __attribute__((target("sha,sse4.1,ssse3")))

static const uint32_t round_keys[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
    0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
    0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
    0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
    0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
    0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
    0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
    0xc67178f2,
};

static const uint32_t initial[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

/* The words in the order in which the instructions want them: ABEF and CDGH. */
struct lanes {
    __m128i abef, cdgh;
};

WITH_SHA static __m128i load(const void *bytes)
{
    return _mm_loadu_si128((const __m128i *)bytes);
}

WITH_SHA static struct lanes lanes_start(void)
{
    __m128i cdab = _mm_shuffle_epi32(load(initial), 0xb1);
    __m128i efgh = _mm_shuffle_epi32(load(initial + 4), 0x1b);
    return (struct lanes){.abef = _mm_alignr_epi8(cdab, efgh, 8),
                          .cdgh = _mm_blend_epi16(efgh, cdab, 0xf0)};
}

WITH_SHA static void lanes_end(struct lanes lanes, unsigned char out[static HASH])
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
    __m128i feba = _mm_shuffle_epi32(lanes.abef, 0x1b);
    __m128i dchg = _mm_shuffle_epi32(lanes.cdgh, 0xb1);
    __m128i dcba = _mm_blend_epi16(feba, dchg, 0xf0);
    __m128i hgfe = _mm_alignr_epi8(dchg, feba, 8);
    _mm_storeu_si128((__m128i *)out, _mm_shuffle_epi8(dcba, swap));
    _mm_storeu_si128((__m128i *)(out + 16), _mm_shuffle_epi8(hgfe, swap));
}

WITH_SHA static struct lanes one_block(struct lanes lanes, const unsigned char *block)
{
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0bLL, 0x0405060700010203LL);
    __m128i abef = lanes.abef, cdgh = lanes.cdgh, words[4];
#pragma GCC unroll 16
    for (size_t i = 0; i < 16; i++) { /* four rounds; words[]: the schedule's tail */
        if (i < 4)
            words[i] = _mm_shuffle_epi8(load(block + 16 * i), swap);
        __m128i keyed = _mm_add_epi32(words[i & 3], load(round_keys + 4 * i));
        cdgh = _mm_sha256rnds2_epu32(cdgh, abef, keyed);
        abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(keyed, 0x0e));
        if (i < 3 || i == 15)
            continue;
        __m128i sum = _mm_sha256msg1_epu32(words[(i + 1) & 3], words[(i + 2) & 3]);
        sum = _mm_add_epi32(sum, _mm_alignr_epi8(words[i & 3], words[(i + 3) & 3], 4));
        words[(i + 1) & 3] = _mm_sha256msg2_epu32(sum, words[i & 3]);
    }
    return (struct lanes){.abef = _mm_add_epi32(abef, lanes.abef),
                          .cdgh = _mm_add_epi32(cdgh, lanes.cdgh)};
}

/* What did not fill a block yet. */
struct rest {
    unsigned char bytes[2 * BLOCK];
    size_t size;
};

WITH_SHA static struct lanes feed(struct lanes lanes, struct rest *rest,
                                  const struct piece *piece)
{
    const unsigned char *at = piece->bytes;
    size_t left = piece->size;
    if (rest->size) {
        size_t take = BLOCK - rest->size < left ? BLOCK - rest->size : left;
        memcpy(rest->bytes + rest->size, at, take);
        rest->size += take;
        at += take;
        left -= take;
        if (rest->size < BLOCK)
            return lanes;
        lanes = one_block(lanes, rest->bytes);
        rest->size = 0;
    }
    for (; left >= BLOCK; at += BLOCK, left -= BLOCK)
        lanes = one_block(lanes, at);
    if (left)
        memcpy(rest->bytes, at, left);
    rest->size = left;
    return lanes;
}

WITH_SHA static void with_extensions(const struct piece *pieces, size_t count,
                                     unsigned char out[static HASH])
{
    struct rest rest = {.size = 0};
    struct lanes lanes = lanes_start();
    uint64_t total = 0;
    for (size_t i = 0; i < count; i++) {
        if (!pieces[i].size)
            continue;
        total += pieces[i].size;
        lanes = feed(lanes, &rest, &pieces[i]);
    }
    size_t padded = rest.size < BLOCK - 8 ? BLOCK : 2 * BLOCK;
    memset(rest.bytes + rest.size, 0, padded - rest.size);
    rest.bytes[rest.size] = 0x80;
    uint64_t bits = __builtin_bswap64(8 * total);
    memcpy(rest.bytes + padded - sizeof(bits), &bits, sizeof(bits));
    for (size_t at = 0; at < padded; at += BLOCK)
        lanes = one_block(lanes, rest.bytes + at);
    lanes_end(lanes, out);
}

static bool have_extensions(void)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_SSE4_1) || !(c & bit_SSSE3))
        return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_SHA);
}

/* Every way to end in a block, in two pieces. */
static void check_extensions(void)
{
    unsigned char bytes[SELF_TEST_MAX], ours[HASH], theirs[HASH];
    for (size_t i = 0; i < sizeof(bytes); i++)
        bytes[i] = (unsigned char)(i * 167 + 13);
    for (size_t size = 0; size <= sizeof(bytes); size++) {
        const struct piece pieces[] = {
            {bytes,            size / 3       },
            {bytes + size / 3, size - size / 3}
        };
        with_extensions(pieces, COUNT(pieces), ours);
        with_sodium(pieces, COUNT(pieces), theirs);
        must(memcmp(ours, theirs, HASH) == 0);
    }
}

static bool use_extensions(void)
{
    if (!have_extensions())
        return false;
    check_extensions();
    hash_pieces = with_extensions;
    return true;
}

#else

static bool use_extensions(void)
{
    return false;
}

#endif

/* FIPS 180-4's "abc": both ways against something that neither made up. */
bool sha256_start(void)
{
    static const unsigned char abc[HASH] = {
        0xba, 0x78, 0x16, 0xbf, 0x8f, 0x01, 0xcf, 0xea, 0x41, 0x41, 0x40,
        0xde, 0x5d, 0xae, 0x22, 0x23, 0xb0, 0x03, 0x61, 0xa3, 0x96, 0x17,
        0x7a, 0x9c, 0xb4, 0x10, 0xff, 0x61, 0xf2, 0x00, 0x15, 0xad};
    const struct piece piece = {"abc", 3};
    unsigned char hash[HASH];
    with_sodium(&piece, 1, hash);
    must(memcmp(hash, abc, HASH) == 0);
    bool extensions = use_extensions();
    sha256_pieces(&piece, 1, hash);
    must(memcmp(hash, abc, HASH) == 0);
    return extensions;
}

void sha256_pieces(const struct piece *pieces, size_t count,
                   unsigned char out[static HASH])
{
    hash_pieces(pieces, count, out);
}

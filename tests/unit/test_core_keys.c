#include "core/keys.h"

#include "base/text.h"
#include "test.h"

#include <pthread.h>
#include <string.h>

/* Calls keys_start; the rest of the file may assume that it was. */
TEST(gateway_keys_look_like_those_of_e2b)
{
    char text[KEY_TEXT], again[KEY_TEXT], id[KEY_ID], parsed[KEY_ID];
    keys_start();
    keys_start(); /* twice is fine */
    gateway_key_mint(text, id);
    EQ_INT(strlen(text), 44);
    OK(text_starts(text, "e2b_"));
    EQ_INT(strspn(text + 4, "0123456789abcdef"), 40);
    EQ_INT(strlen(id), 8);
    EQ_MEM(id, text + 4, 8);
    OK(gateway_key_parse(text, strlen(text), parsed));
    EQ_TEXT(parsed, id);
    gateway_key_mint(again, id);
    OK(strcmp(text, again) != 0);
}

TEST(gateway_keys_have_one_shape)
{
    static const char *const bad[] = {
        "",
        "e2b_",
        "e2b_0123456789abcdef0123456789abcdef0123456",
        "e2b_0123456789abcdef0123456789abcdef012345678",
        "e2b_0123456789ABCDEF0123456789abcdef01234567",
        "E2b_0123456789abcdef0123456789abcdef01234567",
        "e2b-0123456789abcdef0123456789abcdef01234567",
        "e2b_0123456789abcdef0123456789abcdeg01234567",
        " 2b_0123456789abcdef0123456789abcdef01234567",
        "e2b_0123456789abcdef0123456789abcdef0123456\n",
    };
    static const char good[] = "e2b_0123456789abcdef0123456789abcdef01234567";
    char id[KEY_ID] = "kept";
    keys_start();
    for (size_t i = 0; i < COUNT(bad); i++) {
        CASE("%s", bad[i]);
        NOT(gateway_key_parse(bad[i], strlen(bad[i]), id));
    }
    NOT(gateway_key_parse(good, sizeof(good), id)); /* its NUL is one too many */
    EQ_TEXT(id, "kept");
    OK(gateway_key_parse(good, sizeof(good) - 1, id));
    EQ_TEXT(id, "01234567");
}

TEST(ids_sort_by_time)
{
    char last[ID_TEXT] = "", id[ID_TEXT];
    static const int64_t times[] = {
        -5, 0, 1, 35, 36, 1295, 1296, 1767225645678, 1767225645679, 101559956668415};
    keys_start();
    for (size_t i = 0; i < COUNT(times); i++) {
        keys_id("apr_", times[i], id);
        CASE("%lld", (long long)times[i]);
        EQ_INT(strlen(id), 24);
        OK(text_starts(id, "apr_"));
        EQ_INT(strspn(id + 4, "0123456789abcdefghijklmnopqrstuvwxyz"), 20);
        if (i > 1) /* before 1970 counts as 1970 */
            OK(memcmp(last, id, 13) < 0);
        memcpy(last, id, sizeof(id));
    }
    keys_id("", 7, id);
    EQ_INT(strlen(id), 20);
    DIES(keys_id("a_prefix_too_long_", 7, id));
}

enum { THREADS = 4, IDS = 500 };
static char made[THREADS][IDS][ID_TEXT];

static void *make_ids(void *context)
{
    char(*ids)[ID_TEXT] = context;
    for (size_t i = 0; i < IDS; i++)
        keys_id("x_", 1767225645678, ids[i]);
    return NULL;
}

TEST(ids_of_one_millisecond_differ_on_every_thread)
{
    pthread_t threads[THREADS];
    const char(*all)[ID_TEXT] = made[0];
    keys_start();
    for (size_t i = 0; i < THREADS; i++)
        must(pthread_create(&threads[i], NULL, make_ids, made[i]) == 0);
    for (size_t i = 0; i < THREADS; i++)
        must(pthread_join(threads[i], NULL) == 0);
    for (size_t i = 0; i < (size_t)THREADS * IDS; i++)
        for (size_t k = 0; k < i; k++)
            OK(strcmp(all[i], all[k]) != 0);
}

TEST(derived_keys_differ_by_purpose_and_master)
{
    unsigned char master[MASTER_KEY] = {1}, other[MASTER_KEY] = {2};
    unsigned char a[32], b[32], zero[32] = {0};
    keys_start();
    keys_derive(master, "redact", a);
    keys_derive(master, "redact", b);
    EQ_MEM(a, b, 32);
    OK(memcmp(a, zero, 32) != 0 && memcmp(a, master, 32) != 0);
    keys_derive(master, "redac", b);
    OK(memcmp(a, b, 32) != 0);
    keys_derive(other, "redact", b);
    OK(memcmp(a, b, 32) != 0);
}

TEST(keyed_hashes_are_blake2b)
{
    unsigned char key[32], hash[KEY_HASH], digest[32];
    char text[32], other[32], hex[65];
    keys_start();
    for (size_t i = 0; i < sizeof(key); i++)
        key[i] = (unsigned char)i;
    /* b2sum -l 256, and python's hashlib.blake2b(b"abc", key=.., digest_size=32) */
    keys_digest("abc", 3, digest);
    text_hex(digest, 32, hex);
    EQ_TEXT(hex, "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319");
    keys_digest("", 0, digest);
    text_hex(digest, 32, hex);
    EQ_TEXT(hex, "0e5751c026e543b2e8ab2eb06099daa1d1e5df47778f7787faab45cdf12fe3a8");
    keys_hash(key, "abc", 3, hash);
    text_hex(hash, 32, hex);
    EQ_TEXT(hex, "d63a32d3e44738d7907f964316c241adaba0abfeabc32349677578a15a203f7f");
    keys_hash_text(key, "abc", 3, text);
    EQ_INT(strlen(text), 25);
    EQ_TEXT(text, "h1:1joy0-RHONeQf5ZDFsJBrQ");
    keys_hash_text(key, "abd", 3, other);
    OK(strcmp(text, other) != 0);
}

TEST(what_is_sealed_opens_only_with_its_key_and_context)
{
    static const size_t sizes[] = {0, 1, 15, 64, 1000};
    unsigned char key[SEAL_KEY], other[SEAL_KEY];
    char bytes[1000];
    keys_start();
    keys_random(key, sizeof(key));
    memcpy(other, key, sizeof(key));
    other[31] ^= 1;
    memset(bytes, 'x', sizeof(bytes));
    for (size_t i = 0; i < COUNT(sizes); i++) {
        own_buf box = BUF(2000), out = BUF(2000);
        CASE("%zu bytes", sizes[i]);
        buf_text(&out, "before ");
        OK(keys_seal(key, "apr_1", bytes, sizes[i], &box));
        EQ_INT(box.size, sizes[i] + SEAL_EXTRA);
        NOT(keys_open(other, "apr_1", box.data, box.size, &out));
        NOT(keys_open(key, "apr_2", box.data, box.size, &out));
        NOT(keys_open(key, "apr_", box.data, box.size, &out));
        NOT(keys_open(key, "apr_1", box.data, box.size - 1, &out));
        NOT(keys_open(key, "apr_1", box.data, SEAL_EXTRA - 1, &out));
        for (size_t at = 0; at < box.size; at++) {
            box.data[at] ^= 0x20;
            NOT(keys_open(key, "apr_1", box.data, box.size, &out));
            box.data[at] ^= 0x20;
        }
        EQ_TEXT(out.data, "before "); /* untouched by what failed */
        OK(keys_open(key, "apr_1", box.data, box.size, &out));
        EQ_INT(out.size, 7 + sizes[i]);
        EQ_MEM(out.data + 7, bytes, sizes[i]);
    }
}

TEST(a_seal_never_looks_the_same_twice)
{
    unsigned char key[SEAL_KEY] = {7};
    own_buf a = BUF(200), b = BUF(200), small = BUF(SEAL_EXTRA + 2);
    keys_start();
    OK(keys_seal(key, "c", "same", 4, &a));
    OK(keys_seal(key, "c", "same", 4, &b));
    OK(memcmp(a.data, b.data, a.size) != 0);
    NOT(keys_seal(key, "c", "abc", 3, &small)); /* the cap holds */
    OK(small.failed);
}

TEST(secret_memory_is_zeroed_compared_and_wiped)
{
    unsigned char a[40] = {0}, b[40] = {0};
    keys_start();
    unsigned char *secret = keys_alloc(40);
    NOT_NULL(secret);
    EQ_MEM(secret, a, 40);
    keys_random(secret, 40);
    NOT(keys_same(secret, a, 40));
    memcpy(b, secret, 40);
    OK(keys_same(secret, b, 40));
    b[39] ^= 1;
    NOT(keys_same(secret, b, 40));
    OK(keys_same(secret, b, 39));
    keys_wipe(b, 40);
    EQ_MEM(b, a, 40);
    keys_free(secret);
    keys_free(NULL);
}

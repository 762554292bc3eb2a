#include "core/keys.h"

#include "base/must.h"
#include "base/text.h"

#include <sodium.h>
#include <string.h>

enum {
    KEY_SECRET = 20, /* random bytes behind "e2b_" */
    NONCE = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
    TAG = crypto_aead_xchacha20poly1305_ietf_ABYTES,
    HASH_SHOWN = 16, /* bytes of a keyed hash that records and cards show */
    ID_TIME = 9,     /* 36^9 ms reach the year 5188 */
    ID_SIZE = 20,
};

_Static_assert(NONCE + TAG == SEAL_EXTRA, "box");
_Static_assert(SEAL_KEY == crypto_aead_xchacha20poly1305_ietf_KEYBYTES, "key");

static const char gateway_prefix[] = "e2b_";
static const char id_digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";

void keys_start(void)
{
    must(sodium_init() >= 0);
}

void keys_random(void *bytes, size_t size)
{
    randombytes_buf(bytes, size);
}

void keys_wipe(void *bytes, size_t size)
{
    sodium_memzero(bytes, size);
}

bool keys_same(const void *a, const void *b, size_t size)
{
    return sodium_memcmp(a, b, size) == 0;
}

void keys_id(const char *prefix, int64_t wall_ms, char out[static ID_TEXT])
{
    size_t start = strlen(prefix);
    must(start + ID_SIZE < ID_TEXT);
    (void)text_copy(out, ID_TEXT, prefix); /* fits */
    char *digits = out + start;
    uint64_t time = wall_ms > 0 ? (uint64_t)wall_ms : 0;
    for (int i = ID_TIME - 1; i >= 0; i--, time /= 36)
        digits[i] = id_digits[time % 36];
    uint64_t
        chance; /* 36^11 goes into it 140 times: even enough, and one system call */
    randombytes_buf(&chance, sizeof(chance));
    for (int i = ID_TIME; i < ID_SIZE; i++, chance /= 36)
        digits[i] = id_digits[chance % 36];
    digits[ID_SIZE] = '\0';
}

/* ---- gateway keys ---- */

static void public_id(const char *text, char id[static KEY_ID])
{
    memcpy(id, text + sizeof(gateway_prefix) - 1, KEY_ID - 1);
    id[KEY_ID - 1] = '\0';
}

void gateway_key_mint(char text[static KEY_TEXT], char id[static KEY_ID])
{
    unsigned char secret[KEY_SECRET];
    randombytes_buf(secret, sizeof(secret));
    memcpy(text, gateway_prefix, sizeof(gateway_prefix));
    text_hex(secret, sizeof(secret), text + sizeof(gateway_prefix) - 1);
    sodium_memzero(secret, sizeof(secret));
    public_id(text, id);
}

bool gateway_key_parse(const char *text, size_t size, char id[static KEY_ID])
{
    size_t prefix = sizeof(gateway_prefix) - 1;
    if (size != KEY_TEXT - 1 || memcmp(text, gateway_prefix, prefix) != 0)
        return false;
    for (size_t i = prefix; i < size; i++)
        if (!(text[i] >= '0' && text[i] <= '9') && !(text[i] >= 'a' && text[i] <= 'f'))
            return false;
    public_id(text, id);
    return true;
}

/* ---- hashes ---- */

void keys_derive(const unsigned char master[static MASTER_KEY], const char *purpose,
                 unsigned char out[static 32])
{
    crypto_generichash_state state;
    static const char domain[] = "sandgate-derive-v1";             /* its NUL ends it */
    (void)crypto_generichash_init(&state, master, MASTER_KEY, 32); /* cannot fail */
    (void)crypto_generichash_update(&state, (const unsigned char *)domain,
                                    sizeof(domain));
    (void)crypto_generichash_update(&state, (const unsigned char *)purpose,
                                    strlen(purpose));
    (void)crypto_generichash_final(&state, out, 32);
    sodium_memzero(&state, sizeof(state));
}

void keys_hash(const unsigned char key[static 32], const void *bytes, size_t size,
               unsigned char out[static KEY_HASH])
{
    must(crypto_generichash(out, KEY_HASH, bytes, size, key, 32) == 0);
}

void keys_hash_text(const unsigned char key[static 32], const void *bytes, size_t size,
                    char out[static 32])
{
    unsigned char hash[KEY_HASH];
    keys_hash(key, bytes, size, hash);
    (void)text_copy(out, 32, "h1:"); /* fits */
    (void)sodium_bin2base64(out + 3, 32 - 3, hash, HASH_SHOWN,
                            sodium_base64_VARIANT_URLSAFE_NO_PADDING);
}

void keys_digest(const void *bytes, size_t size, unsigned char out[static 32])
{
    must(crypto_generichash(out, 32, bytes, size, NULL, 0) == 0);
}

/* ---- sealing ---- */

static const unsigned char *bytes_of(const char *text)
{
    return (const unsigned char *)text;
}

bool keys_seal(const unsigned char key[static SEAL_KEY], const char *context,
               const void *bytes, size_t size, struct buf *out)
{
    if (size > SIZE_MAX - SEAL_EXTRA || !buf_reserve(out, size + SEAL_EXTRA))
        return false;
    unsigned char *nonce = (unsigned char *)out->data + out->size;
    randombytes_buf(nonce, NONCE); /* 24 random bytes do not repeat */
    must(crypto_aead_xchacha20poly1305_ietf_encrypt(nonce + NONCE, NULL, bytes, size,
                                                    bytes_of(context), strlen(context),
                                                    NULL, nonce, key)
         == 0);
    out->size += size + SEAL_EXTRA;
    out->data[out->size] = '\0';
    return true;
}

bool keys_open(const unsigned char key[static SEAL_KEY], const char *context,
               const void *box, size_t size, struct buf *out)
{
    const unsigned char *nonce = box;
    if (size < SEAL_EXTRA || !buf_reserve(out, size - SEAL_EXTRA))
        return false;
    unsigned char *text = (unsigned char *)out->data + out->size;
    if (crypto_aead_xchacha20poly1305_ietf_decrypt(text, NULL, NULL, nonce + NONCE,
                                                   size - NONCE, bytes_of(context),
                                                   strlen(context), nonce, key)
        != 0) {
        out->data[out->size] = '\0';
        return false;
    }
    out->size += size - SEAL_EXTRA;
    out->data[out->size] = '\0';
    return true;
}

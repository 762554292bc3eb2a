#include "core/note.h"

#include "base/must.h"
#include "base/text.h"
#include "core/tlog.h"

#include <sodium.h>
#include <string.h>

enum {
    KEY_ID_BYTES = 4,
    ED25519 = 1, /* signature type of the C2SP note format */
    ROOT_TEXT = 44,
    SIZE_TEXT = 20,
    TEXT_MAX = TLOG_ORIGIN + SIZE_TEXT + ROOT_TEXT + 4,
};

/* An em dash and a blank open a signature line. */
static const char signature_mark[] = "\xe2\x80\x94 ";

_Static_assert(TLOG_SEED == crypto_sign_SEEDBYTES, "seed");
_Static_assert(TLOG_PUBLIC == crypto_sign_PUBLICKEYBYTES, "public key");
_Static_assert(TLOG_SECRET == crypto_sign_SECRETKEYBYTES, "secret key");
_Static_assert(TLOG_SIGNATURE == crypto_sign_BYTES, "signature");

void tlog_key_from_seed(const unsigned char seed[static TLOG_SEED],
                        unsigned char public_key[static TLOG_PUBLIC],
                        unsigned char secret[static TLOG_SECRET])
{
    must(crypto_sign_seed_keypair(public_key, secret, seed) == 0);
}

/* ---- verifier keys ---- */

static bool name_valid(const char *name, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (name[i] <= ' ' || name[i] > '~' || name[i] == '+')
            return false;
    return size > 0 && size < TLOG_ORIGIN;
}

bool note_name_valid(const char *origin)
{
    return name_valid(origin, strlen(origin));
}

static void key_id(const char *name, const unsigned char public_key[static TLOG_PUBLIC],
                   unsigned char id[static KEY_ID_BYTES])
{
    unsigned char hash[HASH];
    const struct piece pieces[] = {
        {name,       strlen(name)},
        {"\n\x01",   2           },
        {public_key, TLOG_PUBLIC }
    };
    sha256_pieces(pieces, COUNT(pieces), hash);
    memcpy(id, hash, KEY_ID_BYTES);
}

bool vkey_write(const char *name, const unsigned char public_key[static TLOG_PUBLIC],
                struct buf *out)
{
    unsigned char id[KEY_ID_BYTES], data[1 + TLOG_PUBLIC] = {ED25519};
    char hex[2 * KEY_ID_BYTES + 1];
    must(note_name_valid(name));
    key_id(name, public_key, id);
    text_hex(id, sizeof(id), hex);
    memcpy(data + 1, public_key, TLOG_PUBLIC);
    buf_printf(out, "%s+%s+", name, hex);
    return text_base64(out, data, sizeof(data));
}

bool vkey_read(const char *text, char name[static TLOG_ORIGIN],
               unsigned char public_key[static TLOG_PUBLIC])
{
    char origin[TLOG_ORIGIN];
    own_buf data = BUF(1 + TLOG_PUBLIC), again = BUF((size_t)2 * TLOG_ORIGIN);
    size_t size = strcspn(text, "+");
    const char *hex = text + size + 1, *plus = text[size] ? strchr(hex, '+') : NULL;
    if (!plus || !name_valid(text, size)
        || !text_unbase64(&data, plus + 1, strlen(plus + 1))
        || data.size != 1 + TLOG_PUBLIC || data.data[0] != ED25519)
        return false;
    memcpy(origin, text, size);
    origin[size] = '\0';
    const unsigned char *key = (const unsigned char *)data.data + 1;
    if (!vkey_write(origin, key, &again) || !text_same(again.data, text))
        return false;
    memcpy(name, origin, size + 1);
    memcpy(public_key, key, TLOG_PUBLIC);
    return true;
}

/* ---- writing ---- */

static void write_head(const struct checkpoint *head, struct buf *out)
{
    buf_printf(out, "%s\n%llu\n", head->origin, (unsigned long long)head->size);
    text_base64(out, head->root, HASH);
    buf_char(out, '\n');
}

bool checkpoint_sign(const struct checkpoint *checkpoint,
                     const unsigned char secret[static TLOG_SECRET],
                     const unsigned char public_key[static TLOG_PUBLIC],
                     struct buf *out)
{
    unsigned char signature[KEY_ID_BYTES + TLOG_SIGNATURE];
    own_buf text = BUF(TEXT_MAX);
    must(note_name_valid(checkpoint->origin) && checkpoint->size <= INT64_MAX);
    write_head(checkpoint, &text);
    if (text.failed)
        return false;
    key_id(checkpoint->origin, public_key, signature);
    (void)crypto_sign_detached(signature + KEY_ID_BYTES, NULL,
                               (const unsigned char *)text.data, text.size,
                               secret); /* cannot fail */
    buf_add(out, text.data, text.size);
    buf_printf(out, "\n%s%s ", signature_mark, checkpoint->origin);
    text_base64(out, signature, sizeof(signature));
    return buf_char(out, '\n');
}

/* ---- reading ---- */

/* Moves past one line and gives it without its newline. */
static bool take_line(const char **at, const char *end, const char **line, size_t *size)
{
    const char *newline = memchr(*at, '\n', (size_t)(end - *at));
    if (!newline)
        return false;
    *line = *at;
    *size = (size_t)(newline - *at);
    *at = newline + 1;
    return true;
}

static bool read_origin(const char *line, size_t size, struct checkpoint *head)
{
    if (!name_valid(line, size))
        return false;
    memcpy(head->origin, line, size);
    head->origin[size] = '\0';
    return true;
}

static bool read_size(const char *line, size_t size, struct checkpoint *head)
{
    char digits[SIZE_TEXT + 1];
    int64_t number;
    if (size >= sizeof(digits) || memchr(line, '\0', size))
        return false;
    memcpy(digits, line, size);
    digits[size] = '\0';
    if (!text_int(digits, 0, INT64_MAX, &number))
        return false;
    head->size = (uint64_t)number;
    return true;
}

static bool read_root(const char *line, size_t size, struct checkpoint *head)
{
    own_buf root = BUF(HASH);
    if (!text_unbase64(&root, line, size) || root.size != HASH)
        return false;
    memcpy(head->root, root.data, HASH);
    return true;
}

/* Three lines and the blank one: extension lines are refused, nobody vouches for them.
 */
static bool read_head(const char **at, const char *end, struct checkpoint *head)
{
    static bool (*const readers[])(const char *line, size_t size,
                                   struct checkpoint *head) = {read_origin, read_size,
                                                               read_root};
    const char *line;
    size_t size;
    for (size_t i = 0; i < COUNT(readers); i++)
        if (!take_line(at, end, &line, &size) || !readers[i](line, size, head))
            return false;
    return take_line(at, end, &line, &size) && size == 0;
}

/* Whose signatures count, and over what. */
struct verifier {
    const char *name;
    const unsigned char *public_key;
    unsigned char id[KEY_ID_BYTES];
    const char *text;
    size_t size;
    bool good, bad; /* found so far */
};

static void judge(struct verifier *verifier, const struct buf *signature)
{
    const unsigned char *bytes = (const unsigned char *)signature->data;
    bool good = signature->size == KEY_ID_BYTES + TLOG_SIGNATURE
                && crypto_sign_verify_detached(bytes + KEY_ID_BYTES,
                                               (const unsigned char *)verifier->text,
                                               verifier->size, verifier->public_key)
                       == 0;
    verifier->good |= good;
    verifier->bad |= !good;
}

/* "— name base64(id, signature)"; false when it is not of this form. */
static bool read_signature(const char *line, size_t size, struct verifier *verifier)
{
    size_t mark = sizeof(signature_mark) - 1;
    if (size < mark || memcmp(line, signature_mark, mark) != 0)
        return false;
    const char *name = line + mark, *end = line + size;
    const char *blank = memchr(name, ' ', (size_t)(end - name));
    own_buf signature = BUF(NOTE_MAX);
    if (!blank || !name_valid(name, (size_t)(blank - name))
        || !text_unbase64(&signature, blank + 1, (size_t)(end - blank - 1))
        || signature.size <= KEY_ID_BYTES)
        return false;
    size_t name_size = (size_t)(blank - name);
    if (name_size == strlen(verifier->name)
        && memcmp(name, verifier->name, name_size) == 0
        && memcmp(signature.data, verifier->id, KEY_ID_BYTES) == 0)
        judge(verifier, &signature);
    return true;
}

enum note_check checkpoint_open(const char *note, size_t size, const char *key_name,
                                const unsigned char public_key[static TLOG_PUBLIC],
                                struct checkpoint *checkpoint)
{
    struct checkpoint head;
    const char *at = note, *end = note + size, *line;
    size_t lines = 0, length;
    if (size > NOTE_MAX || !read_head(&at, end, &head))
        return NOTE_MALFORMED;
    struct verifier verifier = {.name = key_name,
                                .public_key = public_key,
                                .text = note,
                                .size =
                                    (size_t)(at - note) - 1}; /* not the blank one */
    key_id(key_name, public_key, verifier.id);
    while (at < end)
        if (++lines > NOTE_SIGNATURES || !take_line(&at, end, &line, &length)
            || !read_signature(line, length, &verifier))
            return NOTE_MALFORMED;
    if (lines == 0)
        return NOTE_MALFORMED;
    if (verifier.bad)
        return NOTE_BAD_SIGNATURE;
    if (!verifier.good)
        return NOTE_UNKNOWN_KEY;
    *checkpoint = head;
    return NOTE_GOOD;
}

/* ---- seals ---- */

static void seal_text(const struct checkpoint *head, struct buf *out)
{
    buf_text(out, "sandgate-seal-v1\n");
    write_head(head, out);
    must(!out->failed); /* the cap fits; without memory there is nothing to sign */
}

void seal_sign(const struct checkpoint *head,
               const unsigned char secret[static TLOG_SECRET],
               unsigned char seal[static TLOG_SIGNATURE])
{
    own_buf text = BUF(TEXT_MAX + 32);
    seal_text(head, &text);
    (void)crypto_sign_detached(seal, NULL, (const unsigned char *)text.data, text.size,
                               secret); /* cannot fail */
}

bool seal_check(const struct checkpoint *head,
                const unsigned char public_key[static TLOG_PUBLIC],
                const unsigned char seal[static TLOG_SIGNATURE])
{
    own_buf text = BUF(TEXT_MAX + 32);
    seal_text(head, &text);
    return crypto_sign_verify_detached(seal, (const unsigned char *)text.data,
                                       text.size, public_key)
           == 0;
}

#include "core/keys.h"
#include "core/note.h"
#include "core/tlog.h"

#include "base/text.h"
#include "test.h"

#include <string.h>

/* Made with golang.org/x/mod/sumdb/note from the seed 0, 1, .. 31. */
static const char name[] = "sandgate.example/log";
static const char vkey[] =
    "sandgate.example/log+a841fa60+AQOhB7/zzhC+HXDdGOdLwJln5NYwm6UN"
    "Xx3chmQSVTG4";
#define HEAD                     \
    "sandgate.example/log\n42\n" \
    "SBNJTRN+FjG7owHVrKtue7eqdM4RhdRWVl71HXN2d7I=\n"
#define SIGNATURE                                                                      \
    "\xe2\x80\x94 sandgate.example/log qEH6YIqutddbrWlbxaETLktJqk7eomGM3e5s7s5KEbxuq4" \
    "cdYx/1WAKIeJcqWhYkL0w7QKrMLDZZXCy1uCloGgyQMA8=\n"
#define OTHER "\xe2\x80\x94 witness.example/w AAAAAAAA\n"
static const char note[] = HEAD "\n" SIGNATURE;

static unsigned char public_key[TLOG_PUBLIC], secret[TLOG_SECRET];

static void start(void)
{
    unsigned char seed[TLOG_SEED];
    keys_start();
    tlog_start();
    for (size_t i = 0; i < sizeof(seed); i++)
        seed[i] = (unsigned char)i;
    tlog_key_from_seed(seed, public_key, secret);
}

static struct checkpoint head(void)
{
    struct checkpoint checkpoint = {.size = 42};
    (void)text_copy(checkpoint.origin, sizeof(checkpoint.origin), name);
    tlog_sha256("root", 4, checkpoint.root);
    return checkpoint;
}

TEST(verifier_keys_are_those_of_go)
{
    own_buf out = BUF(256);
    char read_name[TLOG_ORIGIN];
    unsigned char key[TLOG_PUBLIC];
    start();
    OK(vkey_write(name, public_key, &out));
    EQ_TEXT(out.data, vkey);
    OK(vkey_read(vkey, read_name, key));
    EQ_TEXT(read_name, name);
    EQ_MEM(key, public_key, TLOG_PUBLIC);
    OK(vkey_read("PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
                 read_name, key)); /* the note package's own example */
    EQ_TEXT(read_name, "PeterNeumann");
}

TEST(verifier_keys_have_one_spelling)
{
    static const char *const bad[] = {
        "",
        "a",
        "a+",
        "a+c74f20a3",
        "a+c74f20a3+",
        "PeterNeumann+c74f20a4+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW", /* id */
        "PeterNeumann+C74F20A3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        "Peter Neumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW\n",
        "PeterNeumann+c74f20a3+AApc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW", /* type */
        "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10Q=",
        "+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
    };
    char read_name[TLOG_ORIGIN] = "kept";
    unsigned char key[TLOG_PUBLIC];
    start();
    for (size_t i = 0; i < COUNT(bad); i++) {
        CASE("%s", bad[i]);
        NOT(vkey_read(bad[i], read_name, key));
    }
    EQ_TEXT(read_name, "kept");
}

TEST(checkpoints_are_those_of_go)
{
    own_buf out = BUF(NOTE_MAX);
    struct checkpoint checkpoint = head(), read;
    start();
    checkpoint = head();
    OK(checkpoint_sign(&checkpoint, secret, public_key, &out));
    EQ_TEXT(out.data, note);
    EQ_INT(checkpoint_open(note, strlen(note), name, public_key, &read), NOTE_GOOD);
    EQ_TEXT(read.origin, name);
    EQ_INT(read.size, 42);
    EQ_MEM(read.root, checkpoint.root, HASH);
}

static enum note_check open_note(const char *text, size_t size)
{
    struct checkpoint read;
    return checkpoint_open(text, size, name, public_key, &read);
}

#define LINE(name, data) "\xe2\x80\x94 " name " " data "\n"
#define SIGNED(origin, size, root) origin "\n" size "\n" root "\n\n" SIGNATURE
#define ORIGIN "sandgate.example/log"
#define ROOT "SBNJTRN+FjG7owHVrKtue7eqdM4RhdRWVl71HXN2d7I="

TEST(checkpoints_have_one_spelling)
{
    static const char *const malformed[] = {
        "",
        HEAD,
        HEAD "\n",
        HEAD SIGNATURE,
        HEAD "\n\n" SIGNATURE,
        HEAD "extension\n\n" SIGNATURE,
        HEAD "\n" SIGNATURE "\n",
        "\n" HEAD "\n" SIGNATURE,
        SIGNED(ORIGIN, "042", ROOT),
        SIGNED(ORIGIN, "-1", ROOT),
        SIGNED(ORIGIN, " 42", ROOT),
        SIGNED(ORIGIN, "", ROOT),
        SIGNED(ORIGIN, "9223372036854775808", ROOT),
        SIGNED(ORIGIN, "42",
               "SBNJTRN+FjG7owHVrKtue7eqdM4RhdRWVl71HXN2d7J="), /* slack */
        SIGNED(ORIGIN, "42", "SBNJTRN+FjG7owHVrKtue7eqdM4RhdRWVl71HXN2d7I"),
        SIGNED(ORIGIN, "42", "SBNJTRN+FjG7owHVrKtue7eqdM4RhdRWVl71HXN2"),
        SIGNED(ORIGIN "\r", "42", ROOT),
        SIGNED("sandgate example", "42", ROOT),
        SIGNED("sandgate+log", "42", ROOT),
        SIGNED("", "42", ROOT),
        HEAD "\n" LINE(ORIGIN, "qEH6YA=="), /* a key id and nothing else */
        HEAD "\n" LINE(ORIGIN, " qEH6YAAA"),
        HEAD "\n" LINE("sandgate+log", "qEH6YAAA"),
        HEAD "\n" LINE("\xc3\xa4", "qEH6YAAA"),
        HEAD "\n- " ORIGIN " qEH6YAAA\n",
        HEAD "\n" SIGNATURE "text\n",
    };
    start();
    for (size_t i = 0; i < COUNT(malformed); i++) {
        CASE("%zu: %s", i, malformed[i]);
        EQ_INT(open_note(malformed[i], strlen(malformed[i])), NOTE_MALFORMED);
    }
    EQ_INT(open_note(note, strlen(note) - 1),
           NOTE_MALFORMED); /* no newline at the end */
    EQ_INT(open_note(note, strlen(note) + 1), NOTE_MALFORMED); /* a NUL behind it */
}

#define SHORT LINE(ORIGIN, "qEH6YAAA")
#define OTHER_ID LINE(ORIGIN, "qEH6YQAA")
#define OTHER_NAME LINE("sandgate.example/lo", "qEH6YAAA")
#define GROWN SIGNED(ORIGIN, "43", ROOT)
#define RENAMED SIGNED("sandgate.example/lag", "42", ROOT)

/* Other signatures are passed over; name and id together make a key. */
TEST(a_bad_signature_of_a_known_key_refuses_and_others_do_not_count)
{
    static const struct {
        const char *text;
        enum note_check check;
    } cases[] = {
        {HEAD "\n" SIGNATURE,           NOTE_GOOD         },
        {HEAD "\n" OTHER SIGNATURE,     NOTE_GOOD         },
        {HEAD "\n" SIGNATURE OTHER,     NOTE_GOOD         },
        {HEAD "\n" SIGNATURE SIGNATURE, NOTE_GOOD         },
        {HEAD "\n" OTHER,               NOTE_UNKNOWN_KEY  },
        {HEAD "\n" OTHER_ID,            NOTE_UNKNOWN_KEY  },
        {HEAD "\n" OTHER_NAME,          NOTE_UNKNOWN_KEY  },
        {HEAD "\n" SHORT,               NOTE_BAD_SIGNATURE},
        {HEAD "\n" SIGNATURE SHORT,     NOTE_BAD_SIGNATURE},
        {GROWN,                         NOTE_BAD_SIGNATURE},
        {RENAMED,                       NOTE_BAD_SIGNATURE},
    };
    start();
    for (size_t i = 0; i < COUNT(cases); i++) {
        CASE("%zu: %s", i, cases[i].text);
        EQ_INT(open_note(cases[i].text, strlen(cases[i].text)), cases[i].check);
    }
}

TEST(a_hundred_signatures_and_not_one_more)
{
    own_buf text = BUF(NOTE_MAX);
    start();
    buf_text(&text, HEAD "\n" SIGNATURE);
    for (int i = 1; i < NOTE_SIGNATURES; i++)
        buf_text(&text, OTHER);
    EQ_INT(open_note(text.data, text.size), NOTE_GOOD);
    buf_text(&text, OTHER);
    EQ_INT(open_note(text.data, text.size), NOTE_MALFORMED);
}

TEST(every_bit_of_a_checkpoint_counts)
{
    char copy[sizeof(note)];
    start();
    for (size_t bit = 0; bit < 8 * strlen(note); bit++) {
        memcpy(copy, note, sizeof(note));
        copy[bit / 8] = (char)(copy[bit / 8] ^ 1 << bit % 8);
        CASE("bit %zu of byte %zu", bit % 8, bit / 8);
        OK(open_note(copy, strlen(note)) != NOTE_GOOD);
    }
}

TEST(seals_hold_for_one_head_and_one_key)
{
    unsigned char seed[TLOG_SEED] = {9}, other[TLOG_PUBLIC], other_secret[TLOG_SECRET];
    unsigned char seal[TLOG_SIGNATURE];
    start();
    tlog_key_from_seed(seed, other, other_secret);
    struct checkpoint sealed = head(), changed;
    seal_sign(&sealed, secret, seal);
    OK(seal_check(&sealed, public_key, seal));
    NOT(seal_check(&sealed, other, seal));
    changed = sealed;
    changed.size++;
    NOT(seal_check(&changed, public_key, seal));
    changed = sealed;
    changed.root[31] ^= 1;
    NOT(seal_check(&changed, public_key, seal));
    changed = sealed;
    changed.origin[0] = 'S';
    NOT(seal_check(&changed, public_key, seal));
    for (size_t bit = 0; bit < 8 * sizeof(seal); bit++) {
        seal[bit / 8] ^= (unsigned char)(1 << bit % 8);
        NOT(seal_check(&sealed, public_key, seal));
        seal[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
}

TEST(a_seal_is_no_signature_of_a_note)
{
    unsigned char bytes[4 + TLOG_SIGNATURE] = {0xa8, 0x41, 0xfa, 0x60};
    own_buf text = BUF(NOTE_MAX);
    start();
    struct checkpoint sealed = head();
    seal_sign(&sealed, secret, bytes + 4);
    buf_text(&text, HEAD "\n\xe2\x80\x94 sandgate.example/log ");
    text_base64(&text, bytes, sizeof(bytes));
    buf_text(&text, "\n");
    EQ_INT(open_note(text.data, text.size), NOTE_BAD_SIGNATURE);
}

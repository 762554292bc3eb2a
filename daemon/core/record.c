#include "core/record.h"

#include "base/clock.h"
#include "base/must.h"
#include "base/text.h"
#include "core/record_scan.h"
#include "core/record_shape.h"
#include "core/writer.h"

#include <sodium.h>
#include <stdatomic.h>
#include <string.h>

static struct {
    char gateway[GATEWAY_MAX];
    char boot[BOOT_DIGITS + 1];
} process;

/* ---- how far a record is shortened ---- */

/* Ever tighter, until the record fits. */
static const struct tightness {
    unsigned part; /* of the rows' caps, one of this many */
    bool raw;      /* are `input` and `detail` written? */
} tightnesses[] = {
    {1, true },
    {1, false},
    {8, false}
};

enum { CUT_NAME = 48, USUAL = 2048 /* bytes of most records: grown once */ };

struct writing {
    struct writer w;
    const struct leaf *leaf;
    struct tightness tight;
    char path[CUT_NAME]; /* "call.target." while its members are written */
    char cut[CUTS_MAX][CUT_NAME];
    size_t cuts;
};

static void note_cut(struct writing *writing, const struct shape *shape)
{
    must(writing->cuts < CUTS_MAX);
    must(text_format(writing->cut[writing->cuts++], CUT_NAME, "%s%s", writing->path,
                     shape->key));
}

/* Bytes of the first `most` characters; of what is not UTF-8, bytes are characters. */
static size_t shortened(const char *text, size_t most)
{
    const char *at = text, *end = text + strlen(text);
    for (size_t i = 0; i < most && at < end; i++) {
        uint32_t code;
        if (!text_utf8_next(&at, end, &code))
            return (size_t)(end - text) < most ? (size_t)(end - text) : most;
    }
    return (size_t)(at - text);
}

static size_t cap_of(const struct writing *writing, const struct shape *shape)
{
    size_t cap = shape->cap / writing->tight.part;
    return cap ? cap : 1;
}

/* Writes what fits; true when that was not all. */
static bool put_text(struct writing *writing, const struct shape *shape,
                     const char *key, const char *text)
{
    size_t size = shortened(text, cap_of(writing, shape));
    write_bytes(&writing->w, key, text, size);
    return text[size] != '\0';
}

/* ---- members by kind ---- */

static const void *at(const struct writing *writing, const struct shape *shape)
{
    return (const char *)writing->leaf + shape->offset;
}

static const char *text_at(const struct writing *writing, const struct shape *shape)
{
    return *(const char *const *)at(writing, shape);
}

static void write_version(struct writing *writing, const struct shape *shape)
{
    write_int(&writing->w, shape->key, 1);
}

static void write_word(struct writing *writing, const struct shape *shape)
{
    const int *value = at(writing, shape);
    write_text(&writing->w, shape->key, shape->word(*value));
}

static void write_effect(struct writing *writing, const struct shape *shape)
{
    if (writing->leaf->record.call.known)
        write_word(writing, shape);
}

static void write_hex(struct writing *writing, const struct shape *shape)
{
    write_text(&writing->w, shape->key, at(writing, shape));
}

static void write_string(struct writing *writing, const struct shape *shape)
{
    const char *text = text_at(writing, shape);
    if (text && *text && put_text(writing, shape, shape->key, text))
        note_cut(writing, shape);
}

static void write_strings(struct writing *writing, const struct shape *shape)
{
    const char *const *list = *(const char *const *const *)at(writing, shape);
    bool cut = false;
    size_t i = 0;
    if (!list || !*list)
        return;
    write_open(&writing->w, shape->key, '[');
    for (; i < TEXTS_MAX && list[i]; i++)
        cut |= put_text(writing, shape, NULL, list[i]);
    write_close(&writing->w, ']');
    if (cut || list[i])
        note_cut(writing, shape);
}

static void write_number(struct writing *writing, const struct shape *shape,
                         int64_t number)
{
    static const int64_t most = 9007199254740991; /* what every JSON reader keeps */
    if (number > most || number < -most)
        number = number > 0 ? most : -most;
    if (number != 0)
        write_int(&writing->w, shape->key, number);
}

static void write_int64(struct writing *writing, const struct shape *shape)
{
    write_number(writing, shape, *(const int64_t *)at(writing, shape));
}

static void write_status(struct writing *writing, const struct shape *shape)
{
    write_number(writing, shape, *(const int *)at(writing, shape));
}

static void write_flag(struct writing *writing, const struct shape *shape)
{
    if (*(const bool *)at(writing, shape))
        write_bool(&writing->w, shape->key, true);
}

static void write_digest(struct writing *writing, const struct shape *shape)
{
    const unsigned char *digest = *(const unsigned char *const *)at(writing, shape);
    char text[3 + 2 * 32 + 1] = "b2:";
    if (!digest)
        return;
    text_hex(digest, 32, text + 3);
    write_text(&writing->w, shape->key, text);
}

/* JSON that would make the record unreadable is not worth the log: it is left out. */
static void put_json(struct writing *writing, const struct shape *shape, bool hidden)
{
    const char *json = text_at(writing, shape);
    if (!json)
        return;
    if (writing->tight.raw && scan_is_input(json, hidden))
        write_raw(&writing->w, shape->key, json);
    else
        note_cut(writing, shape);
}

static void write_object(struct writing *writing, const struct shape *shape)
{
    put_json(writing, shape, false);
}

static void write_input(struct writing *writing, const struct shape *shape)
{
    put_json(writing, shape, true);
}

/* Came with the input. */
static void write_hidden(struct writing *writing, const struct shape *shape)
{
    (void)writing;
    (void)shape;
}

static void write_rows(struct writing *writing, const struct shape *rows);

/* A group without members is taken back. */
static void write_group(struct writing *writing, const struct shape *shape)
{
    struct buf *out = writing->w.out;
    size_t before = out->size, path = strlen(writing->path);
    bool comma = writing->w.comma;
    write_open(&writing->w, shape->key, '{');
    size_t opened = out->size;
    must(text_format(writing->path + path, CUT_NAME - path, "%s.", shape->key));
    write_rows(writing, shape->members);
    writing->path[path] = '\0';
    write_close(&writing->w, '}');
    if (out->failed || out->size > opened + 1)
        return;
    out->size = before;
    out->data[before] = '\0';
    writing->w.comma = comma;
}

static void write_cut(struct writing *writing, const struct shape *shape)
{
    if (!writing->cuts)
        return;
    write_open(&writing->w, shape->key, '[');
    for (size_t i = 0; i < writing->cuts; i++)
        write_text(&writing->w, NULL, writing->cut[i]);
    write_close(&writing->w, ']');
}

static void (*const writes[SHAPE_KINDS])(struct writing *writing,
                                         const struct shape *shape) = {
    [SHAPE_VERSION] = write_version, [SHAPE_WORD] = write_word,
    [SHAPE_EFFECT] = write_effect,   [SHAPE_HEX] = write_hex,
    [SHAPE_TEXT] = write_string,     [SHAPE_TEXTS] = write_strings,
    [SHAPE_INT] = write_int64,       [SHAPE_STATUS] = write_status,
    [SHAPE_FLAG] = write_flag,       [SHAPE_DIGEST] = write_digest,
    [SHAPE_RAW] = write_object,      [SHAPE_INPUT] = write_input,
    [SHAPE_HIDDEN] = write_hidden,   [SHAPE_GROUP] = write_group,
    [SHAPE_CUT] = write_cut,
};

static void write_rows(struct writing *writing, const struct shape *rows)
{
    for (const struct shape *row = rows; row->key; row++)
        writes[row->kind](writing, row);
}

/* ---- whole records ---- */

static bool write_leaf(const struct leaf *leaf, struct tightness tight, struct buf *out)
{
    struct writing writing = {.w = WRITER(out), .leaf = leaf, .tight = tight};
    buf_clear(out);
    write_open(&writing.w, NULL, '{');
    write_rows(&writing, record_rows);
    write_close(&writing.w, '}');
    return !out->failed;
}

/* 16 hex of microseconds that never repeat in this process, 16 hex of chance. */
static void fill_id(char id[static RECORD_ID], int64_t wall_us)
{
    static _Atomic uint64_t last;
    uint64_t chance, before = atomic_load(&last), time;
    do
        time = (uint64_t)wall_us > before ? (uint64_t)wall_us : before + 1;
    while (!atomic_compare_exchange_weak(&last, &before, time));
    randombytes_buf(&chance, sizeof(chance));
    must(text_format(id, RECORD_ID, "%016llx%016llx", (unsigned long long)time,
                     (unsigned long long)chance));
}

void record_start(const char *gateway, const char boot[static BOOT_DIGITS + 1])
{
    unsigned char bytes[BOOT_DIGITS / 2];
    must(*gateway && text_unhex(boot, bytes, sizeof(bytes)));
    (void)text_copy(process.gateway, sizeof(process.gateway), gateway); /* may be cut */
    (void)text_copy(process.boot, sizeof(process.boot), boot);
}

bool record_write(struct record *record, struct buf *out)
{
    own_buf text = BUF(RECORD_MAX);
    (void)buf_reserve(&text, USUAL); /* a failure shows in what is written */
    must(*process.boot);             /* record_start was called */
    must(record->type != RECORD_SYS || record->event);
    if (!record->wall_us)
        record->wall_us = clock_wall_us();
    if (!record->mono_us)
        record->mono_us = clock_mono_us();
    if (!*record->id)
        fill_id(record->id, record->wall_us);
    struct leaf leaf = {.record = *record, .gateway = process.gateway};
    memcpy(leaf.boot, process.boot, sizeof(leaf.boot));
    for (size_t i = 0; i < COUNT(tightnesses); i++)
        if (write_leaf(&leaf, tightnesses[i], &text))
            return buf_add(out, text.data, text.size);
    return false;
}

/* Reads leaves as strictly as record.c writes them: what passes has one spelling. */
#include "core/record_scan.h"
#include "core/record_shape.h"
#include "core/record_view.h"

#include "base/must.h"
#include "base/text.h"

#include <string.h>

/* Where the value of each row of the record lies. */
struct values {
    struct {
        const char *at;
        size_t size;
    } of[RECORD_ROWS];
};

/* ---- values by kind ---- */

static bool check_version(struct scan *scan, const struct shape *shape)
{
    int64_t version;
    (void)shape;
    if (!scan_int(scan, &version))
        return false;
    return version == 1 || scan_fail(scan, "a version that is not known");
}

/* The value of an enum by its word, or -1. */
static int word_value(const struct shape *shape, const char *text, size_t size)
{
    enum { WORDS = 16 }; /* more than any enum of a record has */
    for (int i = 0; i < WORDS; i++) {
        const char *word = shape->word(i);
        if (word && strlen(word) == size && memcmp(word, text, size) == 0)
            return i;
    }
    return -1;
}

static bool check_word(struct scan *scan, const struct shape *shape)
{
    const char *inside;
    size_t size;
    if (!scan_string(scan, &inside, &size))
        return false;
    return word_value(shape, inside, size) >= 0
           || scan_fail(scan, "a word that is not known");
}

static bool hex_digits(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (!(text[i] >= '0' && text[i] <= '9') && !(text[i] >= 'a' && text[i] <= 'f'))
            return false;
    return true;
}

static bool check_hex(struct scan *scan, const struct shape *shape)
{
    const char *inside;
    size_t size;
    if (!scan_string(scan, &inside, &size))
        return false;
    return (size == shape->cap && hex_digits(inside, size))
           || scan_fail(scan, "not so many hex digits");
}

static bool check_digest(struct scan *scan, const struct shape *shape)
{
    const char *inside;
    size_t size;
    (void)shape;
    if (!scan_string(scan, &inside, &size))
        return false;
    return (size == 3 + 2 * 32 && memcmp(inside, "b2:", 3) == 0
            && hex_digits(inside + 3, size - 3))
           || scan_fail(scan, "not a digest");
}

static bool check_text(struct scan *scan, const struct shape *shape)
{
    (void)shape; /* what was too long when it was written is not for us to say */
    return scan_text(scan);
}

static bool check_texts(struct scan *scan, const struct shape *shape)
{
    (void)shape;
    if (!scan_want(scan, '['))
        return false;
    do
        if (!scan_text(scan))
            return false;
    while (scan_skip(scan, ','));
    return scan_want(scan, ']');
}

static bool check_int(struct scan *scan, const struct shape *shape)
{
    int64_t number;
    (void)shape;
    if (!scan_int(scan, &number))
        return false;
    return number != 0 || scan_fail(scan, "a zero, which is left out");
}

static bool check_flag(struct scan *scan, const struct shape *shape)
{
    (void)shape;
    for (const char *c = "true"; *c; c++)
        if (!scan_want(scan, *c))
            return false;
    return true;
}

static bool check_raw(struct scan *scan, const struct shape *shape)
{
    (void)shape;
    return scan_object(scan);
}

static bool check_list(struct scan *scan, const struct shape *shape)
{
    (void)shape;
    return scan_list(scan);
}

static bool check_rows(struct scan *scan, const struct shape *rows,
                       struct values *values);

static bool check_group(struct scan *scan, const struct shape *shape)
{
    return check_rows(scan, shape->members, NULL);
}

static bool (*const checks[SHAPE_KINDS])(struct scan *scan,
                                         const struct shape *shape) = {
    [SHAPE_VERSION] = check_version, [SHAPE_WORD] = check_word,
    [SHAPE_EFFECT] = check_word,     [SHAPE_HEX] = check_hex,
    [SHAPE_TEXT] = check_text,       [SHAPE_TEXTS] = check_texts,
    [SHAPE_INT] = check_int,         [SHAPE_STATUS] = check_int,
    [SHAPE_FLAG] = check_flag,       [SHAPE_DIGEST] = check_digest,
    [SHAPE_RAW] = check_raw,         [SHAPE_INPUT] = check_raw,
    [SHAPE_HIDDEN] = check_list,     [SHAPE_GROUP] = check_group,
    [SHAPE_CUT] = check_texts,
};

/* ---- members in their order ---- */

static bool missing(struct scan *scan, const char *key)
{
    char what[64];
    (void)text_format(what, sizeof(what), "\"%s\" is missing", key);
    return scan_fail(scan, what);
}

/* The row of the next key, at `*next` or behind it; moves `*next` past it. */
static const struct shape *find_row(struct scan *scan, const struct shape **next)
{
    const char *key;
    size_t size;
    if (!scan_string(scan, &key, &size))
        return NULL;
    for (const struct shape *row = *next; row->key; row++) {
        if (strlen(row->key) == size && memcmp(row->key, key, size) == 0) {
            *next = row + 1;
            return row;
        }
        if (row->required) {
            (void)missing(scan, row->key);
            return NULL;
        }
    }
    (void)scan_fail(scan, "a member that is unknown, doubled or out of order");
    return NULL;
}

static bool check_rows(struct scan *scan, const struct shape *rows,
                       struct values *values)
{
    const struct shape *next = rows;
    if (!scan_want(scan, '{'))
        return false;
    do {
        const struct shape *row = find_row(scan, &next);
        if (!row || !scan_want(scan, ':'))
            return false;
        const char *value = scan->at;
        if (!checks[row->kind](scan, row))
            return false;
        if (values) {
            values->of[row - rows].at = value;
            values->of[row - rows].size = (size_t)(scan->at - value);
        }
    } while (scan_skip(scan, ','));
    for (; next->key; next++)
        if (next->required)
            return missing(scan, next->key);
    return scan_want(scan, '}');
}

static bool read_values(const char *leaf, size_t size, struct values *values, char *why)
{
    struct scan scan;
    if (size > RECORD_MAX) {
        (void)text_format(why, RECORD_WHY, "%zu bytes, at most %d", size, RECORD_MAX);
        return false;
    }
    *values = (struct values){0};
    scan_start(&scan, leaf, size, why);
    if (!check_rows(&scan, record_rows, values))
        return false;
    return scan_done(&scan) || scan_fail(&scan, "something behind the record");
}

/* ---- what is read out ---- */

/* A string without its quotes; "" when it is absent, too long or {"b64":..}. */
static void copy_string(const struct values *values, enum record_row row, char *out,
                        size_t room)
{
    const char *at = values->of[row].at;
    size_t size = values->of[row].size;
    out[0] = '\0';
    if (!at || *at != '"' || size - 2 >= room)
        return;
    memcpy(out, at + 1, size - 2);
    out[size - 2] = '\0';
}

static int64_t read_number(const struct values *values, enum record_row row)
{
    int64_t number = 0;
    char why[RECORD_WHY];
    struct scan scan;
    if (!values->of[row].at)
        return 0;
    scan_start(&scan, values->of[row].at, values->of[row].size, why);
    must(scan_int(&scan, &number)); /* it was one a moment ago */
    return number;
}

static int read_word(const struct values *values, enum record_row row, int absent)
{
    const char *at = values->of[row].at;
    return at ? word_value(&record_rows[row], at + 1, values->of[row].size - 2)
              : absent;
}

bool record_read(const char *leaf, size_t size, struct record_view *view,
                 char why[static RECORD_WHY])
{
    struct values values;
    if (!read_values(leaf, size, &values, why))
        return false;
    view->type = (enum record_type)read_word(&values, ROW_TYPE, RECORD_SYS);
    view->phase = (enum record_phase)read_word(&values, ROW_PHASE, PHASE_NONE);
    copy_string(&values, ROW_ID, view->id, sizeof(view->id));
    copy_string(&values, ROW_REF, view->ref, sizeof(view->ref));
    copy_string(&values, ROW_EVENT, view->event, sizeof(view->event));
    copy_string(&values, ROW_BOOT, view->boot, sizeof(view->boot));
    view->wall_us = read_number(&values, ROW_WALL);
    view->mono_us = read_number(&values, ROW_MONO);
    view->detail = values.of[ROW_DETAIL].at;
    view->detail_size = values.of[ROW_DETAIL].size;
    return true;
}

bool record_check(const char *leaf, size_t size, char why[static RECORD_WHY])
{
    struct values values;
    return read_values(leaf, size, &values, why);
}

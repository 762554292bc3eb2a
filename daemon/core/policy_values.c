#include "core/policy_values.h"

#include "base/must.h"
#include "base/text.h"
#include "core/policy_load.h"

#include <stdlib.h>
#include <string.h>

enum { SLUG_MAX = 63, DIGITS_MAX = 6 };

/* ---- texts ---- */

void read_nothing(struct reader *r, const struct value *value)
{
    (void)r;
    (void)value;
}

bool slug_ok(struct reader *r, const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789-";
    char shown[QUOTE];
    size_t size = strlen(text);
    if (size > 0 && size <= SLUG_MAX && *text != '-' && strspn(text, letters) == size)
        return true;
    complain(r,
             "%s cannot be a name; use a-z, 0-9 and -, at most %d of them, such as "
             "\"web-ci\"",
             quote(shown, text), SLUG_MAX);
    return false;
}

void read_slug(struct reader *r, const struct value *value)
{
    const char **out = value->slot;
    if (slug_ok(r, node_text(value->node)))
        *out = load_text(r->load, node_text(value->node));
}

int64_t characters(const char *text)
{
    int64_t count = 0;
    for (; *text; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    return count;
}

static bool length_ok(struct reader *r, const struct value *value)
{
    const struct member *row = value->row;
    int64_t size = characters(node_text(value->node));
    if (size < row->min)
        complain(r, "has %lld characters; at least %lld are needed", (long long)size,
                 (long long)row->min);
    else if (size > row->max)
        complain(r, "has %lld characters; at most %lld are possible", (long long)size,
                 (long long)row->max);
    return size >= row->min && size <= row->max;
}

void read_text(struct reader *r, const struct value *value)
{
    const char **out = value->slot;
    if (length_ok(r, value))
        *out = load_text(r->load, node_text(value->node));
}

void check_text(struct reader *r, const struct value *value)
{
    (void)length_ok(r, value);
}

void check_members(struct reader *r, const struct value *value)
{
    if (node_size(value->node) == 0)
        complain(r, "is empty; leave it out, or say something in it");
}

/* ---- words ---- */

static int word_index(const char *const *words, size_t count, const char *word)
{
    for (size_t i = 0; i < count; i++)
        if (text_same(words[i], word))
            return (int)i;
    return -1;
}

static const char *word_guess(char out[static QUOTE], const char *const *words,
                              size_t count, const char *word)
{
    struct guess guess = {.word = word};
    for (size_t i = 0; i < count; i++)
        guess_try(&guess, words[i]);
    return guess_text(out, &guess);
}

void read_decision(struct reader *r, const struct value *value)
{
    static const char *const words[] = {"allow", "hold", "deny"};
    enum decision *out = value->slot;
    const char *word = node_text(value->node);
    int found = word_index(words, COUNT(words), word);
    char shown[QUOTE], guess[QUOTE];
    if (found < 0)
        complain(r, "%s is no decision, those are allow, hold and deny%s",
                 quote(shown, word), word_guess(guess, words, COUNT(words), word));
    else
        *out = (enum decision)found;
}

void read_effects(struct reader *r, const struct value *value)
{
    static const char *const words[] = {"read", "write", "destructive"};
    char shown[QUOTE], guess[QUOTE];
    unsigned *out = value->slot, mask = 0;
    const struct entries entries = read_entries(r, value->node);
    for (size_t i = 0; i < entries.count; i++) {
        const struct entry *entry = &entries.all[i];
        int found = word_index(words, COUNT(words), entry->text);
        size_t before = place_index(r, entry->index);
        if (found < 0)
            complain(r, "%s is no effect, those are read, write and destructive%s",
                     quote(shown, entry->text),
                     word_guess(guess, words, COUNT(words), entry->text));
        else
            mask |= 1U << found;
        place_leave(r, before);
    }
    *out = mask;
}

/* ---- numbers ---- */

void read_int(struct reader *r, const struct value *value)
{
    const struct member *row = value->row;
    int64_t number = 0;
    must(node_int(value->node, &number));
    if (number >= row->min && number <= row->max)
        *(int64_t *)value->slot = number;
    else
        complain(r, "%lld is out of bounds; write a number from %lld to %lld",
                 (long long)number, (long long)row->min, (long long)row->max);
}

static const struct {
    char letter;
    int64_t seconds;
} units[] = {
    {'d', 86400},
    {'h', 3600 },
    {'m', 60   },
    {'s', 1    },
};

const char *duration_text(char out[static DURATION_TEXT], int64_t seconds)
{
    size_t i = seconds ? 0 : COUNT(units) - 1;
    while (seconds % units[i].seconds)
        i++;
    (void)text_format(out, DURATION_TEXT, "%lld%c",
                      (long long)(seconds / units[i].seconds), units[i].letter);
    return out;
}

/* "0s", or up to six digits without a leading zero and a unit. */
static bool duration_parse(const char *text, int64_t *out)
{
    char digits[DIGITS_MAX + 1];
    size_t size = strlen(text);
    if (size < 2 || size > DIGITS_MAX + 1)
        return false;
    (void)text_format(digits, sizeof(digits), "%.*s", (int)size - 1, text);
    int64_t number;
    if (!text_int(digits, 0, INT32_MAX, &number) || (number == 0 && text[1] != 's'))
        return false;
    for (size_t i = 0; i < COUNT(units); i++)
        if (units[i].letter == text[size - 1]) {
            *out = number * units[i].seconds;
            return true;
        }
    return false;
}

void read_duration(struct reader *r, const struct value *value)
{
    const struct member *row = value->row;
    const char *text = node_text(value->node);
    char shown[QUOTE], min[DURATION_TEXT], max[DURATION_TEXT];
    int64_t seconds;
    if (!duration_parse(text, &seconds))
        complain(r,
                 "%s is not a duration; write digits and s, m, h or d, as in \"45s\"",
                 quote(shown, text));
    else if (seconds < row->min || seconds > row->max)
        complain(r, "%s is out of bounds; write a duration from %s to %s",
                 quote(shown, text), duration_text(min, row->min),
                 duration_text(max, row->max));
    else
        *(int64_t *)value->slot = seconds;
}

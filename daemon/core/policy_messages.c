#include "core/policy_messages.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { ESCAPED = 6 * QUOTE };

/* ---- collecting ---- */

/* By number where places hold numbers: /rules/2 before /rules/10. */
static int by_place(const void *a, const void *b)
{
    const struct message *left = a, *right = b;
    int order = strcmp(left->file, right->file);
    if (order == 0)
        order = strverscmp(left->place, right->place);
    return order ? order : strcmp(left->text, right->text);
}

static int by_weight(const struct message *a, const struct message *b)
{
    return a->warning == b->warning ? by_place(a, b) : (int)a->warning - b->warning;
}

void messages_add(struct messages *messages, const struct message *message)
{
    size_t at = messages->count;
    messages->failed |= !message->warning;
    while (at > 0 && by_weight(message, &messages->kept[at - 1]) < 0)
        at--;
    if (at == MESSAGES_MAX)
        return;
    if (messages->count < MESSAGES_MAX)
        messages->count++;
    struct message *place = &messages->kept[at];
    memmove(place + 1, place, (messages->count - at - 1) * sizeof(*place));
    *place = *message;
}

void messages_print(struct messages *messages, struct buf *out)
{
    qsort(messages->kept, messages->count, sizeof(messages->kept[0]), by_place);
    for (size_t i = 0; i < messages->count; i++) {
        const struct message *message = &messages->kept[i];
        (void)text_escape(out, message->file, strlen(message->file));
        (void)buf_printf(out, ": %s%s%s%s\n", message->place,
                         *message->place ? ": " : "",
                         message->warning ? "warning: " : "", message->text);
    }
}

const char *quote(char out[static QUOTE], const char *text)
{
    own_buf clean = BUF(ESCAPED);
    bool cut = !text_escape(&clean, text, strnlen(text, QUOTE));
    cut |= clean.size > QUOTE - 6;
    (void)text_format(out, QUOTE, "\"%.*s%s\"", QUOTE - 6, clean.data ? clean.data : "",
                      cut ? "..." : "");
    return out;
}

/* ---- guessing ---- */

enum { WORD = 64 };

static int least(int a, int b, int c)
{
    int ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* Insertions, deletions and replacements that turn one word into the other. */
static int edits_between(const char *a, const char *b)
{
    int row[WORD + 1];
    size_t width = strlen(b);
    for (size_t i = 0; i <= width; i++)
        row[i] = (int)i;
    for (size_t y = 0; a[y]; y++) {
        int diagonal = row[0];
        row[0] = (int)y + 1;
        for (size_t x = 0; x < width; x++) {
            int replaced = diagonal + (a[y] != b[x]);
            diagonal = row[x + 1];
            row[x + 1] = least(replaced, diagonal + 1, row[x] + 1);
        }
    }
    return row[width];
}

/* Of a word of three letters two edits leave nothing. */
void guess_try(struct guess *guess, const char *known)
{
    size_t size = strlen(guess->word);
    int most = size < 4 ? 1 : 2;
    if (size > WORD || strlen(known) > WORD)
        return;
    int edits = edits_between(guess->word, known);
    if (edits == 0 || edits > most || (guess->best && edits >= guess->edits))
        return;
    guess->best = known;
    guess->edits = edits;
}

const char *guess_text(char out[static QUOTE], const struct guess *guess)
{
    *out = '\0';
    if (guess->best)
        (void)text_format(out, QUOTE, "; did you mean \"%s\"?", guess->best);
    return out;
}

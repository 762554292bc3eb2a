/* policy_messages: what is wrong with a policy, for the person who wrote it.
 *
 * Only the first fifty count, errors before warnings, and always the same fifty
 * whatever the order in which they are found.  All of it is printable ASCII. */
#ifndef CORE_POLICY_MESSAGES_H
#define CORE_POLICY_MESSAGES_H

#include "base/buf.h"

enum { MESSAGES_MAX = 50, MESSAGE_PLACE = 320, MESSAGE_TEXT = 400, QUOTE = 96 };

struct message {
    const char *file;
    char place[MESSAGE_PLACE]; /* JSON pointer, "line 3 column 7", or "" */
    char text[MESSAGE_TEXT];
    bool warning;
};

struct messages {
    struct message kept[MESSAGES_MAX]; /* sorted, errors first */
    size_t count;
    bool failed; /* there was an error */
};

void messages_add(struct messages *messages, const struct message *message);

/* One line each, sorted by file and place. */
void messages_print(struct messages *messages, struct buf *out);

/* The author's words, in double quotes, cut when long. */
const char *quote(char out[static QUOTE], const char *text);

/* Looks for what the author may have meant: at most two edits away. */
struct guess {
    const char *word, *best; /* best: NULL, or what is nearest so far */
    int edits;
};
void guess_try(struct guess *guess, const char *known);
const char *guess_text(char out[static QUOTE], const struct guess *guess); /* or "" */

#endif

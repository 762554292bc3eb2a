/* policy_values: the kinds of values that a policy file holds, each checked and stored
 * where its row says. */
#ifndef CORE_POLICY_VALUES_H
#define CORE_POLICY_VALUES_H

#include "core/policy_reader.h"

struct names;

void read_nothing(struct reader *r, const struct value *value);  /* any value will do */
void read_slug(struct reader *r, const struct value *value);     /* const char * */
void read_text(struct reader *r, const struct value *value);     /* const char * */
void check_text(struct reader *r, const struct value *value);    /* is not stored */
void read_decision(struct reader *r, const struct value *value); /* enum decision */
void read_int(struct reader *r, const struct value *value);      /* int64_t */
void read_duration(struct reader *r, const struct value *value); /* int64_t, seconds */
void read_effects(struct reader *r, const struct value *value);  /* unsigned */
void read_names(struct reader *r, const struct value *value); /* const struct names * */
void check_members(struct reader *r, const struct value *value); /* it has some */

/* The different texts of a list, sorted; they live as long as its document. */
struct entry {
    const char *text;
    size_t index; /* in the list */
};
struct entries {
    struct entry *all;
    size_t count;
};
struct entries read_entries(struct reader *r, const struct node *list);

int64_t characters(const char *text);             /* UTF-8: not bytes */
bool slug_ok(struct reader *r, const char *text); /* complains if not */
/* Those entries, copied; `count` of them and a NULL. */
const char *const *entries_texts(struct reader *r, const struct entries *entries);
const struct names *entries_names(struct reader *r, const struct entries *entries);

/* "90s", "15m": the shortest that says it. */
enum { DURATION_TEXT = 24 };
const char *duration_text(char out[static DURATION_TEXT], int64_t seconds);

#endif

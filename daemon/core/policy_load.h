/* policy_load: what is known while the files of one policy are being read.
 *
 * Files are read twice, because names may be used before the file that defines them:
 * first names, sets and groups of all files, then what makes use of them.  After an
 * error loading goes on, to tell as much as possible; what it yields is thrown away. */
#ifndef CORE_POLICY_LOAD_H
#define CORE_POLICY_LOAD_H

#include "core/policy_messages.h"
#include "core/policy_reader.h"
#include "core/policy_set.h"

struct named_set {
    const char *name, *file;
    const struct names *names;
    const struct named_set *next;
};

struct load {
    struct arena *arena, *scratch; /* the set's; and one that ends with the loading */
    struct messages *messages;
    const struct policy_file *files; /* sorted by path; parts have the same index */
    const struct named_set *sets;
    const struct group *groups;
    struct part *parts; /* one a file */
    struct rule *rules;
    size_t part_count, rule_count;
    bool incomplete; /* a file has no readable JSON: some names are not known */
    bool starved;    /* out of memory: the whole load fails */
};

void *load_alloc(struct load *load, size_t size);           /* NULL: starved */
const char *load_text(struct load *load, const char *text); /* a copy; "": starved */

/* policy_file.c */
void part_read_names(struct reader *r, const struct node *root);
void part_read_rules(struct reader *r, const struct node *root);

/* policy_rules.c */
void read_scope(struct reader *r, const struct value *value);
void read_rules(struct reader *r, const struct value *value);

/* policy_terms.c: `read_terms` begins with what the slot holds. */
void read_terms(struct reader *r, const struct value *value);

/* policy_compile.c: NULL when starved. */
struct policy_set *load_compile(struct load *load);

#endif

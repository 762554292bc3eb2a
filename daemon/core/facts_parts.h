/* facts_parts: what the files of facts share: a call being looked at, the row of an
 * attribute, and the makers of values. */
#ifndef CORE_FACTS_PARTS_H
#define CORE_FACTS_PARTS_H

#include "core/doc.h"
#include "core/facts.h"

struct asking {
    const struct canon *canon;
    const struct node *body; /* NULL when there is none */
    struct arena *arena;
    struct facts *facts;
    bool full; /* the arena */
};

/* As `otherwise`: E2B's own default decides. */
#define FACTS_ABSENT INT64_MIN

struct attribute {
    const char *name;
    enum fact_type type;
    void (*read)(struct asking *asking, const struct attribute *row, struct fact *fact);
    const char *path;  /* into the body */
    int64_t otherwise; /* int and bool: when left out */
};

#define READER(name) \
    void name(struct asking *asking, const struct attribute *row, struct fact *fact)

/* ---- facts_make.c ---- */

bool facts_operation_is(const struct asking *asking, const char *name);

/* "network.egressProxy.address" in the body; NULL when absent or null. */
const struct node *facts_at(const struct asking *asking, const char *path);

const char *facts_kept(struct asking *asking, const char *text); /* NULL: full */
const char *facts_folded(struct asking *asking, const char *text);
void facts_set_text(struct fact *fact, const char *text);
void facts_set_number(struct fact *fact, int64_t number);

/* Room for `count` texts and a NULL, which the fact then has; NULL when there is
 * nothing to fill. */
const char **facts_set_list(struct asking *asking, struct fact *fact, size_t count);

READER(facts_integer);
READER(facts_truth);
READER(facts_text);
READER(facts_texts);    /* trimmed, lower-cased */
READER(facts_verbatim); /* texts as they are */
READER(facts_keys);
READER(facts_members); /* the last part of the path, of every element before it */
READER(facts_map);

/* ---- by subject ---- */

READER(facts_template); /* facts_template.c */
READER(facts_template_tag);
READER(facts_reference);
READER(facts_name);
READER(facts_tags);
READER(facts_step_types);
READER(facts_env_names);
READER(facts_internet); /* facts_network.c */
READER(facts_proxy);
READER(facts_rule_hosts);
READER(facts_clears);
READER(facts_webhook_host);

/* Fills effect, risks, guarded from the attributes. */
void facts_judge(struct asking *asking);

#endif

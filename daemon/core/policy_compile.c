/* From rules in the order of the files to candidates in the order of the operations. */
#include "base/must.h"
#include "core/policy_load.h"

#include <stdlib.h>
#include <string.h>

/* ---- rules ---- */

static int by_name(const void *a, const void *b)
{
    const struct rule *const *left = a, *const *right = b;
    return strcmp((*left)->name, (*right)->name);
}

static const struct rule **sorted_rules(struct load *load)
{
    size_t count = 0;
    const struct rule **rules =
        load_alloc(load, load->rule_count * sizeof(struct rule *));
    for (const struct rule *rule = load->rules; rules && rule; rule = rule->next)
        rules[count++] = rule;
    if (rules)
        qsort(rules, count, sizeof(struct rule *), by_name);
    return rules;
}

/* The effect of a call is at least that of its path, so a rule for milder ones never
 * concerns it. */
static bool may_concern(const struct rule *rule, const struct operation *operation)
{
    unsigned possible = EFFECTS_ALL & ~((1U << operation->effect) - 1);
    return rule->match.effects & possible
           && (!rule->match.operations
               || names_match(rule->match.operations, operation->name));
}

static bool in_full(const struct rule *rule, const struct operation *operation)
{
    return rule->match.operations
           && names_list(rule->match.operations, operation->name);
}

static struct candidates candidates_of(struct load *load, const struct rule **rules,
                                       const struct operation *operation)
{
    size_t count = 0;
    for (size_t i = 0; i < load->rule_count; i++)
        count += may_concern(rules[i], operation);
    struct candidate *all = load_alloc(load, count * sizeof(*all));
    struct candidates candidates = {all, 0};
    for (size_t i = 0; all && i < load->rule_count; i++)
        if (may_concern(rules[i], operation))
            all[candidates.count++] =
                (struct candidate){rules[i], in_full(rules[i], operation)};
    return candidates;
}

static const struct candidates *all_candidates(struct load *load,
                                               const struct rule **rules)
{
    struct candidates *all = load_alloc(load, (catalogue_size + 1) * sizeof(*all));
    if (!all || !rules)
        return NULL;
    for (size_t i = 0; i < catalogue_size; i++)
        all[i] = candidates_of(load, rules, &catalogue[i]);
    all[catalogue_size] = candidates_of(load, rules, &operation_unknown);
    return all;
}

/* ---- defaults ---- */

static int by_fallback(const void *a, const void *b)
{
    const struct fallback *const *left = a, *const *right = b;
    return strcmp((*left)->name, (*right)->name);
}

static const struct fallback *const *sorted_fallbacks(struct load *load, int effect)
{
    size_t count = 0;
    const struct fallback **all =
        load_alloc(load, (load->part_count + 1) * sizeof(struct fallback *));
    for (size_t i = 0; all && i < load->part_count; i++)
        if (load->parts[i].fallbacks[effect].named)
            all[count++] = &load->parts[i].fallbacks[effect];
    if (all)
        qsort(all, count, sizeof(struct fallback *), by_fallback);
    return all;
}

struct policy_set *load_compile(struct load *load)
{
    struct policy_set *set = load_alloc(load, sizeof(*set));
    if (!set)
        return NULL;
    set->arena = load->arena;
    set->candidates = all_candidates(load, sorted_rules(load));
    for (int effect = 0; effect < EFFECTS; effect++)
        set->fallbacks[effect] = sorted_fallbacks(load, effect);
    set->groups = load->groups;
    return load->starved ? NULL : set;
}

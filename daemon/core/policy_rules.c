/* Rules as a file states them, and what is wrong with one in view of the catalogue. */
#include "base/must.h"
#include "base/text.h"
#include "core/policy_load.h"
#include "core/policy_values.h"

#include <stddef.h>
#include <string.h>

enum { UNDECIDED = DECIDE_DENY + 1 };
enum { WHY_MIN = 12, WHY_MAX = 240, NOTE_MAX = 1000 };

/* ---- operations ---- */

static bool matches_some(const char *pattern)
{
    const struct glob glob = glob_of(pattern);
    if (!has_glob(pattern))
        return operation_named(pattern) != NULL;
    for (size_t i = 0; i < catalogue_size; i++)
        if (glob_matches(&glob, catalogue[i].name))
            return true;
    return false;
}

/* `from`: how the author came to name it, when that was by a set. */
static void check_operation(struct reader *r, const char *text, const char *from)
{
    char shown[QUOTE], set[QUOTE], meant[QUOTE];
    struct guess guess = {.word = text};
    if (matches_some(text))
        return;
    for (size_t i = 0; i < catalogue_size; i++)
        guess_try(&guess, catalogue[i].name);
    complain(r, "%s%s%s %s%s", from ? quote(set, from) : "", from ? " holds " : "",
             quote(shown, text),
             has_glob(text) ? "matches no operation" : "is no operation",
             guess.best ? guess_text(meant, &guess) : "; docs/POLICY.md lists them");
}

static void check_set(struct reader *r, const char *reference)
{
    const struct named_set *set = r->load->sets;
    while (set && !text_same(set->name, reference + 1))
        set = set->next;
    if (!set || !set->names)
        return;
    for (size_t i = 0; i < set->names->literal_count; i++)
        check_operation(r, set->names->literals[i], reference);
    for (size_t i = 0; i < set->names->glob_count; i++)
        check_operation(r, set->names->globs[i].text, reference);
}

static void read_operations(struct reader *r, const struct value *value)
{
    const struct names **out = value->slot;
    const struct entries entries = read_entries(r, value->node);
    for (size_t i = 0; i < entries.count; i++) {
        const struct entry *entry = &entries.all[i];
        size_t before = place_index(r, entry->index);
        if (*entry->text == '@')
            check_set(r, entry->text);
        else
            check_operation(r, entry->text, NULL);
        place_leave(r, before);
    }
    *out = entries_names(r, &entries);
}

/* ---- match and scope ---- */

#define MATCH(field) offsetof(struct match, field)
#define BY(who) offsetof(struct match, by[BY_##who])
#define RULE(field) offsetof(struct rule, field)

/* A scope knows the first four of them. */
static const struct member match_members[] = {
    {"agents",       NODE_LIST, read_names,      BY(AGENT),         false, 0, 0},
    {"skills",       NODE_LIST, read_names,      BY(SKILL),         false, 0, 0},
    {"teams",        NODE_LIST, read_names,      BY(TEAM),          false, 0, 0},
    {"environments", NODE_LIST, read_names,      BY(ENVIRONMENT),   false, 0, 0},
    {"operations",   NODE_LIST, read_operations, MATCH(operations), false, 0, 0},
    {"effects",      NODE_LIST, read_effects,    MATCH(effects),    false, 0, 0},
};

static const struct shape scope_shape = {match_members, DIMENSIONS, NULL, NULL};
static const struct shape match_shape = {match_members, COUNT(match_members), NULL,
                                         NULL};

void read_scope(struct reader *r, const struct value *value)
{
    check_members(r, value);
    read_members(r, value->node, &scope_shape, value->slot);
}

static void read_match(struct reader *r, const struct value *value)
{
    read_members(r, value->node, &match_shape, value->slot);
}

/* ---- what the catalogue says to a rule ---- */

static bool lists(const struct rule *rule, enum effect effect)
{
    return rule->match.effects != EFFECTS_ALL && rule->match.effects & 1U << effect;
}

static bool names(const struct rule *rule, const struct operation *operation)
{
    return rule->match.operations
           && names_list(rule->match.operations, operation->name);
}

static bool permits_never(const struct rule *rule, const struct operation *operation)
{
    return rule->decision != DECIDE_DENY && operation->treatment == TREAT_NEVER
           && names(rule, operation);
}

static bool destroys_silently(const struct rule *rule,
                              const struct operation *operation)
{
    return rule->decision == DECIDE_ALLOW && operation->effect == EFFECT_DESTRUCTIVE
           && names(rule, operation) && !lists(rule, EFFECT_DESTRUCTIVE);
}

static bool denies_never(const struct rule *rule, const struct operation *operation)
{
    return rule->decision == DECIDE_DENY && operation->treatment == TREAT_NEVER
           && names(rule, operation);
}

static bool globs_match(const struct names *names, const char *text)
{
    for (size_t i = 0; i < names->glob_count; i++)
        if (names->globs[i].kind != GLOB_ANY && glob_matches(&names->globs[i], text))
            return true;
    return false;
}

/* Whoever writes a lone * has no single operation in mind. */
static bool only_by_glob(const struct rule *rule, const struct operation *operation)
{
    const struct names *list = rule->match.operations;
    if (rule->decision == DECIDE_DENY || operation->treatment != TREAT_DENY || !list
        || names_list(list, operation->name)
        || !(rule->match.effects & 1U << operation->effect))
        return false;
    for (size_t i = 0; i < list->set_count; i++)
        if (globs_match(list->sets[i], operation->name))
            return true;
    return globs_match(list, operation->name);
}

static bool holds_polling(const struct rule *rule, const struct operation *operation)
{
    return rule->decision == DECIDE_HOLD
           && text_same(operation->name, "template.build_status")
           && rule->match.effects & 1U << operation->effect
           && (!rule->match.operations
               || names_match(rule->match.operations, operation->name));
}

static const struct {
    bool (*found)(const struct rule *rule, const struct operation *operation);
    bool warning;
    const char *member, *text;
} findings[] = {
    {permits_never,     false, "operations",
     "is never forwarded, so it cannot be allowed or held; take it out"        },
    {destroys_silently, false, "effects",
     "is destructive; list \"destructive\" here to allow it"                   },
    {denies_never,      true,  "operations",
     "is refused whatever a file says; this rule adds nothing"                 },
    {only_by_glob,      true,  "operations",
     "is covered by a pattern only, so this rule does not apply to it; name it"},
    {holds_polling,     true,  "operations",
     "is polled while a template builds; every poll would wait for a person"   },
};

static const struct operation *find(const struct rule *rule, size_t finding)
{
    for (size_t i = 0; i < catalogue_size; i++)
        if (findings[finding].found(rule, &catalogue[i]))
            return &catalogue[i];
    return NULL;
}

static void check_catalogue(struct reader *r, const struct rule *rule)
{
    size_t match = place_enter(r, "match");
    for (size_t i = 0; i < COUNT(findings); i++) {
        const struct operation *operation = find(rule, i);
        if (!operation)
            continue;
        size_t member = place_enter(r, findings[i].member);
        (findings[i].warning ? caution : complain)(r, "%s %s", operation->name,
                                                   findings[i].text);
        place_leave(r, member);
    }
    place_leave(r, match);
}

/* ---- rules ---- */

static const struct member rule_members[] = {
    {"id",       NODE_TEXT,   read_slug,     RULE(id),       true,  0,       0       },
    {"why",      NODE_TEXT,   read_text,     RULE(why),      true,  WHY_MIN, WHY_MAX },
    {"note",     NODE_TEXT,   check_text,    0,              false, 0,       NOTE_MAX},
    {"decide",   NODE_TEXT,   read_decision, RULE(decision), true,  0,       0       },
    {"match",    NODE_OBJECT, read_match,    RULE(match),    false, 0,       0       },
    {"approval", NODE_OBJECT, read_terms,    RULE(terms),    false, 0,       0       },
};

static const char *const rule_later[] = {"shadow",  "where",     "unless",  "during",
                                         "outside", "grantable", "expires", NULL};
static const char *const rule_guesses[] = {
    "decision", "decide", "action", "decide", "reason", "why", "name", "id", NULL};

static const struct shape rule_shape = {rule_members, COUNT(rule_members), rule_later,
                                        rule_guesses};

static void check_id(struct reader *r, const struct rule *rule)
{
    char shown[QUOTE];
    for (const struct rule *old = r->load->rules; old && old->part == r->part;
         old = old->next)
        if (text_same(old->id, rule->id)) {
            complain_at(r, "id",
                        "%s is the id of another rule of this file; rename one",
                        quote(shown, rule->id));
            return;
        }
}

static void read_rule(struct reader *r, const struct node *node)
{
    struct load *load = r->load;
    struct rule *rule = load_alloc(load, sizeof(*rule));
    if (!rule || !kind_is(r, node, NODE_OBJECT))
        return;
    *rule = (struct rule){.decision = (enum decision)UNDECIDED,
                          .match.effects = EFFECTS_ALL,
                          .terms = r->part->terms,
                          .part = r->part};
    read_members(r, node, &rule_shape, rule);
    if (rule->id)
        check_id(r, rule);
    if (rule->decision != (enum decision)UNDECIDED) {
        check_catalogue(r, rule);
        if (rule->decision != DECIDE_HOLD && node_member(node, "approval"))
            complain_at(r, "approval",
                        "only a rule that holds has approval terms; "
                        "take it out, or decide \"hold\"");
    }
    rule->name =
        arena_printf(load->arena, "%s/%s", r->part->name, rule->id ? rule->id : "");
    load->starved |= !rule->name;
    rule->next = load->rules;
    load->rules = rule;
}

void read_rules(struct reader *r, const struct value *value)
{
    struct load *load = r->load;
    for (size_t i = 0; i < node_size(value->node); i++) {
        size_t before = place_index(r, i);
        if (++load->rule_count <= POLICY_RULES)
            read_rule(r, node_at(value->node, i));
        else if (load->rule_count == POLICY_RULES + 1)
            complain(r, "a policy has at most %d rules in all its files", POLICY_RULES);
        place_leave(r, before);
    }
}

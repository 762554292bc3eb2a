/* Facts -> verdict.  Sentences of docs/POLICY.md, "How a call is judged". */
#include "base/must.h"
#include "base/text.h"
#include "core/policy_set.h"

#include <string.h>

enum scope { SCOPE_UNKNOWN, SCOPE_INSIDE, SCOPE_OUTSIDE };

struct hit { /* a reason for the decision */
    const char *name, *why;
    const struct terms *terms;
    const struct hit *next;
};

struct judging {
    const struct policy_set *set;
    const struct facts *facts;
    const char *who[DIMENSIONS];
    struct arena *arena;
    const struct hit *hits; /* for `decision` only; the last one first */
    size_t count;
    enum decision decision; /* the strictest so far */
    bool certain;           /* something matched beyond doubt */
    bool failed;
    unsigned char scopes[POLICY_FILES];
};

/* ---- hits ---- */

/* The strictest wins: what is milder than it is no reason any more. */
static void hit(struct judging *j, enum decision decision, struct hit reason)
{
    if (decision < j->decision)
        return;
    if (decision > j->decision) {
        j->hits = NULL;
        j->count = 0;
    }
    j->decision = decision;
    struct hit *kept = arena_alloc(j->arena, sizeof(*kept));
    if (!kept) {
        j->failed = true;
        return;
    }
    *kept = reason;
    kept->next = j->hits;
    j->hits = kept;
    j->count++;
}

struct builtin {
    const char *name, *why;
    enum decision decision;
};

static const struct builtin never = {
    "builtin/never", "Sandgate never forwards this operation.", DECIDE_DENY};
static const struct builtin unknown = {
    "builtin/unknown", "Sandgate does not know this operation.", DECIDE_DENY};
static const struct builtin guarded = {
    "builtin/guarded", "This operation runs only where a rule names it in full.",
    DECIDE_DENY};

/* By effect; what is unknown never gets that far. */
static const struct builtin defaults[] = {
    {"builtin/read",        "No policy file speaks of reading calls.",     DECIDE_ALLOW},
    {"builtin/write",       "No policy file speaks of writing calls.",     DECIDE_HOLD },
    {"builtin/destructive", "No policy file speaks of destructive calls.", DECIDE_HOLD },
};

/* A default never lets run what only a rule may. */
static enum decision guard(const struct judging *j, enum decision decision)
{
    bool doubt = j->facts->guarded || j->facts->unrecognised;
    return decision == DECIDE_ALLOW && doubt ? DECIDE_HOLD : decision;
}

static void hit_builtin(struct judging *j, const struct builtin *builtin)
{
    const struct hit reason = {
        .name = builtin->name, .why = builtin->why, .terms = &builtin_terms};
    hit(j, guard(j, builtin->decision), reason);
}

/* ---- matching ---- */

static bool matches(const struct judging *j, const struct match *match)
{
    for (int by = 0; by < DIMENSIONS; by++)
        if (match->by[by] && !names_match(match->by[by], j->who[by]))
            return false;
    return match->effects & 1U << j->facts->effect;
}

static bool in_scope(struct judging *j, const struct part *part)
{
    unsigned char *scope = &j->scopes[part->index];
    if (*scope == SCOPE_UNKNOWN)
        *scope = matches(j, &part->scope) ? SCOPE_INSIDE : SCOPE_OUTSIDE;
    return *scope == SCOPE_INSIDE;
}

/* Permission is explicit: destruction by effect, what is guarded by its full name. */
static bool may_permit(const struct judging *j, const struct candidate *candidate)
{
    const struct match *match = &candidate->rule->match;
    if (j->facts->effect == EFFECT_DESTRUCTIVE && match->effects == EFFECTS_ALL)
        return false;
    return !j->facts->guarded || candidate->in_full;
}

/* Fields that nobody understood: what would match cannot tell, and that is strict. */
static bool counts(const struct judging *j, const struct candidate *candidate)
{
    switch (candidate->rule->decision) {
    case DECIDE_ALLOW:
        return !j->facts->unrecognised && may_permit(j, candidate);
    case DECIDE_HOLD:
        return j->facts->operation->treatment != TREAT_DENY || candidate->in_full;
    case DECIDE_DENY:
        return true;
    }
    return true;
}

/* ---- in order: what is built in, rules, defaults ---- */

/* The route that was taken is known, and is never forwarded. */
static bool route_closed(const struct facts *facts)
{
    const struct fact *version = fact_named(facts, "route");
    const struct route *route = facts->operation->routes;
    bool closed = false;
    for (; version && route && route->method; route++) {
        if (!text_same(route->version, version->text))
            continue;
        if (route->forwarded)
            return false;
        closed = true;
    }
    return closed;
}

static void judge_builtin(struct judging *j)
{
    const struct operation *operation = j->facts->operation;
    if (operation == &operation_unknown)
        hit_builtin(j, &unknown);
    else if (operation->treatment == TREAT_NEVER || route_closed(j->facts))
        hit_builtin(j, &never);
    j->certain = j->count > 0;
}

static void judge_rules(struct judging *j)
{
    const struct candidates *candidates =
        &j->set->candidates[operation_index(j->facts->operation)];
    for (size_t i = 0; i < candidates->count; i++) {
        const struct candidate *candidate = &candidates->all[i];
        const struct rule *rule = candidate->rule;
        if (!matches(j, &rule->match) || !in_scope(j, rule->part)
            || !counts(j, candidate))
            continue;
        hit(j, rule->decision,
            (struct hit){.name = rule->name, .why = rule->why, .terms = &rule->terms});
        j->certain |= !j->facts->unrecognised;
    }
}

static void judge_defaults(struct judging *j)
{
    enum effect effect = j->facts->effect;
    bool named = false;
    if (j->facts->operation->treatment == TREAT_DENY) {
        hit_builtin(j, &guarded);
        return;
    }
    for (const struct fallback *const *at = j->set->fallbacks[effect]; *at; at++) {
        if (!in_scope(j, (*at)->part))
            continue;
        named = true;
        hit(j, guard(j, (*at)->decision),
            (struct hit){.name = (*at)->name,
                         .why = "No rule matched; the default of this policy decides.",
                         .terms = &(*at)->part->terms});
    }
    if (!named)
        hit_builtin(j, &defaults[effect]);
}

/* ---- the verdict ---- */

/* Hits come nearly sorted, because candidates and defaults are. */
static void insert(const struct hit **sorted, size_t count, const struct hit *one)
{
    size_t at = count;
    for (; at > 0 && strcmp(one->name, sorted[at - 1]->name) < 0; at--)
        sorted[at] = sorted[at - 1];
    sorted[at] = one;
}

static const struct hit **sorted_hits(struct judging *j)
{
    const struct hit **hits =
        arena_alloc(j->arena, (j->count + 1) * sizeof(struct hit *));
    const struct hit **sorted =
        arena_alloc(j->arena, (j->count + 1) * sizeof(struct hit *));
    if (!hits || !sorted)
        return NULL;
    size_t left = j->count;
    for (const struct hit *one = j->hits; one; one = one->next)
        hits[--left] = one;
    for (size_t i = 0; i < j->count; i++)
        insert(sorted, i, hits[i]);
    return sorted;
}

static bool conclude(struct judging *j, struct verdict *verdict)
{
    const struct hit **hits = sorted_hits(j);
    const char **because = arena_alloc(j->arena, (j->count + 1) * sizeof(*because));
    if (j->failed || !hits || !because || j->count == 0)
        return false;
    verdict->decision = j->decision;
    verdict->because = because;
    verdict->why = hits[0]->why;
    verdict->terms = *hits[0]->terms;
    for (size_t i = 0; i < j->count; i++) {
        because[i] = hits[i]->name;
        if (j->decision == DECIDE_HOLD && !terms_merge(&verdict->terms, hits[i]->terms))
            return false;
    }
    if (j->decision != DECIDE_HOLD)
        verdict->terms = (struct terms){0};
    return true;
}

/* Facts that contradict the catalogue, and texts that are not there, are errors. */
static bool sound(const struct facts *facts, const char *const *who)
{
    const struct operation *operation = facts->operation;
    for (int by = 0; by < DIMENSIONS; by++)
        if (!who[by])
            return false;
    return operation && facts->effect >= operation->effect
           && (operation == &operation_unknown || facts->effect < EFFECT_UNKNOWN);
}

static bool judge(const struct policy *policy, const struct caller *caller,
                  const struct facts *facts, struct arena *arena,
                  struct verdict *verdict)
{
    struct judging j = {
        .facts = facts,
        .who = {caller->agent, caller->skill, caller->team, caller->environment},
        .arena = arena,
    };
    if (!policy || !sound(facts, j.who))
        return false;
    j.set = policy->set;
    judge_builtin(&j);
    judge_rules(&j);
    if (!j.certain)
        judge_defaults(&j);
    return conclude(&j, verdict);
}

void policy_judge(const struct policy *policy, const struct caller *caller,
                  const struct facts *facts, struct arena *arena,
                  struct verdict *verdict)
{
    static const char *const because[] = {"builtin/error", NULL};
    *verdict = (struct verdict){0};
    if (!judge(policy, caller, facts, arena, verdict))
        *verdict = (struct verdict){
            .decision = DECIDE_DENY,
            .because = because,
            .why = "The gateway could not judge this call, so it does not run.",
            .failed = true};
    if (facts->operation)
        verdict->credentials = facts->operation->credentials;
}

/* policy_kit: policies and calls in a few words, for the tests of core/policy. */
#ifndef TESTS_POLICY_KIT_H
#define TESTS_POLICY_KIT_H

#include "core/policy.h"

/* Facts by hand. What is left out: agent "bot", team "web", environment "staging", no
 * skill, the effect and the guard that the operation has by itself. */
struct kit_call {
    const char *operation; /* "unknown" too */
    const char *agent, *skill, *team, *environment, *route;
    bool destructive; /* raised by a value */
    bool guarded;     /* by a flagged risk */
    bool unrecognised;
};

/* Loads files whose JSON is written with ' for ". The texts come in pairs: path, JSON.
 * NULL when they do not load; `messages` may be NULL when they must. */
struct policy *kit_load(const char *const *pairs, struct buf *messages);
struct policy *kit_load_one(const char *json);

/* A file named "a": `head` is what stands before its rules, or "". */
struct kit_rule {
    const char *id, *decide;
    const char *match, *approval; /* members, or NULL */
};
struct policy *kit_load_rules(const char *head, const struct kit_rule *rules,
                              size_t count);
void kit_free(struct policy *policy);

void kit_facts(const struct kit_call *call, struct facts *facts, struct fact *route);
struct verdict kit_judge(const struct policy *policy, const struct kit_call *call,
                         struct arena *arena);

/* "hold web/a web/b"; in the arena. */
const char *kit_tell(const struct verdict *verdict, struct arena *arena);
/* "ops|sre:2 lead:1 expires 3600 wait 45 max 600 collect 900" */
const char *kit_terms(const struct terms *terms, struct arena *arena);

#endif

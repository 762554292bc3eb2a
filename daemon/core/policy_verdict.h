/* policy_verdict: what policy decides about one call, and the terms of a held one.
 *
 * Pure values; texts and lists live in the arena and the policy set they came from. */
#ifndef CORE_POLICY_VERDICT_H
#define CORE_POLICY_VERDICT_H

#include "base/arena.h"
#include "core/catalogue.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum decision { DECIDE_ALLOW, DECIDE_HOLD, DECIDE_DENY };

enum { POLICY_REQUIREMENTS = 8 };

/* `need` distinct people out of these groups. */
struct requirement {
    const char *const *groups; /* NULL-terminated, sorted */
    int need;
};

/* How an approval proceeds; merged over every hold that applies. */
struct terms {
    struct requirement requirements[POLICY_REQUIREMENTS];
    size_t requirement_count;
    int64_t expires_s, wait_s, wait_max_s, collect_s;
};

struct verdict {
    enum decision decision;
    const char *const *because; /* "file/rule", NULL-terminated, sorted */
    const char *why;            /* of the first of them: shown to agent and approver */
    enum credentials credentials;
    struct terms terms; /* when held */
    bool failed;        /* judging failed: decision is DENY */
};

/* Adds what `more` asks for: every requirement of both, the shorter of all times.
 * False: these are more different requirements than fit; what is left then asks for
 * more people than there are, so whoever does not look is strict and not lax. */
bool terms_merge(struct terms *terms, const struct terms *more);

const char *decision_name(enum decision decision);

/* {"decision":..,"because":[..],"needs":[{"groups":[..],"need":n}],...} and back:
 * an approval keeps the terms it was held under. */
struct writer;
struct node;
void verdict_write(const struct verdict *verdict, struct writer *w, const char *key);
bool terms_read(const struct node *verdict, struct arena *arena, struct terms *terms);

#endif

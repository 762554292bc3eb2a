/* policy_set: the compiled form of a policy; for policy*.c only.
 *
 * Built by policy_load in one arena and constant from then on, so any number of threads
 * may judge by it.  Each operation has an array of the rules that may concern it, in
 * the order of their names; judging looks at no others. */
#ifndef CORE_POLICY_SET_H
#define CORE_POLICY_SET_H

#include "core/policy.h"
#include "core/policy_names.h"

enum { POLICY_FILES = 256, POLICY_RULES = 5000, POLICY_FILE_BYTES = 1 << 20 };
enum { EFFECTS = EFFECT_UNKNOWN + 1, EFFECTS_ALL = (1 << EFFECTS) - 1 };
enum dimension { BY_AGENT, BY_SKILL, BY_TEAM, BY_ENVIRONMENT, DIMENSIONS };

struct match {
    const struct names *by[DIMENSIONS]; /* NULL: everybody */
    const struct names *operations;     /* NULL: all */
    unsigned effects;                   /* 1 << effect; EFFECTS_ALL: none is named */
};

struct fallback { /* decides when no rule matched */
    const char *name;
    const struct part *part;
    enum decision decision;
    bool named;
};

struct part { /* what one file says of itself */
    const char *name;
    size_t index;
    struct match scope;
    struct fallback fallbacks[EFFECTS];
    struct terms terms;
    bool unreadable; /* while loading: no JSON */
};

struct rule {
    const char *id, *name, *why; /* name: "file/id" */
    enum decision decision;
    struct match match;
    struct terms terms; /* of a hold */
    const struct part *part;
    struct rule *next; /* while loading */
};

struct candidate {
    const struct rule *rule;
    bool in_full; /* it names this operation itself, not by a glob */
};

struct candidates {
    const struct candidate *all;
    size_t count;
};

struct group {
    const char *name, *file;
    const char *const *users; /* sorted */
    size_t count;
    bool elsewhere; /* idp_groups: the identity provider knows who else is in it */
    const struct group *next;
};

struct policy_set {
    struct arena *arena;
    const struct candidates
        *candidates; /* by operation_index, unknown being the last */
    const struct fallback *const *fallbacks[EFFECTS]; /* NULL-terminated, by name */
    const struct group *groups;
};

extern const struct terms builtin_terms; /* where no file says anything */

#endif

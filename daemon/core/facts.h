/* facts: what policy, cards and records may know of a request, derived once from its
 * canonical form (policy.md, "Facts").  Secret values are never facts, only the names
 * of what carries them.  Pure; values live in the arena. */
#ifndef CORE_FACTS_H
#define CORE_FACTS_H

#include "base/arena.h"
#include "core/canon.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fact_type { FACT_TEXT, FACT_NAMES, FACT_INT, FACT_BOOL, FACT_LIST, FACT_MAP };

/* ABSENT: E2B's own default decides; only `present` can be told. */
enum fact_state { FACT_VALUE, FACT_ABSENT, FACT_CANNOT_TELL };

struct fact {
    const char *name; /* "timeout_s"; without "request." */
    enum fact_type type;
    enum fact_state state;
    const char *text;
    int64_t number; /* or 0/1 */
    const char *const
        *list; /* LIST, NAMES; MAP: key, value, key, value; NULL-terminated */
};

enum { FACTS_MAX = 32 };

struct facts {
    const struct operation *operation;
    enum effect effect;       /* raised by value, never lowered */
    const char *const *risks; /* NULL-terminated, in the order of policy.md */
    bool guarded;             /* treatment deny, or a flagged risk */
    bool unrecognised;
    struct fact all[FACTS_MAX];
    size_t count;
};

/* False only when the arena is full. */
bool facts_of(const struct canon *canon, struct arena *arena, struct facts *facts);

const struct fact *fact_named(const struct facts *facts,
                              const char *name); /* or NULL */

/* {"template":"base","timeout_s":300,...}: what is a value and not empty; of a map only
 * the keys; long lists and texts cut. */
struct writer;
void facts_write(const struct facts *facts, struct writer *w, const char *key);

/* One sentence of at most 120 characters: "kill sandbox i0abc". Printable ASCII. */
const char *facts_summary(const struct canon *canon, const struct facts *facts,
                          struct arena *arena);

#endif

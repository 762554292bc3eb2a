/* quorum: do the votes of an approval meet its terms?  The one answer for every surface
 * and for the claim. STORE lane, inside a job. */
#ifndef SERVE_QUORUM_H
#define SERVE_QUORUM_H

#include "core/policy.h"
#include "store/registry.h"

/* Is the person in one of the groups of this requirement? */
bool quorum_counts(const struct policy *policy, const struct requirement *requirement,
                   const struct person *person);

/* Every requirement has its number of distinct, still eligible people. Terms without
 * any requirement are never met. */
bool quorum_met(struct db *db, const struct policy *policy, const char *approval,
                const struct terms *terms, struct arena *arena);

#endif

/* catalogue: every E2B operation, and what Sandgate must know of it (operations.def).
 *
 * A new operation is one row there; router, effect, facts, redaction, tool list, policy
 * checks and tests follow from it.  What has no row is unknown and refused. */
#ifndef CORE_CATALOGUE_H
#define CORE_CATALOGUE_H

#include "core/operation.h"

extern const struct operation catalogue[]; /* catalogue[catalogue_size] is not there */
extern const size_t catalogue_size;
extern const struct operation operation_unknown; /* the pseudo-operation "unknown" */

const struct operation *operation_named(const char *name); /* or NULL */

/* 0.. ; unknown: catalogue_size */
int operation_index(const struct operation *operation);

const char *effect_name(enum effect effect);
const char *target_kind_name(enum target_kind kind); /* "none" for TARGET_NONE */

#endif

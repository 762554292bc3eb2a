/* reference: how E2B names a template: [namespace/]name[:tag].
 *
 * E2B trims and lower-cases what it is given, so rules must see it that way too; and
 * only plain ASCII passes, because its lower-casing knows letters that ours does not.
 */
#ifndef CORE_REFERENCE_H
#define CORE_REFERENCE_H

#include "base/arena.h"

#include <stdbool.h>

/* Spaces around it are allowed; at most one namespace and one tag. */
bool reference_is_good(const char *text);

/* Trimmed and lower-cased; NULL when the arena is full. */
const char *reference_fold(struct arena *arena, const char *text);

/* Of a folded one: without its tag; its tag, or `otherwise`. */
const char *reference_name(struct arena *arena, const char *folded);
const char *reference_tag(const char *folded, const char *otherwise);

#endif

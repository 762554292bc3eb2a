/* policy_names: patterns, and the lists of names and patterns that a match is made of.
 *
 * `*` is any run of characters and `?` one character, neither a slash; a `*` that is
 * the whole pattern matches everything.  Case counts. */
#ifndef CORE_POLICY_NAMES_H
#define CORE_POLICY_NAMES_H

#include <stdbool.h>
#include <stddef.h>

/* What one comparison can decide needs no backtracking. */
enum glob_kind { GLOB_ANY, GLOB_PREFIX, GLOB_SUFFIX, GLOB_GENERAL };

struct glob {
    enum glob_kind kind;
    const char *text; /* as it is written */
    size_t size;
};

bool has_glob(const char *text); /* is it a pattern at all? */
struct glob glob_of(const char *pattern);
bool glob_matches(const struct glob *glob, const char *text);

struct names {
    const char *const *literals; /* sorted */
    const struct glob *globs;
    const struct names *const *sets; /* of "@name"; sets do not nest */
    size_t literal_count, glob_count, set_count;
};

bool names_list(const struct names *names,
                const char *text); /* itself, not by a glob */
bool names_match(const struct names *names, const char *text);
bool sorted_has(const char *const *sorted, size_t count, const char *text);

#endif

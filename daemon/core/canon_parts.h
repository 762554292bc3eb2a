/* canon_parts: what the files of canon share. */
#ifndef CORE_CANON_PARTS_H
#define CORE_CANON_PARTS_H

#include "core/canon.h"

/* Notes why, made printable and cut to size; returns ERR_REQUEST_REFUSED. */
enum err canon_refuse(struct canon *canon, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Nothing but what an origin-form target may consist of: a slash first, no fragment, no
 * backslash, no ';', printable ASCII. */
enum err canon_target_form(struct canon *canon, const char *target);

/* What the canonical form is before anything is known. */
struct canon canon_blank(void);

/* The canonical query of `canon->route`. */
enum err canon_query(struct canon *canon, const char *query, struct arena *arena);

#endif

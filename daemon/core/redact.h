/* redact: what a record, a card or a log may show of a request, and what an agent may
 * get of an answer.  An allow-list: whatever the catalogue does not mark as clear
 * appears as name, length and keyed hash. */
#ifndef CORE_REDACT_H
#define CORE_REDACT_H

#include "base/arena.h"
#include "base/buf.h"
#include "core/canon.h"
#include "core/writer.h"

enum { REDACT_KEY = 32 };

/* Writes `key`: {clear fields by their dotted paths, "hidden": [{"name": "envVars.A",
 * "bytes": 3, "hash": "h1:..."}], "more": what did not fit}; the last two only when
 * there are any.  Some 24 KiB at most.  Of an URL or a proxy's address only the origin
 * is clear. */
void redact_request(const struct canon *canon, const unsigned char hash_key[REDACT_KEY],
                    struct writer *w, const char *key);

/* Removes the operation's credentials from a JSON answer, or cuts URLs to their origin.
 * `*stripped` lists the catalogue's pointers that matched, comma separated, in the
 * arena
 * ("" when none).  When nothing
 * matches, `out` stays empty and the original bytes are to be used. ERR_UPSTREAM_BROKEN
 * when the answer is not JSON although credentials may be in it. */
enum err redact_response(const struct operation *operation, const char *body,
                         size_t size, struct arena *arena, struct buf *out,
                         const char **stripped);

/* The id of what an answer says was made ("sandboxID", "templateID", ...), several
 * joined by commas, escaped; NULL when there is none: for the record's res.new. */
const char *redact_created(const struct operation *operation, const char *body,
                           size_t size, struct arena *arena);

#endif

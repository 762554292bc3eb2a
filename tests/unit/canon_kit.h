/* canon_kit: requests in a few words, for the tests of core/canon and what follows it.
 */
#ifndef TESTS_CANON_KIT_H
#define TESTS_CANON_KIT_H

#include "core/canon.h"

/* "DELETE /sandboxes/abc" and a body through canon; JSON is written with ' for ". NULL:
 * no body. */
enum err kit_canon(const char *line, const char *body, struct arena *arena,
                   struct canon *canon);
enum err kit_canon_lenient(const char *line, const char *body, struct arena *arena,
                           struct canon *canon);

/* A header section of lines "Name: value\n"; HTTP/1.1 unless `version` says otherwise.
 */
enum err kit_headers(const char *version, const char *lines, struct arena *arena,
                     struct canon *canon, struct agent_headers *agent);

/* The text with " for '. */
const char *kit_json(const char *text, struct arena *arena);

/* "GET /sandboxes/i0abc9": the route with a plausible value for each parameter. */
const char *kit_line(const struct route *route, struct arena *arena);

/* The least body that the route takes, or NULL when it takes none. */
const char *kit_body(const struct operation *operation, const struct route *route,
                     struct arena *arena);

#endif

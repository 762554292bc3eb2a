/* origin: where an URL or a proxy address leads, without what may be secret in it.
 *
 * Strict, so that nobody downstream reads another host out of the same text: printable
 * ASCII, no backslash, one '@' at most, a plain host. */
#ifndef CORE_ORIGIN_H
#define CORE_ORIGIN_H

#include "base/arena.h"

#include <stdbool.h>

struct origin {
    const char *scheme; /* "https"; NULL for an address */
    const char *host;   /* lower-case */
    const char *port;   /* NULL when the text has none */
    bool whole;         /* the text says nothing beyond the origin */
};

/* "http(s)://[user@]host[:port][/...]". False when it is not, or the arena is full. */
bool origin_of_url(struct arena *arena, const char *url, struct origin *origin);

/* "[user@]host:port". */
bool origin_of_address(struct arena *arena, const char *address, struct origin *origin);

/* "https://host:port", "host:port"; NULL when the arena is full. */
const char *origin_text(struct arena *arena, const struct origin *origin);

#endif

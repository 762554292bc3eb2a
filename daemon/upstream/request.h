/* request: the exact bytes that leave for E2B.  Pure. */
#ifndef UPSTREAM_REQUEST_H
#define UPSTREAM_REQUEST_H

#include "upstream/upstream.h"

/* "scheme://host[:port]" and nothing more. */
bool request_base_url_is_good(const char *base_url);

/* The head, and the body too if it is small.  `*rest` is the part of the body that
 * must follow, or empty.  A control byte in what core/canon has checked is a bug and
 * aborts.  `out` holds the key: wipe it.  False when it does not fit. */
bool request_write(struct buf *out, const struct transfer *transfer, const char **rest,
                   size_t *rest_size);

#endif

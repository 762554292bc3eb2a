/* head: the lines above an answer's body, one at a time.  Pure.
 *
 * Lines come without their CRLF.  Checks return NULL when the line is fine, else a
 * sentence that says why the whole answer is broken: whatever two readers could take
 * differently is refused here, so the framing that is left has one meaning. */
#ifndef UPSTREAM_HEAD_H
#define UPSTREAM_HEAD_H

#include "base/buf.h"
#include "core/canon.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct head {
    int status;
    bool http10;  /* then the connection ends with the answer */
    bool close;   /* "Connection: close" */
    bool chunked; /* "Transfer-Encoding: chunked" */
    bool sized;   /* "Content-Length" came, and is `length` */
    uint64_t length;
};

enum { HEAD_OPENING = 7 }; /* "HTTP/1." */

/* The part of a status line that came so far: could it still become a good one? */
const char *head_opening(const char *line, size_t size);
const char *head_status_line(struct head *head, const char *line, size_t size);
const char *head_header_line(struct head *head, const char *line, size_t size);

/* After the last line: do the headers agree with each other? */
const char *head_complete(const struct head *head);

/* Case does not count. */
bool head_same_name(const struct header *header, const char *name);

/* Walks a stored section, status line first, CRLF kept: the next header after `*at`
 * (0 to begin), or false.  Ends both of its texts with a NUL in place, so once only. */
bool head_next(struct buf *section, size_t *at, struct header *header);

#endif

/* writer: JSON by hand, in the order it is written, as one line of printable ASCII.
 *
 * Everything outside 0x20..0x7e becomes \uXXXX (lower-case hex, surrogate pairs), so
 * the bytes can be hashed, grepped and shown on a terminal as they are.  Text that is
 * not valid UTF-8 becomes {"b64":"..."}.  A NULL text member is left out.  Commas are
 * the writer's business.  Check `out->failed` once at the end.  Roughly 25 times
 * cheaper than a tree and a dump. */
#ifndef CORE_WRITER_H
#define CORE_WRITER_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct writer {
    struct buf *out;
    bool comma;
};

#define WRITER(buffer) ((struct writer){.out = (buffer)})

void write_open(struct writer *w, const char *key, char bracket); /* '{' or '[' */
void write_close(struct writer *w, char bracket);                 /* '}' or ']' */
/* `key` is NULL inside a list and at the top. */
void write_text(struct writer *w, const char *key, const char *text);
void write_bytes(struct writer *w, const char *key, const char *text, size_t size);
void write_int(struct writer *w, const char *key, int64_t number);
void write_time(struct writer *w, const char *key, int64_t wall_ms); /* 0: left out */
void write_bool(struct writer *w, const char *key, bool value);
void write_null(struct writer *w, const char *key);
void write_raw(struct writer *w, const char *key, const char *json); /* trusted JSON */

#endif

/* buf: growing bytes with a cap that is stated at birth.
 *
 * Running past the cap or out of memory sets `failed` for good and drops what does
 * not fit; so a chain of appends is checked once, at its end.  The bytes are always
 * followed by a NUL that does not count. */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

struct buf {
    char *data;
    size_t size, room, cap;
    bool failed;
};

#define BUF(limit) ((struct buf){.cap = (limit)})
#define own_buf __attribute__((cleanup(buf_free))) struct buf

void buf_free(struct buf *buf);
void buf_wipe(struct buf *buf);  /* zero the bytes, then free: for secrets */
void buf_clear(struct buf *buf); /* size 0, memory kept, `failed` reset */

bool buf_reserve(struct buf *buf, size_t more);
bool buf_add(struct buf *buf, const void *bytes, size_t size);
bool buf_text(struct buf *buf, const char *text);
bool buf_char(struct buf *buf, char c);
bool buf_printf(struct buf *buf, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif

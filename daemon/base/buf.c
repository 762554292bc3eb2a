#include "base/buf.h"

#include "base/fault.h"
#include "base/must.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buf_free(struct buf *buf)
{
    free(buf->data);
    *buf = (struct buf){.cap = buf->cap};
}

void buf_wipe(struct buf *buf)
{
    if (buf->data)
        explicit_bzero(buf->data, buf->room);
    buf_free(buf);
}

void buf_clear(struct buf *buf)
{
    buf->size = 0;
    buf->failed = false;
    if (buf->data)
        buf->data[0] = '\0';
}

bool buf_reserve(struct buf *buf, size_t more)
{
    if (buf->failed || more > buf->cap || buf->size > buf->cap - more) {
        buf->failed = true;
        return false;
    }
    size_t need = buf->size + more + 1;
    if (need <= buf->room)
        return true;
    size_t room = buf->room ? buf->room : 64;
    while (room < need)
        room *= 2;
    char *data = fault_alloc() ? NULL : malloc(room);
    if (!data) {
        buf->failed = true;
        return false;
    }
    if (buf->data) { /* not realloc: a moved secret would leave its old copy behind */
        memcpy(data, buf->data, buf->size);
        explicit_bzero(buf->data, buf->size);
        free(buf->data);
    }
    buf->data = data;
    buf->room = room;
    buf->data[buf->size] = '\0';
    return true;
}

bool buf_add(struct buf *buf, const void *bytes, size_t size)
{
    if (!buf_reserve(buf, size))
        return false;
    if (size)
        memcpy(buf->data + buf->size, bytes, size);
    buf->size += size;
    buf->data[buf->size] = '\0';
    return true;
}

bool buf_text(struct buf *buf, const char *text)
{
    return buf_add(buf, text, strlen(text));
}

bool buf_char(struct buf *buf, char c)
{
    return buf_add(buf, &c, 1);
}

bool buf_printf(struct buf *buf, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    size_t size = text_measure(format, args);
    if (buf_reserve(buf, size)) {
        (void)vsnprintf(buf->data + buf->size, size + 1, format, again);
        buf->size += size;
    }
    va_end(args);
    va_end(again);
    return !buf->failed;
}

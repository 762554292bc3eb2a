/* text: strict conversions between bytes and text.  Pure, any thread.
 *
 * Parsers accept exactly one spelling and report failure instead of guessing. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include "base/buf.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool text_same(const char *a, const char *b); /* NULL equals only NULL */
bool text_starts(const char *text, const char *prefix);
bool text_ends(const char *text, const char *suffix);

/* Copies as much as fits, always terminated; false when cut. */
bool text_copy(char *out, size_t room, const char *text);
bool text_format(char *out, size_t room, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Bytes that the format needs, without the NUL; `args` is used up. */
size_t text_measure(const char *format, va_list args)
    __attribute__((format(printf, 1, 0)));

/* Lower-case hex. `out` holds 2 * size + 1. */
void text_hex(const void *bytes, size_t size, char *out);
bool text_unhex(const char *hex, void *bytes, size_t size); /* exactly `size` bytes */

/* The character that a %XX at `at` stands for (RFC 3986); false when it is none. */
bool text_unpercent(const char *at, const char *end, char *out);

/* Standard base64 with padding. Decoding returns false on any slack. */
bool text_base64(struct buf *out, const void *bytes, size_t size);
bool text_unbase64(struct buf *out, const char *text, size_t size);

/* Decimal, no sign but '-', no spaces, no leading zeros, in range. */
bool text_int(const char *text, int64_t min, int64_t max, int64_t *out);

/* RFC 3629, no surrogates; NUL is a character like any other. */
bool text_is_utf8(const char *text, size_t size);

/* Decodes the code point at `at` and moves past it; false on a malformed one. */
bool text_utf8_next(const char **at, const char *end, uint32_t *code);

/* RFC 9110 token, non-empty. */
bool text_is_token(const char *text, size_t size);

/* Every control, bidi and non-ASCII code point as \xNN or \uNNNN: safe on a terminal
 * and in a one-line log. Bytes that are not UTF-8 become \xNN. */
bool text_escape(struct buf *out, const char *text, size_t size);

#endif

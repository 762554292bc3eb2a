#include "base/text.h"

#include "base/must.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool text_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

bool text_starts(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool text_ends(const char *text, const char *suffix)
{
    size_t size = strlen(text), tail = strlen(suffix);
    return size >= tail && strcmp(text + size - tail, suffix) == 0;
}

bool text_copy(char *out, size_t room, const char *text)
{
    return text_format(out, room, "%s", text);
}

bool text_format(char *out, size_t room, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int size = vsnprintf(out, room, format, args);
    va_end(args);
    return size >= 0 && (size_t)size < room;
}

size_t text_measure(const char *format, va_list args)
{
    int size = vsnprintf(NULL, 0, format, args);
    must(size >= 0);
    return (size_t)size;
}

void text_hex(const void *bytes, size_t size, char *out)
{
    static const char digits[] = "0123456789abcdef";
    const unsigned char *in = bytes;
    for (size_t i = 0; i < size; i++) {
        out[2 * i] = digits[in[i] >> 4];
        out[2 * i + 1] = digits[in[i] & 15];
    }
    out[2 * size] = '\0';
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool text_unhex(const char *hex, void *bytes, size_t size)
{
    unsigned char *out = bytes;
    if (strlen(hex) != 2 * size)
        return false;
    for (size_t i = 0; i < size; i++) {
        int high = hex_digit(hex[2 * i]), low = hex_digit(hex[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        out[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}

static int any_hex_digit(char c)
{
    return hex_digit((char)(c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c));
}

bool text_unpercent(const char *at, const char *end, char *out)
{
    int high = end - at >= 3 && *at == '%' ? any_hex_digit(at[1]) : -1;
    int low = high >= 0 ? any_hex_digit(at[2]) : -1;
    if (low < 0)
        return false;
    *out = (char)(unsigned char)(16 * high + low);
    return true;
}

static const char base64_digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool text_base64(struct buf *out, const void *bytes, size_t size)
{
    const unsigned char *in = bytes;
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        uint32_t group = (uint32_t)in[i] << 16;
        group |= left > 1 ? (uint32_t)in[i + 1] << 8 : 0;
        group |= left > 2 ? (uint32_t)in[i + 2] : 0;
        const char quad[4] = {base64_digits[group >> 18],
                              base64_digits[group >> 12 & 63],
                              (char)(left > 1 ? base64_digits[group >> 6 & 63] : '='),
                              (char)(left > 2 ? base64_digits[group & 63] : '=')};
        buf_add(out, quad, 4);
    }
    return !out->failed;
}

static int base64_value(char c)
{
    const char *at = c ? strchr(base64_digits, c) : NULL;
    return at ? (int)(at - base64_digits) : -1;
}

bool text_unbase64(struct buf *out, const char *text, size_t size)
{
    if (size % 4 != 0)
        return false;
    for (size_t i = 0; i < size; i += 4) {
        bool last = i + 4 == size;
        int pad = last && text[i + 3] == '=' ? (text[i + 2] == '=' ? 2 : 1) : 0;
        uint32_t group = 0;
        for (int k = 0; k < 4; k++) {
            int value = k >= 4 - pad ? 0 : base64_value(text[i + (size_t)k]);
            if (value < 0)
                return false;
            group = group << 6 | (uint32_t)value;
        }
        if ((pad == 2 && (group & 0xffff)) || (pad == 1 && (group & 0xff)))
            return false; /* bits that no encoder writes */
        const char three[3] = {(char)(group >> 16), (char)(group >> 8), (char)group};
        buf_add(out, three, (size_t)(3 - pad));
    }
    return !out->failed;
}

bool text_int(const char *text, int64_t min, int64_t max, int64_t *out)
{
    const char *digits = text + (*text == '-');
    if (*digits < '0' || *digits > '9'
        || (*digits == '0' && (digits[1] || digits > text)))
        return false;
    for (const char *at = digits; *at; at++)
        if (*at < '0' || *at > '9')
            return false;
    errno = 0;
    long long value = strtoll(text, NULL, 10);
    if (errno || value < min || value > max)
        return false;
    *out = value;
    return true;
}

bool text_utf8_next(const char **at, const char *end, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *in = (const unsigned char *)*at;
    size_t size = in[0] < 0x80   ? 1
                  : in[0] < 0xc2 ? 0
                  : in[0] < 0xe0 ? 2
                  : in[0] < 0xf0 ? 3
                  : in[0] < 0xf5 ? 4
                                 : 0;
    if (size == 0 || (size_t)(end - *at) < size)
        return false;
    uint32_t value = size == 1 ? in[0] : in[0] & (0xffu >> (size + 1));
    for (size_t i = 1; i < size; i++) {
        if ((in[i] & 0xc0) != 0x80)
            return false;
        value = value << 6 | (in[i] & 0x3f);
    }
    if (value < least[size] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
        return false;
    *code = value;
    *at += size;
    return true;
}

bool text_is_utf8(const char *text, size_t size)
{
    const char *at = text, *end = text + size;
    uint32_t code;
    while (at < end)
        if (!text_utf8_next(&at, end, &code))
            return false;
    return true;
}

bool text_is_token(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        char c = text[i];
        bool word =
            (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!word && (c == '\0' || !strchr("!#$%&'*+-.^_`|~", c)))
            return false;
    }
    return size > 0;
}

bool text_escape(struct buf *out, const char *text, size_t size)
{
    const char *at = text, *end = text + size;
    while (at < end) {
        uint32_t code;
        const char *start = at;
        if (!text_utf8_next(&at, end, &code)) {
            buf_printf(out, "\\x%02x", (unsigned char)*start);
            at = start + 1;
        } else if (code == '\\') {
            buf_text(out, "\\\\");
        } else if (code >= 0x20 && code < 0x7f) {
            buf_char(out, (char)code);
        } else {
            buf_printf(out, code < 0x80 ? "\\x%02x" : "\\u%04x", (unsigned)code);
        }
    }
    return !out->failed;
}

#include "core/record_scan.h"

#include "base/must.h"
#include "base/text.h"

#include <string.h>

static const int64_t int_most = 9007199254740991; /* 2^53-1 */

void scan_start(struct scan *scan, const char *bytes, size_t size, char *why)
{
    must(size <= RECORD_MAX);
    scan->start = scan->at = bytes;
    scan->end = bytes + size;
    scan->why = why;
    scan->depth = 0;
    scan->key_count = 0;
}

bool scan_fail(struct scan *scan, const char *what)
{
    (void)text_format(scan->why, RECORD_WHY, "byte %zu: %s",
                      (size_t)(scan->at - scan->start), what); /* cut is fine */
    return false;
}

bool scan_skip(struct scan *scan, char c)
{
    if (scan->at == scan->end || *scan->at != c)
        return false;
    scan->at++;
    return true;
}

bool scan_want(struct scan *scan, char c)
{
    char what[] = "'?' should be here";
    what[1] = c;
    return scan_skip(scan, c) || scan_fail(scan, what);
}

bool scan_done(const struct scan *scan)
{
    return scan->at == scan->end;
}

/* The next byte; NUL at the end. */
static char peek(const struct scan *scan)
{
    if (scan_done(scan))
        return '\0';
    return *scan->at;
}

/* ---- strings ---- */

static bool four_digits(struct scan *scan, uint32_t *unit)
{
    *unit = 0;
    for (int i = 0; i < 4; i++) {
        char c = peek(scan);
        bool digit = c >= '0' && c <= '9';
        if (!digit && !(c >= 'a' && c <= 'f'))
            return scan_fail(scan, "\\u wants four lower-case hex digits");
        *unit = *unit << 4 | (uint32_t)(digit ? c - '0' : c - 'a' + 10);
        scan->at++;
    }
    return true;
}

/* Behind a backslash. */
static bool scan_escape(struct scan *scan)
{
    uint32_t unit, low;
    if (scan_skip(scan, '"') || scan_skip(scan, '\\'))
        return true;
    if (!scan_skip(scan, 'u'))
        return scan_fail(scan, "only \\\" \\\\ and \\uXXXX are escapes");
    if (!four_digits(scan, &unit))
        return false;
    if (unit == 0 || (unit >= 0x20 && unit <= 0x7e))
        return scan_fail(scan, "an escape that is not needed");
    if (unit < 0xd800 || unit > 0xdfff)
        return true;
    if (unit >= 0xdc00 || !scan_skip(scan, '\\') || !scan_skip(scan, 'u')
        || !four_digits(scan, &low) || low < 0xdc00 || low > 0xdfff)
        return scan_fail(scan, "half a surrogate pair");
    return true;
}

bool scan_string(struct scan *scan, const char **inside, size_t *size)
{
    if (!scan_want(scan, '"'))
        return false;
    *inside = scan->at;
    while (scan->at < scan->end && *scan->at != '"') {
        if (*scan->at < 0x20 || *scan->at > 0x7e)
            return scan_fail(scan, "a byte outside 0x20..0x7e");
        if (*scan->at++ == '\\' && !scan_escape(scan))
            return false;
    }
    *size = (size_t)(scan->at - *inside);
    return scan_want(scan, '"');
}

bool scan_text(struct scan *scan)
{
    static const char opening[] = "{\"b64\":";
    const char *inside;
    size_t size, length = sizeof(opening) - 1;
    if ((size_t)(scan->end - scan->at) < length
        || memcmp(scan->at, opening, length) != 0)
        return scan_string(scan, &inside, &size);
    own_buf bytes = BUF(RECORD_MAX);
    scan->at += length;
    if (!scan_string(scan, &inside, &size))
        return false;
    if (!text_unbase64(&bytes, inside, size))
        return scan_fail(scan, "not base64");
    return scan_want(scan, '}');
}

/* ---- numbers ---- */

bool scan_int(struct scan *scan, int64_t *number)
{
    bool minus = scan_skip(scan, '-');
    const char *digits = scan->at;
    int64_t value = 0;
    while (scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9') {
        value = 10 * value + (*scan->at++ - '0');
        if (value > int_most)
            return scan_fail(scan, "a number beyond 2^53-1");
    }
    if (scan->at == digits)
        return scan_fail(scan, "a value should be here");
    if (*digits == '0' && (scan->at > digits + 1 || minus))
        return scan_fail(scan, "a number with a second spelling");
    *number = minus ? -value : value;
    return true;
}

/* ---- any value ---- */

static bool scan_word(struct scan *scan)
{
    static const char *const words[] = {"true", "false", "null"};
    for (size_t i = 0; i < COUNT(words); i++) {
        size_t size = strlen(words[i]);
        if ((size_t)(scan->end - scan->at) < size
            || memcmp(scan->at, words[i], size) != 0)
            continue;
        scan->at += size;
        return true;
    }
    return false;
}

/* One spelling a key, so that equal keys are equal bytes, quote for quote. */
static bool scan_new_key(struct scan *scan, size_t first)
{
    const char *inside;
    size_t size, at = (size_t)(scan->at - scan->start);
    if (!scan_string(scan, &inside, &size))
        return false;
    const char *quoted = inside - 1;
    for (size_t i = first; i < scan->key_count; i++)
        if (memcmp(scan->start + scan->keys[i], quoted, size + 2) == 0)
            return scan_fail(scan, "the same key a second time");
    must(scan->key_count < SCAN_KEYS); /* the least member has five bytes */
    scan->keys[scan->key_count++] = (uint16_t)at;
    return scan_want(scan, ':');
}

static bool scan_value(struct scan *scan);

bool scan_list(struct scan *scan)
{
    if (!scan_want(scan, '['))
        return false;
    if (scan_skip(scan, ']'))
        return true;
    do
        if (!scan_value(scan))
            return false;
    while (scan_skip(scan, ','));
    return scan_want(scan, ']');
}

static bool scan_members(struct scan *scan)
{
    size_t first = scan->key_count;
    do
        if (!scan_new_key(scan, first) || !scan_value(scan))
            return false;
    while (scan_skip(scan, ','));
    scan->key_count = first;
    return scan_want(scan, '}');
}

bool scan_object(struct scan *scan)
{
    if (!scan_want(scan, '{'))
        return false;
    return scan_skip(scan, '}') || scan_members(scan);
}

static bool scan_value(struct scan *scan)
{
    const char *inside;
    size_t size;
    int64_t number;
    char c = peek(scan);
    if (c == '"')
        return scan_string(scan, &inside, &size);
    if (c != '{' && c != '[')
        return scan_word(scan) || scan_int(scan, &number);
    if (++scan->depth > SCAN_DEPTH)
        return scan_fail(scan, "nested too deep");
    bool good = c == '{' ? scan_object(scan) : scan_list(scan);
    scan->depth--;
    return good;
}

bool scan_is_input(const char *bytes, bool hidden)
{
    static const char key[] = ",\"hidden\":";
    char why[RECORD_WHY];
    struct scan scan;
    size_t size = strlen(bytes), length = sizeof(key) - 1;
    if (size > RECORD_MAX)
        return false;
    scan_start(&scan, bytes, size, why);
    if (!scan_object(&scan))
        return false;
    if (scan_done(&scan))
        return true;
    if (!hidden || (size_t)(scan.end - scan.at) < length
        || memcmp(scan.at, key, length) != 0)
        return false;
    scan.at += length;
    return scan_list(&scan) && scan_done(&scan);
}

#include "core/writer.h"

#include "base/clock.h"
#include "base/text.h"

#include <string.h>

static void put_escaped(struct buf *out, uint32_t code)
{
    if (code > 0xffff) {
        code -= 0x10000;
        buf_printf(out, "\\u%04x\\u%04x", 0xd800 + (code >> 10),
                   0xdc00 + (code & 0x3ff));
    } else if (code == '"' || code == '\\') {
        buf_char(out, '\\');
        buf_char(out, (char)code);
    } else {
        buf_printf(out, "\\u%04x", (unsigned)code);
    }
}

static bool plain(char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static void put_string(struct buf *out, const char *text, size_t size)
{
    const char *at = text, *end = text + size;
    buf_char(out, '"');
    while (at < end) {
        const char *run = at;
        uint32_t code = 0;
        while (at < end && plain(*at))
            at++;
        buf_add(out, run, (size_t)(at - run));
        if (at == end)
            break;
        if (!text_utf8_next(&at, end, &code)) { /* a key of our own, or a bug */
            code = 0xfffd;
            at++;
        }
        put_escaped(out, code);
    }
    buf_char(out, '"');
}

static void put_key(struct writer *w, const char *key)
{
    if (w->comma)
        buf_char(w->out, ',');
    w->comma = true;
    if (!key)
        return;
    put_string(w->out, key, strlen(key));
    buf_char(w->out, ':');
}

void write_open(struct writer *w, const char *key, char bracket)
{
    put_key(w, key);
    buf_char(w->out, bracket);
    w->comma = false;
}

void write_close(struct writer *w, char bracket)
{
    buf_char(w->out, bracket);
    w->comma = true;
}

void write_bytes(struct writer *w, const char *key, const char *text, size_t size)
{
    put_key(w, key);
    if (text_is_utf8(text, size)) {
        put_string(w->out, text, size);
        return;
    }
    buf_text(w->out, "{\"b64\":\"");
    text_base64(w->out, text, size);
    buf_text(w->out, "\"}");
}

void write_text(struct writer *w, const char *key, const char *text)
{
    if (text)
        write_bytes(w, key, text, strlen(text));
}

void write_int(struct writer *w, const char *key, int64_t number)
{
    put_key(w, key);
    buf_printf(w->out, "%lld", (long long)number);
}

void write_time(struct writer *w, const char *key, int64_t wall_ms)
{
    char at[25];
    if (wall_ms <= 0)
        return;
    clock_rfc3339(wall_ms, at);
    write_text(w, key, at);
}

void write_bool(struct writer *w, const char *key, bool value)
{
    put_key(w, key);
    buf_text(w->out, value ? "true" : "false");
}

void write_null(struct writer *w, const char *key)
{
    put_key(w, key);
    buf_text(w->out, "null");
}

void write_raw(struct writer *w, const char *key, const char *json)
{
    if (!json)
        return;
    put_key(w, key);
    buf_text(w->out, json);
}

#include "cli/talk.h"

#include "base/must.h"
#include "base/text.h"

#include <stdarg.h>
#include <string.h>

enum { SAFE_MAX = 32 << 20 };

void put(struct call *call, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)vfprintf(call->out, format, args);
    va_end(args);
}

void say(struct call *call, const char *format, ...)
{
    va_list args;
    if (flag_on(call, "quiet"))
        return;
    va_start(args, format);
    (void)vfprintf(call->talk, format, args);
    (void)fputc('\n', call->talk);
    va_end(args);
}

int fail(struct call *call, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)fputs("sandgate: ", call->talk);
    (void)vfprintf(call->talk, format, args);
    (void)fputc('\n', call->talk);
    va_end(args);
    return code;
}

void hint(struct call *call, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    (void)fputs("          ", call->talk);
    (void)vfprintf(call->talk, format, args);
    (void)fputc('\n', call->talk);
    va_end(args);
}

const char *words(struct call *call, const char *format, ...)
{
    va_list args;
    own_buf line = BUF(SAFE_MAX);
    va_start(args, format);
    size_t size = text_measure(format, args);
    va_end(args);
    must(buf_reserve(&line, size));
    va_start(args, format);
    (void)vsnprintf(line.data, size + 1, format, args);
    va_end(args);
    const char *kept = arena_copy(call->arena, line.data, size);
    must(kept);
    return kept;
}

const char *safe(struct call *call, const char *text)
{
    own_buf out = BUF(SAFE_MAX);
    if (!text || !*text)
        return "";
    (void)text_escape(&out, text, strlen(text)); /* what is too long is cut */
    const char *kept = arena_copy(call->arena, out.data, out.size);
    must(kept);
    return kept;
}

const char *painted(struct call *call, enum paint paint, const char *text)
{
    static const char *const codes[] = {[PLAIN] = "", [BOLD] = "1",    [DIM] = "2",
                                        [RED] = "31", [YELLOW] = "33", [GREEN] = "32"};
    if (!call->colored || paint == PLAIN)
        return text;
    return words(call, "\x1b[%sm%s\x1b[0m", codes[paint], text);
}

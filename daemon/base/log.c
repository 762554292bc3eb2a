#include "base/log.h"

#include "base/clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 1024 };

static int threshold = LOG_INFO;

void log_level_set(enum log_level level)
{
    __atomic_store_n(&threshold, (int)level, __ATOMIC_RELAXED);
}

void log_line(enum log_level level, const char *event, const char *format, ...)
{
    static const char *const names[] = {"error", "warn", "info", "debug"};
    if ((int)level > __atomic_load_n(&threshold, __ATOMIC_RELAXED))
        return;
    char line[LINE], at[25];
    clock_rfc3339(clock_wall_ms(), at);
    int size = snprintf(line, sizeof(line), "%s %-5s %s ", at, names[level], event);
    va_list args;
    va_start(args, format);
    int more = vsnprintf(line + size, sizeof(line) - (size_t)size, format, args);
    va_end(args);
    size = size + more < LINE - 1 ? size + more : LINE - 2;
    line[size++] = '\n'; /* one write, so that lines of several threads never mix */
    (void)!write(STDERR_FILENO, line, (size_t)size);
}

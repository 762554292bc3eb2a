/* talk: how the command line speaks.
 *
 * Data goes to stdout with `put`, everything else to stderr.  Whatever an agent can
 * have written goes through `safe` first, on a terminal or not. */
#ifndef CLI_TALK_H
#define CLI_TALK_H

#include "cli/command.h"

enum paint { PLAIN, BOLD, DIM, RED, YELLOW, GREEN };

void put(struct call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A line for a person; --quiet keeps it back. */
void say(struct call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "sandgate: what failed, where and why"; returns the code. */
int fail(struct call *call, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* What to do next, on the line below `fail`. */
void hint(struct call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* In the arena: never NULL. */
const char *words(struct call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
const char *safe(struct call *call, const char *text);
const char *painted(struct call *call, enum paint paint, const char *text);

#endif

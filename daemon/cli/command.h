/* command: what the command line is made of: one table of commands, and the call that
 * runs one of them.
 *
 * Parsing, help, suggestions and docs/CLI.md follow from the table in commands.def; a
 * command is one row and one function.  Data goes to `out`, talk to `talk`.  All that a
 * command makes lives in the call's arena; secrets never do. */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum exit_code {
    DONE = 0,
    FAILED = 1,
    USAGE = 2,
    NOT_FOUND = 3,
    NO_RIGHTS = 4,
    STILL_PENDING = 5,
    NOT_APPROVED = 6, /* declined, expired, cancelled or superseded */
    NOT_VERIFIED = 7,
    INVALID = 8, /* configuration or policy */
    TRY_AGAIN = 75,
    INTERRUPTED = 130
};

struct flag {
    const char *name, *value; /* value: what stands for it in help; NULL: a switch */
    const char *help;
};

/* Where it is done; VIA_BOTH finds the daemon itself, when it comes to that. */
enum via { VIA_LOCAL, VIA_DAEMON, VIA_BOTH };

struct call;
struct command {
    const char *name, *args, *summary; /* args: "ID", "NAME [FILE]" */
    const struct flag *flags;          /* ended by a NULL name */
    enum via via;
    int (*run)(struct call *call); /* an exit_code */
    const char *more;              /* further paragraphs of its help, or NULL */
};

extern const struct command commands[];
extern const size_t command_count;
extern const struct flag global_flags[];

enum { ARGS_MAX = 3, GIVEN_MAX = 32 };

struct given {
    const struct flag *flag;
    const char *value; /* "" for a switch */
};

struct call {
    const struct command *command;
    struct arena *arena;
    FILE *in, *out, *talk;
    bool in_terminal, out_terminal, colored;
    int width;                   /* columns of the terminal */
    const char *socket, *config; /* where the daemon is: api_place */
    int64_t timeout_ms;          /* for one answer of it; 0: for ever */
    const char *args[ARGS_MAX];
    size_t arg_count;
    struct given given[GIVEN_MAX];
    size_t given_count;
};

/* The name must be a flag of the command, or a global one. */
bool flag_on(const struct call *call, const char *name);
const char *flag_text(const struct call *call, const char *name); /* or NULL */

/* The whole program: `call` comes with its streams. */
int cli_run(struct call *call, int argc, char *const *argv);

#endif

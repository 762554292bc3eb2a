#include "base/must.h"
#include "cli/groups.h"

#define FLAG(name, value, help) {name, value, help},
#define COMMAND(name, args, via, run, summary, flags, more)               \
    {name, args, summary, (const struct flag[]){flags{NULL, NULL, NULL}}, \
     via,  run,  more},

const struct flag global_flags[] = {
#include "cli/globals.def"
    {NULL, NULL, NULL}
};

const struct command commands[] = {
#include "cli/commands.def"
};

const size_t command_count = COUNT(commands);

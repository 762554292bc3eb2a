/* parse: argv against the table of commands, and the help that follows from it. */
#ifndef CLI_PARSE_H
#define CLI_PARSE_H

#include "cli/command.h"

/* Fills command, args and given; an exit_code, told when it is not DONE.  With --help
 * the help is shown and nothing is left to do; with no words at all command is NULL. */
int parse(struct call *call, int argc, char *const *argv);

int help_show(struct call *call, const struct command *command); /* NULL: all */
/* Whatever belongs to `group` ("approvals"), as when only that was typed. */
int help_group(struct call *call, const char *group);

#endif

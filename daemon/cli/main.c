/* sandgate: the command line of the gateway. */
#include "cli/command.h"

#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct call call = {.in = stdin,
                        .out = stdout,
                        .talk = stderr,
                        .in_terminal = isatty(STDIN_FILENO) == 1,
                        .out_terminal = isatty(STDOUT_FILENO) == 1};
    const char *plain = secure_getenv("NO_COLOR");
    call.colored = call.out_terminal && !(plain && *plain);
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* keys pass through here */
    (void)umask(022); /* files with keys ask for less themselves */
    return cli_run(&call, argc, argv);
}

/* settings: what the command line wants to know of sandgate.json: where things are.
 *
 * The daemon checks that file as a whole; here the rest is passed over. */
#ifndef CLI_SETTINGS_H
#define CLI_SETTINGS_H

#include "cli/command.h"

struct settings {
    const char *file;
    const char *agents_listen, *metrics_listen, *socket, *data, *state_file, *policy;
    const char *master_key, *audit_key;
};

/* In the arena. A file that is not there means the defaults; `there` tells. */
int settings_read(struct call *call, const char *file, struct settings *settings,
                  bool *there);

/* What --config and --socket say, or the defaults; told when not DONE. */
int settings_given(struct call *call, struct settings *settings);

#endif

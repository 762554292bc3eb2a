/* export: the daemon's log as a file. */
#ifndef CLI_EXPORT_H
#define CLI_EXPORT_H

#include "cli/command.h"

/* Signs a checkpoint, then writes the records that --first and --end ask for (all,
 * where the command has no such flags).  `*vkey`, in the arena, is the daemon's own
 * key; it may be NULL. */
int export_to(struct call *call, bool whole, FILE *file, const char **vkey);

#endif

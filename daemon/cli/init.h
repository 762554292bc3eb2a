/* init: what a set-up consists of, for the three files that make it.
 *
 * Every part is looked for first and made only when it is not there; nothing is ever
 * overwritten, so a run that broke anywhere is simply repeated. */
#ifndef CLI_INIT_H
#define CLI_INIT_H

#include "base/buf.h"
#include "cli/settings.h"

struct plan {
    const char *dir;       /* everything is in here, or NULL: the system's folders */
    struct settings where; /* of an existing configuration, or of the one to write */
    const char *environment, *admin, *agent;
    bool dry;         /* tell, do not do */
    bool configured;  /* there was a configuration */
    bool alive;       /* a daemon answers */
    struct buf fresh; /* the new gateway key: a secret */
};

/* "done", "is there", "would do": a line about one part. */
void init_tell(struct call *call, const char *word, const char *what, const char *part);

/* init_files.c: folders, configuration, keys, starter policy. */
int init_files(struct call *call, struct plan *plan);

/* init_daemon.c: sees whether a daemon answers, and starts one with --start. */
bool init_alive(struct call *call);
int init_start(struct call *call, const struct plan *plan);

/* init_rows.c: environment, agent, key and person, over the daemon's socket. */
int init_rows(struct call *call, struct plan *plan);

#endif

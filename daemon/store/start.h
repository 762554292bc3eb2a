/* start: what has to hold before anything is served.  Private to store/. */
#ifndef STORE_START_H
#define STORE_START_H

#include "store/lane/commit.h"

/* Loads the tree and proves it: root and seal of the head, every leaf that no
 * checkpoint covers, the newest checkpoint, and what was signed last (the state file).
 */
bool start_prove(struct commit *commit, int *exit_code, char *error);

/* The first batch of this boot: genesis, start, what the last boot left open. */
bool start_tell(struct commit *commit, const char *boot, char *error);

#endif

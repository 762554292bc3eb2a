/* lanes: the worker threads and their listeners, from start to a clean stop. */
#ifndef LANES_H
#define LANES_H

#include "config.h"

#include <stdbool.h>

enum { LANES_EXIT_SYSTEM = 71 };

/* Opens the listeners and starts every worker. 0, or an exit code; the log says why.
 * `config` must outlive the lanes. */
int lanes_start(const struct config *config);

/* Parked agents hear 423 and their approvals stay; what is on its way to E2B is waited
 * for; nothing new begins. */
bool lanes_drain(void); /* false: something was still on its way at the deadline */

/* Says so in the log when a loop has not gone around since the last look. */
void lanes_watch(void);

void lanes_stop(void); /* joins the threads and closes what they had */
void lanes_free(
    void); /* after the store has stopped: its last jobs post to the loops */

#endif

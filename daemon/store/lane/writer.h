/* writer: the thread of the STORE lane.  Private to store/; the start fills `commit`.
 */
#ifndef STORE_LANE_WRITER_H
#define STORE_LANE_WRITER_H

#include "store/lane/commit.h"

void writer_start(const struct store_config *config, struct commit *commit);
void writer_stop(void); /* runs what is queued, signs the last checkpoint, joins */

#endif

/* passed: which of an answer's headers go back to the agent (headers.def).  Pure. */
#ifndef UPSTREAM_PASSED_H
#define UPSTREAM_PASSED_H

#include "upstream/upstream.h"

/* From a finished `head` to `passed`, each name once.  Values that are not printable
 * ASCII are dropped: strict readers downstream would stumble over them. */
void passed_collect(struct transfer *transfer);

#endif

/* worker: one loop thread and what lives on it: connections, upstream, parked
 * exchanges.
 *
 * Workers 0..n-1 serve agents; the last one, `control`, serves people, admin and
 * metrics and runs approved calls, so that agents can never starve approvers. */
#ifndef EXCHANGE_WORKER_H
#define EXCHANGE_WORKER_H

#include "base/loop.h"
#include "exchange/parking.h"
#include "upstream/upstream.h"

#include <pthread.h>

struct worker {
    struct loop *loop;
    struct upstream *upstream;
    struct parking parking; /* exchanges of this worker that wait for an approval */
    size_t index, open;     /* open: exchanges not yet freed; the loop's own */
    bool control;
    pthread_t thread;
};

/* The thread starts running its loop; everything that is to live on it is attached
 * before. */
void worker_start(struct worker *worker);
void worker_stop(struct worker *worker); /* stops the loop and joins */

#endif

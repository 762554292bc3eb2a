#include "exchange/worker.h"

#include "base/must.h"

static void *turn(void *context)
{
    struct worker *worker = context;
    loop_run(worker->loop);
    return NULL;
}

void worker_start(struct worker *worker)
{
    must(pthread_create(&worker->thread, NULL, turn, worker) == 0);
}

void worker_stop(struct worker *worker)
{
    loop_stop(worker->loop);
    must(pthread_join(worker->thread, NULL) == 0);
}

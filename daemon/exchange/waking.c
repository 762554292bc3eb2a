/* How news of an approval reaches those that wait for it, on whatever loop. */
#include "base/clock.h"
#include "base/memory.h"
#include "base/must.h"
#include "base/text.h"
#include "exchange/inside.h"

struct world world;

enum { EXECUTION_SLACK_MS = 10000 };

/* Somebody is at work on it: E2B's own time, not the approver's. */
int64_t execution_deadline(void)
{
    return clock_mono_ms() + world.answer_ms + EXECUTION_SLACK_MS;
}

void exchange_wake(struct exchange *x)
{
    timer_clear(x->worker->loop, &x->deadline);
    parking_remove(&x->worker->parking, &x->parked);
    engine_resume(x, ERR_OK);
}

static struct exchange *parked_exchange(struct parked *parked)
{
    return container_of(parked, struct exchange, parked);
}

/* ---- news, one copy a worker ---- */

struct news {
    struct task task;
    struct worker *worker;
    struct announcement announcement;
};

static void hear(struct parked *parked, void *context)
{
    const struct announcement *news = context;
    struct exchange *x = parked_exchange(parked);
    if (!approval_open(news->state)) {
        exchange_wake(x);
        return;
    }
    if (x->path != request_path)
        return;
    x->approval.state = news->state;
    if (news->state
        == APPROVAL_PENDING) /* people again: as long as it would have waited */
        timer_set(x->worker->loop, &x->deadline, x->wait_until_ms);
    else if (news->run) /* it is being done: wait for E2B, not people */
        timer_set(x->worker->loop, &x->deadline, execution_deadline());
}

static void tell(struct task *task)
{
    struct news *news = container_of(task, struct news, task);
    parking_each(&news->worker->parking, news->announcement.approval, hear,
                 &news->announcement);
    memory_free(news);
}

void announce(const struct announcement *announcement)
{
    for (size_t i = 0; i < world.worker_count; i++) {
        struct news *news = memory_new(sizeof(*news));
        if (!news)
            continue; /* who waits there reads the truth when its time is up */
        *news = (struct news){.task.run = tell,
                              .worker = &world.workers[i],
                              .announcement = *announcement};
        loop_post(news->worker->loop, &news->task);
    }
    if (announcement->run)
        executor_enqueue(announcement->approval);
}

/* ---- stopping ---- */

static void wake_one(struct parked *parked, void *context)
{
    (void)context;
    exchange_wake(parked_exchange(parked));
}

static void wake_all(struct task *task)
{
    struct news *news = container_of(task, struct news, task);
    parking_each(&news->worker->parking, NULL, wake_one, NULL);
    memory_free(news);
}

void drain_start(void)
{
    __atomic_store_n(&world.draining, true, __ATOMIC_RELAXED);
    for (size_t i = 0; i < world.worker_count; i++) {
        struct news *news = memory_new(sizeof(*news));
        must(news);
        *news = (struct news){.task.run = wake_all, .worker = &world.workers[i]};
        loop_post(news->worker->loop, &news->task);
    }
}

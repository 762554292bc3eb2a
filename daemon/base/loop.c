#include "base/loop.h"

#include "base/clock.h"
#include "base/must.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { BATCH = 128, HEAP_FIRST = 64 };

struct slot {
    struct timer *timer;
};

struct loop {
    int epoll;
    struct inbox posted;
    struct watch posted_watch;
    struct slot *heap;
    size_t timers, heap_room;
    struct epoll_event batch[BATCH];
    int batch_size, batch_at;
    int (*turn)(void *context);
    void *turn_context;
    bool stopping;  /* atomic */
    uint64_t turns; /* atomic */
};

/* ---- timers: a binary heap whose members know their place ---- */

static void heap_put(struct loop *loop, size_t at, struct timer *timer)
{
    loop->heap[at].timer = timer;
    timer->slot = at + 1;
}

static void sift_up(struct loop *loop, size_t at)
{
    struct timer *timer = loop->heap[at].timer;
    while (at > 0 && loop->heap[(at - 1) / 2].timer->due_ms > timer->due_ms) {
        heap_put(loop, at, loop->heap[(at - 1) / 2].timer);
        at = (at - 1) / 2;
    }
    heap_put(loop, at, timer);
}

static void sift_down(struct loop *loop, size_t at)
{
    struct timer *timer = loop->heap[at].timer;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= loop->timers)
            break;
        if (child + 1 < loop->timers
            && loop->heap[child + 1].timer->due_ms < loop->heap[child].timer->due_ms)
            child++;
        if (loop->heap[child].timer->due_ms >= timer->due_ms)
            break;
        heap_put(loop, at, loop->heap[child].timer);
        at = child;
    }
    heap_put(loop, at, timer);
}

void timer_clear(struct loop *loop, struct timer *timer)
{
    if (!timer->slot)
        return;
    size_t at = timer->slot - 1;
    timer->slot = 0;
    struct timer *last = loop->heap[--loop->timers].timer;
    if (last == timer)
        return;
    heap_put(loop, at, last);
    sift_up(loop, at);
    sift_down(loop, last->slot - 1);
}

void timer_set(struct loop *loop, struct timer *timer, int64_t due_ms)
{
    timer_clear(loop, timer);
    if (loop->timers == loop->heap_room) {
        loop->heap_room = loop->heap_room ? loop->heap_room * 2 : HEAP_FIRST;
        loop->heap = realloc(loop->heap, loop->heap_room * sizeof(*loop->heap));
        must(loop->heap);
    }
    timer->due_ms = due_ms;
    heap_put(loop, loop->timers++, timer);
    sift_up(loop, timer->slot - 1);
}

static void fire_timers(struct loop *loop)
{
    int64_t now = clock_mono_ms();
    while (loop->timers && loop->heap[0].timer->due_ms <= now) {
        struct timer *timer = loop->heap[0].timer;
        timer_clear(loop, timer);
        timer->fire(timer);
    }
}

/* ---- descriptors ---- */

static bool control(struct loop *loop, int what, struct watch *watch, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.ptr = watch};
    return epoll_ctl(loop->epoll, what, watch->fd, &event) == 0;
}

bool loop_watch(struct loop *loop, struct watch *watch, uint32_t events)
{
    return control(loop, EPOLL_CTL_ADD, watch, events);
}

bool loop_rewatch(struct loop *loop, struct watch *watch, uint32_t events)
{
    return control(loop, EPOLL_CTL_MOD, watch, events);
}

void loop_unwatch(struct loop *loop, struct watch *watch)
{
    (void)control(loop, EPOLL_CTL_DEL, watch, 0); /* a closed fd is already out */
    /* An event of this very batch may still name it. */
    for (int i = loop->batch_at; i < loop->batch_size; i++)
        if (loop->batch[i].data.ptr == watch)
            loop->batch[i].data.ptr = NULL;
}

/* ---- posts ---- */

static void run_posted(struct watch *watch, uint32_t events)
{
    (void)events;
    struct loop *loop = container_of(watch, struct loop, posted_watch);
    struct link *next, *link = inbox_take(&loop->posted);
    for (; link; link = next) {
        next = link->next;
        struct task *task = container_of(link, struct task, link);
        task->run(task);
    }
}

void loop_post(struct loop *loop, struct task *task)
{
    inbox_send(&loop->posted, &task->link);
}

/* ---- life ---- */

struct loop *loop_new(void)
{
    struct loop *loop = calloc(1, sizeof(*loop));
    must(loop);
    must((loop->epoll = epoll_create1(EPOLL_CLOEXEC)) >= 0);
    inbox_init(&loop->posted, true);
    loop->posted_watch = (struct watch){.ready = run_posted, .fd = loop->posted.fd};
    must(loop_watch(loop, &loop->posted_watch, EPOLLIN));
    return loop;
}

void loop_free(struct loop *loop)
{
    if (!loop)
        return;
    inbox_destroy(&loop->posted);
    (void)close(loop->epoll);
    free(loop->heap);
    free(loop);
}

void loop_each_turn(struct loop *loop, int (*turn)(void *context), void *context)
{
    loop->turn = turn;
    loop->turn_context = context;
}

static int sleep_ms(const struct loop *loop, int bearable)
{
    if (!loop->timers)
        return bearable;
    int64_t left = loop->heap[0].timer->due_ms - clock_mono_ms();
    int until_timer = left < 0 ? 0 : left > 60000 ? 60000 : (int)left;
    return bearable < 0 || until_timer < bearable ? until_timer : bearable;
}

void loop_run(struct loop *loop)
{
    while (!__atomic_load_n(&loop->stopping, __ATOMIC_ACQUIRE)) {
        int bearable = loop->turn ? loop->turn(loop->turn_context) : -1;
        int n = epoll_wait(loop->epoll, loop->batch, BATCH, sleep_ms(loop, bearable));
        must(n >= 0 || errno == EINTR);
        (void)__atomic_add_fetch(&loop->turns, 1, __ATOMIC_RELAXED);
        loop->batch_size = n < 0 ? 0 : n;
        for (loop->batch_at = 0; loop->batch_at < loop->batch_size;) {
            const struct epoll_event *event = &loop->batch[loop->batch_at++];
            struct watch *watch = event->data.ptr;
            if (watch)
                watch->ready(watch, event->events);
        }
        loop->batch_size = 0;
        fire_timers(loop);
    }
    run_posted(&loop->posted_watch, 0);
}

void loop_stop(struct loop *loop)
{
    __atomic_store_n(&loop->stopping, true, __ATOMIC_RELEASE);
    inbox_close(&loop->posted);
}

uint64_t loop_turns(struct loop *loop)
{
    return __atomic_load_n(&loop->turns, __ATOMIC_RELAXED);
}

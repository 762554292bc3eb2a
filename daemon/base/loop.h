/* loop: one thread's world: descriptors, timers and what other threads post to it.
 *
 * FRONT and UPSTREAM of a connection share one loop.  Everything here but loop_post
 * and loop_stop belongs to the thread that runs the loop.  Callbacks may add, change
 * and remove watches and timers, their own included. */
#ifndef BASE_LOOP_H
#define BASE_LOOP_H

#include "base/inbox.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

struct loop;

/* Embedded by its owner; valid until loop_unwatch returned. */
struct watch {
    void (*ready)(struct watch *watch, uint32_t events);
    int fd;
};

struct timer {
    void (*fire)(struct timer *timer);
    int64_t due_ms; /* clock_mono_ms */
    size_t slot;    /* place in the heap + 1, or 0 when not set */
};

/* Something that another thread asks the loop to do once. */
struct task {
    struct link link;
    void (*run)(struct task *task);
};

struct loop *loop_new(void); /* aborts when the system has no descriptors left */
void loop_free(struct loop *loop);

/* Runs until loop_stop; everything posted before the stop is still run. */
void loop_run(struct loop *loop);
void loop_stop(struct loop *loop);                    /* any thread */
void loop_post(struct loop *loop, struct task *task); /* any thread; gives the task */

/* `events` as for epoll_ctl, flags included.  False when the kernel refuses. */
bool loop_watch(struct loop *loop, struct watch *watch, uint32_t events);
bool loop_rewatch(struct loop *loop, struct watch *watch, uint32_t events);
void loop_unwatch(struct loop *loop, struct watch *watch); /* before closing its fd */

void timer_set(struct loop *loop, struct timer *timer,
               int64_t due_ms);                           /* or moves it */
void timer_clear(struct loop *loop, struct timer *timer); /* fine when not set */

/* Called after every round of events, before the loop sleeps.  Returns the longest
 * sleep it can bear in ms, or -1.  One per loop: the listener's turn. */
void loop_each_turn(struct loop *loop, int (*turn)(void *context), void *context);

/* How often the loop went around: the watchdog's question. Any thread. */
uint64_t loop_turns(struct loop *loop);

#endif

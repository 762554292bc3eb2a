#include "base/inbox.h"

#include "base/clock.h"
#include "base/must.h"

#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

void inbox_init(struct inbox *inbox, bool with_fd)
{
    *inbox = (struct inbox){.last = &inbox->first, .fd = -1};
    pthread_condattr_t monotonic;
    must(pthread_condattr_init(&monotonic) == 0);
    must(pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC) == 0);
    must(pthread_mutex_init(&inbox->lock, NULL) == 0);
    must(pthread_cond_init(&inbox->filled, &monotonic) == 0);
    (void)pthread_condattr_destroy(&monotonic);
    if (with_fd)
        must((inbox->fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) >= 0);
}

void inbox_destroy(struct inbox *inbox)
{
    if (inbox->fd >= 0)
        (void)close(inbox->fd);
    (void)pthread_cond_destroy(&inbox->filled);
    (void)pthread_mutex_destroy(&inbox->lock);
}

static void ring(struct inbox *inbox)
{
    const uint64_t one = 1;
    if (inbox->fd >= 0) /* a full counter already rings: EAGAIN is fine */
        (void)!write(inbox->fd, &one, sizeof(one));
    else
        (void)pthread_cond_signal(&inbox->filled);
}

void inbox_send(struct inbox *inbox, struct link *message)
{
    message->next = NULL;
    (void)pthread_mutex_lock(&inbox->lock);
    bool was_empty = inbox->first == NULL;
    *inbox->last = message;
    inbox->last = &message->next;
    if (was_empty) /* under the lock: the receiver may destroy the inbox after it */
        ring(inbox);
    (void)pthread_mutex_unlock(&inbox->lock);
}

void inbox_close(struct inbox *inbox)
{
    (void)pthread_mutex_lock(&inbox->lock);
    inbox->closed = true;
    ring(inbox);
    (void)pthread_mutex_unlock(&inbox->lock);
}

static struct link *take_locked(struct inbox *inbox)
{
    struct link *all = inbox->first;
    inbox->first = NULL;
    inbox->last = &inbox->first;
    return all;
}

struct link *inbox_take(struct inbox *inbox)
{
    uint64_t rung;
    if (inbox->fd >= 0)
        (void)!read(inbox->fd, &rung, sizeof(rung));
    (void)pthread_mutex_lock(&inbox->lock);
    struct link *all = take_locked(inbox);
    (void)pthread_mutex_unlock(&inbox->lock);
    return all;
}

static struct timespec deadline_in(int timeout_ms)
{
    int64_t at_us = clock_mono_us() + (int64_t)timeout_ms * 1000;
    return (struct timespec){.tv_sec = at_us / 1000000,
                             .tv_nsec = at_us % 1000000 * 1000};
}

struct link *inbox_wait(struct inbox *inbox, int timeout_ms)
{
    struct timespec until = {0};
    if (timeout_ms >= 0)
        until = deadline_in(timeout_ms);
    (void)pthread_mutex_lock(&inbox->lock);
    int rc = 0;
    while (!inbox->first && !inbox->closed && rc != ETIMEDOUT)
        rc = timeout_ms < 0
                 ? pthread_cond_wait(&inbox->filled, &inbox->lock)
                 : pthread_cond_timedwait(&inbox->filled, &inbox->lock, &until);
    struct link *all = take_locked(inbox);
    (void)pthread_mutex_unlock(&inbox->lock);
    return all;
}

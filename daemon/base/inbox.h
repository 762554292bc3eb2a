/* inbox: how threads of different lanes hand things to each other.
 *
 * Many senders, one receiver.  A message is a link embedded in the thing that is
 * handed over; sending is the last thing the sender does with it.  The receiver
 * either sleeps on the inbox (`inbox_wait`) or watches `inbox_fd` in its epoll. */
#ifndef BASE_INBOX_H
#define BASE_INBOX_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

struct link {
    struct link *next;
};

struct inbox {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    struct link *first, **last;
    int fd; /* eventfd, or -1 */
    bool closed;
};

/* `with_fd`: the receiver polls.  Aborts when the system has no eventfd left. */
void inbox_init(struct inbox *inbox, bool with_fd);
void inbox_destroy(struct inbox *inbox);

void inbox_send(struct inbox *inbox, struct link *message);
void inbox_close(struct inbox *inbox); /* wakes the receiver; sending still works */

/* Everything that is there, oldest first, or NULL. */
struct link *inbox_take(struct inbox *inbox);

/* The same, but sleeps until there is something, `timeout_ms` passed (-1: never) or
 * the inbox is closed. */
struct link *inbox_wait(struct inbox *inbox, int timeout_ms);

#endif

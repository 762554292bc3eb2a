/* gates: the worker's front from outside in: listening sockets, and the small
 * libmicrohttpd daemons behind each.
 *
 * Resuming a connection costs its daemon time in proportion to all that it holds; so
 * there are many daemons, each with few connections.  The worker's thread only. */
#ifndef FRONT_GATES_H
#define FRONT_GATES_H

#include "front/front.h"

#include <microhttpd.h>

struct client;

/* One libmicrohttpd daemon. */
struct micro {
    struct watch watch;
    struct gate *gate;
    struct MHD_Daemon *daemon;
    struct micro *next; /* in front->due */
    size_t load;        /* connections; those held count twice */
    bool due;
};

/* One listening socket, as this worker sees it. */
struct gate {
    struct watch watch;
    struct timer pause; /* after the kernel ran out of descriptors */
    struct front *front;
    struct listener listener;
    struct micro *micros;
    size_t micro_count, clients;
    bool open, starved; /* starved: said so already */
};

struct front {
    struct worker *worker;
    struct front_config config;
    struct gate *gates;
    size_t gate_count, away;       /* away: requests that an exchange has */
    struct micro *due, **due_last; /* to run before the loop sleeps */
    struct timer sweep;
    struct client *clients, *arriving; /* arriving: not yet libmicrohttpd's */
    struct buf headers, text;          /* reused by every request */
    bool quiescing;
};

/* After a failure, too, it is to be freed. */
bool gate_init(struct gate *gate, struct front *front, const struct listener *listener);
void gate_update(struct gate *gate); /* listens, or stops, as it should now */
void gate_free(struct gate *gate);

bool micro_start(struct micro *micro, struct gate *gate);
void micro_stop(struct micro *micro);
void micro_touch(struct micro *micro); /* to be run before the loop sleeps */
void micro_run(struct micro *micro);

#endif

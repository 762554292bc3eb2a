/* front: connections of one worker: accept, strict intake, answers.
 *
 * Owns listening sockets' share of the worker, many small libmicrohttpd daemons that
 * are polled from the worker's loop, and the watch that notices when a held client
 * leaves.  What libmicrohttpd cannot parse it answers by itself, in HTML, and closes;
 * everything else is an exchange's.  All calls on the worker's thread, or while it does
 * not run.  The program must ignore SIGPIPE. */
#ifndef FRONT_FRONT_H
#define FRONT_FRONT_H

#include "exchange/exchange.h"

#include <stdbool.h>
#include <stddef.h>

struct front;

struct listener {
    enum listener_kind kind;
    int fd; /* listening, non-blocking; shared by workers; not closed here */
    size_t connections_max; /* of this worker */
};

struct front_config {
    size_t daemons; /* small MHD daemons of each listener; 0: by connections_max */
    size_t memory;  /* bytes of MHD memory a connection: 16 KiB */
    int64_t head_ms, body_ms, idle_ms; /* absolute: 15 s, 30 s, 620 s; clients.c */
};

/* Zeroes in the configuration stand for these values.  NULL, and a line in the log,
 * when there is no memory or no descriptor left. */
struct front *front_new(struct worker *worker, const struct front_config *config,
                        const struct listener *listeners, size_t count);

/* Accepts nothing new; connections close after their current answer. */
void front_quiesce(struct front *front);

/* Every exchange must have been answered. */
void front_free(struct front *front);

/* ---- listening sockets, for main ---- */

enum { FRONT_ERROR = 256 };

/* "127.0.0.1:8080", "[::1]:0" or "/run/x.sock" (0660).  -1 and a reason. */
int front_listen(const char *address, char error[static FRONT_ERROR]);
/* "127.0.0.1:43121": with the port that the kernel chose. */
void front_address(int fd, char out[static 128]);

#endif

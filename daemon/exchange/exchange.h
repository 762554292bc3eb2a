/* exchange: one request inside the daemon, from its first byte to its answer.
 *
 * The front makes one when a header section is complete, feeds it the body, begins it
 * and gets it back, answered, on the same loop.  In between it belongs to the thread of
 * its current lane (exchange/paths.c).  All functions on the worker's thread. */
#ifndef EXCHANGE_EXCHANGE_H
#define EXCHANGE_EXCHANGE_H

#include "core/canon.h"
#include "exchange/worker.h"

enum listener_kind { LISTEN_AGENTS, LISTEN_PEOPLE, LISTEN_METRICS, LISTEN_ADMIN };

struct exchange;

struct incoming {
    enum listener_kind listener;
    struct raw_request
        raw;     /* head only; texts are borrowed and must outlive the exchange */
    char ip[46]; /* textual peer address, "" for a UNIX socket */
    int64_t uid; /* peer credentials of a UNIX socket, else -1 */
    void (*answered)(struct exchange *x, void *context); /* on the worker's loop */
    void *context;
};

/* Reads the head (framing, headers, key, target). NULL only when out of memory: then
 * the front closes the connection. */
struct exchange *exchange_new(struct worker *worker, const struct incoming *incoming);

/* Largest body it will take; 0 when it is refused already: begin it without a body and
 * close the connection after the answer. */
size_t exchange_body_max(const struct exchange *x);

/* A piece of the body. False: over the cap; begin it now and close after the answer. */
bool exchange_body(struct exchange *x, const char *bytes, size_t size);

/* All there is has arrived. Gives the exchange away until `answered`, which may be
 * called before this returns. */
void exchange_begin(struct exchange *x);

/* The client has left while the exchange was away. Harmless at any time before free. */
void exchange_gone(struct exchange *x);

enum { REPLY_HEADERS = 24 };

/* What to send. Lives as long as the exchange. */
struct outgoing {
    int status;
    const struct header *headers; /* Content-Type included; no framing headers */
    size_t header_count;
    const char *body;
    size_t body_size;
    int fd; /* >= 0: send this whole file instead of `body` (front closes it) */
    uint64_t fd_size;
    bool close; /* close the connection after the answer */
};
const struct outgoing *exchange_outgoing(const struct exchange *x);

void exchange_free(struct exchange *x);

#endif

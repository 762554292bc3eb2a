/* pool: the connections of a loop, by origin, and who waits for one.
 *
 * A read takes the idle connection that was used last; a write only ever gets one that
 * no request has used.  An origin has at most `connections_max`; then transfers wait in
 * order.  An idle connection is closed after `idle_ms`, or to make room for a write. */
#ifndef UPSTREAM_POOL_H
#define UPSTREAM_POOL_H

#include "upstream/codec.h"
#include "upstream/upstream.h"
#include "upstream/wire.h"

struct connection {
    struct wire wire;
    struct origin *origin;
    struct transfer *transfer;      /* NULL: idle */
    struct connection *prev, *next; /* among the idle */
    struct timer expiry;            /* of the idle */
    bool used;                      /* by a request before this one */
    struct codec codec;
    struct buf request;        /* the key is in it while it is being sent */
    const char *unsent, *rest; /* in `request`; of the body, afterwards */
    size_t unsent_size, rest_size;
};

struct origin {
    struct origin *next;
    struct pool *pool;
    struct link *first, **last;    /* transfers that wait, by `queued` */
    struct connection *hot, *cold; /* ends of the idle list */
    size_t open;
    char base_url[];
};

struct pool {
    struct dialer dialer;
    const struct upstream_config *config;
    /* To a connection with a transfer; may close it. */
    void (*event)(struct connection *connection, enum wire_event event);
    struct origin *origins;
};

/* NULL: no memory. */
struct origin *pool_origin(struct pool *pool, const char *base_url);
bool pool_has_room(const struct origin *origin);

/* The hottest idle connection that is still quiet, or NULL. */
struct connection *pool_reuse(struct origin *origin);
struct connection *pool_open(struct origin *origin); /* needs room; NULL: no memory */
void pool_keep(struct connection *connection);       /* it is idle now */
void pool_close(struct connection *connection);

void pool_wait(struct origin *origin, struct transfer *transfer);
struct transfer *pool_next(struct origin *origin); /* takes the first that waits */
bool pool_unwait(struct origin *origin, struct transfer *transfer);

void pool_free(struct pool *pool); /* every connection is idle */

#endif

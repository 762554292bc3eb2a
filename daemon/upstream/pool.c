#include "upstream/pool.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/must.h"
#include "base/text.h"

#include <string.h>

enum { REQUEST_KEPT = 8 * 1024 }; /* a larger buffer is not worth an idle connection */

/* ---- idle connections, hot end first ---- */

static void idle_push(struct connection *connection)
{
    struct origin *origin = connection->origin;
    connection->prev = NULL;
    connection->next = origin->hot;
    *(origin->hot ? &origin->hot->prev : &origin->cold) = connection;
    origin->hot = connection;
}

static void idle_remove(struct connection *connection)
{
    struct origin *origin = connection->origin;
    *(connection->prev ? &connection->prev->next : &origin->hot) = connection->next;
    *(connection->next ? &connection->next->prev : &origin->cold) = connection->prev;
    timer_clear(origin->pool->dialer.loop, &connection->expiry);
}

static void expire(struct timer *expiry)
{
    struct connection *connection = container_of(expiry, struct connection, expiry);
    idle_remove(connection);
    pool_close(connection);
}

/* Whatever comes without having been asked for ends it: it is no answer.  Tickets of
 * TLS are no bytes of ours. */
static bool is_quiet(struct connection *connection)
{
    char byte;
    size_t got;
    return wire_recv(&connection->wire, &byte, 1, &got) == WIRE_WAIT;
}

static void idle_event(struct connection *connection)
{
    if (is_quiet(connection))
        return;
    idle_remove(connection);
    pool_close(connection);
}

/* ---- origins ---- */

static struct origin *origin_new(struct pool *pool, const char *base_url)
{
    size_t size = strlen(base_url) + 1;
    struct origin *origin = memory_new(sizeof(*origin) + size);
    if (!origin)
        return NULL;
    memcpy(origin->base_url, base_url, size);
    origin->pool = pool;
    origin->last = &origin->first;
    origin->next = pool->origins;
    pool->origins = origin;
    return origin;
}

struct origin *pool_origin(struct pool *pool, const char *base_url)
{
    struct origin *origin = pool->origins;
    while (origin && !text_same(origin->base_url, base_url))
        origin = origin->next;
    return origin ? origin : origin_new(pool, base_url);
}

bool pool_has_room(const struct origin *origin)
{
    return origin->cold || origin->open < origin->pool->config->connections_max;
}

/* ---- connections ---- */

static void on_event(struct wire *wire, enum wire_event event)
{
    struct connection *connection = container_of(wire, struct connection, wire);
    if (connection->transfer)
        connection->origin->pool->event(connection, event);
    else
        idle_event(connection);
}

struct connection *pool_reuse(struct origin *origin)
{
    struct connection *connection;
    while ((connection = origin->hot)) {
        idle_remove(connection);
        if (is_quiet(connection))
            return connection;
        pool_close(connection);
    }
    return NULL;
}

struct connection *pool_open(struct origin *origin)
{
    must(pool_has_room(origin));
    if (origin->open == origin->pool->config->connections_max)
        expire(&origin->cold->expiry);
    struct connection *connection = memory_new(sizeof(*connection));
    if (!connection)
        return NULL;
    if (!wire_open(&connection->wire, &origin->pool->dialer, origin->base_url,
                   on_event)) {
        memory_free(connection);
        return NULL;
    }
    connection->origin = origin;
    connection->expiry.fire = expire;
    origin->open++;
    return connection;
}

void pool_keep(struct connection *connection)
{
    const struct pool *pool = connection->origin->pool;
    if (connection->request.room > REQUEST_KEPT)
        buf_free(&connection->request);
    connection->transfer = NULL;
    connection->used = true;
    idle_push(connection);
    timer_set(pool->dialer.loop, &connection->expiry,
              clock_mono_ms() + pool->config->idle_ms);
}

void pool_close(struct connection *connection)
{
    wire_close(&connection->wire);
    buf_wipe(&connection->request);
    connection->origin->open--;
    memory_free(connection);
}

/* ---- who waits ---- */

void pool_wait(struct origin *origin, struct transfer *transfer)
{
    transfer->queued.next = NULL;
    *origin->last = &transfer->queued;
    origin->last = &transfer->queued.next;
}

static void unlink_waiting(struct origin *origin, struct link **at)
{
    struct link *link = *at;
    *at = link->next;
    if (origin->last == &link->next)
        origin->last = at;
}

struct transfer *pool_next(struct origin *origin)
{
    struct transfer *transfer = container_of(origin->first, struct transfer, queued);
    unlink_waiting(origin, &origin->first);
    return transfer;
}

bool pool_unwait(struct origin *origin, struct transfer *transfer)
{
    struct link **at = &origin->first;
    while (*at && *at != &transfer->queued)
        at = &(*at)->next;
    if (!*at)
        return false;
    unlink_waiting(origin, at);
    return true;
}

void pool_free(struct pool *pool)
{
    struct origin *origin, *next;
    for (origin = pool->origins; origin; origin = next) {
        next = origin->next;
        while (origin->cold)
            expire(&origin->cold->expiry);
        must(origin->open == 0);
        memory_free(origin);
    }
    pool->origins = NULL;
}

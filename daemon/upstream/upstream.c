#include "upstream/upstream.h"

#include "base/clock.h"
#include "base/fault.h"
#include "base/memory.h"
#include "base/must.h"
#include "base/text.h"
#include "upstream/passed.h"
#include "upstream/pool.h"
#include "upstream/request.h"

#include <string.h>

enum {
    ROUNDS = 16, /* of reading, before others have their turn */
    REQUEST_MAX = 128 * 1024,
};

struct upstream {
    struct loop *loop;
    struct upstream_config config;
    struct pool pool;
    size_t in_flight;
    char scratch[WIRE_READ];
};

/* ---- the end of a transfer ---- */

static void leave(struct transfer *transfer)
{
    timer_clear(transfer->upstream->loop, &transfer->deadline);
    transfer->upstream->in_flight--;
    transfer->upstream = NULL;
}

/* The last thing anybody does with a transfer, or with what `done` may free. */
static void report(struct transfer *transfer)
{
    leave(transfer);
    transfer->took_us = clock_mono_us() - transfer->began_us;
    transfer->done(transfer);
}

static void serve(struct origin *origin);

static void report_failure(struct timer *deadline)
{
    struct transfer *transfer = container_of(deadline, struct transfer, deadline);
    if (transfer->origin)
        serve(transfer->origin);
    report(transfer);
}

/* What was announced may have left.  The owner hears of it from a timer, so that no
 * failure is ever told within a call of the owner's. */
static void fail(struct transfer *transfer, bool late, const char *why)
{
    static const enum transfer_result results[2][2] = {
        {TRANSFER_NOT_SENT, TRANSFER_NOT_SENT_LATE},
        {TRANSFER_LOST,     TRANSFER_LATE         },
    };
    transfer->result = results[transfer->announced][late];
    (void)text_copy(transfer->why, sizeof(transfer->why), why);
    if (transfer->connection)
        pool_close(transfer->connection);
    transfer->connection = NULL;
    transfer->deadline.fire = report_failure;
    timer_set(transfer->upstream->loop, &transfer->deadline, 0);
}

static void answered(struct connection *connection)
{
    struct transfer *transfer = connection->transfer;
    const struct codec *codec = &connection->codec;
    transfer->result = TRANSFER_ANSWERED;
    transfer->status = codec->line.status;
    transfer->unframed = codec->unframed;
    transfer->connection = NULL;
    passed_collect(transfer);
    if (codec->reusable && !connection->unsent_size && !connection->rest_size)
        pool_keep(connection);
    else
        pool_close(connection);
    serve(transfer->origin);
    report(transfer);
}

/* ---- a transfer and its connection ---- */

static void attach(struct transfer *transfer, struct connection *connection)
{
    transfer->connection = connection;
    connection->transfer = transfer;
}

static void connect_fresh(struct transfer *transfer)
{
    struct connection *connection = pool_open(transfer->origin);
    if (connection)
        attach(transfer, connection);
    else
        fail(transfer, false, "no memory for a connection");
}

/* A pooled connection may have been closed by the peer before our request reached it.
 * Only a read may find out by asking again; on a fresh one, so never a third time. */
static void died(struct connection *connection, const char *why)
{
    struct transfer *transfer = connection->transfer;
    if (!transfer->read || !connection->used || connection->codec.began) {
        fail(transfer, false, why);
        return;
    }
    pool_close(connection);
    transfer->connection = NULL;
    connect_fresh(transfer);
}

/* ---- receiving ---- */

/* Nothing more can come once the connection is `cut`. */
static void receive(struct connection *connection, bool cut)
{
    struct upstream *upstream = connection->transfer->upstream;
    struct codec *codec = &connection->codec;
    enum wire_result result = WIRE_MOVED;
    for (int i = 0; i < ROUNDS && !codec_finished(codec) && result == WIRE_MOVED; i++) {
        size_t got = 0;
        result = wire_recv(&connection->wire, upstream->scratch, WIRE_READ, &got);
        if (result == WIRE_MOVED)
            codec_feed(codec, upstream->scratch, got);
        else if (result == WIRE_ENDED)
            codec_end(codec);
    }
    if (codec->state == CODEC_DONE)
        answered(connection);
    else if (codec->state == CODEC_BROKEN)
        died(connection, codec->why);
    else if (result == WIRE_BROKEN || (cut && result == WIRE_WAIT))
        died(connection, "the connection broke");
}

/* ---- sending ---- */

/* The key goes as soon as its bytes have. */
static void next_part(struct connection *connection)
{
    explicit_bzero(connection->request.data, connection->request.size);
    buf_clear(&connection->request);
    connection->unsent = connection->rest;
    connection->unsent_size = connection->rest_size;
    connection->rest_size = 0;
}

/* False: the connection takes no more bytes, ever. */
static bool push(struct connection *connection)
{
    while (connection->unsent_size) {
        size_t sent = 0;
        enum wire_result result = wire_send(&connection->wire, connection->unsent,
                                            connection->unsent_size, &sent);
        if (result == WIRE_WAIT)
            return wire_want_write(&connection->wire, true);
        if (result != WIRE_MOVED)
            return false;
        connection->unsent += sent;
        connection->unsent_size -= sent;
        if (connection->unsent_size == 0)
            next_part(connection);
    }
    return wire_want_write(&connection->wire, false);
}

enum sending { SENDING_ON, SENDING_CUT, SENDING_FAILED };

static enum sending transmit(struct connection *connection)
{
    if (!push(connection))
        return SENDING_CUT;
    if (connection->unsent_size || !fault_at("after_send"))
        return SENDING_ON;
    fail(connection->transfer, false, "after_send");
    return SENDING_FAILED;
}

static void announce(struct transfer *transfer)
{
    if (!transfer->announced && transfer->sent)
        transfer->sent(transfer);
    transfer->announced = true;
}

static bool prepare(struct connection *connection)
{
    struct transfer *transfer = connection->transfer;
    struct buf *request = &connection->request;
    codec_start(&connection->codec, &transfer->head, &transfer->answer,
                text_same(transfer->method, "HEAD"));
    request->cap = REQUEST_MAX;
    buf_clear(request);
    if (!request_write(request, transfer, &connection->rest, &connection->rest_size))
        return false;
    connection->unsent = request->data;
    connection->unsent_size = request->size;
    return true;
}

/* A pooled connection may get here within upstream_start, so it is never read from; a
 * fresh one gets here from the loop, and may have been answered before it broke. */
static void begin(struct connection *connection)
{
    struct transfer *transfer = connection->transfer;
    must(transfer->read || !connection->used);
    if (!prepare(connection)) {
        fail(transfer, false, "no room for the request");
        return;
    }
    if (fault_at("before_send")) {
        fail(transfer, false, "before_send");
        return;
    }
    announce(transfer);
    if (transmit(connection) != SENDING_CUT)
        return;
    if (connection->used)
        died(connection, "the connection broke");
    else
        receive(connection, true);
}

static void go_on(struct connection *connection)
{
    enum sending sending = connection->unsent_size ? transmit(connection) : SENDING_ON;
    if (sending != SENDING_FAILED)
        receive(connection, sending == SENDING_CUT);
}

static void on_event(struct connection *connection, enum wire_event event)
{
    switch (event) {
    case WIRE_UP:
        begin(connection);
        break;
    case WIRE_FAILED:
        fail(connection->transfer, connection->wire.late, connection->wire.error);
        break;
    case WIRE_READY:
        go_on(connection);
        break;
    }
}

/* ---- who may begin ---- */

static void admit(struct transfer *transfer)
{
    struct connection *pooled = transfer->read ? pool_reuse(transfer->origin) : NULL;
    if (!pooled) {
        connect_fresh(transfer);
        return;
    }
    attach(transfer, pooled);
    begin(pooled);
}

static void serve(struct origin *origin)
{
    while (origin->first && pool_has_room(origin))
        admit(pool_next(origin));
}

static void out_of_time(struct timer *deadline)
{
    struct transfer *transfer = container_of(deadline, struct transfer, deadline);
    const char *why =
        transfer->announced ? "no answer in time" : "not connected in time";
    if (!transfer->connection) {
        (void)pool_unwait(transfer->origin, transfer);
        why = "no connection became free in time";
    }
    fail(transfer, true, why);
}

static void reset(struct upstream *upstream, struct transfer *transfer)
{
    transfer->upstream = upstream;
    transfer->origin = NULL;
    transfer->connection = NULL;
    transfer->announced = transfer->unframed = false;
    transfer->status = 0;
    transfer->passed_count = 0;
    transfer->why[0] = '\0';
    transfer->answer.cap = upstream->config.body_max;
    transfer->head.cap = upstream->config.header_max;
    buf_clear(&transfer->answer);
    buf_clear(&transfer->head);
    transfer->began_us = clock_mono_us();
    transfer->deadline = (struct timer){.fire = out_of_time};
    timer_set(upstream->loop, &transfer->deadline,
              transfer->began_us / 1000 + upstream->config.answer_ms);
}

void upstream_start(struct upstream *upstream, struct transfer *transfer)
{
    must(transfer->done);
    reset(upstream, transfer);
    upstream->in_flight++;
    if (!request_base_url_is_good(transfer->base_url)) {
        fail(transfer, false, "the base URL is malformed");
        return;
    }
    struct origin *origin = pool_origin(&upstream->pool, transfer->base_url);
    transfer->origin = origin;
    if (!origin)
        fail(transfer, false, "no memory for an origin");
    else if (origin->first || !pool_has_room(origin))
        pool_wait(origin, transfer);
    else
        admit(transfer);
}

void upstream_abort(struct upstream *upstream, struct transfer *transfer)
{
    must(transfer->read && transfer->upstream == upstream);
    leave(transfer);
    if (transfer->connection)
        pool_close(transfer->connection);
    else if (transfer->origin)
        (void)pool_unwait(transfer->origin, transfer);
    transfer->connection = NULL;
    if (transfer->origin)
        serve(transfer->origin);
}

size_t upstream_in_flight(const struct upstream *upstream)
{
    return upstream->in_flight;
}

struct upstream *upstream_new(struct loop *loop, const struct upstream_config *config)
{
    struct upstream *upstream = memory_new(sizeof(*upstream));
    must(upstream && config->connections_max);
    upstream->loop = loop;
    upstream->config = *config;
    upstream->pool = (struct pool){.config = &upstream->config, .event = on_event};
    dialer_open(&upstream->pool.dialer, loop, config->connect_ms, config->ca_file);
    return upstream;
}

void upstream_free(struct upstream *upstream)
{
    if (!upstream)
        return;
    must(upstream->in_flight == 0);
    pool_free(&upstream->pool);
    dialer_close(&upstream->pool.dialer);
    memory_free(upstream);
}

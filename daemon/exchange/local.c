/* Sandgate's own endpoints: from the row in serve/ to the answer. */
#include "base/clock.h"
#include "base/must.h"
#include "base/text.h"
#include "core/writer.h"
#include "exchange/inside.h"
#include "serve/policies.h"

#include <string.h>

enum { LOCAL_DEPTH = 16, LOCAL_ERROR_MAX = 8192 };

static enum audience audience_of(enum listener_kind listener)
{
    switch (listener) {
    case LISTEN_AGENTS:
        return FOR_AGENTS;
    case LISTEN_METRICS:
        return FOR_METRICS;
    case LISTEN_PEOPLE:
    case LISTEN_ADMIN:
        return FOR_PEOPLE;
    }
    return FOR_METRICS;
}

/* The same strictness about targets as for E2B's paths, whatever they name. */
enum err local_route(struct exchange *x, struct db *db)
{
    (void)db;
    if (canon_target(&x->raw, x->arena, &x->canon) == ERR_REQUEST_REFUSED) {
        exchange_fail(x, ERR_REQUEST_REFUSED, x->canon.why);
        return x->err;
    }
    x->local = (struct call){.identity = x->identity,
                             .uid = x->in.listener == LISTEN_ADMIN ? x->in.uid : -1,
                             .arena = x->arena,
                             .probe = {.running = -1}};
    return serve_route(audience_of(x->in.listener), x->raw.method, x->raw.target,
                       &x->local);
}

enum err local_parse(struct exchange *x, struct db *db)
{
    (void)db;
    struct doc_error error;
    x->local.now_ms = clock_wall_ms();
    x->local.mono_ms = clock_mono_ms();
    if (x->raw.body_size == 0)
        return ERR_OK;
    x->local_doc = doc_parse(x->raw.body, x->raw.body_size, LOCAL_DEPTH, false, &error);
    if (!x->local_doc)
        exchange_fail(x, ERR_BAD_FIELD, error.text);
    else if (node_kind(doc_root(x->local_doc)) != NODE_OBJECT)
        exchange_fail(x, ERR_BAD_FIELD, "the body is not a JSON object");
    else
        x->local.body = doc_root(x->local_doc);
    return x->err;
}

/* Before anything is asked of E2B on somebody's word; the handler's lane asks again. */
enum err local_authorise(struct exchange *x, struct db *db)
{
    return serve_authorise(&x->local, db);
}

/* ---- the one read of E2B that an endpoint may ask for ---- */

static void probed(struct transfer *transfer)
{
    struct exchange *x = container_of(transfer, struct exchange, transfer);
    struct probe *probe = &x->local.probe;
    char running[24];
    if (transfer->result == TRANSFER_ANSWERED)
        probe->status = transfer->status;
    else
        (void)text_copy(probe->why, sizeof(probe->why), transfer->why);
    for (size_t i = 0; i < transfer->passed_count; i++) {
        const struct header *header = &transfer->passed[i];
        if (header->name_size == 15
            && strncasecmp(header->name, "X-Total-Running", 15) == 0
            && text_format(running, sizeof(running), "%.*s", (int)header->value_size,
                           header->value))
            (void)text_int(running, 0, INT64_MAX, &probe->running);
    }
    engine_resume(x, ERR_OK);
}

/* A key that is stored already comes from the keyring and stays there. */
static const char *stored_key(struct exchange *x)
{
    x->keyring = snapshot_take(&keyring_snapshot);
    x->target = x->keyring ? keyring_target((const struct keyring *)x->keyring,
                                            x->local.args[0])
                           : NULL;
    return x->target ? x->target->e2b_key : NULL;
}

enum err local_probe(struct exchange *x, struct db *db)
{
    (void)db;
    struct probe *probe = &x->local.probe;
    enum err err = x->in.listener == LISTEN_ADMIN ? ERR_OK : ERR_FORBIDDEN;
    if (!err)
        err = x->local.endpoint->probe(&x->local, probe);
    if (err)
        return err;
    const char *stored = probe->base_url && probe->e2b_key ? NULL : stored_key(x);
    x->transfer = (struct transfer){.base_url = probe->base_url ? probe->base_url
                                                : x->target     ? x->target->base_url
                                                                : NULL,
                                    .e2b_key = probe->e2b_key ? probe->e2b_key : stored,
                                    .method = "GET",
                                    .path = "/v2/sandboxes",
                                    .query = "limit=1",
                                    .read = true,
                                    .done = probed};
    if (!x->transfer.base_url || !x->transfer.e2b_key)
        return ERR_NOT_FOUND;
    upstream_start(x->worker->upstream, &x->transfer);
    return ERR_OK;
}

/* ---- the handler, on its lane ---- */

enum err local_handle(struct exchange *x, struct db *db)
{
    struct call *call = &x->local;
    enum err err = serve_authorise(call, db);
    buf_free(&x->reply.body);
    call->announcements = 0;
    x->reply = err ? reply_error(err, NULL) : call->endpoint->handle(call, db);
    if (x->reply.err)
        exchange_fail(x, x->reply.err, x->reply.detail);
    return x->reply.err;
}

static void polled(struct timer *timer)
{
    exchange_wake(container_of(timer, struct exchange, deadline));
}

enum err local_park(struct exchange *x, struct db *db)
{
    (void)db;
    const char *wait = call_query(&x->local, "wait");
    int64_t seconds = 0;
    x->local.again = true;
    (void)(wait && text_int(wait, 0, 600, &seconds)); /* the handler has checked it */
    x->deadline.fire = polled;
    timer_set(x->worker->loop, &x->deadline, clock_mono_ms() + seconds * 1000);
    parking_add(&x->worker->parking, &x->parked, x->reply.wait_for);
    return ERR_OK;
}

/* ---- the answer ---- */

static void write_error(struct exchange *x)
{
    struct writer w = WRITER(&x->out_body);
    x->out_body = BUF(LOCAL_ERROR_MAX);
    write_open(&w, NULL, '{');
    write_int(&w, "code", err_status(x->err));
    write_text(&w, "error_code", err_code(x->err));
    write_text(&w, "message",
               *x->why ? arena_printf(x->arena, "%s: %s", err_text(x->err), x->why)
                       : err_text(x->err));
    write_close(&w, '}');
    x->out.status = err_status(x->err);
    x->out.body = x->out_body.data;
    x->out.body_size = x->out_body.size;
}

static void publish(const struct call *call)
{
    for (size_t i = 0; i < call->announcements; i++)
        announce(&call->announced[i]);
    if (call->activate)
        policies_activate(call->activate);
}

enum err local_respond(struct exchange *x, struct db *db)
{
    (void)db;
    const char *type = x->reply.type && !x->err ? x->reply.type : "application/json";
    if (x->err) {
        write_error(x);
        if (x->local.activate) /* its record did not become durable */
            x->local.activate->shared.free(&x->local.activate->shared);
    } else {
        publish(&x->local);
        x->out.status = x->reply.status ? x->reply.status : 200;
        x->out.body = x->reply.body.data ? x->reply.body.data : "";
        x->out.body_size = x->reply.body.size;
        x->out.fd = x->reply.fd;
        x->out.fd_size = x->reply.fd_size;
    }
    x->out_headers[0] = (struct header){.name = "Content-Type",
                                        .name_size = 12,
                                        .value = type,
                                        .value_size = strlen(type)};
    x->out_headers[1] = (struct header){
        .name = "Cache-Control", .name_size = 13, .value = "no-store", .value_size = 8};
    x->out.headers = x->out_headers;
    x->out.header_count = 2;
    return ERR_OK;
}

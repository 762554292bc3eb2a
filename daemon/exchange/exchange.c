#include "exchange/exchange.h"

#include "base/memory.h"
#include "base/must.h"
#include "base/text.h"
#include "exchange/inside.h"

#include <string.h>

enum { ARENA_CAP = 32 << 20, LOCAL_BODY_MAX = 64 << 10 };

struct exchange *exchange_blank(struct worker *worker, const struct step *path)
{
    struct exchange *x = memory_new(sizeof(*x));
    struct arena *arena = x ? arena_new(ARENA_CAP) : NULL;
    if (!arena) {
        memory_free(x);
        return NULL;
    }
    x->worker = worker;
    x->arena = arena;
    x->path = path;
    x->reply.fd = x->out.fd = -1;
    x->parked.place = NULL;
    x->canon.operation = &operation_unknown;
    worker->open++;
    return x;
}

static void answered(struct exchange *x)
{
    x->in.answered(x, x->in.context);
}

static const struct step *path_for(const struct incoming *incoming)
{
    bool agents = incoming->listener == LISTEN_AGENTS;
    return agents && !text_starts(incoming->raw.target, "/sandgate/v1/") ? request_path
                                                                         : local_path;
}

/* The list is the front's for this call only; the texts stay. */
static bool keep_headers(struct exchange *x)
{
    size_t size = x->raw.header_count * sizeof(struct header);
    void *copy = arena_alloc(x->arena, size + 1);
    if (copy && size)
        memcpy(copy, x->raw.headers, size);
    x->raw.headers = copy;
    return copy != NULL;
}

struct exchange *exchange_new(struct worker *worker, const struct incoming *incoming)
{
    struct exchange *x = exchange_blank(worker, path_for(incoming));
    if (!x)
        return NULL;
    x->in = *incoming;
    x->raw = incoming->raw;
    x->finished = answered;
    if (!keep_headers(x))
        exchange_fail(x, ERR_OVERLOADED, "out of memory");
    engine_walk_head(x);
    x->body = BUF(exchange_body_max(x));
    return x;
}

size_t exchange_body_max(const struct exchange *x)
{
    if (x->err)
        return 0;
    return x->path == request_path ? x->canon.operation->body_cap : LOCAL_BODY_MAX;
}

bool exchange_body(struct exchange *x, const char *bytes, size_t size)
{
    if (buf_add(&x->body, bytes, size))
        return true;
    exchange_fail(x, ERR_TOO_LARGE, NULL);
    x->out.close = true;
    return false;
}

void exchange_begin(struct exchange *x)
{
    x->raw.body = x->body.data ? x->body.data : "";
    x->raw.body_size = x->body.size;
    if (x->err)
        x->out.close = true; /* what follows on the connection was not read */
    engine_walk(x);
}

/* A read that nobody waits for any more is given up; a write runs to its end. */
static void abandon(struct exchange *x)
{
    upstream_abort(x->worker->upstream, &x->transfer);
    x->outcome = RUN_FAILED;
    exchange_fail(x, ERR_UPSTREAM_BROKEN, "the client left first");
    engine_resume(x, x->err);
}

bool exchange_has_left(const struct exchange *x)
{
    return __atomic_load_n(&x->gone, __ATOMIC_RELAXED);
}

void exchange_gone(struct exchange *x)
{
    __atomic_store_n(&x->gone, true, __ATOMIC_RELAXED);
    if (x->parked.place)
        exchange_wake(x);
    else if (x->path[x->at].lane == UPSTREAM && x->transfer.read)
        abandon(x);
}

const struct outgoing *exchange_outgoing(const struct exchange *x)
{
    return &x->out;
}

void exchange_free(struct exchange *x)
{
    if (!x)
        return;
    must(!x->parked.place);
    timer_clear(x->worker->loop, &x->deadline);
    canon_free(&x->canon);
    doc_free(x->local_doc);
    buf_free(&x->body);
    buf_wipe(&x->transfer.answer);
    buf_free(&x->transfer.head);
    buf_wipe(&x->redacted);
    buf_free(&x->leaf);
    buf_wipe(&x->reply.body);
    buf_wipe(&x->out_body);
    snapshot_drop(x->keyring);
    snapshot_drop(x->policy);
    x->worker->open--;
    arena_free(x->arena);
    memory_free(x);
}

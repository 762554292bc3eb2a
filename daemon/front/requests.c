/* A request from its line to its answer, as libmicrohttpd calls for it.
 *
 * It calls at the end of the head, for each piece of the body and at the end, and an
 * answer may be given in the first and the last of these only.  One given in the first
 * makes it close the connection; so a request without a body is begun in the last. */
#include "front/clients.h"

#include "base/clock.h"
#include "base/must.h"

#include <string.h>
#include <unistd.h>

void *request_line(void *cls, const char *uri, struct MHD_Connection *connection)
{
    struct front *front = cls;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    must(info && info->socket_context);
    struct client *client = info->socket_context;
    if (client->served)
        client->began_ms = clock_mono_ms();
    client->served = true;
    client->phase = HEAD;
    client->target_at = uri;
    buf_clear(&client->target);
    (void)buf_text(&client->target, uri ? uri : ""); /* `failed` is looked at later */
    client_due(client, client->began_ms + front->config.head_ms);
    return client;
}

/* ---- away and back ---- */

static void answered(struct exchange *x, void *context)
{
    struct client *client = context;
    must(client->phase == AWAY && client->x == x);
    client->phase = ANSWERED;
    client_front(client)->away--;
    client_due(client, clock_mono_ms() + client_front(client)->config.body_ms);
    if (!client->suspended)
        return; /* within `begin` */
    client->suspended = false;
    client->micro->load--;
    MHD_resume_connection(client->connection);
    micro_touch(client->micro);
}

void request_peer_left(struct client *client)
{
    if (client->phase != AWAY || client->told)
        return;
    client->told = true;
    exchange_gone(client->x);
}

/* True: it was answered at once.  `answered` comes on this thread, so that nothing can
 * happen between the two lines and such a request need not be suspended. */
static bool begin(struct client *client)
{
    client->phase = AWAY;
    client_due(client, FRONT_NEVER_MS);
    client_front(client)->away++;
    exchange_begin(client->x);
    if (client->phase == ANSWERED)
        return true;
    MHD_suspend_connection(client->connection);
    client->suspended = true;
    client->micro->load++;
    if (client->left)
        request_peer_left(client);
    return false;
}

static enum MHD_Result begin_or_send(struct client *client)
{
    return begin(client) ? answer_send(client) : MHD_YES;
}

/* ---- the three calls ---- */

static enum MHD_Result head_done(struct client *client, const char *method,
                                 const char *version)
{
    struct front *front = client_front(client);
    struct incoming in = {
        .listener = client->micro->gate->listener.kind,
        .raw = {.method = method, .version = version},
        .uid = client->uid,
        .answered = answered,
        .context = client
    };
    bool expects;
    if (!head_read(client, &in.raw, &expects) || client->target.failed)
        return MHD_NO;
    in.raw.target = client->target.data;
    memcpy(in.ip, client->ip, sizeof(in.ip));
    client->x = exchange_new(front->worker, &in);
    if (!client->x)
        return MHD_NO;
    client->phase = BODY;
    client->body_max = exchange_body_max(client->x);
    client->drained = 0;
    if (!expects)
        return MHD_YES; /* the last call comes at once */
    client_due(client, client->began_ms + front->config.body_ms);
    if (client->body_max > 0)
        return MHD_YES;
    client->close = true;
    return begin_or_send(client);
}

/* What was refused is read on for a while: a client that is still sending would not
 * see the answer. */
static enum MHD_Result drain(struct client *client, size_t size)
{
    client->drained += size;
    return client->drained > client->body_max ? MHD_NO : MHD_YES;
}

static enum MHD_Result body_piece(struct client *client, const char *bytes,
                                  size_t *size)
{
    if (client->phase == AWAY)
        return MHD_YES; /* suspended amidst chunks: not taken */
    size_t taken = *size;
    *size = 0;
    if (client->phase != BODY)
        return client->told ? MHD_NO : drain(client, taken);
    if (exchange_body(client->x, bytes, taken))
        return MHD_YES;
    client->close = true;
    (void)begin(client); /* its answer waits for the end of the body */
    return MHD_YES;
}

/* NOLINTNEXTLINE(readability-function-size): the library wants eight parameters */
enum MHD_Result request_step(void *cls, struct MHD_Connection *connection,
                             const char *url, const char *method, const char *version,
                             const char *upload, size_t *upload_size, void **context)
{
    (void)cls;
    (void)connection;
    (void)url; /* cut and perhaps clobbered: `target` is what was sent */
    struct client *client = *context;
    if (client->phase == HEAD)
        return head_done(client, method, version);
    if (*upload_size)
        return body_piece(client, upload, upload_size);
    if (client->phase == BODY)
        return begin_or_send(client);
    return client->phase == ANSWERED ? answer_send(client) : MHD_YES;
}

void request_over(void *cls, struct MHD_Connection *connection, void **context,
                  enum MHD_RequestTerminationCode code)
{
    (void)cls;
    (void)connection;
    (void)code;
    struct client *client = *context;
    if (!client)
        return;
    *context = NULL;
    must(client->phase != AWAY);
    if (client->phase == ANSWERED && exchange_outgoing(client->x)->fd >= 0)
        (void)close(exchange_outgoing(client->x)->fd); /* it was never sent */
    exchange_free(client->x);
    client->x = NULL;
    client->phase = IDLE;
    client->told = client->close = false;
}

/* What the exchange decided, as an answer of libmicrohttpd's.
 *
 * Bodies are not copied: the exchange lives until the answer is out.  Framing, Date and
 * the silence after HEAD, 204 and 304 are libmicrohttpd's. */
#include "front/clients.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/must.h"

#include <string.h>
#include <unistd.h>

enum { SLOWEST_BYTES_A_MS = 64 };

static struct MHD_Response *body_of(const struct outgoing *out)
{
    struct MHD_IoVec whole = {.iov_base = out->body, .iov_len = out->body_size};
    if (out->fd < 0)
        return MHD_create_response_from_iovec(&whole, 1, NULL, NULL);
    struct MHD_Response *response =
        MHD_create_response_from_fd64(out->fd_size, out->fd);
    if (!response)
        (void)close(out->fd);
    return response;
}

/* libmicrohttpd wants NUL-terminated texts, and refuses empty values and what would
 * break the head. */
static void add_header(struct front *front, struct MHD_Response *response,
                       const struct header *header)
{
    struct buf *text = &front->text;
    size_t value_at = header->name_size + 1;
    buf_clear(text);
    (void)buf_add(text, header->name, header->name_size);
    (void)buf_char(text, '\0');
    (void)buf_add(text, header->value, header->value_size);
    if (header->value_size == 0)
        return;
    if (text->failed
        || MHD_add_response_header(response, text->data, text->data + value_at)
               != MHD_YES)
        log_warn("answer", "a header of %zu bytes was left out", header->value_size);
}

enum MHD_Result answer_send(struct client *client)
{
    struct front *front = client_front(client);
    const struct outgoing *out = exchange_outgoing(client->x);
    must(out->status >= 200 && out->status <= 599); /* 1xx would come back for ever */
    if (client->told)
        return MHD_NO; /* nobody is there */
    client->phase = SENDING;
    struct MHD_Response *response = body_of(out);
    if (!response)
        return MHD_NO;
    for (size_t i = 0; i < out->header_count; i++)
        add_header(front, response, &out->headers[i]);
    if (out->close || client->close || front->quiescing)
        (void)MHD_add_response_header(response, "Connection", "close");
    uint64_t size = out->fd >= 0 ? out->fd_size : out->body_size;
    client_due(client, clock_mono_ms() + front->config.idle_ms
                           + (int64_t)(size / SLOWEST_BYTES_A_MS));
    enum MHD_Result queued =
        MHD_queue_response(client->connection, (unsigned)out->status, response);
    MHD_destroy_response(response);
    return queued;
}

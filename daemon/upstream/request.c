#include "upstream/request.h"

#include "base/must.h"
#include "base/text.h"
#include "upstream/head.h"

#include <string.h>

enum { INLINE_BODY = 16 * 1024 }; /* up to here one packet train beats one copy */

static const char *const ours[] = {
#define PASS(name)
#define OURS(name) name,
#include "upstream/headers.def"
#undef PASS
#undef OURS
};

static bool is_ours(const struct header *header)
{
    for (size_t i = 0; i < COUNT(ours); i++)
        if (head_same_name(header, ours[i]))
            return true;
    return false;
}

static bool is_graphic(const char *text)
{
    for (; *text; text++)
        if (*text < '!' || *text > '~')
            return false;
    return true;
}

static bool has_control(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            return true;
    return false;
}

/* What follows the scheme; empty when there is none that we speak. */
static const char *authority(const char *base_url)
{
    static const char *const schemes[] = {"http://", "https://"};
    for (size_t i = 0; i < COUNT(schemes); i++)
        if (text_starts(base_url, schemes[i]))
            return base_url + strlen(schemes[i]);
    return "";
}

bool request_base_url_is_good(const char *base_url)
{
    const char *host = authority(base_url);
    return *host && is_graphic(host) && !strpbrk(host, "/\\?#@\"<>");
}

static void add_target(struct buf *out, const struct transfer *transfer)
{
    const char *path = transfer->path, *query = transfer->query;
    must(text_is_token(transfer->method, strlen(transfer->method)));
    must(path[0] == '/' && is_graphic(path));
    (void)buf_text(out, transfer->method);
    (void)buf_char(out, ' ');
    (void)buf_text(out, path);
    if (query && *query) {
        must(is_graphic(query));
        (void)buf_char(out, '?');
        (void)buf_text(out, query);
    }
    (void)buf_text(out, " HTTP/1.1\r\n");
}

static void add_header(struct buf *out, const struct header *header)
{
    must(!has_control(header->value, header->value_size));
    (void)buf_add(out, header->name, header->name_size);
    (void)buf_add(out, ": ", 2);
    (void)buf_add(out, header->value, header->value_size);
    (void)buf_add(out, "\r\n", 2);
}

static void add_forwarded(struct buf *out, const struct header *header)
{
    must(text_is_token(header->name, header->name_size));
    if (!is_ours(header))
        add_header(out, header);
}

static void add_text(struct buf *out, const char *name, const char *value)
{
    add_header(out, &(struct header){name, value, strlen(name), strlen(value)});
}

/* These announce a body even when there is none; without a length some servers wait. */
static bool expects_body(const char *method)
{
    return text_same(method, "POST") || text_same(method, "PUT")
           || text_same(method, "PATCH");
}

static void add_framing(struct buf *out, const struct transfer *transfer)
{
    if (transfer->body)
        add_text(out, "Content-Type", "application/json");
    if (transfer->body || expects_body(transfer->method))
        (void)buf_printf(out, "Content-Length: %zu\r\n",
                         transfer->body ? transfer->body_size : 0);
    (void)buf_text(out, "Connection: keep-alive\r\n\r\n");
}

bool request_write(struct buf *out, const struct transfer *transfer, const char **rest,
                   size_t *rest_size)
{
    add_target(out, transfer);
    add_text(out, "Host", authority(transfer->base_url));
    add_text(out, "X-API-Key", transfer->e2b_key);
    for (size_t i = 0; i < transfer->header_count; i++)
        add_forwarded(out, &transfer->headers[i]);
    add_text(out, "Accept", "application/json");
    add_text(out, "Accept-Encoding", "identity");
    add_framing(out, transfer);
    *rest = transfer->body;
    *rest_size = transfer->body ? transfer->body_size : 0;
    if (*rest_size && *rest_size <= INLINE_BODY) {
        (void)buf_add(out, *rest, *rest_size);
        *rest_size = 0;
    }
    return !out->failed;
}

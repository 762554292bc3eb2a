/* The header section, and whether it really is what libmicrohttpd took it for.
 *
 * 0.9.75 cuts at a NUL, glues folded lines into the name before them, ends the section
 * at an empty name and takes a bare LF for a line's end: each lets two parsers see two
 * requests.  It parses in place, so a clean section tiles its memory: method SP target
 * SP version CRLF, then name ":" value CRLF without a gap, then CRLF.  Anything else
 * gets a header whose name is no token, and is refused for it. */
#include "front/clients.h"

#include <string.h>
#include <strings.h>

enum {
    VERSION = 8,             /* "HTTP/1.1": others do not get here */
    ENTRY = 64,              /* what libmicrohttpd spends on each name and value */
    ANSWER_ROOM = 4096,      /* for the answer's head, out of the same memory */
    TILES_UNTIL = 0x00097600 /* later ones have a strict parser and another layout */
};

struct head {
    struct front *front;
    const char *next; /* where the next line must start */
    bool gap, expects, endless;
    size_t copied; /* cookies, by libmicrohttpd's own parser */
};

static bool spells(const char *bytes, size_t size, const char *text)
{
    return size == strlen(text) && strncasecmp(bytes, text, size) == 0;
}

static bool named(const struct header *header, const char *name)
{
    return spells(header->name, header->name_size, name);
}

/* Under a coding that it does not know, libmicrohttpd reads until the client closes; it
 * knows "chunked" without a blank behind it only. */
static void note_framing(struct head *head, const struct header *header)
{
    if (named(header, "Transfer-Encoding")) {
        head->expects = true;
        head->endless |= !spells(header->value, header->value_size, "chunked");
    } else if (named(header, "Content-Length")) {
        head->expects |= !spells(header->value, header->value_size, "0");
    } else if (named(header, "Cookie")) {
        head->copied += header->value_size;
    }
}

static enum MHD_Result collect(void *cls, enum MHD_ValueKind kind, const char *name,
                               size_t name_size, const char *value, size_t value_size)
{
    (void)kind;
    struct head *head = cls;
    struct header header = {.name = name,
                            .name_size = name_size,
                            .value = value ? value : "",
                            .value_size = value ? value_size : 0};
    head->gap |= name != head->next;
    head->next = header.value + header.value_size + strlen("\r\n");
    note_framing(head, &header);
    return buf_add(&head->front->headers, &header, sizeof(header)) ? MHD_YES : MHD_NO;
}

static bool line_has_gap(const struct client *client, const struct raw_request *raw)
{
    return client->target_at != raw->method + strlen(raw->method) + strlen(" ")
           || raw->version != client->target_at + client->target.size + strlen(" ");
}

/* Out of the same memory as the answer's head. */
static bool too_large(const struct client *client, const struct head *head, size_t size)
{
    int kinds = MHD_HEADER_KIND | MHD_GET_ARGUMENT_KIND | MHD_COOKIE_KIND;
    int entries = MHD_get_connection_values_n(client->connection,
                                              (enum MHD_ValueKind)kinds, NULL, NULL);
    return size + head->copied + (size_t)entries * ENTRY + ANSWER_ROOM
           > head->front->config.memory;
}

static void fault_if(struct front *front, bool found, const char *name)
{
    struct header header = {.name = name, .name_size = strlen(name), .value = ""};
    if (found)
        (void)buf_add(&front->headers, &header, sizeof(header));
}

/* `size`: of the whole section, as libmicrohttpd counted it. */
static void add_faults(const struct client *client, const struct head *head,
                       const struct raw_request *raw, size_t size)
{
    bool gap = head->gap || line_has_gap(client, raw)
               || head->next + strlen("\r\n") != raw->method + size;
    fault_if(head->front, gap && MHD_VERSION < TILES_UNTIL, "(malformed line)");
    fault_if(head->front, head->endless, "(transfer coding)");
    fault_if(head->front, too_large(client, head, size), "(header section too large)");
}

bool head_read(struct client *client, struct raw_request *raw, bool *expects)
{
    struct front *front = client_front(client);
    struct head head = {.front = front,
                        .next = raw->version + VERSION + strlen("\r\n")};
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(
        client->connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    if (!info)
        return false;
    buf_clear(&front->headers);
    (void)MHD_get_connection_values_n(client->connection, MHD_HEADER_KIND, collect,
                                      &head);
    add_faults(client, &head, raw, info->header_size);
    raw->headers = (const struct header *)(const void *)front->headers.data;
    raw->header_count = front->headers.size / sizeof(struct header);
    *expects = head.expects;
    return !front->headers.failed; /* or one is missing */
}

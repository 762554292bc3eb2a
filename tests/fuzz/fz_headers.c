/* A header section: refused, or what goes on is tokens and printable text, and what
 * Sandgate reads is bounded and printable.  Input: lines "name: value". */
#include "base/arena.h"
#include "base/must.h"
#include "base/text.h"
#include "core/canon.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

enum { ROOM = 1 << 20, SECTION = 16 << 10, HEADERS = 128 };

static size_t split(const char *bytes, size_t size, struct header headers[HEADERS])
{
    size_t count = 0;
    const char *at = bytes, *end = bytes + size;
    while (at < end && count < HEADERS) {
        const char *line = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((line ? line : end) - at);
        const char *colon = memchr(at, ':', length);
        size_t name = colon ? (size_t)(colon - at) : length;
        headers[count].name = at;
        headers[count].name_size = name;
        headers[count].value = colon ? colon + 1 : at + length;
        headers[count].value_size = length - name - (colon ? 1 : 0);
        count++;
        at += length + 1;
    }
    return count;
}

static void check_text(const char *text, size_t most)
{
    must(!text || strlen(text) <= most);
    for (; text && *text; text++)
        must(*text >= ' ' && *text <= '~');
}

static void check_forward(const struct canon *canon)
{
    for (size_t i = 0; i < canon->forward_count; i++) {
        const struct header *header = &canon->forward[i];
        must(text_is_token(header->name, header->name_size));
        must(strlen(header->value) == header->value_size);
        must(strncasecmp(header->name, "x-api", 5) != 0);
        must(strncasecmp(header->name, "sandgate", 8) != 0);
        must(strncasecmp(header->name, "content", 7) != 0);
        must(strncasecmp(header->name, "auth", 4) != 0);
        check_text(header->value, SECTION);
        for (size_t k = 0; k < i; k++)
            must(strcasecmp(header->name, canon->forward[k].name) != 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct header headers[HEADERS];
    struct canon canon;
    struct agent_headers agent;
    if (size > SECTION)
        return 0;
    struct arena *arena = arena_new(ROOM);
    const struct raw_request raw = {.method = "POST",
                                    .target = "/v2/sandboxes",
                                    .version = size % 7 == 6 ? "HTTP/1.0" : "HTTP/1.1",
                                    .headers = headers,
                                    .header_count =
                                        split((const char *)data, size, headers)};
    enum err err = canon_headers(&raw, arena, &canon, &agent);
    must(err == ERR_OK || err == ERR_REQUEST_REFUSED);
    must((err == ERR_OK) == !*canon.why);
    check_text(canon.why, CANON_WHY);
    if (!err) {
        must(!(canon.chunked && canon.content_length != SIZE_MAX));
        must(agent.wait_s >= -1 && agent.wait_s <= 600);
        check_forward(&canon);
        check_text(agent.key, 2048 + 8);
        check_text(agent.skill, 512);
        check_text(agent.reason, 1920);
        check_text(agent.ticket, 1024);
        check_text(agent.idempotency_key, 1024);
        check_text(agent.user_agent, 2048);
        check_text(agent.traceparent, 55);
    }
    arena_free(arena);
    return 0;
}

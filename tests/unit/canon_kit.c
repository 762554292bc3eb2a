#include "canon_kit.h"

#include "base/text.h"
#include "test.h"

#include <string.h>

enum { LINES = 200 };

const char *kit_json(const char *text, struct arena *arena)
{
    char *copy = arena_text(arena, text);
    must(copy);
    for (char *at = copy; *at; at++)
        *at = *at == '\'' ? '"' : *at;
    return copy;
}

static enum err both(const struct raw_request *raw, bool lenient, struct arena *arena,
                     struct canon *canon)
{
    *canon = (struct canon){0};
    enum err err = canon_target(raw, arena, canon);
    return err ? err : canon_body(raw, lenient, arena, canon);
}

static struct raw_request request(const char *line, const char *body,
                                  struct arena *arena)
{
    const char *json = body ? kit_json(body, arena) : "";
    size_t method = strcspn(line, " ");
    must(line[method] == ' ');
    return (struct raw_request){.method = arena_copy(arena, line, method),
                                .target = line + method + 1,
                                .version = "HTTP/1.1",
                                .body = json,
                                .body_size = strlen(json)};
}

enum err kit_canon(const char *line, const char *body, struct arena *arena,
                   struct canon *canon)
{
    struct raw_request raw = request(line, body, arena);
    return both(&raw, false, arena, canon);
}

enum err kit_canon_lenient(const char *line, const char *body, struct arena *arena,
                           struct canon *canon)
{
    struct raw_request raw = request(line, body, arena);
    return both(&raw, true, arena, canon);
}

enum err kit_headers(const char *version, const char *lines, struct arena *arena,
                     struct canon *canon, struct agent_headers *agent)
{
    struct header headers[LINES];
    size_t count = 0;
    for (const char *at = lines; *at; count++) {
        size_t line = strcspn(at, "\n"), name = strcspn(at, ":");
        must(count < LINES && name + 2 <= line && at[line] == '\n');
        headers[count] = (struct header){.name = at,
                                         .name_size = name,
                                         .value = at + name + 2,
                                         .value_size = line - name - 2};
        at += line + 1;
    }
    const struct raw_request raw = {.method = "GET",
                                    .target = "/sandboxes/abc",
                                    .version = version ? version : "HTTP/1.1",
                                    .headers = headers,
                                    .header_count = count};
    return canon_headers(&raw, arena, canon, agent);
}

const char *kit_line(const struct route *route, struct arena *arena)
{
    own_buf out = BUF(4096);
    (void)buf_printf(&out, "%s ", route->method);
    for (const char *at = route->path; *at;) {
        size_t plain = strcspn(at, "{");
        (void)buf_add(&out, at, plain);
        at += plain;
        if (!*at)
            break;
        (void)buf_text(&out, text_starts(at, "{sandbox}")    ? "i0abc9"
                             : text_starts(at, "{template}") ? "web%2Fbase%3Av1"
                                                             : "0f3c-77aa");
        at += strcspn(at, "}") + 1;
    }
    return arena_text(arena, out.data);
}

static const char *sample(enum body_type type)
{
    static const char *const samples[] = {
        [BODY_TEXT] = "\"text\"",
        [BODY_INT] = "60",
        [BODY_BOOL] = "true",
        [BODY_TEXTS] = "[\"one\"]",
        [BODY_OBJECT] = "{}",
        [BODY_LIST] = "[]",
        [BODY_MAP] = "{}",
        [BODY_ANY] = "null",
        [BODY_REF] = "\"web/base:v1\"",
        [BODY_URL] = "\"https://example.com/hook\"",
        [BODY_ADDRESS] = "\"proxy.example.com:1080\"",
    };
    return samples[type];
}

const char *kit_body(const struct operation *operation, const struct route *route,
                     struct arena *arena)
{
    own_buf out = BUF(4096);
    if (!operation->body || !route->forwarded)
        return NULL;
    (void)buf_char(&out, '{');
    for (const struct body_field *row = operation->body; row->path; row++)
        if (row->required && body_in_version(row, route->version)
            && body_child_name(NULL, row))
            (void)buf_printf(&out, "%s\"%s\":%s", out.size > 1 ? "," : "", row->path,
                             sample(row->type));
    (void)buf_char(&out, '}');
    return arena_text(arena, out.data);
}

/* The query: only the route's keys, none twice, in the order of the route's table.  A
 * value is decoded once to be checked, and goes on as the very bytes that came: what is
 * inside is the customer's own encoding. */
#include "base/text.h"
#include "core/canon_parts.h"

#include <string.h>

enum { KEYS_MAX = 16, QUERY_MAX = 8192 };

struct value {
    const char *at; /* NULL: not given */
    size_t size;
};

static int key_index(const struct route *route, const char *key, size_t size)
{
    for (int i = 0; route->query && route->query[i]; i++)
        if (strlen(route->query[i]) == size && memcmp(route->query[i], key, size) == 0)
            return i;
    return -1;
}

/* Well-formed escapes that decode to UTF-8 without controls. */
static bool is_clean(const char *at, size_t size, struct arena *arena)
{
    const char *end = at + size;
    char *decoded = arena_alloc(arena, size + 1);
    size_t used = 0;
    for (; decoded && at < end; at++) {
        char c = *at;
        if (c == '%' && !text_unpercent(at, end, &c))
            return false;
        at += *at == '%' ? 2 : 0;
        if ((unsigned char)c < ' ' || c == 0x7f)
            return false;
        decoded[used++] = c;
    }
    return decoded && text_is_utf8(decoded, used);
}

static enum err take_pair(struct canon *canon, const char *at, size_t size,
                          struct value values[static KEYS_MAX], struct arena *arena)
{
    const char *equals = memchr(at, '=', size);
    size_t key_size = equals ? (size_t)(equals - at) : size;
    int shown = key_size < 64 ? (int)key_size : 64;
    int index = key_index(canon->route, at, key_size);
    if (index < 0)
        return canon_refuse(canon, "\"%.*s\" is no query key of this operation", shown,
                            at);
    if (!equals)
        return canon_refuse(canon, "query key \"%.*s\" has no value", shown, at);
    if (values[index].at)
        return canon_refuse(canon, "query key \"%.*s\" is there twice", shown, at);
    values[index] = (struct value){equals + 1, size - key_size - 1};
    if (!is_clean(values[index].at, values[index].size, arena))
        return canon_refuse(canon, "the value of query key \"%.*s\" is malformed",
                            shown, at);
    return ERR_OK;
}

enum err canon_query(struct canon *canon, const char *query, struct arena *arena)
{
    struct value values[KEYS_MAX] = {{0}};
    own_buf out = BUF(QUERY_MAX);
    for (const char *at = *query ? query : NULL; at;) {
        size_t size = strcspn(at, "&");
        enum err err = take_pair(canon, at, size, values, arena);
        if (err)
            return err;
        at = at[size] ? at + size + 1 : NULL;
    }
    for (int i = 0; i < KEYS_MAX; i++) {
        if (!values[i].at)
            continue;
        buf_printf(&out, "%s%s=", out.size ? "&" : "", canon->route->query[i]);
        buf_add(&out, values[i].at, values[i].size);
    }
    canon->query = arena_text(arena, out.size ? out.data : "");
    return canon->query && !out.failed ? ERR_OK : ERR_TOO_LARGE;
}

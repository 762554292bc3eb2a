#include "core/origin.h"

#include "base/text.h"
#include "core/reference.h"

#include <string.h>

#define DIGITS "0123456789"
#define HOST "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_." DIGITS

enum { URL_MAX = 2048 };

static bool is_plain(const char *text)
{
    for (const char *at = text; *at; at++)
        if (*at <= ' ' || *at > '~' || *at == '\\')
            return false;
    return strlen(text) <= URL_MAX;
}

/* Past a name, an IPv4 address or an IPv6 one in brackets; NULL when it is none. */
static const char *skip_host(const char *at)
{
    if (*at != '[') {
        size_t size = strspn(at, HOST);
        return size > strspn(at, ".") ? at + size : NULL;
    }
    size_t size = strspn(at + 1, DIGITS "abcdefABCDEF:.");
    return size > 1 && at[1 + size] == ']' ? at + size + 2 : NULL;
}

/* `authority` is "[user@]host[:port]" and nothing more. */
static bool take_authority(struct arena *arena, const char *authority,
                           struct origin *origin)
{
    const char *at = strchr(authority, '@');
    const char *host = at ? at + 1 : authority, *end = skip_host(host);
    if (!end || (*end != ':' && *end != '\0'))
        return false;
    if (*end == ':') {
        int64_t port;
        origin->port = end + 1;
        if (!text_int(origin->port, 1, 65535, &port))
            return false;
    }
    const char *copy = arena_copy(arena, host, (size_t)(end - host));
    origin->host = copy ? reference_fold(arena, copy) : NULL;
    origin->whole = !at;
    return origin->host != NULL;
}

bool origin_of_url(struct arena *arena, const char *url, struct origin *origin)
{
    const char *const schemes[] = {"https://", "http://"};
    *origin = (struct origin){0};
    for (size_t i = 0; i < 2; i++) {
        size_t size = strlen(schemes[i]);
        if (!text_starts(url, schemes[i]) || !is_plain(url))
            continue;
        const char *rest = url + size;
        size_t authority = strcspn(rest, "/?#");
        const char *copy = arena_copy(arena, rest, authority);
        origin->scheme = arena_copy(arena, url, size - strlen("://"));
        if (!copy || !origin->scheme || !take_authority(arena, copy, origin))
            return false;
        origin->whole &= !rest[authority] || text_same(rest + authority, "/");
        return true;
    }
    return false;
}

bool origin_of_address(struct arena *arena, const char *address, struct origin *origin)
{
    *origin = (struct origin){0};
    return is_plain(address) && !strpbrk(address, "/?#")
           && take_authority(arena, address, origin) && origin->port;
}

const char *origin_text(struct arena *arena, const struct origin *origin)
{
    return arena_printf(arena, "%s%s%s%s%s", origin->scheme ? origin->scheme : "",
                        origin->scheme ? "://" : "", origin->host,
                        origin->port ? ":" : "", origin->port ? origin->port : "");
}

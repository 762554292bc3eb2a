/* A request line: refused, or of one canonical form that is a fixed point and safe to
 * send.  Input: METHOD SP TARGET. */
#include "base/arena.h"
#include "base/must.h"
#include "base/text.h"
#include "core/canon.h"

#include <stdint.h>
#include <string.h>

enum { ROOM = 1 << 20, LINE = 4096 };

static void check_path(const char *path)
{
    must(path[0] == '/');
    must(!strstr(path, "//") && !strstr(path, "/./") && !strstr(path, "/../"));
    must(!text_ends(path, "/") && !text_ends(path, "/.") && !text_ends(path, "/.."));
    must(!strpbrk(path, "\\;?#"));
    must(!strstr(path, "%25") && !strstr(path, "%5C") && !strstr(path, "%00"));
    for (; *path; path++)
        must(*path > ' ' && *path <= '~');
}

static void check_again(const struct canon *canon, const char *method,
                        struct arena *arena)
{
    struct canon again = {0};
    const char *target = *canon->query
                             ? arena_printf(arena, "%s?%s", canon->path, canon->query)
                             : canon->path;
    const struct raw_request raw = {
        .method = method, .target = target, .version = "HTTP/1.1"};
    must(canon_target(&raw, arena, &again) == ERR_OK);
    must(again.operation == canon->operation && again.route == canon->route);
    must(text_same(again.path, canon->path) && text_same(again.query, canon->query));
    must(text_same(again.target_id, canon->target_id));
}

static void check_query(const char *query)
{
    must(!strpbrk(query, ";#\\") && !strstr(query, "&&"));
    for (; *query; query++)
        must(*query > ' ' && *query <= '~');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > LINE)
        return 0;
    struct arena *arena = arena_new(ROOM);
    char *line = arena_copy(arena, data, size), *space = strchr(line, ' ');
    struct canon canon = {0};
    if (space) {
        *space = '\0';
        const struct raw_request raw = {
            .method = line, .target = space + 1, .version = "HTTP/1.1"};
        enum err err = canon_target(&raw, arena, &canon);
        must(canon.operation);
        must(err == ERR_OK || err == ERR_REQUEST_REFUSED
             || err == ERR_OPERATION_UNKNOWN);
        must((err == ERR_OK) == !*canon.why);
        if (!err) {
            check_path(canon.path);
            check_query(canon.query);
            check_again(&canon, line, arena);
        }
    }
    arena_free(arena);
    return 0;
}

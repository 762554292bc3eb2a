/* Raw target -> route, arguments and canonical path.  Segment by segment: routed on the
 * raw bytes, each argument decoded once and encoded again. */
#include "base/text.h"
#include "core/canon_parts.h"
#include "core/reference.h"

#include <string.h>

enum { SEGMENTS_MAX = 8 };

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"
#define UNRESERVED LOWER UPPER DIGITS "-._~"

struct segments {
    const char *at[SEGMENTS_MAX]; /* into the raw target, not terminated */
    size_t size[SEGMENTS_MAX];
    size_t count;
    bool escaped_slash;
};

/* ---- segments ---- */

static enum err check_escape(struct canon *canon, const char *at, const char *end)
{
    char c;
    if (!text_unpercent(at, end, &c))
        return canon_refuse(canon, "a malformed escape in the path");
    if (c == '%')
        return canon_refuse(canon, "the path is encoded twice");
    if (c < ' ' || c > '~' || c == '\\')
        return canon_refuse(canon, "the path has an escaped %%%.2s", at + 1);
    if (strchr(UNRESERVED, c))
        return canon_refuse(canon, "the path escapes a plain character: %%%.2s",
                            at + 1);
    return ERR_OK;
}

static enum err check_segment(struct canon *canon, const char *at, size_t size)
{
    if (size == 0)
        return canon_refuse(canon, "the path has an empty segment");
    if (strspn(at, ".") >= size)
        return canon_refuse(canon, "the path has a dot segment");
    for (size_t i = 0; i < size; i++) {
        enum err err = at[i] == '%' ? check_escape(canon, at + i, at + size) : ERR_OK;
        if (err)
            return err;
    }
    return ERR_OK;
}

static bool has_escaped_slash(const char *at, size_t size)
{
    char c;
    for (size_t i = 0; i < size; i++)
        if (text_unpercent(at + i, at + size, &c) && c == '/')
            return true;
    return false;
}

/* `path` starts with a slash; "/" alone has no segments. */
static enum err split(struct canon *canon, const char *path, size_t path_size,
                      struct segments *segments)
{
    const char *at = path + 1, *end = path + path_size;
    *segments = (struct segments){0};
    while (path_size > 1) {
        size_t size = 0;
        while (at + size < end && at[size] != '/')
            size++;
        enum err err = check_segment(canon, at, size);
        if (err)
            return err;
        segments->escaped_slash |= has_escaped_slash(at, size);
        if (segments->count < SEGMENTS_MAX) {
            segments->at[segments->count] = at;
            segments->size[segments->count] = size;
        }
        segments->count++;
        if (at + size == end)
            break;
        at += size + 1;
    }
    return ERR_OK;
}

/* ---- routes ---- */

/* How well the pattern fits: 0 not at all, else one bit a segment, set where it is
 * literal, the first segment being the highest: so a literal beats a parameter. */
static unsigned fit(const char *pattern, const struct segments *segments)
{
    unsigned bits = 1;
    for (size_t i = 0; i < segments->count; i++) {
        if (*pattern++ != '/')
            return 0;
        size_t size = strcspn(pattern, "/");
        bool literal = *pattern != '{';
        if (literal
            && (size != segments->size[i]
                || memcmp(pattern, segments->at[i], size) != 0))
            return 0;
        bits = bits << 1 | literal;
        pattern += size;
    }
    return *pattern ? 0 : bits;
}

static bool choose(struct canon *canon, const char *method,
                   const struct segments *segments)
{
    unsigned best = 0;
    if (segments->count == 0 || segments->count > SEGMENTS_MAX)
        return false;
    for (size_t i = 0; i < catalogue_size; i++)
        for (const struct route *route = catalogue[i].routes; route->method; route++) {
            unsigned bits =
                text_same(route->method, method) ? fit(route->path, segments) : 0;
            if (bits <= best)
                continue;
            best = bits;
            canon->operation = &catalogue[i];
            canon->route = route;
        }
    return best > 0;
}

/* ---- arguments ---- */

/* "id-client" is "id". */
static bool short_sandbox_id(char *id)
{
    char *rest = id + strspn(id, LOWER DIGITS);
    if (rest > id && *rest == '-') {
        size_t client = strspn(rest + 1, LOWER UPPER DIGITS);
        if (client == 0 || rest[1 + client] != '\0')
            return false;
        *rest = '\0';
    }
    return rest > id && *rest == '\0';
}

static bool plain_word(const char *text)
{
    return text[strspn(text, UNRESERVED)] == '\0';
}

static char *decode(const char *at, size_t size, struct arena *arena)
{
    char *out = arena_alloc(arena, size + 1);
    size_t used = 0;
    for (size_t i = 0; out && i < size; i++) {
        char c = at[i];
        if (text_unpercent(at + i, at + size, &c))
            i += 2;
        out[used++] = c;
    }
    return out;
}

/* `name` is what follows the opening brace in the route. */
static enum err check_argument(struct canon *canon, const char *name, char *value)
{
    if (text_starts(name, "sandbox}"))
        return short_sandbox_id(value)
                   ? ERR_OK
                   : canon_refuse(canon, "\"%s\" is not a sandbox id", value);
    if (text_starts(name, "template}"))
        return reference_is_good(value)
                   ? ERR_OK
                   : canon_refuse(canon, "\"%s\" is not a template reference", value);
    return plain_word(value) ? ERR_OK
                             : canon_refuse(canon, "\"%s\" is not an id", value);
}

static void put_segment(struct buf *out, const char *text)
{
    buf_char(out, '/');
    for (; *text; text++) {
        if (strchr(UNRESERVED, *text))
            buf_char(out, *text);
        else
            buf_printf(out, "%%%02X", (unsigned char)*text);
    }
}

static enum err fill(struct canon *canon, const struct segments *segments,
                     struct arena *arena)
{
    own_buf path = BUF(8192);
    const char *pattern = canon->route->path;
    size_t args = 0;
    for (size_t i = 0; i < segments->count; i++) {
        char *text = decode(segments->at[i], segments->size[i], arena);
        if (!text)
            return ERR_TOO_LARGE;
        bool parameter = pattern[1] == '{';
        enum err err = parameter ? check_argument(canon, pattern + 2, text) : ERR_OK;
        if (err)
            return err;
        if (parameter)
            canon->args[args++] = text;
        put_segment(&path, text);
        pattern += 1 + strcspn(pattern + 1, "/");
    }
    canon->path = path.failed ? NULL : arena_text(arena, path.data);
    return canon->path ? ERR_OK : ERR_TOO_LARGE;
}

static enum err name_target(struct canon *canon, struct arena *arena)
{
    enum target_kind kind = canon->operation->target;
    if (kind == TARGET_NONE || !canon->args[0])
        return ERR_OK;
    bool folds = kind == TARGET_TEMPLATE || kind == TARGET_SECRET;
    canon->target_id = folds ? reference_fold(arena, canon->args[0]) : canon->args[0];
    return canon->target_id ? ERR_OK : ERR_TOO_LARGE;
}

static enum err unknown(struct canon *canon, const struct raw_request *raw,
                        size_t path_size, const struct segments *segments)
{
    if (segments->escaped_slash)
        return canon_refuse(canon, "the path has an escaped slash");
    int shown = path_size < 120 ? (int)path_size : 120;
    (void)canon_refuse(canon, "%.16s %.*s is no operation that Sandgate knows",
                       raw->method, shown, raw->target);
    return ERR_OPERATION_UNKNOWN;
}

enum err canon_target(const struct raw_request *raw, struct arena *arena,
                      struct canon *canon)
{
    struct segments segments;
    const char *mark = strchr(raw->target, '?');
    size_t path_size = mark ? (size_t)(mark - raw->target) : strlen(raw->target);
    canon->operation = &operation_unknown;
    canon->route = NULL;
    canon->path = canon->query = canon->target_id = "";
    enum err err = canon_target_form(canon, raw->target);
    if (!err)
        err = split(canon, raw->target, path_size, &segments);
    if (err)
        return err;
    if (!choose(canon, raw->method, &segments))
        return unknown(canon, raw, path_size, &segments);
    err = fill(canon, &segments, arena);
    if (!err)
        err = canon_query(canon, mark ? mark + 1 : "", arena);
    return err ? err : name_target(canon, arena);
}

/* Framing and header names first: a request whose end is not certain, or that two
 * readers could read differently, gets no further. */
#include "base/must.h"
#include "base/text.h"
#include "core/canon_parts.h"

#include <string.h>
#include <strings.h>

enum { HEADERS_MAX = 100, KEY_MAX = 256, WAIT_MAX_S = 600 };

struct reading {
    struct canon *canon;
    struct agent_headers *agent;
    const char *version;
    const char *bearer; /* a gateway key in Authorization, or NULL */
    bool expects, hosted;
};

/* One header that means something here.  It may occur once; `take` reads the trimmed
 * value, `most` bounds it. */
struct rule {
    const char *name;
    enum err (*take)(struct reading *reading, const struct rule *rule,
                     const char *value);
    size_t most;
    size_t into; /* offset in agent_headers of what `keep` fills */
    bool cuts;   /* over-long is cut, not refused */
    bool forward;
};

/* ---- values ---- */

static enum err never(struct reading *reading, const struct rule *rule,
                      const char *value)
{
    (void)value;
    return canon_refuse(reading->canon, "%s is not accepted", rule->name);
}

static enum err ignore(struct reading *reading, const struct rule *rule,
                       const char *value)
{
    (void)reading;
    (void)rule;
    (void)value;
    return ERR_OK;
}

static enum err length(struct reading *reading, const struct rule *rule,
                       const char *value)
{
    int64_t size;
    if (!text_int(value, 0, INT64_MAX, &size))
        return canon_refuse(reading->canon, "%s is not a plain number", rule->name);
    reading->canon->content_length = (size_t)size;
    return ERR_OK;
}

static enum err coding(struct reading *reading, const struct rule *rule,
                       const char *value)
{
    if (strcasecmp(value, "chunked") != 0)
        return canon_refuse(reading->canon, "%s is not exactly \"chunked\"",
                            rule->name);
    reading->canon->chunked = true;
    return ERR_OK;
}

static enum err identity(struct reading *reading, const struct rule *rule,
                         const char *value)
{
    if (strcasecmp(value, "identity") != 0)
        return canon_refuse(reading->canon, "%s is not accepted", rule->name);
    return ERR_OK;
}

static enum err expectation(struct reading *reading, const struct rule *rule,
                            const char *value)
{
    if (strcasecmp(value, "100-continue") != 0)
        return canon_refuse(reading->canon, "%s is not \"100-continue\"", rule->name);
    return ERR_OK;
}

static enum err host(struct reading *reading, const struct rule *rule,
                     const char *value)
{
    size_t size = strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789.-_:[]");
    if (size == 0 || value[size] != '\0')
        return canon_refuse(reading->canon, "%s is not a host", rule->name);
    reading->hosted = true;
    return ERR_OK;
}

/* "Bearer e2b_..." is a gateway key; any other scheme is not ours and goes nowhere. */
static enum err authorization(struct reading *reading, const struct rule *rule,
                              const char *value)
{
    if (strncasecmp(value, "Bearer ", 7) != 0 || !text_starts(value + 7, "e2b_"))
        return ERR_OK;
    if (!text_is_token(value + 7, strlen(value + 7)) || strlen(value) > rule->most)
        return canon_refuse(reading->canon, "%s does not hold a gateway key",
                            rule->name);
    reading->bearer = value + 7;
    return ERR_OK;
}

static enum err wait(struct reading *reading, const struct rule *rule,
                     const char *value)
{
    if (!text_int(value, 0, WAIT_MAX_S, &reading->agent->wait_s))
        return canon_refuse(reading->canon, "%s is not a number from 0 to %d",
                            rule->name, WAIT_MAX_S);
    return ERR_OK;
}

/* At most so many bytes of a text, and no half character. */
static size_t cut_size(const char *text, size_t most)
{
    size_t size = strlen(text);
    if (size <= most)
        return size;
    while (most > 0 && ((unsigned char)text[most] & 0xc0) == 0x80)
        most--;
    return most;
}

/* Printable ASCII; escaping may make it longer than `most`. */
static enum err keep(struct reading *reading, const struct rule *rule,
                     const char *value)
{
    size_t size = cut_size(value, rule->most);
    if (value[size] && !rule->cuts)
        return canon_refuse(reading->canon, "%s is longer than %zu bytes", rule->name,
                            rule->most);
    own_buf escaped = BUF(8 * size + 1);
    if (!text_escape(&escaped, value, size))
        return ERR_TOO_LARGE;
    const char *copy =
        arena_text(reading->agent->arena, escaped.size ? escaped.data : "");
    if (!copy)
        return ERR_TOO_LARGE;
    memcpy((char *)reading->agent + rule->into, &copy, sizeof(copy));
    return ERR_OK;
}

/* 00-<32 hex>-<16 hex>-<2 hex>.  W3C: a malformed one is as good as none. */
static bool is_trace(const char *value)
{
    static const char shape[] =
        "xx-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx-xxxxxxxxxxxxxxxx-xx";
    for (size_t i = 0; i < sizeof(shape); i++)
        if (shape[i] == 'x' ? !value[i] || !strchr("0123456789abcdef", value[i])
                            : value[i] != shape[i])
            return false;
    return true;
}

static enum err trace(struct reading *reading, const struct rule *rule,
                      const char *value)
{
    return is_trace(value) ? keep(reading, rule, value) : ERR_OK;
}

/* ---- the table ---- */

#define INTO(member) .into = offsetof(struct agent_headers, member)
#define READ(name_, how, ...) {.name = name_, .take = how, __VA_ARGS__},
#define KEEP(name_, member, most_) \
    {.name = name_, .take = keep, .most = most_, INTO(member)},
#define CUT(name_, member, most_, ...) \
    {.name = name_,                    \
     .take = keep,                     \
     .most = most_,                    \
     INTO(member),                     \
     .cuts = true,                     \
     __VA_ARGS__},
#define FORWARD(name_) {.name = name_, .take = ignore, .forward = true},

static const struct rule rules[] = {
#include "core/canon_headers.def"
};

static bool same_name(const struct header *header, const char *name, size_t size)
{
    return header->name_size == size && strncasecmp(header->name, name, size) == 0;
}

static const struct rule *rule_of(const struct header *header)
{
    for (size_t i = 0; i < COUNT(rules); i++)
        if (same_name(header, rules[i].name, strlen(rules[i].name)))
            return &rules[i];
    return NULL;
}

/* ---- one header ---- */

static bool has_control(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            return true;
    return false;
}

static bool is_ours(const struct header *header)
{
    static const char prefix[] = "Sandgate-";
    return header->name_size >= sizeof(prefix) - 1
           && strncasecmp(header->name, prefix, sizeof(prefix) - 1) == 0;
}

static bool seen_before(const struct raw_request *raw, size_t index)
{
    const struct header *header = &raw->headers[index];
    for (size_t i = 0; i < index; i++)
        if (same_name(&raw->headers[i], header->name, header->name_size))
            return true;
    return false;
}

static const char *trimmed(const struct header *header, struct arena *arena)
{
    const char *start = header->value, *end = start + header->value_size;
    while (start < end && *start == ' ')
        start++;
    while (end > start && end[-1] == ' ')
        end--;
    return arena_copy(arena, start, (size_t)(end - start));
}

/* Upstream gets printable ASCII only. */
static bool may_go_on(const char *value)
{
    for (const char *at = value; *at; at++)
        if (*at < ' ' || *at > '~')
            return false;
    return true;
}

static enum err take(struct reading *reading, const struct raw_request *raw,
                     size_t index, struct header *forward)
{
    const struct header *header = &raw->headers[index];
    int width = header->name_size < 64 ? (int)header->name_size : 64;
    if (!text_is_token(header->name, header->name_size))
        return canon_refuse(reading->canon, "a header name is not a token: %.*s", width,
                            header->name);
    if (has_control(header->value, header->value_size))
        return canon_refuse(reading->canon, "control bytes in the value of %.*s", width,
                            header->name);
    const struct rule *rule = rule_of(header);
    if ((rule || is_ours(header)) && seen_before(raw, index))
        return canon_refuse(reading->canon, "more than one %.*s", width, header->name);
    const char *value = rule ? trimmed(header, reading->agent->arena) : NULL;
    if (!value)
        return rule ? ERR_TOO_LARGE : ERR_OK;
    enum err err = rule->take(reading, rule, value);
    if (!err && rule->forward && may_go_on(value)
        && (rule->take != trace || reading->agent->traceparent))
        forward[reading->canon->forward_count++] =
            (struct header){rule->name, value, header->name_size, strlen(value)};
    return err;
}

/* ---- the request ---- */

static enum err check_line(struct canon *canon, const struct raw_request *raw)
{
    if (!text_is_token(raw->method, strlen(raw->method)) || strlen(raw->method) > 16)
        return canon_refuse(canon, "the method is not a short token");
    if (!text_same(raw->version, "HTTP/1.1") && !text_same(raw->version, "HTTP/1.0"))
        return canon_refuse(canon, "the protocol version is not HTTP/1.1 or HTTP/1.0");
    if (raw->header_count > HEADERS_MAX)
        return canon_refuse(canon, "more than %d headers", HEADERS_MAX);
    return canon_target_form(canon, raw->target);
}

static enum err check_framing(struct reading *reading)
{
    struct canon *canon = reading->canon;
    bool modern = text_same(reading->version, "HTTP/1.1");
    if (canon->chunked && canon->content_length != SIZE_MAX)
        return canon_refuse(canon, "both Content-Length and Transfer-Encoding");
    if (canon->chunked && !modern)
        return canon_refuse(canon, "Transfer-Encoding in HTTP/1.0");
    if (modern && !reading->hosted)
        return canon_refuse(canon, "Host is missing");
    return ERR_OK;
}

static enum err choose_key(struct reading *reading)
{
    struct agent_headers *agent = reading->agent;
    if (!reading->bearer)
        return ERR_OK;
    if (agent->key && !text_same(agent->key, reading->bearer))
        return canon_refuse(reading->canon, "X-API-Key and Authorization differ");
    agent->key = reading->bearer;
    return ERR_OK;
}

enum err canon_headers(const struct raw_request *raw, struct arena *arena,
                       struct canon *canon, struct agent_headers *agent)
{
    *canon = canon_blank();
    *agent = (struct agent_headers){.wait_s = -1, .arena = arena};
    struct reading reading = {.canon = canon, .agent = agent, .version = raw->version};
    enum err err = check_line(canon, raw);
    if (err)
        return err;
    struct header *forward = arena_alloc(arena, (COUNT(rules) + 1) * sizeof(*forward));
    canon->forward = forward;
    if (!forward)
        return ERR_TOO_LARGE;
    for (size_t i = 0; !err && i < raw->header_count; i++)
        err = take(&reading, raw, i, forward);
    if (!err)
        err = check_framing(&reading);
    return err ? err : choose_key(&reading);
}

/* Environments: a name, E2B's base URL, and the real key, which goes in and never out.
 */
#include "base/must.h"
#include "base/text.h"
#include "serve/handlers.h"

#include <string.h>

static bool write_environment(void *context, const struct environment *environment)
{
    struct writer *w = context;
    write_open(w, NULL, '{');
    write_text(w, "name", environment->name);
    write_text(w, "base_url", environment->base_url);
    write_text(w, "team", environment->team);
    write_text(w, "key", environment->key_hint);
    write_bool(w, "lenient", environment->lenient);
    write_bool(w, "disabled", environment->disabled);
    write_close(w, '}');
    return true;
}

struct reply environments_index(struct call *call, struct db *db)
{
    (void)call;
    struct buf body;
    struct writer w;
    (void)reply_start(&w, &body);
    write_open(&w, "environments", '[');
    enum err err = environment_list(db, write_environment, &w);
    write_close(&w, ']');
    if (!err)
        return reply_end(&w, &body);
    buf_free(&body);
    return reply_error(err, NULL);
}

struct asked {
    const char *name, *base_url, *team, *key;
    bool lenient;
};

static enum err read_asked(struct call *call, struct asked *asked, const char **bad)
{
    *asked = (struct asked){.name = "", .base_url = "", .team = "", .key = ""};
    const struct field fields[] = {
        {"name",     FIELD_TEXT, &asked->name,     false},
        {"base_url", FIELD_TEXT, &asked->base_url, false},
        {"team",     FIELD_TEXT, &asked->team,     false},
        {"lenient",  FIELD_BOOL, &asked->lenient,  false},
        {"key",      FIELD_TEXT, &asked->key,      true }
    };
    *bad = "key";
    if (!call->body || fields_read(call->body, fields, COUNT(fields), bad))
        return ERR_BAD_FIELD;
    size_t size = strlen(asked->key);
    *bad = "the E2B key is 8 to 256 printable characters";
    if (size < 8 || size > 256)
        return ERR_BAD_FIELD;
    for (const char *at = asked->key; *at; at++)
        if (*at <= ' ' || *at > '~')
            return ERR_BAD_FIELD;
    return ERR_OK;
}

/* Plain origin: scheme, host, maybe a port. Plain http only to this machine. */
static bool url_ok(const char *url)
{
    bool https = text_starts(url, "https://"), http = text_starts(url, "http://");
    const char *host = url + (https ? 8 : 7);
    if ((!https && !http) || strlen(url) >= URL || !*host)
        return false;
    if (strspn(host, "abcdefghijklmnopqrstuvwxyz0123456789-.:[]") != strlen(host))
        return false;
    return https || text_starts(host, "127.") || text_starts(host, "localhost")
           || text_starts(host, "[::1]");
}

static const char url_rule[] =
    "base_url is https://host or https://host:port, lower case, "
    "without a path; http only to a loopback address";

enum err environments_probe_new(struct call *call, struct probe *probe)
{
    struct asked asked;
    const char *bad;
    enum err err = read_asked(call, &asked, &bad);
    probe->e2b_key = asked.key;
    probe->base_url =
        *asked.base_url ? asked.base_url : NULL; /* NULL: the stored one */
    if (!err && probe->base_url && !url_ok(probe->base_url))
        err = ERR_BAD_FIELD;
    return err;
}

static void hint_of(const char *key, char hint[static 16])
{
    (void)text_format(hint, 16, "%.8s...", key);
}

/* Why the key cannot be stored, or NULL. */
static const char *key_refusal(const struct call *call, const char *key)
{
    struct shared *held = snapshot_take(&keyring_snapshot);
    bool ours = held && keyring_is_gateway_key((const struct keyring *)held, key);
    snapshot_drop(held);
    if (ours)
        return "this is a key that Sandgate issued, not an E2B key";
    if (call->probe.status == 401 || call->probe.status == 403)
        return "E2B does not accept this key";
    if (call->probe.status != 200)
        return call->probe.why[0] ? call->probe.why
                                  : "E2B did not answer the test call";
    return NULL;
}

static struct reply tested(const struct call *call, const char *name)
{
    struct buf body;
    struct writer w;
    (void)reply_start(&w, &body);
    write_text(&w, "environment", name);
    write_int(&w, "status", call->probe.status);
    if (call->probe.running >= 0)
        write_int(&w, "running", call->probe.running);
    if (call->probe.why[0])
        write_text(&w, "why", call->probe.why);
    return reply_end(&w, &body);
}

struct reply environments_add(struct call *call, struct db *db)
{
    struct asked asked;
    const char *bad;
    if (read_asked(call, &asked, &bad))
        return reply_error(ERR_BAD_FIELD, bad);
    struct environment row = {.lenient = asked.lenient, .created_ms = call->now_ms};
    if (!*asked.name
        || strspn(asked.name, "abcdefghijklmnopqrstuvwxyz0123456789-_.")
               != strlen(asked.name)
        || !text_copy(row.name, sizeof(row.name), asked.name)
        || !text_copy(row.team, sizeof(row.team), asked.team))
        return reply_error(ERR_BAD_FIELD, "name: up to 63 of a-z 0-9 - _ .");
    if (!url_ok(asked.base_url)
        || !text_copy(row.base_url, sizeof(row.base_url), asked.base_url))
        return reply_error(ERR_BAD_FIELD, url_rule);
    bad = key_refusal(call, asked.key);
    if (bad)
        return reply_error(
            call->probe.status ? ERR_UPSTREAM_KEY : ERR_UPSTREAM_UNREACHABLE, bad);
    hint_of(asked.key, row.key_hint);
    enum err err = environment_add(db, &row, asked.key);
    const char *detail =
        arena_printf(call->arena, "{\"environment\":\"%s\",\"base_url\":\"%s\"}",
                     row.name, row.base_url);
    if (!err)
        err = record_change(call, db, "environment.add", detail);
    return err ? reply_error(err, err == ERR_CONFLICT ? asked.name : NULL)
               : tested(call, row.name);
}

struct reply environments_key(struct call *call, struct db *db)
{
    struct asked asked;
    const char *bad;
    char hint[16];
    if (read_asked(call, &asked, &bad))
        return reply_error(ERR_BAD_FIELD, bad);
    bad = key_refusal(call, asked.key);
    if (bad)
        return reply_error(
            call->probe.status ? ERR_UPSTREAM_KEY : ERR_UPSTREAM_UNREACHABLE, bad);
    hint_of(asked.key, hint);
    enum err err = environment_set_key(db, call->args[0], asked.key, hint);
    const char *detail =
        arena_printf(call->arena, "{\"environment\":\"%s\"}", call->args[0]);
    if (!err)
        err = record_change(call, db, "environment.key", detail);
    return err ? reply_error(err, NULL) : tested(call, call->args[0]);
}

/* The key that is stored, against the address that is stored. */
enum err environments_probe_known(struct call *call, struct probe *probe)
{
    struct shared *held = snapshot_take(&keyring_snapshot);
    const struct upstream_target *target =
        held ? keyring_target((const struct keyring *)held, call->args[0]) : NULL;
    if (target) {
        probe->base_url = arena_text(call->arena, target->base_url);
        probe->e2b_key = NULL; /* taken from the keyring when it is sent */
    }
    snapshot_drop(held);
    return target ? ERR_OK : ERR_NOT_FOUND;
}

struct reply environments_test(struct call *call, struct db *db)
{
    (void)db;
    return tested(call, call->args[0]);
}

#include "cli/environments.h"

#include "base/must.h"
#include "base/text.h"
#include "cli/ask.h"
#include "cli/groups.h"
#include "cli/table.h"
#include "cli/talk.h"
#include "core/catalogue.h"

enum { BODY_CAP = 8192, POWERS_CAP = 16 << 10 };

static const char e2b_url[] = "https://api.e2b.app";

static const struct column columns[] = {
    {"name",     "name",     CELL_TEXT, false},
    {"url",      "base_url", CELL_TEXT, false},
    {"key",      "key",      CELL_TEXT, false},
    {"team",     "team",     CELL_TEXT, false},
    {"lenient",  "lenient",  CELL_YES,  false},
    {"disabled", "disabled", CELL_YES,  false}
};

int env_ls(struct call *call)
{
    own_answer answer = {.status = 0};
    int code = api_get(call, "/api/v1/environments", &answer);
    if (!code)
        code = put_list(call, node_member(answer.root, "environments"), columns,
                        COUNT(columns), "no environments; sandgate env add NAME");
    return code;
}

/* ---- what a key enables ---- */

static bool is_forwarded(const struct operation *operation)
{
    for (const struct route *route = operation->routes; route->method; route++)
        if (route->forwarded)
            return true;
    return false;
}

static void tell_powers(struct call *call, enum effect effect)
{
    own_buf names = BUF(POWERS_CAP);
    int count = 0;
    for (size_t i = 0; i < catalogue_size; i++)
        if (catalogue[i].effect == effect && is_forwarded(&catalogue[i]))
            buf_printf(&names, "%s%s", count++ ? ", " : "", catalogue[i].name);
    say(call, "  %d %s: %s", count, effect_name(effect), names.data ? names.data : "");
}

void environment_powers(struct call *call)
{
    say(call, "With this key the gateway can, as far as policy and approvers let it, "
              "call these operations of E2B:");
    tell_powers(call, EFFECT_READ);
    tell_powers(call, EFFECT_WRITE);
    tell_powers(call, EFFECT_DESTRUCTIVE);
    say(call, "Account administration is never forwarded.");
}

/* ---- storing ---- */

/* Wipes the body: it holds the key. */
static int send(struct call *call, const char *path, struct buf *body,
                struct answer *answer)
{
    int code = body->failed ? fail(call, USAGE, "that is too long")
                            : api_post(call, path, body->data, answer);
    buf_wipe(body);
    return code;
}

int environment_store(struct call *call, const struct new_environment *fresh,
                      struct answer *answer)
{
    struct buf body = BUF(BODY_CAP);
    struct writer w = WRITER(&body);
    write_open(&w, NULL, '{');
    write_text(&w, "name", fresh->name);
    write_text(&w, "base_url", fresh->url ? fresh->url : e2b_url);
    write_text(&w, "team", fresh->team);
    write_bool(&w, "lenient", fresh->lenient);
    write_bytes(&w, "key", fresh->key->data, fresh->key->size);
    write_close(&w, '}');
    return send(call, "/api/v1/environments", &body, answer);
}

static int tell_test(struct call *call, const struct answer *answer, const char *done)
{
    int64_t running = member_int(answer->root, "running", -1);
    int64_t status = member_int(answer->root, "status", 0);
    if (flag_on(call, "json"))
        put_json(call, answer->root);
    else if (status == 200)
        say(call, "%sE2B accepts the key%s", done,
            running >= 0
                ? words(call, "; %lld sandboxes are running", (long long)running)
                : "");
    if (status == 200)
        return DONE;
    if (status == 0)
        return fail(call, TRY_AGAIN, "E2B is not reached: %s",
                    safe(call, path_text(answer->root, "why")));
    return fail(call, FAILED, "E2B answered %lld to the test call", (long long)status);
}

int env_add(struct call *call)
{
    struct buf key = BUF(0);
    own_answer answer = {.status = 0};
    environment_powers(call);
    int code = ask_yes(call, words(call, "store a key for %s?", call->args[0]));
    if (!code)
        code = ask_secret(call, "key-file", "E2B API key", &key);
    const struct new_environment fresh = {.name = call->args[0],
                                          .url = flag_text(call, "url"),
                                          .team = flag_text(call, "team"),
                                          .lenient = flag_on(call, "lenient"),
                                          .key = &key};
    if (!code)
        code = environment_store(call, &fresh, &answer);
    buf_wipe(&key);
    return code ? code : tell_test(call, &answer, "stored; ");
}

int env_key(struct call *call)
{
    struct buf key = BUF(0), body = BUF(BODY_CAP);
    struct writer w = WRITER(&body);
    own_answer answer = {.status = 0};
    const char *path = api_path(call, "environments", call->args[0], "/key");
    int code = path ? ask_secret(call, "key-file", "E2B API key", &key) : USAGE;
    if (!code) {
        write_open(&w, NULL, '{');
        write_bytes(&w, "key", key.data, key.size);
        write_close(&w, '}');
        code = send(call, path, &body, &answer);
    }
    buf_wipe(&key);
    return code ? code : tell_test(call, &answer, "replaced; ");
}

int env_test(struct call *call)
{
    own_answer answer = {.status = 0};
    const char *path = api_path(call, "environments", call->args[0], "/test");
    int code = path ? api_post(call, path, "{}", &answer) : USAGE;
    return code ? code : tell_test(call, &answer, "");
}

/* The part of a set-up that the daemon keeps.
 *
 * Environment, agent and key are made before there is a person: what the machine itself
 * owns and mints, everybody may approve. */
#include "base/clock.h"
#include "base/must.h"
#include "base/text.h"
#include "cli/api.h"
#include "cli/ask.h"
#include "cli/environments.h"
#include "cli/init.h"
#include "cli/talk.h"
#include "cli/when.h"

#include <unistd.h>

enum { BODY_CAP = 4096, KEY_CAP = 256 };

static const char first_roles[] = "admin,approver,policy-admin,auditor";

/* ---- environment ---- */

static bool is_named(const struct plan *plan, const struct node *row, const char *name)
{
    (void)plan;
    return text_same(path_text(row, "name"), name);
}

static bool is_environment(const struct plan *plan, const struct node *row)
{
    return is_named(plan, row, plan->environment);
}

static int make_environment(struct call *call, struct plan *plan)
{
    struct buf key = BUF(0);
    own_answer answer = {.status = 0};
    environment_powers(call);
    int code = ask_secret(call, "e2b-key-file", "E2B API key", &key);
    if (!code)
        code = ask_yes(call, "store this key?");
    const struct new_environment fresh = {
        .name = plan->environment, .url = flag_text(call, "url"), .key = &key};
    if (!code)
        code = environment_store(call, &fresh, &answer);
    buf_wipe(&key);
    if (!code)
        say(call, "          E2B accepts the key; %lld sandboxes are running",
            (long long)member_int(answer.root, "running", 0));
    return code;
}

/* ---- agent ---- */

static bool is_agent(const struct plan *plan, const struct node *row)
{
    return is_named(plan, row, plan->agent);
}

static int make_agent(struct call *call, struct plan *plan)
{
    own_answer answer = {.status = 0};
    return api_post(call, "/api/v1/agents",
                    words(call, "{\"name\":\"%s\"}", plan->agent), &answer);
}

/* ---- key ---- */

static bool is_key(const struct plan *plan, const struct node *row)
{
    int64_t expires;
    const char *text = path_text(row, "expires");
    return text_same(path_text(row, "agent"), plan->agent)
           && text_same(path_text(row, "environment"), plan->environment)
           && !*path_text(row, "revoked")
           && !(moment_read(text, &expires) && expires <= clock_wall_ms());
}

static int make_key(struct call *call, struct plan *plan)
{
    own_answer answer = {.status = 0};
    int code = api_post(call, "/api/v1/keys",
                        words(call, "{\"agent\":\"%s\",\"environment\":\"%s\"}",
                              plan->agent, plan->environment),
                        &answer);
    plan->fresh = BUF(KEY_CAP);
    if (!code)
        buf_text(&plan->fresh, path_text(answer.root, "key"));
    return code;
}

/* ---- person ---- */

/* Whoever is registered for this system user already will do, too. */
static bool is_person(const struct plan *plan, const struct node *row)
{
    return is_named(plan, row, plan->admin)
           || member_int(row, "uid", -1) == (int64_t)getuid();
}

static int make_person(struct call *call, struct plan *plan)
{
    own_answer answer = {.status = 0};
    return api_post(call, "/api/v1/people",
                    words(call, "{\"name\":\"%s\",\"roles\":\"%s\",\"uid\":%lld}",
                          plan->admin, first_roles, (long long)getuid()),
                    &answer);
}

/* ---- all of them ---- */

static const struct {
    const char *what, *path, *list;
    size_t name; /* of its name in struct plan */
    bool (*present)(const struct plan *plan, const struct node *row);
    int (*make)(struct call *call, struct plan *plan);
} rows[] = {
#define ROW(what, list, member, present, make)                                    \
    {                                                                             \
        what, "/api/v1/" list, list, offsetof(struct plan, member), present, make \
    }
    ROW("environment", "environments", environment, is_environment, make_environment),
    ROW("agent", "agents", agent, is_agent, make_agent),
    ROW("agent's key", "keys", agent, is_key, make_key),
    ROW("first person", "people", admin, is_person, make_person),
#undef ROW
};

static int find(struct call *call, const struct plan *plan, size_t i, bool *there)
{
    own_answer answer = {.status = 0};
    int code = api_get(call, rows[i].path, &answer);
    const struct node *list = code ? NULL : node_member(answer.root, rows[i].list);
    *there = false;
    for (size_t at = 0; list && at < node_size(list) && !*there; at++)
        *there = rows[i].present(plan, node_at(list, at));
    return code;
}

int init_rows(struct call *call, struct plan *plan)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        bool there;
        const char *name = *(const char *const *)(void *)((char *)plan + rows[i].name);
        int code = find(call, plan, i, &there);
        if (!code && !there && !plan->dry)
            code = rows[i].make(call, plan);
        if (code)
            return code;
        init_tell(call,
                  there       ? "is there"
                  : plan->dry ? "would do"
                              : "done",
                  name, rows[i].what);
    }
    return DONE;
}

/* init: a set-up from nothing to the first agent's key. */
#include "cli/init.h"

#include "base/must.h"
#include "base/text.h"
#include "cli/api.h"
#include "cli/groups.h"
#include "cli/talk.h"

#include <string.h>
#include <unistd.h>

enum { PATH = 4096, SOCKET_MAX = 100, NAME_MAX_SIZE = 63, LINE_CAP = 8192 };

void init_tell(struct call *call, const char *word, const char *what, const char *part)
{
    say(call, "%-9s %s: %s", word, part, what);
}

/* ---- what is asked for ---- */

/* These go into JSON, policy and URLs as they are. */
static int check_name(struct call *call, const char *flag, const char *name)
{
    size_t size = strlen(name);
    if (size > 0 && size <= NAME_MAX_SIZE && !strchr("-_.", name[0])
        && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == size)
        return DONE;
    return fail(call, USAGE,
                "--%s %s: a name is of a-z 0-9 - _ . and begins with a letter or digit",
                flag, safe(call, name));
}

static int take_name(struct call *call, const char *flag, const char *otherwise,
                     const char **name)
{
    const char *given = flag_text(call, flag);
    *name = given ? given : otherwise;
    return check_name(call, flag, *name);
}

static int take_address(struct call *call, const char *flag, const char **address)
{
    const char *given = flag_text(call, flag);
    if (!given)
        return DONE;
    *address = given;
    size_t size = strlen(given);
    if (strspn(given, "abcdefghijklmnopqrstuvwxyzABCDEF0123456789-.:[]") == size
        && size < SOCKET_MAX)
        return DONE;
    return fail(call, USAGE, "--%s %s: an address is written 127.0.0.1:8080", flag,
                safe(call, given));
}

static int take_dir(struct call *call, struct plan *plan)
{
    char here[PATH];
    const char *dir = flag_text(call, "dir");
    if (!dir)
        return DONE;
    if (dir[0] != '/' && !getcwd(here, sizeof(here)))
        return fail(call, FAILED, "the current folder has no name");
    if (dir[0] != '/')
        dir = words(call, "%s/%s", here, dir);
    size_t size = strlen(dir);
    while (size > 1 && dir[size - 1] == '/')
        size--;
    plan->dir = words(call, "%.*s", (int)size, dir);
    for (const char *at = plan->dir; *at; at++)
        if (*at < ' ' || *at > '~' || strchr("\"\\", *at))
            return fail(call, USAGE, "--dir: plain letters only, please");
    return DONE;
}

/* The layout of --dir; a configuration that is there already wins over it. */
static void lay_out(struct call *call, struct plan *plan)
{
    struct settings *where = &plan->where;
    const char *dir = plan->dir;
    if (!dir || plan->configured)
        return;
    where->socket = words(call, "%s/admin.sock", dir);
    where->data = words(call, "%s/data", dir);
    where->state_file = words(call, "%s/log-state", dir);
    where->policy = words(call, "%s/policy.d", dir);
    where->master_key = words(call, "%s/master-key", dir);
    where->audit_key = words(call, "%s/audit-key", dir);
}

static int read_where(struct call *call, struct plan *plan)
{
    const char *file = flag_text(call, "config");
    if (!file)
        file = plan->dir ? words(call, "%s/sandgate.json", plan->dir)
                         : "/etc/sandgate/sandgate.json";
    int code = settings_read(call, file, &plan->where, &plan->configured);
    if (code)
        return code;
    lay_out(call, plan);
    if (!plan->configured) {
        code = take_address(call, "agents-listen", &plan->where.agents_listen);
        if (!code)
            code = take_address(call, "metrics-listen", &plan->where.metrics_listen);
    }
    if (!code && strlen(plan->where.socket) > SOCKET_MAX)
        code = fail(call, USAGE, "%s: too long for the name of a socket",
                    plan->where.socket);
    return code;
}

static int draw_up(struct call *call, struct plan *plan)
{
    int code = take_dir(call, plan);
    plan->dry = flag_on(call, "dry-run");
    if (!code)
        code = take_name(call, "environment", "production", &plan->environment);
    if (!code)
        code = take_name(call, "admin", "admin", &plan->admin);
    if (!code)
        code = take_name(call, "agent", "demo", &plan->agent);
    if (!code)
        code = read_where(call, plan);
    if (!code)
        code = api_place_at(call, plan->where.socket, plan->where.file);
    return code;
}

/* ---- what is told ---- */

/* An address for everybody is one that this machine can use, too. */
static const char *agents_url(struct call *call, const struct plan *plan)
{
    const char *listen = plan->where.agents_listen, *port = strrchr(listen, ':');
    if (port && (text_starts(listen, "0.0.0.0:") || text_starts(listen, "[::]:")))
        return words(call, "http://127.0.0.1%s", port);
    return words(call, "http://%s", listen);
}

static void put_result_json(struct call *call, const struct plan *plan)
{
    struct buf line = BUF(LINE_CAP);
    struct writer w = WRITER(&line);
    write_open(&w, NULL, '{');
    write_text(&w, "config", plan->where.file);
    write_text(&w, "url", agents_url(call, plan));
    write_text(&w, "agent", plan->agent);
    write_text(&w, "environment", plan->environment);
    write_text(&w, "key", plan->fresh.size ? plan->fresh.data : NULL);
    write_close(&w, '}');
    put(call, "%s\n", line.data);
    buf_wipe(&line);
}

/* What is typed from now on begins so. */
static const char *command_line(struct call *call, const struct plan *plan)
{
    return plan->dir || flag_on(call, "config")
               ? words(call, "sandgate --config %s", plan->where.file)
               : "sandgate";
}

static void put_result(struct call *call, const struct plan *plan)
{
    if (flag_on(call, "json")) {
        put_result_json(call, plan);
        return;
    }
    if (!plan->fresh.size) {
        say(call,
            "\nEverything is there. A key is shown only when it is made; for "
            "another one:\n  %s agent key add %s --environment %s",
            command_line(call, plan), plan->agent, plan->environment);
        return;
    }
    say(call,
        "\nFor the agent \"%s\"; the key is shown only now, and is Sandgate's, "
        "not E2B's:\n",
        plan->agent);
    (void)fflush(call->talk);
    put(call, "export E2B_API_URL=%s\nexport E2B_API_KEY=%s\n", agents_url(call, plan),
        plan->fresh.data);
    (void)fflush(call->out);
    say(call, "\nNext: %s approvals watch", command_line(call, plan));
}

static int not_running(struct call *call, const struct plan *plan)
{
    say(call,
        "\nThe files are there, and no daemon answers at %s.\n"
        "Start it, then repeat this to make environment, agent and key:\n"
        "  sandgated --config %s",
        plan->where.socket, plan->where.file);
    return TRY_AGAIN;
}

static int set_up(struct call *call, struct plan *plan)
{
    plan->alive = init_alive(call);
    int code = init_files(call, plan);
    if (!code && plan->dry && !plan->alive) {
        say(call,
            "then, with a daemon that answers: environment %s, agent %s, its key, "
            "and %s as the first person",
            plan->environment, plan->agent, plan->admin);
        return DONE;
    }
    if (!code && !plan->alive)
        code =
            flag_on(call, "start") ? init_start(call, plan) : not_running(call, plan);
    return code ? code : init_rows(call, plan);
}

/* A key that was made is shown even if a later step failed: it is nowhere else. */
int run_init(struct call *call)
{
    struct plan plan = {.dir = NULL};
    int code = draw_up(call, &plan);
    if (!code)
        code = set_up(call, &plan);
    if (plan.fresh.size || (!code && !plan.dry))
        put_result(call, &plan);
    buf_wipe(&plan.fresh);
    return code;
}

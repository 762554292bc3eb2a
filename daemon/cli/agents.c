/* agents and the gateway keys they call with. */
#include "base/must.h"
#include "base/text.h"
#include "cli/api.h"
#include "cli/ask.h"
#include "cli/groups.h"
#include "cli/table.h"
#include "cli/talk.h"
#include "cli/when.h"

enum { BODY_CAP = 4096, PATH_CAP = 1024 };

static const struct column agent_columns[] = {
    {"name",     "name",     CELL_TEXT,   false},
    {"team",     "team",     CELL_TEXT,   false},
    {"owner",    "owner",    CELL_TEXT,   false},
    {"created",  "created",  CELL_MOMENT, false},
    {"disabled", "disabled", CELL_YES,    false}
};

static const struct column key_columns[] = {
    {"id",          "id",          CELL_TEXT,   false},
    {"agent",       "agent",       CELL_TEXT,   false},
    {"environment", "environment", CELL_TEXT,   false},
    {"skills",      "skills",      CELL_TEXT,   true },
    {"minted by",   "minted_by",   CELL_TEXT,   false},
    {"created",     "created",     CELL_MOMENT, false},
    {"expires",     "expires",     CELL_MOMENT, false},
    {"revoked",     "revoked",     CELL_MOMENT, false}
};

int agent_ls(struct call *call)
{
    own_answer answer = {.status = 0};
    int code = api_get(call, "/api/v1/agents", &answer);
    if (!code)
        code = put_list(call, node_member(answer.root, "agents"), agent_columns,
                        COUNT(agent_columns), "no agents; sandgate agent add NAME");
    return code;
}

/* What was done, for a person; what came back, for a script. */
static int told(struct call *call, const struct answer *answer, const char *what)
{
    if (flag_on(call, "json"))
        put_json(call, answer->root);
    else
        say(call, "%s", what);
    return DONE;
}

int agent_new(struct call *call)
{
    own_buf body = BUF(BODY_CAP);
    own_answer answer = {.status = 0};
    struct writer w = WRITER(&body);
    write_open(&w, NULL, '{');
    write_text(&w, "name", call->args[0]);
    write_text(&w, "team", flag_text(call, "team"));
    write_text(&w, "owner", flag_text(call, "owner"));
    write_close(&w, '}');
    int code = body.failed ? fail(call, USAGE, "that is too long")
                           : api_post(call, "/api/v1/agents", body.data, &answer);
    return code ? code
                : told(call, &answer,
                       words(call, "added; next: sandgate agent key add %s",
                             call->args[0]));
}

int agent_off(struct call *call)
{
    own_answer answer = {.status = 0};
    const char *path = api_path(call, "agents", call->args[0], "/disable");
    int code = path ? ask_yes(call, words(call, "refuse all calls of %s from now on?",
                                          call->args[0]))
                    : USAGE;
    if (!code)
        code = api_post(call, path, "{}", &answer);
    return code ? code
                : told(call, &answer, words(call, "%s is disabled", call->args[0]));
}

/* ---- keys ---- */

int agent_keys(struct call *call)
{
    own_buf path = BUF(PATH_CAP);
    own_answer answer = {.status = 0};
    buf_text(&path, "/api/v1/keys");
    query_add(&path, "agent", flag_text(call, "agent"));
    int code = api_get(call, path.data, &answer);
    if (!code)
        code = put_list(call, node_member(answer.root, "keys"), key_columns,
                        COUNT(key_columns), "no keys; sandgate agent key add AGENT");
    return code;
}

/* The secret leaves once, alone on stdout, and is copied nowhere. */
static int put_fresh(struct call *call, const struct answer *answer)
{
    if (flag_on(call, "json")) {
        put_json(call, answer->root);
        return DONE;
    }
    say(call, "key %s of agent %s for %s; it is shown only now:",
        safe(call, path_text(answer->root, "id")),
        safe(call, path_text(answer->root, "agent")),
        safe(call, path_text(answer->root, "environment")));
    put(call, "%s\n", path_text(answer->root, "key"));
    return DONE;
}

int agent_mint(struct call *call)
{
    int64_t valid_ms;
    own_buf body = BUF(BODY_CAP);
    own_answer answer = {.status = 0};
    struct writer w = WRITER(&body);
    const char *environment = flag_text(call, "environment");
    int code = flag_span(call, "valid", 0, &valid_ms);
    if (code)
        return code;
    write_open(&w, NULL, '{');
    write_text(&w, "agent", call->args[0]);
    write_text(&w, "environment", environment ? environment : "production");
    write_text(&w, "skills", flag_text(call, "skills"));
    write_int(&w, "valid_s", valid_ms / 1000);
    write_close(&w, '}');
    code = body.failed ? fail(call, USAGE, "that is too long")
                       : api_post(call, "/api/v1/keys", body.data, &answer);
    return code ? code : put_fresh(call, &answer);
}

int agent_rotate(struct call *call)
{
    int64_t overlap_ms;
    own_answer answer = {.status = 0};
    const char *path = api_path(call, "keys", call->args[0], "/rotate");
    int code = path ? flag_span(call, "overlap", 86400000, &overlap_ms) : USAGE;
    if (!code)
        code = api_post(
            call, path,
            words(call, "{\"overlap_s\":%lld}", (long long)overlap_ms / 1000), &answer);
    return code ? code : put_fresh(call, &answer);
}

int agent_revoke(struct call *call)
{
    own_answer answer = {.status = 0};
    const char *path = api_path(call, "keys", call->args[0], "/revoke");
    int code =
        path ? ask_yes(call, words(call, "end key %s at once?", call->args[0])) : USAGE;
    if (!code)
        code = api_post(call, path, "{}", &answer);
    return code ? code
                : told(call, &answer, words(call, "key %s is revoked", call->args[0]));
}

/* status and version. */
#include "base/embedded.h"
#include "base/must.h"
#include "cli/api.h"
#include "cli/groups.h"
#include "cli/table.h"
#include "cli/talk.h"

static const struct column rows[] = {
    {"policy",     "policy.digest",       CELL_TEXT, false},
    {"rules",      "policy.rules",        CELL_TEXT, false},
    {"pending",    "approvals.pending",   CELL_TEXT, false},
    {"approved",   "approvals.approved",  CELL_TEXT, false},
    {"executing",  "approvals.executing", CELL_TEXT, false},
    {"unknown",    "approvals.unknown",   CELL_TEXT, false},
    {"log size",   "log.size",            CELL_TEXT, false},
    {"checkpoint", "log.checkpoint",      CELL_TEXT, false},
    {"log key",    "log.vkey",            CELL_TEXT, false}
};

static bool is_ready(const struct node *status)
{
    bool ready = false;
    const struct node *node = node_member(status, "ready");
    return node && node_bool(node, &ready) && ready;
}

int run_status(struct call *call)
{
    own_answer answer = {.status = 0};
    int code = api_get(call, "/api/v1/status", &answer);
    if (code)
        return code;
    bool ready = is_ready(answer.root);
    if (flag_on(call, "json")) {
        put_json(call, answer.root);
        return ready ? DONE : TRY_AGAIN;
    }
    put(call, "%s\n",
        ready ? painted(call, GREEN, "ready")
              : painted(call, RED, "not ready: the log cannot be written"));
    put_members(call, answer.root, rows, COUNT(rows));
    if (node_path(answer.root, "policy.refused_ms"))
        put(call, "  the policy on disk does not load; the one above stays in force\n");
    if (member_int(node_path(answer.root, "approvals"), "unknown", 0) > 0)
        put(call, "  look at: sandgate approvals ls --state unknown\n");
    return ready ? DONE : TRY_AGAIN;
}

int run_version(struct call *call)
{
    if (flag_on(call, "json"))
        put(call, "{\"version\":\"%s\",\"commit\":\"%s\"}\n", embedded_version,
            embedded_commit);
    else
        put(call, "sandgate %s (%s)\n", embedded_version, embedded_commit);
    return DONE;
}

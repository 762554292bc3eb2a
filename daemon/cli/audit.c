/* audit: reading the log. */
#include "base/clock.h"
#include "base/must.h"
#include "base/text.h"
#include "cli/api.h"
#include "cli/groups.h"
#include "cli/table.h"
#include "cli/talk.h"
#include "cli/when.h"

enum { PATH_CAP = 4096 };

static const struct column columns[] = {
    {"record",   "index",                                                  CELL_TEXT,    false},
    {"when",     "record.ts",                                              CELL_WALL_US, false},
    {"what",     "record.t",                                               CELL_TEXT,    false},
    {"phase",    "record.ph",                                              CELL_TEXT,    false},
    {"who",      "record.actor.person|record.actor.agent",                 CELL_TEXT,    false},
    {"call",     "record.call.op|record.ev",                               CELL_TEXT,    true },
    {"target",   "record.call.target.id|record.res.new.id",                CELL_TEXT,    false},
    {"verdict",  "record.appr.vote|record.dec.verdict",                    CELL_TEXT,    false},
    {"outcome",  "record.res.status|record.res.outcome|record.appr.state", CELL_TEXT,
     false                                                                                    },
    {"approval", "record.appr.id",                                         CELL_TEXT,    false}
};

static int since_us(struct call *call, const char **text)
{
    int64_t ms, span;
    const char *since = flag_text(call, "since");
    *text = NULL;
    if (!since)
        return DONE;
    if (span_read(since, &span))
        ms = clock_wall_ms() - span;
    else if (!moment_read(since, &ms))
        return fail(call, USAGE, "--since %s: 30m, 2h, 7d, or 2025-01-31T08:00:00Z",
                    safe(call, since));
    *text = words(call, "%lld", (long long)(ms > 0 ? ms : 0) * 1000);
    return DONE;
}

int audit_ls(struct call *call)
{
    static const char *const same[] = {"agent",  "operation", "approval", "verdict",
                                       "target", "person",    "limit"};
    const char *since;
    own_buf path = BUF(PATH_CAP);
    own_answer answer = {.status = 0};
    int code = since_us(call, &since);
    if (code)
        return code;
    buf_text(&path, "/api/v1/audit");
    query_add(&path, "since_us", since);
    for (size_t i = 0; i < COUNT(same); i++)
        query_add(&path, same[i], flag_text(call, same[i]));
    code = api_get(call, path.data, &answer);
    if (!code)
        code = put_list(call, node_member(answer.root, "records"), columns,
                        COUNT(columns), "no such records");
    return code;
}

/* ---- one record ---- */

static void put_group(struct call *call, const struct node *object, const char *above)
{
    const char *key;
    const struct node *value;
    for (size_t i = 0; node_each(object, i, &key, &value); i++) {
        const char *path = words(call, "%s%s", above, key);
        const struct column row = {path, key, CELL_TEXT, false};
        if (node_kind(value) == NODE_OBJECT)
            put_group(call, value, words(call, "%s.", path));
        else
            put(call, "  %-24s %s\n", safe(call, path), cell_text(call, object, &row));
    }
}

int audit_show(struct call *call)
{
    own_answer answer = {.status = 0};
    const char *path = api_path(call, "audit", call->args[0], "");
    int code = path ? api_get(call, path, &answer) : USAGE;
    const struct node *list = code ? NULL : node_member(answer.root, "records");
    if (code)
        return code;
    if (!list || node_kind(list) != NODE_LIST || node_size(list) != 1)
        return fail(call, NOT_FOUND, "no such record");
    if (flag_on(call, "json")) {
        put_json(call, node_at(list, 0));
        return DONE;
    }
    put(call, "record %s\n", call->args[0]);
    put_group(call, node_path(node_at(list, 0), "record"), "");
    return DONE;
}

/* ---- head ---- */

int audit_head(struct call *call)
{
    own_answer answer = {.status = 0};
    int code = api_get(call, "/api/v1/audit/head", &answer);
    if (code)
        return code;
    const char *note = path_text(answer.root, "checkpoint");
    if (flag_on(call, "json")) {
        put_json(call, answer.root);
    } else if (flag_on(call, "note")) {
        if (!*note)
            return fail(call, NOT_FOUND, "there is no checkpoint yet");
        put(call, "%s", note);
    } else {
        put(call, "size  %lld\nkey   %s\n",
            (long long)member_int(answer.root, "size", 0),
            safe(call, path_text(answer.root, "vkey")));
        put(call, "\n%s", note);
        say(call, "\nKeep key and checkpoint elsewhere: with them `sandgate audit "
                  "verify FILE --key KEY --since NOTE` needs to trust nobody.");
    }
    return DONE;
}

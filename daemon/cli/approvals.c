/* approvals: what is held, as a list, as a card, and as it comes. */
#include "base/must.h"
#include "base/text.h"
#include "cli/api.h"
#include "cli/card.h"
#include "cli/groups.h"
#include "cli/table.h"
#include "cli/talk.h"

#include <string.h>
#include <unistd.h>

enum { PATH_CAP = 4096, POLL_US = 1000000, SEEN_CAP = 1 << 20, ROUND_ARENA = 64 << 20 };

static const struct column columns[] = {
    {"id",          "id",          CELL_TEXT,   false},
    {"state",       "state",       CELL_TEXT,   false},
    {"agent",       "agent",       CELL_TEXT,   false},
    {"environment", "environment", CELL_TEXT,   false},
    {"effect",      "effect",      CELL_TEXT,   false},
    {"what",        "summary",     CELL_TEXT,   true },
    {"created",     "created",     CELL_MOMENT, false},
    {"expires",     "expires",     CELL_MOMENT, false}
};

static void list_path(const struct call *call, const char *state, const char *limit,
                      struct buf *path)
{
    *path = BUF(PATH_CAP);
    buf_text(path, "/api/v1/approvals");
    query_add(path, "state", state);
    query_add(path, "agent", flag_text(call, "agent"));
    query_add(path, "environment", flag_text(call, "environment"));
    query_add(path, "limit", limit);
}

int approvals_ls(struct call *call)
{
    own_buf path;
    own_answer answer = {.status = 0};
    const char *state = flag_text(call, "state");
    if (!state)
        state = "open";
    list_path(call, text_same(state, "all") ? NULL : state, flag_text(call, "limit"),
              &path);
    int code = api_get(call, path.data, &answer);
    if (!code)
        code = put_list(call, node_member(answer.root, "approvals"), columns,
                        COUNT(columns),
                        text_same(state, "open") ? "nothing is waiting" : "none");
    return code;
}

int approvals_show(struct call *call)
{
    own_answer answer = {.status = 0};
    const char *path = api_path(call, "approvals", call->args[0], "");
    int code = path ? api_get(call, path, &answer) : USAGE;
    if (code)
        return code;
    if (flag_on(call, "json"))
        put_json(call, answer.root);
    else
        card_put(call, answer.root, call->out);
    return DONE;
}

/* ---- watch ---- */

/* Ids and versions that were printed already, as lines. */
static bool is_news(struct buf *seen, const char *id, int64_t version)
{
    char line[96];
    if (!text_format(line, sizeof(line), "\n%s %lld\n", id, (long long)version))
        return true;
    if (seen->data && strstr(seen->data, line))
        return false;
    if (seen->size + sizeof(line) > seen->cap)
        buf_clear(seen); /* better told twice than never */
    buf_text(seen, line);
    return true;
}

static void print_news(struct call *call, const struct node *one)
{
    if (flag_on(call, "json")) {
        put_json(call, one);
        return;
    }
    put(call, "%s  %-9s %s: %s (%s)\n", safe(call, path_text(one, "id")),
        path_text(one, "state"), safe(call, path_text(one, "agent")),
        safe(call, path_text(one, "summary")), safe(call, path_text(one, "effect")));
}

static int watch_round(struct call *call, const char *path, struct buf *seen)
{
    own_answer answer = {.status = 0};
    int code = api_get(call, path, &answer);
    const struct node *list = code ? NULL : node_member(answer.root, "approvals");
    for (size_t i = list ? node_size(list) : 0; i-- > 0;) { /* the oldest first */
        const struct node *one = node_at(list, i);
        if (is_news(seen, path_text(one, "id"), member_int(one, "version", 0)))
            print_news(call, one);
    }
    (void)fflush(call->out);
    return ferror(call->out) ? FAILED : code;
}

/* Each round has an arena of its own: a watch may last for weeks. */
int approvals_watch(struct call *call)
{
    own_buf path, seen = BUF(SEEN_CAP);
    int code = DONE;
    list_path(call, "open", "1000", &path);
    say(call, "watching; Ctrl-C ends it. To decide: sandgate approvals approve ID");
    while (!code) {
        struct call round = *call;
        round.arena = arena_new(ROUND_ARENA);
        must(round.arena);
        code = watch_round(&round, path.data, &seen);
        arena_free(round.arena);
        if (!code)
            (void)usleep(POLL_US);
    }
    return code;
}

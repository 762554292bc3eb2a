#include "cli/card.h"

#include "base/must.h"
#include "base/text.h"
#include "cli/table.h"
#include "cli/talk.h"

#include <string.h>

enum { NEED_TEXT = 1 << 16 };

/* ---- what policy wants ---- */

static const char *needs_text(struct call *call, const struct node *approval)
{
    own_buf out = BUF(NEED_TEXT);
    const struct node *needs = node_path(approval, "verdict.needs");
    for (size_t i = 0; needs && i < node_size(needs); i++) {
        const struct node *need = node_at(needs, i);
        const struct column groups = {"", "groups", CELL_TEXT, false};
        buf_printf(&out, "%s%lld of %s", i ? "; " : "",
                   (long long)member_int(need, "need", 1),
                   cell_text(call, need, &groups));
    }
    return out.size ? words(call, "%s", out.data) : "";
}

static const char *votes_text(struct call *call, const struct node *approval)
{
    const char *all = "";
    const struct node *votes = node_path(approval, "votes");
    for (size_t i = 0; votes && i < node_size(votes); i++) {
        const struct node *vote = node_at(votes, i);
        const char *reason = path_text(vote, "reason");
        all = words(call, "%s%s%s: %s%s%s%s", all, *all ? ", " : "",
                    safe(call, path_text(vote, "person")),
                    safe(call, path_text(vote, "vote")), *reason ? " (" : "",
                    safe(call, reason), *reason ? ")" : "");
    }
    return all;
}

/* ---- the request ---- */

static const char *request_text(struct call *call, const struct node *approval)
{
    const char *query = path_text(approval, "shown.query");
    return words(call, "%s %s%s%s", safe(call, path_text(approval, "shown.method")),
                 safe(call, path_text(approval, "shown.path")), *query ? "?" : "",
                 safe(call, query));
}

static const char *waiting_text(const struct node *approval)
{
    bool waits = false, runs = false;
    const struct node *node = node_path(approval, "agent_waits");
    if (node && node_bool(node, &waits) && waits)
        return "waits for the answer";
    node = node_path(approval, "runs_when_absent");
    return node && node_bool(node, &runs) && runs
               ? "gone; runs once it is approved"
               : "gone; runs when the agent asks again";
}

static const struct column above[] = {
    {"agent",       "agent",       CELL_TEXT, false},
    {"team",        "team",        CELL_TEXT, false},
    {"environment", "environment", CELL_TEXT, false},
    {"skill",       "skill",       CELL_TEXT, false},
    {"operation",   "operation",   CELL_TEXT, false},
    {"target",      "target",      CELL_TEXT, false},
    {"agent says",  "agent_says",  CELL_TEXT, false},
    {"ticket",      "ticket",      CELL_TEXT, false}
};

static const struct column sent[] = {
    {"body",   "shown.request", CELL_JSON, false},
    {"hidden", "shown.hidden",  CELL_JSON, false},
    {"facts",  "shown.facts",   CELL_JSON, false},
    {"risks",  "shown.risks",   CELL_TEXT, false},
    {"undo",   "shown.undo",    CELL_TEXT, false}
};

static const struct column below[] = {
    {"rules",    "verdict.because", CELL_TEXT,   false},
    {"because",  "verdict.why",     CELL_TEXT,   false},
    {"policy",   "policy",          CELL_TEXT,   false},
    {"created",  "created",         CELL_MOMENT, false},
    {"expires",  "expires",         CELL_MOMENT, false},
    {"decided",  "decided",         CELL_MOMENT, false},
    {"by",       "decided_by",      CELL_TEXT,   false},
    {"reason",   "decided_reason",  CELL_TEXT,   false},
    {"finished", "finished",        CELL_MOMENT, false},
    {"answer",   "status",          CELL_TEXT,   false},
    {"record",   "record",          CELL_TEXT,   false}
};

static void put_own(struct call *call, const char *title, const char *text)
{
    if (*text)
        put(call, "  %s %s\n", painted(call, DIM, words(call, "%-12s", title)), text);
}

bool card_grave(const struct node *approval)
{
    const char *effect = path_text(approval, "effect");
    return !text_same(effect, "read") && !text_same(effect, "write");
}

const char *card_words(struct call *call, const struct node *approval)
{
    const char *operation = path_text(approval, "operation");
    const char *target = path_text(approval, "target"), *dot = strchr(operation, '.');
    return words(call, "%s%s%s", safe(call, dot ? dot + 1 : operation),
                 *target ? " " : "", safe(call, target));
}

static bool is_pending(const struct node *approval)
{
    return text_same(path_text(approval, "state"), "pending");
}

void card_put(struct call *call, const struct node *approval, FILE *out)
{
    struct call on = *call; /* a card is data of `show`, but talk of `approve` */
    on.out = out;
    const char *effect = safe(&on, path_text(approval, "effect"));
    put(&on, "%s  %s\n", painted(&on, BOLD, safe(&on, path_text(approval, "summary"))),
        painted(&on, DIM, safe(&on, path_text(approval, "id"))));
    put_own(&on, "state", safe(&on, path_text(approval, "state")));
    put_own(&on, "effect",
            card_grave(approval)
                ? painted(&on, RED, words(&on, "%s: it cannot be undone", effect))
                : effect);
    put_members(&on, approval, above, COUNT(above));
    put_own(&on, "request", request_text(&on, approval));
    put_members(&on, approval, sent, COUNT(sent));
    put_own(&on, "needs", needs_text(&on, approval));
    put_own(&on, "votes", votes_text(&on, approval));
    if (is_pending(approval))
        put_own(&on, "the agent", waiting_text(approval));
    put_members(&on, approval, below, COUNT(below));
}

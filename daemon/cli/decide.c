/* Deciding: whoever decides has seen the facts first, and decides about what was shown.
 */
#include "base/clock.h"
#include "base/must.h"
#include "base/text.h"
#include "cli/api.h"
#include "cli/ask.h"
#include "cli/card.h"
#include "cli/groups.h"
#include "cli/talk.h"

#include <unistd.h>

enum { BODY_CAP = 64 << 10, LOOK_US = 200000, LOOK_MS = 10000 };

/* How a state that no vote can change any more ends a command. */
static const struct {
    const char *state;
    int code;
} ends[] = {
    {"pending",    STILL_PENDING},
    {"declined",   NOT_APPROVED },
    {"expired",    NOT_APPROVED },
    {"cancelled",  NOT_APPROVED },
    {"superseded", NOT_APPROVED },
    {"failed",     FAILED       },
    {"unknown",    FAILED       }
};

static int end_of(const char *state)
{
    for (size_t i = 0; i < COUNT(ends); i++)
        if (text_same(ends[i].state, state))
            return ends[i].code;
    return DONE; /* approved, executing, executed */
}

/* ---- looking ---- */

/* Shows the card, and refuses what is not in `wanted` state. */
static int look(struct call *call, const char *wanted, struct answer *answer)
{
    const char *path = api_path(call, "approvals", call->args[0], "");
    int code = path ? api_get(call, path, answer) : USAGE;
    if (code)
        return code;
    const char *state = path_text(answer->root, "state");
    card_put(call, answer->root, call->talk);
    if (text_same(state, wanted))
        return DONE;
    code = end_of(state);
    return fail(call, code ? code : FAILED, "%s is %s, not %s: nothing to decide",
                call->args[0], state, wanted);
}

/* --confirm for scripts, the keyboard for people; --yes does not count here. */
static int confirm_grave(struct call *call, const struct node *approval)
{
    const char *wanted = card_words(call, approval);
    const char *typed = flag_text(call, "confirm");
    if (!typed)
        typed = ask_line(call, words(call,
                                     "This cannot be undone. To approve, type "
                                     "\"%s\":",
                                     wanted));
    if (text_same(typed, wanted))
        return DONE;
    (void)fail(call, typed ? FAILED : USAGE, "not approved: %s",
               typed ? "what was typed is something else" : "it cannot be undone");
    hint(call, "confirm it in words: --confirm \"%s\"", wanted);
    return typed ? FAILED : USAGE;
}

/* ---- voting ---- */

static int vote(struct call *call, const char *choice, const char *reason,
                int64_t version, struct answer *answer)
{
    own_buf body = BUF(BODY_CAP);
    struct writer w = WRITER(&body);
    write_open(&w, NULL, '{');
    write_text(&w, "reason", reason);
    if (version >= 0)
        write_int(&w, "version", version);
    write_close(&w, '}');
    if (body.failed)
        return fail(call, USAGE, "the reason is too long");
    const char *path =
        api_path(call, "approvals", call->args[0], words(call, "/%s", choice));
    must(path); /* the same id was looked at */
    return api_post(call, path, body.data, answer);
}

/* What the daemon runs at once is usually over within a second. */
static int await_end(struct call *call, struct answer *answer)
{
    const char *path = api_path(call, "approvals", call->args[0], "");
    int64_t until = clock_mono_ms() + LOOK_MS;
    int code = DONE;
    for (;;) {
        const char *state = path_text(answer->root, "state");
        bool moving = text_same(state, "approved") || text_same(state, "executing");
        if (code || !moving || clock_mono_ms() >= until)
            return code;
        (void)usleep(LOOK_US);
        answer_free(answer);
        code = api_get(call, path, answer);
    }
}

static bool runs_at_once(const struct node *approval)
{
    static const char *const marks[] = {"agent_waits", "runs_when_absent"};
    for (size_t i = 0; i < COUNT(marks); i++) {
        bool on = false;
        const struct node *mark = node_member(approval, marks[i]);
        if (mark && node_bool(mark, &on) && on)
            return true;
    }
    return false;
}

static int tell_end(struct call *call, const struct node *approval)
{
    const char *state = path_text(approval, "state");
    int64_t status = member_int(approval, "status", 0);
    if (flag_on(call, "json"))
        put_json(call, approval);
    else if (text_same(state, "pending"))
        say(call, "your vote counts; more people have to approve");
    else if (text_same(state, "approved"))
        say(call, "approved; it runs when the agent asks again");
    else if (text_same(state, "unknown"))
        say(call,
            "approved and sent, but the answer was lost: look at E2B, then\n"
            "  sandgate approvals settle %s --outcome executed|failed",
            call->args[0]);
    else if (status)
        say(call, "%s: E2B answered %lld", state, (long long)status);
    else
        say(call, "%s", state);
    return end_of(state);
}

int approvals_approve(struct call *call)
{
    own_answer shown = {.status = 0}, answer = {.status = 0};
    int code = look(call, "pending", &shown);
    if (!code)
        code = card_grave(shown.root) ? confirm_grave(call, shown.root)
                                      : ask_yes(call, "approve?");
    if (!code)
        code = vote(call, "approve", flag_text(call, "reason"),
                    member_int(shown.root, "version", -1), &answer);
    if (!code && runs_at_once(answer.root))
        code = await_end(call, &answer);
    return code ? code : tell_end(call, answer.root);
}

/* A reason is due: the agent hears it and can do better next time. */
static int needed_reason(struct call *call, const char **reason)
{
    *reason = flag_text(call, "reason");
    if (!*reason)
        *reason = ask_line(call, "reason:");
    if (*reason && **reason)
        return DONE;
    return fail(call, USAGE, "a reason is needed: --reason TEXT");
}

int approvals_decline(struct call *call)
{
    own_answer shown = {.status = 0}, answer = {.status = 0};
    const char *reason;
    int code = look(call, "pending", &shown);
    if (!code)
        code = needed_reason(call, &reason);
    if (!code)
        code = vote(call, "decline", reason, member_int(shown.root, "version", -1),
                    &answer);
    if (code)
        return code;
    if (flag_on(call, "json"))
        put_json(call, answer.root);
    else
        say(call, "declined; the agent hears: %s", safe(call, reason));
    return DONE;
}

/* ---- settling ---- */

static int read_outcome(struct call *call, const char **outcome)
{
    *outcome = flag_text(call, "outcome");
    if (!*outcome)
        *outcome = ask_line(call, "how did it end at E2B, executed or failed?");
    if (text_same(*outcome, "executed") || text_same(*outcome, "failed"))
        return DONE;
    return fail(call, USAGE, "say how it ended: --outcome executed or failed");
}

static int settle(struct call *call, const char *outcome, const char *reason,
                  struct answer *answer)
{
    own_buf body = BUF(BODY_CAP);
    struct writer w = WRITER(&body);
    write_open(&w, NULL, '{');
    write_text(&w, "outcome", outcome);
    write_text(&w, "reason", reason);
    write_close(&w, '}');
    if (body.failed)
        return fail(call, USAGE, "the reason is too long");
    return api_post(call, api_path(call, "approvals", call->args[0], "/settle"),
                    body.data, answer);
}

int approvals_settle(struct call *call)
{
    own_answer shown = {.status = 0}, answer = {.status = 0};
    const char *outcome, *reason;
    int code = look(call, "unknown", &shown);
    if (!code)
        code = read_outcome(call, &outcome);
    if (!code)
        code = needed_reason(call, &reason);
    if (!code)
        code = settle(call, outcome, reason, &answer);
    if (code)
        return code;
    if (flag_on(call, "json"))
        put_json(call, answer.root);
    else
        say(call, "settled: %s", outcome);
    return DONE;
}

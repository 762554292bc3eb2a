/* Facts -> verdict, and the draft of what an approver will see. */
#include "base/text.h"
#include "core/writer.h"
#include "exchange/inside.h"
#include "serve/policies.h"

enum { CARD_MAX = 256 << 10 };

static const char *denial(struct exchange *x)
{
    const char *rule = x->verdict.because && x->verdict.because[0]
                           ? x->verdict.because[0]
                           : "builtin/error";
    const char *why = x->verdict.why ? x->verdict.why : "judging failed";
    const char *text = arena_printf(x->arena, "%s: %s", rule, why);
    return text ? text : rule;
}

enum err judge(struct exchange *x, struct db *db)
{
    (void)db;
    const struct identity *who = x->identity;
    const struct caller caller = {.agent = who->agent,
                                  .skill = x->agent.skill ? x->agent.skill : "",
                                  .team = who->team,
                                  .environment = who->environment};
    x->policy = snapshot_take(&policy_snapshot);
    if (!x->policy)
        return ERR_INTERNAL;
    policy_judge((const struct policy *)x->policy, &caller, &x->facts, x->arena,
                 &x->verdict);
    if (x->verdict.decision != DECIDE_DENY)
        return ERR_OK;
    exchange_fail(x, ERR_POLICY_DENIED, denial(x));
    return x->err;
}

/* ---- the card ---- */

static void write_risks(const struct facts *facts, struct writer *w)
{
    write_open(w, "risks", '[');
    for (const char *const *risk = facts->risks; risk && *risk; risk++)
        write_text(w, NULL, *risk);
    write_close(w, ']');
}

static const char *keep(struct exchange *x, const struct buf *text)
{
    return text->failed ? NULL : arena_copy(x->arena, text->data, text->size);
}

static const char *shown(struct exchange *x)
{
    own_buf text = BUF(CARD_MAX);
    struct writer w = WRITER(&text);
    write_open(&w, NULL, '{');
    write_text(&w, "title", x->facts.operation->title);
    write_text(&w, "method", x->canon.route->method);
    write_text(&w, "path", x->canon.path);
    write_text(&w, "query", *x->canon.query ? x->canon.query : NULL);
    redact_request(&x->canon, world.hash_key, &w, "request");
    facts_write(&x->facts, &w, "facts");
    write_risks(&x->facts, &w);
    write_text(&w, "undo", x->facts.operation->undo);
    write_close(&w, '}');
    return keep(x, &text);
}

static const char *verdict_json(struct exchange *x)
{
    own_buf text = BUF(CARD_MAX);
    struct writer w = WRITER(&text);
    verdict_write(&x->verdict, &w, NULL);
    return keep(x, &text);
}

enum err draft(struct exchange *x, struct db *db)
{
    (void)db;
    x->summary = facts_summary(&x->canon, &x->facts, x->arena);
    x->shown = shown(x);
    x->verdict_json = verdict_json(x);
    return x->summary && x->shown && x->verdict_json ? ERR_OK : ERR_TOO_LARGE;
}

/* What an agent may ask about itself: who it is, and its own held calls. */
#include "base/must.h"
#include "base/text.h"
#include "serve/approval_json.h"
#include "serve/handlers.h"
#include "serve/policies.h"
#include "store/approvals.h"

struct reply agent_whoami(struct call *call, struct db *db)
{
    (void)db;
    struct buf body;
    struct writer w;
    const struct identity *who = call->identity;
    struct policies_state policy;
    policies_state(&policy);
    (void)reply_start(&w, &body);
    write_text(&w, "agent", who->agent);
    write_text(&w, "team", who->team);
    write_text(&w, "environment", who->environment);
    write_text(&w, "skills", who->skills);
    write_text(&w, "key", who->key_id);
    write_text(&w, "policy", policy.digest);
    return reply_end(&w, &body);
}

/* Another agent's approval does not exist for this one. */
static enum err own_approval(struct call *call, struct db *db, struct approval *found)
{
    enum err err = approvals_get(db, call->args[0], call->arena, found);
    if (!err
        && (!text_same(found->agent, call->identity->agent)
            || !text_same(found->environment, call->identity->environment)))
        err = ERR_NOT_FOUND;
    return err;
}

static struct reply show(const struct approval *approval)
{
    struct buf body;
    struct writer w;
    (void)reply_start(&w, &body);
    approval_write_for_agent(approval, &w);
    return reply_end(&w, &body);
}

struct reply agent_approval(struct call *call, struct db *db)
{
    struct approval found;
    enum err err = own_approval(call, db, &found);
    if (err)
        return reply_error(err, NULL);
    const char *wait = call_query(call, "wait");
    int64_t seconds = 0;
    if (wait && !text_int(wait, 0, 600, &seconds))
        return reply_error(ERR_BAD_FIELD, "wait is a number of seconds, 0 to 600");
    struct reply reply = show(&found);
    if (seconds > 0 && !call->again && approval_open(found.state))
        reply.wait_for = found.id;
    return reply;
}

struct reply agent_cancel(struct call *call, struct db *db)
{
    struct approval found;
    enum err err = own_approval(call, db, &found);
    if (err)
        return reply_error(err, NULL);
    enum approval_state now;
    const struct approval_move move = {.id = found.id,
                                       .version = found.version,
                                       .event = EVENT_CANCEL,
                                       .by = found.agent,
                                       .reason = "cancelled by the agent",
                                       .now_ms = call->now_ms};
    err = approvals_move(db, &move, &now);
    if (err)
        return reply_error(err, approval_state_name(found.state));
    struct record record = {.type = RECORD_DECISION, .phase = PHASE_EVENT};
    approval_record(&found, &record);
    record.approval.state = approval_state_name(now);
    struct receipt receipt;
    if (log_append(db, &record, &receipt))
        return reply_error(ERR_STORE, NULL);
    call_announce(call, found.id, now, found.version + 1, false);
    found.state = now;
    return show(&found);
}

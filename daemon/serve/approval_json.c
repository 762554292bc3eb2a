#include "serve/approval_json.h"

#include "base/text.h"

static const char *or_absent(const char *text)
{
    return text && *text ? text : NULL;
}

void approval_write_for_agent(const struct approval *approval, struct writer *w)
{
    write_text(w, "id", approval->id);
    write_text(w, "state", approval_state_name(approval->state));
    write_text(w, "operation", approval->operation);
    write_text(w, "summary", approval->summary);
    write_time(w, "created", approval->created_ms);
    write_time(w, "expires", approval->expires_ms);
    write_time(w, "decided", approval->decided_ms);
    write_time(w, "finished", approval->finished_ms);
    write_text(w, "reason", or_absent(approval->decided_reason));
    if (approval->status)
        write_int(w, "status", approval->status);
    write_bool(w, "collected", approval->collected);
}

void approval_write(const struct approval *approval, struct writer *w)
{
    write_text(w, "id", approval->id);
    write_text(w, "state", approval_state_name(approval->state));
    write_int(w, "version", approval->version);
    write_text(w, "summary", approval->summary);
    write_text(w, "agent", approval->agent);
    write_text(w, "team", or_absent(approval->team));
    write_text(w, "environment", approval->environment);
    write_text(w, "skill", or_absent(approval->skill));
    write_text(w, "operation", approval->operation);
    write_text(w, "effect", approval->effect);
    write_text(w, "target_kind", or_absent(approval->target_kind));
    write_text(w, "target", or_absent(approval->target_id));
    write_text(w, "agent_says", or_absent(approval->reason));
    write_text(w, "ticket", or_absent(approval->ticket));
    write_raw(w, "shown", or_absent(approval->shown));
    write_raw(w, "verdict", or_absent(approval->verdict));
    write_text(w, "policy", approval->policy);
    write_bool(w, "agent_waits", approval->waiter && *approval->waiter);
    write_bool(w, "runs_when_absent", approval->run_when_absent);
    write_time(w, "created", approval->created_ms);
    write_time(w, "expires", approval->expires_ms);
    write_time(w, "decided", approval->decided_ms);
    write_time(w, "finished", approval->finished_ms);
    write_text(w, "decided_by", or_absent(approval->decided_by));
    write_text(w, "decided_reason", or_absent(approval->decided_reason));
    write_text(w, "run", or_absent(approval->run));
    if (approval->status)
        write_int(w, "status", approval->status);
    write_bool(w, "collected", approval->collected);
    write_int(w, "record", (int64_t)approval->hold_index);
}

static enum effect effect_of(const char *name)
{
    for (enum effect effect = EFFECT_READ; effect <= EFFECT_UNKNOWN; effect++)
        if (text_same(effect_name(effect), name))
            return effect;
    return EFFECT_UNKNOWN;
}

void approval_record(const struct approval *approval, struct record *record)
{
    const struct operation *operation = operation_named(approval->operation);
    record->ref = or_absent(approval->hold_id);
    record->run = or_absent(approval->run);
    record->actor.agent = approval->agent;
    record->actor.key = approval->key_id;
    record->actor.team = or_absent(approval->team);
    record->actor.environment = approval->environment;
    record->actor.skill = or_absent(approval->skill);
    record->actor.claimed = or_absent(approval->skill) != NULL;
    record->call.operation = approval->operation;
    record->call.effect = effect_of(approval->effect);
    record->call.known = true;
    record->call.target_kind = operation ? operation->target : TARGET_NONE;
    record->call.target_id = or_absent(approval->target_id);
    record->call.digest = approval->digest;
    record->call.trace = or_absent(approval->trace);
    record->decision.policy = approval->policy;
    record->approval.id = approval->id;
    record->approval.state = approval_state_name(approval->state);
    record->ticket = or_absent(approval->ticket);
}

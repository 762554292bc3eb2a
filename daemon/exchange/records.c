/* What the log is told of an exchange. */
#include "base/text.h"
#include "core/writer.h"
#include "exchange/inside.h"

enum { INPUT_MAX = 48 << 10 };

static const char *or_absent(const char *text)
{
    return text && *text ? text : NULL;
}

static void fill_actor(const struct exchange *x, struct record *record)
{
    record->actor.ip = or_absent(x->in.ip);
    record->actor.user_agent = x->agent.user_agent;
    record->actor.via = "http";
    record->actor.skill = or_absent(x->agent.skill);
    record->actor.claimed = record->actor.skill != NULL;
    if (!x->identity)
        return;
    record->actor.agent = x->identity->agent;
    record->actor.key = x->identity->key_id;
    record->actor.team = or_absent(x->identity->team);
    record->actor.environment = x->identity->environment;
}

/* The allow-listed members, ready for the record; NULL when there is nothing to show.
 */
static const char *input(const struct exchange *x)
{
    own_buf text = BUF(INPUT_MAX);
    struct writer w = WRITER(&text);
    if (!x->canon.doc)
        return NULL;
    redact_request(&x->canon, world.hash_key, &w, NULL);
    return text.failed ? NULL : arena_copy(x->arena, text.data, text.size);
}

static void fill_call(const struct exchange *x, struct record *record)
{
    const struct operation *operation = x->canon.operation;
    record->call.operation = operation->name;
    record->call.method = x->canon.route ? x->canon.route->method : x->raw.method;
    record->call.path = x->canon.route ? x->canon.route->path : NULL;
    record->call.target_kind = operation->target;
    record->call.target_id = or_absent(x->canon.target_id);
    record->call.bytes = (int64_t)x->canon.body_size;
    record->call.idempotency_key = x->agent.idempotency_key;
    record->call.trace = x->agent.traceparent;
    record->call.known = true;
    record->call.effect = x->facts.operation ? x->facts.effect : operation->effect;
    if (!x->facts.operation)
        return;
    record->call.digest = x->digest;
    record->call.input = input(x);
}

static void fill_decision(const struct exchange *x, struct record *record)
{
    if (!x->policy) {
        record->decision.verdict = "refused";
        record->decision.why = or_absent(x->why);
        return;
    }
    record->decision.verdict = decision_name(x->verdict.decision);
    record->decision.policy = ((const struct policy *)x->policy)->digest_text;
    record->decision.because = x->verdict.because;
}

void record_fill(const struct exchange *x, struct record *record)
{
    record->type = RECORD_CALL;
    fill_actor(x, record);
    fill_call(x, record);
    fill_decision(x, record);
    record->ticket = x->agent.ticket;
    record->reason = x->agent.reason;
}

enum err record_add(struct exchange *x, struct db *db, struct record *record)
{
    if (log_append(db, record, &x->receipt))
        return ERR_STORE;
    x->recording = true; /* said to the agent only once the job is done */
    return ERR_OK;
}

/* Approved calls: one line, a bounded number on their way, each run at most once. */
#include "base/clock.h"
#include "base/fault.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/must.h"
#include "base/text.h"
#include "core/doc.h"
#include "core/writer.h"
#include "exchange/inside.h"
#include "serve/approval_json.h"
#include "serve/policies.h"
#include "serve/quorum.h"

#include <string.h>

enum { VERDICT_MAX = 64 << 10, VERDICT_DEPTH = 16 };

/* ---- the line; control thread ---- */

struct ticket {
    struct task task;
    struct ticket *next;
    char approval[ID_TEXT];
};

static struct {
    struct ticket *first, **last;
    size_t running;
} line = {.last = &line.first};

static void start_next(void);

static void run_finished(struct exchange *x)
{
    exchange_free(x);
    line.running--;
    start_next();
}

static bool start(const char *approval)
{
    struct exchange *x = exchange_blank(control_worker(), run_path);
    if (!x)
        return false;
    x->finished = run_finished;
    x->outcome = RUN_NOT_SENT;
    x->approval.id = arena_text(x->arena, approval);
    line.running++;
    engine_walk(x);
    return true;
}

/* Recursion by way of run_finished is bounded: a run ends on a later turn of the loop.
 */
static void start_next(void)
{
    while (line.first && line.running < world.runs_max) {
        struct ticket *ticket = line.first;
        line.first = ticket->next;
        if (!line.first)
            line.last = &line.first;
        if (!start(ticket->approval))
            log_error("executor", "approval=%s out of memory", ticket->approval);
        memory_free(ticket);
    }
}

static void take_place(struct task *task)
{
    struct ticket *ticket = container_of(task, struct ticket, task);
    *line.last = ticket;
    line.last = &ticket->next;
    start_next();
}

void executor_enqueue(const char *approval)
{
    struct ticket *ticket = memory_new(sizeof(*ticket));
    if (!ticket) { /* it stays approved; the next start or the agent's return finds it
                    */
        log_error("executor", "approval=%s out of memory", approval);
        return;
    }
    ticket->task.run = take_place;
    must(text_copy(ticket->approval, sizeof(ticket->approval), approval));
    loop_post(control_worker()->loop, &ticket->task);
}

bool executor_idle(void)
{
    return line.running == 0 && !line.first;
}

/* ---- claim: everything that was true when it was approved must still be ---- */

/* The sealed call as a request again, so that judging sees what will be sent. */
static enum err understand(struct exchange *x)
{
    const struct sealed_call *call = &x->call;
    const char *target = *call->query
                             ? arena_printf(x->arena, "%s?%s", call->path, call->query)
                             : call->path;
    x->raw = (struct raw_request){.method = call->method,
                                  .target = target,
                                  .version = "HTTP/1.1",
                                  .body = call->body ? call->body : "",
                                  .body_size = call->body_size};
    if (!target || canon_target(&x->raw, x->arena, &x->canon)
        || canon_body(&x->raw, true, x->arena, &x->canon)
        || !facts_of(&x->canon, x->arena, &x->facts))
        return ERR_INTERNAL;
    canon_digest(&x->canon, x->approval.agent, x->approval.environment, x->digest);
    return keys_same(x->digest, x->approval.digest, CANON_DIGEST) ? ERR_OK
                                                                  : ERR_INTERNAL;
}

static void judge_again(struct exchange *x)
{
    const struct approval *held = &x->approval;
    const struct caller caller = {.agent = held->agent,
                                  .skill = held->skill,
                                  .team = held->team,
                                  .environment = held->environment};
    x->policy = snapshot_take(&policy_snapshot);
    policy_judge((const struct policy *)x->policy, &caller, &x->facts, x->arena,
                 &x->verdict);
}

static bool old_terms(struct exchange *x, struct terms *terms)
{
    struct doc_error error;
    const char *text = x->approval.verdict;
    own_doc *doc = doc_parse(text, strlen(text), VERDICT_DEPTH, false, &error);
    return doc && terms_read(doc_root(doc), x->arena, terms);
}

/* Who asked may have lost the right to since: then nobody asks any more. */
static const char *lost_right(struct exchange *x, struct db *db)
{
    struct agent agent;
    struct agent_key key;
    if (agent_get(db, x->approval.agent, &agent) || agent.disabled)
        return "its agent has been disabled";
    if (key_get(db, x->approval.key_id, &key) || key.revoked_ms)
        return "the key that it was asked with has been revoked";
    return NULL;
}

/* Votes must meet the old terms and, where policy holds it now, the new ones too. */
static bool still_approved(struct exchange *x, struct db *db)
{
    const struct policy *policy = (const struct policy *)x->policy;
    struct terms old;
    if (!old_terms(x, &old) || !quorum_met(db, policy, x->approval.id, &old, x->arena))
        return false;
    return x->verdict.decision == DECIDE_ALLOW
           || quorum_met(db, policy, x->approval.id, &x->verdict.terms, x->arena);
}

static enum err move_on(struct exchange *x, struct db *db, enum approval_event event,
                        const char *why)
{
    enum approval_state now;
    struct approval *approval = &x->approval;
    const struct approval_move move = {.id = approval->id,
                                       .version = approval->version,
                                       .event = event,
                                       .by = "policy",
                                       .reason = why,
                                       .now_ms = clock_wall_ms()};
    enum err err = approvals_move(db, &move, &now);
    if (err)
        return err;
    approval->state = now;
    struct record record = {.type = RECORD_DECISION, .phase = PHASE_EVENT};
    approval_record(approval, &record);
    record.decision.why = why;
    record.decision.policy = ((const struct policy *)x->policy)->digest_text;
    if (record_add(x, db, &record))
        return ERR_STORE;
    x->announces = true;
    x->announcement = (struct announcement){.state = now};
    (void)text_copy(x->announcement.approval, sizeof(x->announcement.approval),
                    approval->id);
    return ERR_OK;
}

static enum err send_back(struct exchange *x, struct db *db)
{
    own_buf text = BUF(VERDICT_MAX);
    struct writer w = WRITER(&text);
    struct terms old;
    if (x->verdict.decision == DECIDE_HOLD && old_terms(x, &old)) {
        terms_merge(&x->verdict.terms, &old);
        verdict_write(&x->verdict, &w, NULL);
        if (text.failed || approvals_set_verdict(db, x->approval.id, text.data))
            return ERR_STORE;
    }
    return move_on(x, db, EVENT_TIGHTEN,
                   "policy or groups changed: votes are open again");
}

static enum err begin_run(struct exchange *x, struct db *db)
{
    int64_t now_ms = clock_wall_ms();
    struct approval *approval = &x->approval;
    keys_id("run_", now_ms, x->run);
    const struct approval_move move = {
        .id = approval->id, .version = approval->version, .now_ms = now_ms};
    enum err err = approvals_claim(db, &move, x->run, x->arena, &x->call);
    if (err)
        return err;
    approval->state = APPROVAL_EXECUTING;
    approval->run = x->run;
    struct record intent = {.phase = PHASE_INTENT};
    approval_record(approval, &intent);
    intent.call.method = x->canon.route->method;
    intent.call.path = x->canon.route->path;
    intent.decision.verdict = decision_name(x->verdict.decision);
    intent.decision.because = x->verdict.because;
    intent.decision.policy = ((const struct policy *)x->policy)->digest_text;
    if (record_add(x, db, &intent))
        return ERR_STORE;
    memcpy(x->intent, intent.id, sizeof(x->intent));
    const struct run run = {.id = x->run,
                            .approval = approval->id,
                            .agent = approval->agent,
                            .environment = approval->environment,
                            .operation = approval->operation,
                            .target_id = approval->target_id,
                            .digest = approval->digest,
                            .intent_id = x->intent,
                            .started_ms = now_ms};
    return runs_begin(db, &run);
}

enum err claim(struct exchange *x, struct db *db)
{
    (void)fault_at("before_claim");
    x->run[0] = '\0';
    enum err err = x->approval.id
                       ? approvals_get(db, x->approval.id, x->arena, &x->approval)
                       : ERR_INTERNAL;
    if (err
        || !approval_due(&x->approval)) /* taken already, or its agent must come back */
        return err;
    err = approvals_sealed(db, x->approval.id, x->arena, &x->call);
    if (!err)
        err = understand(x);
    if (err) {
        log_error("claim", "approval=%s what is sealed is not what was approved",
                  x->approval.id);
        return err;
    }
    judge_again(x);
    const char *lost = lost_right(x, db);
    if (lost)
        return move_on(x, db, EVENT_SUPERSEDE, lost);
    if (x->verdict.decision == DECIDE_DENY)
        return move_on(x, db, EVENT_SUPERSEDE,
                       x->verdict.why ? x->verdict.why : "denied now");
    if (!still_approved(x, db))
        return send_back(x, db);
    return begin_run(x, db);
}

/* ---- forward, settle, announce ---- */

enum err run_forward(struct exchange *x, struct db *db)
{
    (void)db;
    (void)fault_at("after_claim");
    x->keyring = snapshot_take(&keyring_snapshot);
    x->target = x->keyring ? keyring_target((const struct keyring *)x->keyring,
                                            x->approval.environment)
                           : NULL;
    if (!x->target) {
        exchange_fail(x, ERR_UPSTREAM_UNREACHABLE, "the environment is disabled");
        return x->err;
    }
    return transfer_begin(x, &x->call, false);
}

static enum approval_event event_of(enum run_outcome outcome)
{
    switch (outcome) {
    case RUN_OK:
        return EVENT_DONE;
    case RUN_UNKNOWN:
        return EVENT_LOSS;
    case RUN_FAILED:
    case RUN_NOT_SENT:
        return EVENT_FAIL;
    }
    return EVENT_LOSS;
}

enum err run_settle(struct exchange *x, struct db *db)
{
    (void)fault_at("before_settle");
    int64_t now_ms = clock_wall_ms();
    const struct transfer *transfer = &x->transfer;
    const struct answer answer = {
        .status = x->err ? err_status(x->err) : transfer->status,
        .headers = headers_pack(x, transfer->passed, transfer->passed_count),
        .body = x->answer_body ? x->answer_body : "",
        .body_size = x->answer_size,
        .error_code = x->err ? err_code(x->err) : NULL};
    enum approval_event event = event_of(x->outcome);
    enum err err = approvals_settle(db, x->approval.id, event, &answer, now_ms);
    if (!err)
        err = runs_settle(db, x->run, x->outcome, transfer->status, now_ms);
    if (err)
        return err;
    (void)approval_next(APPROVAL_EXECUTING, event, &x->approval.state);
    struct record outcome = {.phase = PHASE_OUTCOME};
    approval_record(&x->approval, &outcome);
    outcome.ref = x->intent;
    outcome.run = x->run;
    record_outcome(x, &outcome);
    return record_add(x, db, &outcome);
}

enum err run_announce(struct exchange *x, struct db *db)
{
    (void)db;
    if (!(x->marks & SETTLED) || !*x->run)
        return ERR_OK;
    struct announcement news = {.state = x->approval.state};
    (void)text_copy(news.approval, sizeof(news.approval), x->approval.id);
    announce(&news);
    return ERR_OK;
}

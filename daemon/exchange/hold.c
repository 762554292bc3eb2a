/* Held calls: a new approval, or one that is there already; waiting; collecting. */
#include "base/clock.h"
#include "base/must.h"
#include "base/text.h"
#include "exchange/inside.h"

/* How long this call stays open by itself. */
static int64_t wait_ms(const struct exchange *x)
{
    const struct terms *terms = &x->verdict.terms;
    int64_t wait_s = x->agent.wait_s >= 0 ? x->agent.wait_s : terms->wait_s;
    return (wait_s < terms->wait_max_s ? wait_s : terms->wait_max_s) * 1000;
}

static void take_waiter(struct exchange *x)
{
    static uint64_t serial;
    if (wait_ms(x) > 0)
        (void)text_format(
            x->waiter, sizeof(x->waiter), "%s.%llu", store_boot(),
            (unsigned long long)__atomic_add_fetch(&serial, 1, __ATOMIC_RELAXED));
}

/* ---- hold ---- */

static enum err record_hold(struct exchange *x, struct db *db, struct record *record)
{
    record->phase = PHASE_EVENT;
    record_fill(x, record);
    record->approval.id = x->approval.id;
    record->approval.state = approval_state_name(x->approval.state);
    if (x->approval.status)
        record->result.status = x->approval.status;
    return record_add(x, db, record);
}

static void draw_up(struct exchange *x, char id[static ID_TEXT], int64_t now_ms)
{
    const struct identity *who = x->identity;
    const struct operation *operation = x->canon.operation;
    const struct terms *terms = &x->verdict.terms;
    keys_id("apr_", now_ms, id);
    x->approval = (struct approval){
        .id = arena_text(x->arena, id),
        .state = APPROVAL_PENDING,
        .agent = who->agent,
        .key_id = who->key_id,
        .team = who->team,
        .environment = who->environment,
        .skill = x->agent.skill ? x->agent.skill : "",
        .owner = who->owner,
        .minted_by = who->minted_by,
        .operation = operation->name,
        .effect = effect_name(x->facts.effect),
        .target_kind = target_kind_name(operation->target),
        .target_id = x->canon.target_id,
        .summary = x->summary,
        .shown = x->shown,
        .reason = x->agent.reason ? x->agent.reason : "",
        .ticket = x->agent.ticket ? x->agent.ticket : "",
        .idempotency_key = x->agent.idempotency_key ? x->agent.idempotency_key : "",
        .trace = x->agent.traceparent ? x->agent.traceparent : "",
        .verdict = x->verdict_json,
        .policy = ((const struct policy *)x->policy)->digest_text,
        .digest = x->digest,
        .run_when_absent = operation->when_absent == ABSENT_RUN,
        .created_ms = now_ms,
        .expires_ms = now_ms + terms->expires_s * 1000,
        .expires_mono_ms = clock_mono_ms() + terms->expires_s * 1000,
        .collect_s = terms->collect_s,
        .waiter = x->waiter,
        .decided_by = "",
        .decided_reason = "",
        .run = "",
    };
}

static enum err hold_new(struct exchange *x, struct db *db, int64_t now_ms)
{
    char id[ID_TEXT];
    struct record record = {0};
    draw_up(x, id, now_ms);
    struct sealed_call call;
    if (!x->approval.id || !call_of(x, &call))
        return ERR_TOO_LARGE;
    if (record_hold(x, db, &record))
        return ERR_STORE;
    x->approval.hold_index = x->receipt.index;
    x->approval.hold_id = arena_text(x->arena, record.id);
    return x->approval.hold_id ? approvals_create(db, &x->approval, &call)
                               : ERR_TOO_LARGE;
}

/* A call that was approved while its agent was away runs now that it is back. */
static void start_if_approved(struct exchange *x)
{
    if (x->approval.state != APPROVAL_APPROVED)
        return;
    x->announces = true;
    x->announcement = (struct announcement){
        .state = x->approval.state, .version = x->approval.version, .run = true};
    (void)text_copy(x->announcement.approval, sizeof(x->announcement.approval),
                    x->approval.id);
}

static enum err met(struct exchange *x, struct db *db, enum attach how)
{
    struct record record = {0};
    if (record_hold(x, db, &record))
        return ERR_STORE;
    x->joined = true;
    if (how == ATTACH_JOIN)
        start_if_approved(x);
    else
        x->waiter[0] = '\0';
    return ERR_OK;
}

enum err hold(struct exchange *x, struct db *db)
{
    enum attach how;
    struct approval found;
    int64_t now_ms = clock_wall_ms();
    take_waiter(x);
    const struct attach_query query = {.agent = x->identity->agent,
                                       .environment = x->identity->environment,
                                       .operation = x->canon.operation->name,
                                       .skill = x->agent.skill ? x->agent.skill : "",
                                       .idempotency_key = x->agent.idempotency_key,
                                       .digest = x->digest,
                                       .waiter = x->waiter,
                                       .now_ms = now_ms,
                                       .cooldown_ms = world.cooldown_ms};
    enum err err = approvals_attach(db, &query, x->arena, &how, &found);
    if (err)
        return err;
    if (how == ATTACH_NEW)
        return hold_new(x, db, now_ms);
    if (how == ATTACH_MISMATCH) {
        exchange_fail(x, ERR_REQUEST_REFUSED,
                      "this Idempotency-Key was used for another call before");
        return ERR_REQUEST_REFUSED; /* recorded by refuse */
    }
    x->approval = found;
    return met(x, db, how);
}

/* ---- wait ---- */

static void too_late(struct timer *timer)
{
    exchange_wake(container_of(timer, struct exchange, deadline));
}

enum err park(struct exchange *x, struct db *db)
{
    (void)db;
    x->deadline.fire = too_late;
    x->wait_until_ms = clock_mono_ms() + wait_ms(x);
    timer_set(x->worker->loop, &x->deadline,
              x->approval.state == APPROVAL_PENDING ? x->wait_until_ms
                                                    : execution_deadline());
    parking_add(&x->worker->parking, &x->parked, x->approval.id);
    return ERR_OK;
}

/* ---- collect ---- */

struct ending {
    enum approval_state state;
    enum err err;
};

static const struct ending endings[] = {
    {APPROVAL_PENDING,    ERR_APPROVAL_PENDING   },
    {APPROVAL_APPROVED,   ERR_APPROVAL_PENDING   },
    {APPROVAL_EXECUTING,  ERR_APPROVAL_PENDING   },
    {APPROVAL_EXECUTED,   ERR_OK                 },
    {APPROVAL_FAILED,     ERR_OK                 },
    {APPROVAL_UNKNOWN,    ERR_OUTCOME_UNKNOWN    },
    {APPROVAL_DECLINED,   ERR_APPROVAL_DECLINED  },
    {APPROVAL_EXPIRED,    ERR_APPROVAL_EXPIRED   },
    {APPROVAL_CANCELLED,  ERR_APPROVAL_CANCELLED },
    {APPROVAL_SUPERSEDED, ERR_APPROVAL_SUPERSEDED},
};

static enum err ending_of(enum approval_state state)
{
    for (size_t i = 0; i < COUNT(endings); i++)
        if (endings[i].state == state)
            return endings[i].err;
    return ERR_INTERNAL;
}

static const char *ending_why(struct exchange *x, enum err err)
{
    const struct approval *approval = &x->approval;
    if (err == ERR_APPROVAL_DECLINED || err == ERR_APPROVAL_SUPERSEDED)
        return arena_printf(x->arena, "%s by %s: %s", approval->id,
                            *approval->decided_by ? approval->decided_by : "policy",
                            *approval->decided_reason ? approval->decided_reason
                                                      : "no reason given");
    return approval->id;
}

/* Gives up the waiter's place and reads how it stands, in one transaction. */
enum err collect(struct exchange *x, struct db *db)
{
    const char *id = x->approval.id;
    int64_t now_ms = clock_wall_ms();
    enum err err = *x->waiter ? approvals_leave(db, id, x->waiter) : ERR_OK;
    if (!err)
        err = approvals_get(db, id, x->arena, &x->approval);
    if (err)
        return err;
    enum err ending = ending_of(x->approval.state);
    bool finished = ending == ERR_OK || ending == ERR_OUTCOME_UNKNOWN;
    if (finished) /* whoever has left can still come back for it */
        err = approvals_answer(db, id, !exchange_has_left(x), now_ms, x->arena,
                               &x->stored);
    if (err)
        return err;
    if (ending)
        exchange_fail(x, ending, ending_why(x, ending));
    else if (x->stored.error_code)
        exchange_fail(x, err_named(x->stored.error_code), id);
    return ERR_OK;
}

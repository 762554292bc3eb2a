/* Deciding: list, show, approve, decline, settle.  One function decides for every
 * surface; a page, the command line and a script meet the same rules here. */
#include "base/must.h"
#include "base/text.h"
#include "core/policy.h"
#include "serve/approval_json.h"
#include "serve/handlers.h"
#include "serve/policies.h"
#include "serve/quorum.h"
#include "store/approvals.h"

#include <string.h>

enum { LIST_DEFAULT = 100, LIST_MAX = 1000 };

/* ---- reading ---- */

static bool write_one(void *context, const struct approval *approval)
{
    struct writer *w = context;
    write_open(w, NULL, '{');
    approval_write(approval, w);
    write_close(w, '}');
    return !w->out->failed;
}

struct reply approvals_index(struct call *call, struct db *db)
{
    struct buf body;
    struct writer w;
    int64_t limit = LIST_DEFAULT;
    const char *limit_text = call_query(call, "limit");
    if (limit_text && !text_int(limit_text, 1, LIST_MAX, &limit))
        return reply_error(ERR_BAD_FIELD, "limit is a number, 1 to 1000");
    const struct approval_filter filter = {.state = call_query(call, "state"),
                                           .agent = call_query(call, "agent"),
                                           .environment =
                                               call_query(call, "environment"),
                                           .limit = (size_t)limit};
    enum approval_state state;
    if (filter.state && !text_same(filter.state, "open")
        && !approval_state_named(filter.state, &state))
        return reply_error(ERR_BAD_FIELD,
                           "state is open, pending, approved, executing, ...");
    (void)reply_start(&w, &body);
    write_open(&w, "approvals", '[');
    enum err err = approvals_list(db, &filter, call->arena, write_one, &w);
    write_close(&w, ']');
    if (!err)
        return reply_end(&w, &body);
    buf_free(&body);
    return reply_error(err, NULL);
}

static void write_votes(struct writer *w, const struct vote *votes, size_t count)
{
    write_open(w, "votes", '[');
    for (size_t i = 0; i < count; i++) {
        write_open(w, NULL, '{');
        write_text(w, "person", votes[i].person);
        write_text(w, "vote", votes[i].choice);
        write_text(w, "reason", votes[i].reason);
        write_close(w, '}');
    }
    write_close(w, ']');
}

static struct reply show(struct call *call, struct db *db, const char *id)
{
    struct buf body;
    struct writer w;
    struct approval found;
    struct vote votes[APPROVAL_VOTES];
    size_t count = 0;
    enum err err = approvals_get(db, id, call->arena, &found);
    if (!err)
        err = approvals_votes(db, id, call->arena, votes, &count);
    if (err)
        return reply_error(err, NULL);
    (void)reply_start(&w, &body);
    approval_write(&found, &w);
    write_votes(&w, votes, count);
    return reply_end(&w, &body);
}

struct reply approvals_show(struct call *call, struct db *db)
{
    return show(call, db, call->args[0]);
}

/* ---- voting ---- */

struct ballot {
    struct approval approval;
    struct terms terms;
    const char *reason;
    int64_t version;
};

static enum err read_ballot(struct call *call, struct db *db, struct ballot *ballot,
                            const char **bad)
{
    *bad = NULL;
    ballot->reason = NULL;
    ballot->version = -1;
    const struct field fields[] = {
        {"reason",  FIELD_TEXT, &ballot->reason,  false},
        {"version", FIELD_INT,  &ballot->version, false}
    };
    if (call->body && fields_read(call->body, fields, COUNT(fields), bad))
        return ERR_BAD_FIELD;
    enum err err = approvals_get(db, call->args[0], call->arena, &ballot->approval);
    if (err)
        return err;
    *bad = approval_state_name(ballot->approval.state);
    if (ballot->version >= 0 && ballot->version != ballot->approval.version)
        return ERR_APPROVAL_MOVED;
    struct doc_error error;
    const char *verdict = ballot->approval.verdict;
    own_doc *doc = doc_parse(verdict, strlen(verdict), 16, false, &error);
    return doc && terms_read(doc_root(doc), call->arena, &ballot->terms) ? ERR_OK
                                                                         : ERR_INTERNAL;
}

/* Whoever owns the agent or minted its key never decides about it. */
static enum err may_vote(const struct ballot *ballot, const struct policy *policy,
                         const struct person *person, const char **why)
{
    const struct approval *approval = &ballot->approval;
    if (text_same(approval->owner, person->name)
        || text_same(approval->minted_by, person->name)) {
        *why = "you own the agent or minted its key; somebody else has to decide";
        return ERR_FORBIDDEN;
    }
    for (size_t i = 0; i < ballot->terms.requirement_count; i++)
        if (quorum_counts(policy, &ballot->terms.requirements[i], person))
            return ERR_OK;
    *why = "you are in none of the groups that this approval asks for";
    return ERR_FORBIDDEN;
}

static enum err record_step(struct call *call, struct db *db,
                            const struct ballot *ballot, enum record_type type,
                            const char *vote, enum approval_state state)
{
    struct receipt receipt;
    struct record record = {.type = type, .phase = PHASE_EVENT};
    approval_record(&ballot->approval, &record);
    record.actor.person = call->person.name;
    record.actor.via = "cli";
    record.approval.vote = vote;
    record.approval.state = approval_state_name(state);
    record.reason = ballot->reason;
    return log_append(db, &record, &receipt) ? ERR_STORE : ERR_OK;
}

/* `seen` is what the move is judged on: who lost the race hears of it. */
static enum err move(struct call *call, struct db *db, const struct approval *seen,
                     enum approval_event event, const char *reason,
                     enum approval_state *now)
{
    const struct approval_move move = {.id = seen->id,
                                       .version = seen->version,
                                       .event = event,
                                       .by = call->person.name,
                                       .reason = reason,
                                       .now_ms = call->now_ms};
    return approvals_move(db, &move, now);
}

static enum err decide(struct call *call, struct db *db, const struct ballot *ballot,
                       enum approval_event event)
{
    enum approval_state now;
    const struct approval *approval = &ballot->approval;
    struct approval fresh;
    enum err err = approvals_get(db, approval->id, call->arena, &fresh);
    if (!err)
        err = move(call, db, &fresh, event, ballot->reason, &now);
    if (!err)
        err = record_step(call, db, ballot, RECORD_DECISION, NULL, now);
    if (err)
        return err;
    fresh.state = now;
    call_announce(call, approval->id, now, fresh.version + 1, approval_due(&fresh));
    return ERR_OK;
}

/* Whether E2B is called is decided here and nowhere else. */
static enum err cast(struct call *call, struct db *db, const struct ballot *ballot,
                     const struct policy *policy, bool approve)
{
    const struct approval *approval = &ballot->approval;
    const struct vote vote = {.person = call->person.name,
                              .choice = approve ? "approve" : "decline",
                              .reason = ballot->reason,
                              .at_ms = call->now_ms};
    enum err err = approvals_vote(db, approval->id, approval->version, &vote);
    if (!err)
        err = record_step(call, db, ballot, RECORD_VOTE, vote.choice, approval->state);
    if (err)
        return err;
    if (!approve)
        return decide(call, db, ballot, EVENT_DECLINE);
    bool met = quorum_met(db, policy, approval->id, &ballot->terms, call->arena);
    return met ? decide(call, db, ballot, EVENT_QUORUM) : ERR_OK;
}

static bool expired(const struct call *call, const struct approval *approval)
{
    return call->now_ms >= approval->expires_ms
           || (approval->expires_mono_ms && call->mono_ms >= approval->expires_mono_ms);
}

static struct reply vote(struct call *call, struct db *db, bool approve)
{
    struct ballot ballot;
    const char *bad;
    enum err err = read_ballot(call, db, &ballot, &bad);
    if (!err && ballot.approval.state != APPROVAL_PENDING)
        err = ERR_APPROVAL_MOVED;
    if (!err && expired(call, &ballot.approval)) {
        err = ERR_APPROVAL_MOVED;
        bad = "expired";
    }
    if (err)
        return reply_error(err, bad);
    struct shared *held = snapshot_take(&policy_snapshot);
    const struct policy *policy = (const struct policy *)held;
    err = may_vote(&ballot, policy, &call->person, &bad);
    if (!err) {
        bad = NULL;
        err = cast(call, db, &ballot, policy, approve);
    }
    snapshot_drop(held);
    return err ? reply_error(err, bad) : show(call, db, ballot.approval.id);
}

struct reply approvals_approve(struct call *call, struct db *db)
{
    return vote(call, db, true);
}

struct reply approvals_decline(struct call *call, struct db *db)
{
    return vote(call, db, false);
}

/* {"outcome": "executed" | "failed", "reason": ...}: a person has looked at E2B. */
struct reply approvals_settle_unknown(struct call *call, struct db *db)
{
    struct ballot ballot = {.version = -1};
    const char *outcome = "", *bad = NULL;
    const struct field fields[] = {
        {"outcome", FIELD_TEXT, &outcome,       true},
        {"reason",  FIELD_TEXT, &ballot.reason, true}
    };
    if (!call->body || fields_read(call->body, fields, COUNT(fields), &bad))
        return reply_error(ERR_BAD_FIELD, bad ? bad : "outcome and reason");
    bool done = text_same(outcome, "executed");
    if (!done && !text_same(outcome, "failed"))
        return reply_error(ERR_BAD_FIELD, "outcome is executed or failed");
    enum err err = approvals_get(db, call->args[0], call->arena, &ballot.approval);
    enum approval_state now;
    if (!err)
        err = move(call, db, &ballot.approval,
                   done ? EVENT_SETTLE_DONE : EVENT_SETTLE_FAILED, ballot.reason, &now);
    if (!err)
        err = record_step(call, db, &ballot, RECORD_SETTLED, NULL, now);
    if (err)
        return reply_error(err, NULL);
    return show(call, db, ballot.approval.id);
}

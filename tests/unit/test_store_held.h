/* A held call as the exchange would hand it to the store. */
#ifndef TEST_STORE_HELD_H
#define TEST_STORE_HELD_H

#include "test_store_rig.h"

/* 2030-01-01: far from what the wall clock says, and far from 0. */
static const int64_t t0 = INT64_C(1893456000000);

static const struct sealed_call kill_call = {.method = "DELETE",
                                             .path = "/sandboxes/sb1",
                                             .query = "",
                                             .headers = "user-agent: test\n"};

UNUSED static void held_digest(const char *agent, const char *operation,
                               const struct sealed_call *call,
                               unsigned char digest[static CANON_DIGEST])
{
    const struct canon canon = {.operation = operation_named(operation),
                                .path = call->path,
                                .query = call->query,
                                .body = call->body,
                                .body_size = call->body_size};
    must(canon.operation);
    canon_digest(&canon, agent, "production", digest);
}

/* Lives until the next call. */
UNUSED static struct approval held_approval(const char *id)
{
    static unsigned char digest[CANON_DIGEST];
    held_digest("a1", "sandbox.kill", &kill_call, digest);
    return (struct approval){.id = id,
                             .agent = "a1",
                             .key_id = "12345678",
                             .team = "data",
                             .environment = "production",
                             .skill = "fleet-hygiene",
                             .owner = "ines",
                             .minted_by = "tomasz",
                             .operation = "sandbox.kill",
                             .effect = "destructive",
                             .target_kind = "sandbox",
                             .target_id = "sb1",
                             .summary = "kill sandbox sb1",
                             .shown = "{\"risks\":[]}",
                             .reason = "done with it",
                             .ticket = "CHG-1",
                             .idempotency_key = "",
                             .trace = "",
                             .verdict = "{\"decision\":\"hold\"}",
                             .policy = "b2:0123456789abcdef",
                             .digest = digest,
                             .run_when_absent = true,
                             .created_ms = t0,
                             .expires_ms = t0 + 60000,
                             .expires_mono_ms = clock_mono_ms() + 3600000,
                             .collect_s = 600,
                             .waiter = "",
                             .hold_index = 2,
                             .hold_id = "0123456789abcdef0123456789abcdef"};
}

/* ---- one job each ---- */

struct held_job {
    const char *id;
    struct approval *approval;
    const struct sealed_call *call;
    struct arena *arena;
    int64_t version, now_ms;
    enum approval_event event;
    enum approval_state now;
    const char *by, *reason, *run;
    struct sealed_call opened;
    struct answer answer;
    const struct answer *given;
    bool collect;
    struct vote vote;
};

UNUSED static enum err do_create(struct db *db, void *context)
{
    struct held_job *job = context;
    return approvals_create(db, job->approval, job->call);
}

UNUSED static enum err do_get(struct db *db, void *context)
{
    struct held_job *job = context;
    return approvals_get(db, job->id, job->arena, job->approval);
}

UNUSED static enum err do_move(struct db *db, void *context)
{
    struct held_job *job = context;
    const struct approval_move move = {job->id, job->version, job->event,
                                       job->by, job->reason,  job->now_ms};
    return approvals_move(db, &move, &job->now);
}

UNUSED static enum err do_claim(struct db *db, void *context)
{
    struct held_job *job = context;
    const struct approval_move move = {
        .id = job->id, .version = job->version, .now_ms = job->now_ms};
    return approvals_claim(db, &move, job->run, job->arena, &job->opened);
}

UNUSED static enum err do_settle(struct db *db, void *context)
{
    struct held_job *job = context;
    return approvals_settle(db, job->id, job->event, job->given, job->now_ms);
}

UNUSED static enum err do_answer(struct db *db, void *context)
{
    struct held_job *job = context;
    return approvals_answer(db, job->id, job->collect, job->now_ms, job->arena,
                            &job->answer);
}

UNUSED static enum err do_vote(struct db *db, void *context)
{
    struct held_job *job = context;
    return approvals_vote(db, job->id, job->version, &job->vote);
}

/* ---- short forms; they expect success ---- */

UNUSED static void create(const struct approval *approval)
{
    struct approval copy = *approval;
    struct held_job job = {.approval = &copy, .call = &kill_call};
    EQ_INT(rig_write(do_create, &job), ERR_OK);
}

UNUSED static enum err move(const char *id, int64_t version, enum approval_event event,
                            int64_t now_ms)
{
    struct held_job job = {.id = id,
                           .version = version,
                           .event = event,
                           .by = "ines",
                           .reason = "fine",
                           .now_ms = now_ms};
    return rig_write(do_move, &job);
}

UNUSED static enum err claim_it(const char *id, int64_t version, int64_t now_ms)
{
    struct held_job job = {.id = id,
                           .version = version,
                           .run = "run_1",
                           .now_ms = now_ms,
                           .arena = arena_new(1 << 20)};
    enum err err = rig_write(do_claim, &job);
    arena_free(job.arena);
    return err;
}

UNUSED static enum err settle_it(const char *id, enum approval_event event,
                                 int64_t now_ms)
{
    static const struct answer answer = {
        .status = 204, .headers = "x-a: b\n", .body = "gone", .body_size = 4};
    struct held_job job = {
        .id = id, .event = event, .given = &answer, .now_ms = now_ms};
    return rig_write(do_settle, &job);
}

UNUSED static struct approval look(const char *id, struct arena *arena)
{
    struct approval found = {0};
    struct held_job job = {.id = id, .arena = arena, .approval = &found};
    EQ_INT(rig_read(do_get, &job), ERR_OK);
    return found;
}

#endif

/* What happens by itself: approvals expire, approved calls that a stop left are run,
 * the policy is read again. */
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/must.h"
#include "base/text.h"
#include "exchange/inside.h"
#include "serve/approval_json.h"
#include "serve/policies.h"

enum { SWEEP_MS = 1000, SWEEP_ARENA = 8 << 20, SWEEP_NEWS = 1024, RECOVER_ROUNDS = 5 };

/* ---- expiry ---- */

static struct sweep {
    struct timer timer;
    struct job job;
    struct task task;
    struct arena *arena;
    struct announcement news[SWEEP_NEWS];
    size_t count, rounds;
} sweep;

static enum err expired(void *context, struct db *db, const struct approval *approval)
{
    (void)context;
    struct receipt receipt;
    struct record record = {.type = RECORD_DECISION, .phase = PHASE_EVENT};
    approval_record(approval, &record);
    record.approval.state = approval_state_name(APPROVAL_EXPIRED);
    if (log_append(db, &record, &receipt))
        return ERR_STORE;
    if (sweep.count < SWEEP_NEWS) {
        struct announcement *news = &sweep.news[sweep.count++];
        *news = (struct announcement){.state = APPROVAL_EXPIRED};
        (void)text_copy(news->approval, sizeof(news->approval), approval->id);
    }
    return ERR_OK;
}

static enum err sweep_run(struct job *job, struct db *db)
{
    (void)job;
    int64_t next_ms = 0;
    return approvals_expire(db, clock_wall_ms(), sweep.arena, expired, NULL, &next_ms);
}

static void sweep_again(struct task *task)
{
    (void)task;
    for (size_t i = 0; i < sweep.count && !sweep.job.err; i++)
        announce(&sweep.news[i]);
    arena_free(sweep.arena);
    sweep.arena = NULL;
    if (++sweep.rounds % RECOVER_ROUNDS == 0 && executor_idle())
        executor_recover();
    timer_set(control_worker()->loop, &sweep.timer, clock_mono_ms() + SWEEP_MS);
}

static void sweep_done(struct job *job)
{
    (void)job;
    loop_post(control_worker()->loop, &sweep.task);
}

static void sweep_fire(struct timer *timer)
{
    sweep.count = 0;
    sweep.arena = arena_new(SWEEP_ARENA);
    if (!sweep.arena) {
        timer_set(control_worker()->loop, timer, clock_mono_ms() + SWEEP_MS);
        return;
    }
    store_write(&sweep.job);
}

void sweep_start(void)
{
    sweep = (struct sweep){
        .timer.fire = sweep_fire,
        .task.run = sweep_again,
        .job = {.run = sweep_run, .done = sweep_done}
    };
    timer_set(control_worker()->loop, &sweep.timer, clock_mono_ms() + SWEEP_MS);
}

/* ---- one job on its own ---- */

struct chore {
    struct job job;
    struct arena *arena;
    struct policy *fresh;
    struct buf messages;
    const char *by;
};

static void chore_end(struct chore *chore)
{
    arena_free(chore->arena);
    buf_free(&chore->messages);
    memory_free(chore);
}

/* ---- approved calls that a stop left behind ---- */

static bool put_in_line(void *context, const struct approval *approval)
{
    (void)context;
    if (approval_due(approval))
        executor_enqueue(approval->id);
    return true;
}

static enum err recover_run(struct job *job, struct db *db)
{
    struct chore *chore = container_of(job, struct chore, job);
    const struct approval_filter filter = {.state = "approved", .limit = 100000};
    return approvals_list(db, &filter, chore->arena, put_in_line, NULL);
}

static void recover_done(struct job *job)
{
    struct chore *chore = container_of(job, struct chore, job);
    if (job->err)
        log_error("executor", "approved calls could not be listed: %s",
                  err_text(job->err));
    chore_end(chore);
}

void executor_recover(void)
{
    struct chore *chore = memory_new(sizeof(*chore));
    must(chore && (chore->arena = arena_new(64 << 20)));
    chore->job = (struct job){.run = recover_run, .done = recover_done};
    store_read(&chore->job);
}

/* ---- policy ---- */

static enum err reload_run(struct job *job, struct db *db)
{
    struct chore *chore = container_of(job, struct chore, job);
    chore->messages = BUF(65536);
    chore->fresh = policies_read(policies_folder_path(), &chore->messages);
    return policies_record(db, chore->fresh,
                           chore->messages.data ? chore->messages.data : "", chore->by);
}

static void reload_done(struct job *job)
{
    struct chore *chore = container_of(job, struct chore, job);
    if (chore->fresh && !job->err) {
        log_info("policy", "active=%s rules=%zu", chore->fresh->digest_text,
                 chore->fresh->rules);
        policies_activate(chore->fresh);
    } else {
        log_error("policy", "the old set stays in force: %s",
                  chore->messages.data ? chore->messages.data : err_text(job->err));
        policies_refused(clock_wall_ms());
        if (chore->fresh)
            chore->fresh->shared.free(&chore->fresh->shared);
    }
    chore_end(chore);
}

void reload_policy(const char *by)
{
    struct chore *chore = memory_new(sizeof(*chore));
    if (!chore)
        return;
    chore->by = by;
    chore->job = (struct job){.run = reload_run, .done = reload_done};
    store_write(&chore->job);
}

#include "store/lane/writer.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/must.h"
#include "base/text.h"
#include "core/record.h"
#include "store/lane/ballast.h"
#include "store/log.h"

#include <inttypes.h>

enum { PROBE_MS = 500, LOOK_MS = 2000, WAL_PAGES = 250, PATH = 1024 };

static struct writer {
    struct commit *commit;
    struct inbox inbox;
    pthread_t thread;
    struct link *first, **last; /* taken from the inbox, not yet run */
    char folder[PATH];
    size_t queue_max;
    int64_t checkpoint_ms, signed_ms, looked_ms, probe_ms; /* when last, or next */
    bool writable, closing;                                /* atomic */
    size_t queued;                 /* atomic: sent and not yet done */
    uint64_t rejected;             /* atomic: since the disk became full */
    struct store_counts published; /* atomic, each for itself */
} writer;

/* ---- counters ---- */

static void publish(void)
{
    const struct commit *commit = writer.commit;
    struct store_counts *out = &writer.published;
    __atomic_store_n(&out->log_size, commit->durable.size, __ATOMIC_RELAXED);
    __atomic_store_n(&out->checkpoint_size, commit->durable.checkpoint,
                     __ATOMIC_RELAXED);
    __atomic_store_n(&out->batches, commit->batches, __ATOMIC_RELAXED);
    __atomic_store_n(&out->last_commit_us, commit->took_us, __ATOMIC_RELAXED);
}

void store_counts(struct store_counts *counts)
{
    const struct store_counts *from = &writer.published;
    counts->log_size = __atomic_load_n(&from->log_size, __ATOMIC_RELAXED);
    counts->checkpoint_size = __atomic_load_n(&from->checkpoint_size, __ATOMIC_RELAXED);
    counts->batches = __atomic_load_n(&from->batches, __ATOMIC_RELAXED);
    counts->jobs = __atomic_load_n(&from->jobs, __ATOMIC_RELAXED);
    counts->last_commit_us = __atomic_load_n(&from->last_commit_us, __ATOMIC_RELAXED);
    counts->queued = __atomic_load_n(&writer.queued, __ATOMIC_RELAXED);
}

bool store_writable(void)
{
    return __atomic_load_n(&writer.writable, __ATOMIC_SEQ_CST);
}

/* ---- the line ---- */

static void finish(struct link *link)
{
    struct job *job = container_of(link, struct job, link);
    __atomic_sub_fetch(&writer.queued, 1, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&writer.published.jobs, 1, __ATOMIC_RELAXED);
    job->done(job);
}

static void take(struct link *links)
{
    *writer.last = links;
    while (*writer.last)
        writer.last = &(*writer.last)->next;
}

/* Everything before `rest` is durable: now it may be told. */
static void answer(struct link *rest)
{
    while (writer.first != rest) {
        struct link *link = writer.first;
        writer.first = link->next;
        finish(link);
    }
    if (!writer.first)
        writer.last = &writer.first;
}

/* Nothing can be written: all go, but those that tell of what was sent already. */
static void turn_away(bool urgent_too)
{
    struct link *next, *all = writer.first;
    writer.first = NULL;
    writer.last = &writer.first;
    for (struct link *link = all; link; link = next) {
        struct job *job = container_of(link, struct job, link);
        next = link->next;
        link->next = NULL;
        if (job->urgent && !urgent_too) {
            take(link);
            continue;
        }
        job->err = ERR_STORE;
        __atomic_add_fetch(&writer.rejected, 1, __ATOMIC_RELAXED);
        finish(link);
    }
}

/* ---- a full disk ---- */

static void give_up(void)
{
    if (store_writable())
        log_error("store", "the log cannot be written; nothing runs until it can");
    __atomic_store_n(&writer.writable, false, __ATOMIC_SEQ_CST);
    ballast_drop(writer.folder);
    turn_away(false);
}

static enum err tell_restored(struct job *job, struct db *db)
{
    (void)job;
    char detail[64];
    struct receipt receipt;
    uint64_t rejected = __atomic_load_n(&writer.rejected, __ATOMIC_RELAXED);
    (void)text_format(detail, sizeof(detail), "{\"rejected\":%" PRIu64 "}", rejected);
    struct record record = {.type = RECORD_SYS, .event = "restored", .detail = detail};
    return log_append(db, &record, &receipt);
}

/* There has to be room for the ballast, and a transaction has to go through. */
static void probe(void)
{
    struct link *rest;
    struct job job = {.run = tell_restored};
    writer.probe_ms = clock_mono_ms() + PROBE_MS;
    if (!ballast_make(writer.folder) || !ballast_spare(writer.folder)) {
        ballast_drop(writer.folder);
        return;
    }
    if (commit_jobs(writer.commit, &job.link, &rest) == COMMIT_REFUSED || job.err) {
        ballast_drop(writer.folder);
        return;
    }
    log_warn("store", "the log can be written again; rejected=%" PRIu64,
             __atomic_exchange_n(&writer.rejected, 0, __ATOMIC_RELAXED));
    __atomic_store_n(&writer.writable, true, __ATOMIC_SEQ_CST);
}

/* ---- one turn ---- */

static void batch(void)
{
    struct link *rest;
    if (commit_jobs(writer.commit, writer.first, &rest) == COMMIT_REFUSED) {
        give_up();
        return;
    }
    publish();
    answer(rest);
    if (writer.commit->db.wal_pages >= WAL_PAGES)
        commit_checkpoint(writer.commit, false);
}

static bool checkpoint_due(int64_t now_ms)
{
    const struct head *head = &writer.commit->durable;
    return head->size > head->checkpoint
           && now_ms - writer.signed_ms >= writer.checkpoint_ms;
}

static void sign(int64_t now_ms)
{
    if (!checkpoint_due(now_ms))
        return;
    writer.signed_ms = now_ms;
    commit_sign(writer.commit);
}

static void look(int64_t now_ms)
{
    if (now_ms - writer.looked_ms < LOOK_MS)
        return;
    writer.looked_ms = now_ms;
    if (!commit_file_is_there(writer.commit))
        commit_die("the database file was moved, replaced or deleted");
}

/* While closed only what is urgent is tried, and then whether all is well again. */
static void closed_turn(int64_t now_ms)
{
    turn_away(false);
    if (now_ms < writer.probe_ms)
        return;
    writer.probe_ms = now_ms + PROBE_MS;
    if (writer.first)
        batch();
    if (!writer.first)
        probe();
    publish();
}

static void turn(void)
{
    int64_t now_ms = clock_mono_ms();
    look(now_ms);
    if (!store_writable()) {
        closed_turn(now_ms);
        return;
    }
    sign(now_ms);
    if (writer.first || writer.commit->note.size)
        batch();
    if (!store_writable()) /* just now: what is urgent goes at once, with the ballast */
        writer.probe_ms = writer.first ? 0 : now_ms + PROBE_MS;
}

static int patience(void)
{
    int64_t now_ms = clock_mono_ms(), due_ms = writer.looked_ms + LOOK_MS;
    const struct head *head = &writer.commit->durable;
    int64_t sign_ms = writer.signed_ms + writer.checkpoint_ms;
    if (!store_writable())
        due_ms = writer.probe_ms;
    else if (writer.first)
        return 0;
    else if (head->size > head->checkpoint && sign_ms < due_ms)
        due_ms = sign_ms;
    return due_ms > now_ms ? (int)(due_ms - now_ms) : 0;
}

static bool closing(void)
{
    return __atomic_load_n(&writer.closing, __ATOMIC_SEQ_CST);
}

static enum err tell_stop(struct job *job, struct db *db)
{
    (void)job;
    struct receipt receipt;
    struct record record = {.type = RECORD_SYS, .event = "stop"};
    return log_append(db, &record, &receipt);
}

/* A clean stop: the log says so, up to its last record under a signature. */
static void last_words(void)
{
    struct link *rest;
    struct job job = {.run = tell_stop};
    if (!store_writable()
        || commit_jobs(writer.commit, &job.link, &rest) == COMMIT_REFUSED)
        return;
    commit_sign(writer.commit);
    (void)commit_jobs(writer.commit, NULL, &rest);
}

static void *writer_run(void *context)
{
    (void)context;
    while (!closing() || __atomic_load_n(&writer.queued, __ATOMIC_SEQ_CST)) {
        take(inbox_wait(&writer.inbox, patience()));
        turn();
        if (closing() && !store_writable())
            turn_away(true); /* unknown until the next start, which says so */
    }
    last_words();
    return NULL;
}

/* ---- from outside ---- */

static enum err refusal(const struct job *job)
{
    if (closing())
        return ERR_SHUTTING_DOWN;
    if (job->urgent)
        return ERR_OK;
    if (!store_writable()) {
        __atomic_add_fetch(&writer.rejected, 1, __ATOMIC_RELAXED);
        return ERR_STORE;
    }
    size_t queued = __atomic_load_n(&writer.queued, __ATOMIC_SEQ_CST);
    return queued > writer.queue_max ? ERR_OVERLOADED : ERR_OK;
}

void store_write(struct job *job)
{
    __atomic_add_fetch(&writer.queued, 1,
                       __ATOMIC_SEQ_CST); /* before `closing` is read */
    job->err = refusal(job);
    if (!job->err) {
        inbox_send(&writer.inbox, &job->link);
        return;
    }
    __atomic_sub_fetch(&writer.queued, 1, __ATOMIC_SEQ_CST);
    job->done(job);
}

void writer_start(const struct store_config *config, struct commit *commit)
{
    writer = (struct writer){.commit = commit,
                             .last = &writer.first,
                             .queue_max = config->queue_max,
                             .checkpoint_ms = config->checkpoint_ms};
    must(text_copy(writer.folder, sizeof(writer.folder), config->folder));
    writer.writable = ballast_make(writer.folder);
    if (!writer.writable)
        log_error("store", "no room for the ballast; nothing runs until there is");
    writer.looked_ms = writer.signed_ms = clock_mono_ms();
    publish();
    inbox_init(&writer.inbox, false);
    must(pthread_create(&writer.thread, NULL, writer_run, NULL) == 0);
}

void writer_stop(void)
{
    __atomic_store_n(&writer.closing, true, __ATOMIC_SEQ_CST);
    inbox_close(&writer.inbox);
    must(pthread_join(writer.thread, NULL) == 0);
    inbox_destroy(&writer.inbox);
}

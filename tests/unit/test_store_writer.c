#include "test_store_rig.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>

/* ---- many jobs from many threads share transactions ---- */

enum { THREADS = 4, JOBS = 2500 };

struct load {
    struct job job;
    struct receipt receipt;
};

static struct load loads[THREADS][JOBS];
static atomic_size_t answered, in_order;
static uint64_t last_index; /* the writer's thread only */

static enum err load_run(struct job *job, struct db *db)
{
    return rig_note(db, "load", &container_of(job, struct load, job)->receipt);
}

static void load_done(struct job *job)
{
    struct load *one = container_of(job, struct load, job);
    struct store_counts counts;
    store_counts(&counts);
    must(!job->err);
    must(counts.log_size > one->receipt.index); /* durable before it is told */
    if (one->receipt.index > last_index)
        atomic_fetch_add(&in_order, 1);
    last_index = one->receipt.index;
    atomic_fetch_add(&answered, 1);
}

static void *load_thread(void *context)
{
    struct load *own = context;
    for (size_t i = 0; i < JOBS; i++) {
        own[i].job = (struct job){.run = load_run, .done = load_done};
        store_write(&own[i].job);
    }
    return NULL;
}

TEST(thousands_of_jobs_share_few_transactions_and_all_are_in_the_log)
{
    pthread_t threads[THREADS];
    struct store_counts before, after;
    rig_open();
    store_counts(&before);
    atomic_store(&answered, 0);
    atomic_store(&in_order, 0);
    last_index = 0;
    for (size_t i = 0; i < THREADS; i++)
        must(pthread_create(&threads[i], NULL, load_thread, loads[i]) == 0);
    for (size_t i = 0; i < THREADS; i++)
        must(pthread_join(threads[i], NULL) == 0);
    while (atomic_load(&answered) < THREADS * JOBS)
        (void)usleep(1000);
    store_counts(&after);
    EQ_INT(atomic_load(&in_order), THREADS * JOBS);
    EQ_INT(after.log_size - before.log_size, THREADS * JOBS);
    EQ_INT(after.jobs - before.jobs, THREADS * JOBS);
    OK((after.batches - before.batches) * 4 < THREADS * JOBS);
    EQ_INT(after.queued, 0);
    for (size_t t = 0; t < THREADS; t++) /* a thread's own jobs stay in order */
        for (size_t i = 1; i < JOBS; i++)
            must(loads[t][i].receipt.index > loads[t][i - 1].receipt.index);
    uint64_t records = 0;
    EQ_INT(rig_verify(0, UINT64_MAX, &records), AUDIT_VERIFIED);
    EQ_INT(records, after.log_size);
    rig_close();
}

/* ---- a job that fails takes back what is its own, and no more ---- */

static enum err add_agent(struct db *db, const char *name)
{
    struct agent agent = {.created_ms = 1};
    (void)text_copy(agent.name, sizeof(agent.name), name);
    return agent_add(db, &agent);
}

static enum err add_and_fail(struct db *db, void *context)
{
    struct receipt receipt;
    must(!add_agent(db, context));
    must(!rig_note(db, "never to be seen", &receipt));
    return ERR_FORBIDDEN;
}

static enum err add(struct db *db, void *context)
{
    struct receipt receipt;
    enum err err = add_agent(db, context);
    return err ? err : rig_note(db, context, &receipt);
}

static enum err has_agent(struct db *db, void *context)
{
    struct agent agent;
    return agent_get(db, context, &agent);
}

struct gate {
    struct inbox inbox;
    struct link link;
};

/* Holds the writer until the rest of the batch has queued up. */
static enum err wait_at(struct db *db, void *context)
{
    (void)db;
    while (!inbox_wait(&((struct gate *)context)->inbox, -1))
        ;
    return ERR_OK;
}

TEST(a_failed_job_leaves_nothing_and_its_neighbours_everything)
{
    static char before[] = "before", failed[] = "failed", after[] = "after",
                twice[] = "before";
    struct gate gate;
    struct rig_job jobs[5] = {0};
    uint64_t size = 0;
    rig_open();
    struct store_counts counts;
    store_counts(&counts);
    size = counts.log_size;
    inbox_init(&gate.inbox, false);
    rig_send(&jobs[0], store_write, wait_at, &gate);
    rig_send(&jobs[1], store_write, add, before);
    rig_send(&jobs[2], store_write, add_and_fail, failed);
    rig_send(&jobs[3], store_write, add, twice);
    rig_send(&jobs[4], store_write, add, after);
    inbox_send(&gate.inbox, &gate.link);
    static const enum err want[] = {ERR_OK, ERR_OK, ERR_FORBIDDEN, ERR_CONFLICT,
                                    ERR_OK};
    for (size_t i = 0; i < COUNT(jobs); i++) {
        CASE("job %zu", i);
        EQ_INT(rig_await(&jobs[i]), want[i]);
    }
    inbox_destroy(&gate.inbox);
    EQ_INT(rig_read(has_agent, before), ERR_OK);
    EQ_INT(rig_read(has_agent, failed), ERR_NOT_FOUND);
    EQ_INT(rig_read(has_agent, after), ERR_OK);
    store_counts(&counts);
    EQ_INT(counts.log_size - size, 2);
    EQ_INT(rig_verify(0, UINT64_MAX, NULL), AUDIT_VERIFIED);
    rig_close();
}

static enum err only_fails(struct db *db, void *context)
{
    (void)db;
    (void)context;
    return ERR_NOT_FOUND;
}

TEST(a_batch_that_changes_nothing_commits_nothing)
{
    struct store_counts before, after;
    rig_open();
    store_counts(&before);
    EQ_INT(rig_write(only_fails, NULL), ERR_NOT_FOUND);
    EQ_INT(rig_write(add_and_fail, (char[]){"x"}), ERR_FORBIDDEN);
    EQ_INT(rig_write(has_agent, (char[]){"x"}), ERR_NOT_FOUND);
    store_counts(&after);
    EQ_INT(after.batches, before.batches);
    EQ_INT(after.log_size, before.log_size);
    rig_close();
}

/* ---- limits ---- */

TEST(a_full_queue_refuses_but_not_what_is_urgent)
{
    struct gate gate;
    struct rig_job first = {0}, waiting[3] = {0}, urgent = {.job.urgent = true};
    rig_init(NULL);
    rig.queue_max = 3;
    OK(rig_start());
    inbox_init(&gate.inbox, false);
    rig_send(&first, store_write, wait_at, &gate);
    for (size_t i = 0; i < COUNT(waiting); i++)
        rig_send(&waiting[i], store_write, rig_append, NULL);
    rig_send(&urgent, store_write, rig_append, NULL);
    inbox_send(&gate.inbox, &gate.link);
    EQ_INT(rig_await(&first), ERR_OK);
    EQ_INT(rig_await(&waiting[0]), ERR_OK);
    EQ_INT(rig_await(&waiting[1]), ERR_OK);
    EQ_INT(rig_await(&waiting[2]), ERR_OVERLOADED);
    EQ_INT(rig_await(&urgent), ERR_OK);
    inbox_destroy(&gate.inbox);
    rig_close();
}

TEST(a_stop_runs_what_is_queued_and_refuses_what_comes_later)
{
    struct gate gate;
    struct rig_job first = {0}, queued = {0}, late = {0}, late_read = {0};
    rig_open();
    inbox_init(&gate.inbox, false);
    rig_send(&first, store_write, wait_at, &gate);
    rig_send(&queued, store_write, rig_append, NULL);
    inbox_send(&gate.inbox, &gate.link);
    rig_stop();
    EQ_INT(rig_await(&first), ERR_OK);
    EQ_INT(rig_await(&queued), ERR_OK);
    rig_send(&late, store_write, rig_append, NULL);
    EQ_INT(rig_await(&late), ERR_SHUTTING_DOWN);
    rig_send(&late_read, store_read, has_agent, NULL);
    EQ_INT(rig_await(&late_read), ERR_SHUTTING_DOWN);
    inbox_destroy(&gate.inbox);
    rig_remove();
}

TEST(a_folder_has_one_store)
{
    rig_open();
    (void)fflush(NULL);
    int status = 0;
    pid_t child = fork();
    if (child == 0)
        _exit(rig_start()                              ? 0
              : strstr(rig.error, "another sandgated") ? rig.exit_code
                                                       : 1);
    (void)waitpid(child, &status, 0);
    EQ_INT(WEXITSTATUS(status), 75);
    rig_close();
}

/* ---- bounds of the WAL ---- */

TEST(the_wal_is_moved_into_the_database_while_running_and_emptied_at_the_stop)
{
    char path[RIG_PATH + 8];
    struct buf bytes = BUF(64 << 20);
    rig_open();
    for (size_t i = 0; i < 400; i++)
        EQ_INT(rig_write(rig_append, NULL), ERR_OK);
    (void)text_format(path, sizeof(path), "%s-wal", rig.db);
    OK(file_read(path, &bytes, rig.error));
    OK(bytes.size < (8 << 20));
    rig_stop();
    NOT(access(path, F_OK) == 0);
    buf_free(&bytes);
    rig_remove();
}

#include "store/lane/reader.h"

#include "base/must.h"
#include "store/store.h"

static struct reader {
    struct db db;
    struct inbox inbox;
    pthread_t thread;
    bool stopping; /* atomic */
} reader;

void reader_refresh(struct db *db)
{
    if (db->batch)
        return; /* the writer's transaction stays whole */
    (void)db_control(db, SQL_RELEASE);
    (void)db_control(db, SQL_SAVE);
}

/* All statements of a job see one state. */
static void run(struct job *job)
{
    struct db *db = &reader.db;
    job->err = db_control(db, SQL_SAVE);
    if (!job->err) {
        job->err = job->run(job, db);
        (void)db_control(db, SQL_RELEASE);
    }
    job->done(job);
}

static void *reader_run(void *context)
{
    (void)context;
    struct link *next;
    bool last = false;
    while (!last) {
        last = __atomic_load_n(&reader.stopping, __ATOMIC_SEQ_CST);
        for (struct link *at = inbox_wait(&reader.inbox, -1); at; at = next) {
            next = at->next;
            run(container_of(at, struct job, link));
        }
    }
    return NULL;
}

bool reader_start(const char *path, char *error)
{
    reader = (struct reader){.stopping = false};
    if (!db_open_reader(&reader.db, path, error)) {
        db_close(&reader.db);
        return false;
    }
    inbox_init(&reader.inbox, false);
    must(pthread_create(&reader.thread, NULL, reader_run, NULL) == 0);
    return true;
}

void reader_stop(void)
{
    __atomic_store_n(&reader.stopping, true, __ATOMIC_SEQ_CST);
    inbox_close(&reader.inbox);
    must(pthread_join(reader.thread, NULL) == 0);
    inbox_destroy(&reader.inbox);
    db_close(&reader.db);
}

void store_read(struct job *job)
{
    if (__atomic_load_n(&reader.stopping, __ATOMIC_SEQ_CST)) {
        job->err = ERR_SHUTTING_DOWN;
        job->done(job);
        return;
    }
    inbox_send(&reader.inbox, &job->link);
}

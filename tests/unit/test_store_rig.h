/* A store in a folder of its own, and jobs that are waited for. */
#ifndef TEST_STORE_RIG_H
#define TEST_STORE_RIG_H

#include "base/arena.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/log.h"
#include "base/text.h"
#include "core/audit.h"
#include "store/approvals.h"
#include "store/db.h"
#include "store/log.h"
#include "store/registry.h"
#include "store/runs.h"
#include "store/store.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define UNUSED __attribute__((unused))

enum { RIG_PATH = 256 };

static struct rig {
    char top[64], folder[RIG_PATH], state[RIG_PATH], db[RIG_PATH];
    unsigned char master[MASTER_KEY], seed[TLOG_SEED];
    int64_t checkpoint_ms;
    size_t queue_max;
    int exit_code;
    char error[STORE_ERROR];
} rig;

/* ---- folder and start ---- */

static bool rig_running; /* what a failed test leaves behind would stop the next one */

UNUSED static void rig_stop(void)
{
    store_stop();
    rig_running = false;
}

/* `top` is a folder of another test's child, or NULL for a new one. */
UNUSED static void rig_init(const char *top)
{
    static bool once;
    if (rig_running)
        rig_stop();
    if (!once) {
        log_level_set(LOG_ERROR);
        keys_start();
        tlog_start();
    }
    once = true;
    rig = (struct rig){.checkpoint_ms = 3600000, .queue_max = 100000};
    (void)text_copy(rig.top, sizeof(rig.top), top ? top : "/tmp/test_store.XXXXXX");
    must(top || mkdtemp(rig.top));
    (void)text_format(rig.folder, RIG_PATH, "%s/data", rig.top);
    (void)text_format(rig.state, RIG_PATH, "%s/state", rig.top);
    (void)text_format(rig.db, RIG_PATH, "%s/sandgate.db", rig.folder);
    memset(rig.master, 7, sizeof(rig.master));
    memset(rig.seed, 9, sizeof(rig.seed));
}

UNUSED static bool rig_start(void)
{
    const struct store_config config = {.folder = rig.folder,
                                        .state_file = rig.state,
                                        .origin = "sandgate.test/log",
                                        .gateway = "node-1",
                                        .master_key = rig.master,
                                        .log_seed = rig.seed,
                                        .checkpoint_ms = rig.checkpoint_ms,
                                        .queue_max = rig.queue_max};
    rig.error[0] = '\0';
    rig_running = store_start(&config, &rig.exit_code, rig.error);
    return rig_running;
}

UNUSED static void rig_open(void)
{
    rig_init(NULL);
    bool started = rig_start();
    EQ_TEXT(rig.error, "");
    OK(started);
}

UNUSED static void rig_remove(void)
{
    char command[RIG_PATH];
    must(text_starts(rig.top, "/tmp/test_store."));
    (void)text_format(command, sizeof(command), "rm -rf '%s'", rig.top);
    must(system(command) == 0); // NOLINT
}

UNUSED static void rig_close(void)
{
    rig_stop();
    rig_remove();
}

/* ---- jobs ---- */

struct rig_job {
    struct job job;
    enum err (*run)(struct db *db, void *context);
    void *context;
    struct inbox done;
    struct link link;
};

static enum err rig_run(struct job *job, struct db *db)
{
    struct rig_job *one = container_of(job, struct rig_job, job);
    return one->run(db, one->context);
}

static void rig_done(struct job *job)
{
    struct rig_job *one = container_of(job, struct rig_job, job);
    inbox_send(&one->done, &one->link);
}

static void rig_send(struct rig_job *one, void (*lane)(struct job *),
                     enum err (*run)(struct db *db, void *context), void *context)
{
    bool urgent = one->job.urgent;
    *one = (struct rig_job){
        .job = {.run = rig_run, .done = rig_done, .urgent = urgent},
        .run = run,
        .context = context
    };
    inbox_init(&one->done, false);
    lane(&one->job);
}

static enum err rig_await(struct rig_job *one)
{
    while (!inbox_wait(&one->done, -1))
        ;
    inbox_destroy(&one->done);
    return one->job.err;
}

static enum err rig_do(void (*lane)(struct job *), bool urgent,
                       enum err (*run)(struct db *db, void *context), void *context)
{
    struct rig_job one = {.job.urgent = urgent};
    rig_send(&one, lane, run, context);
    return rig_await(&one);
}

UNUSED static enum err rig_write(enum err (*run)(struct db *db, void *context),
                                 void *context)
{
    return rig_do(store_write, false, run, context);
}

UNUSED static enum err rig_read(enum err (*run)(struct db *db, void *context),
                                void *context)
{
    return rig_do(store_read, false, run, context);
}

/* ---- records ---- */

UNUSED static enum err rig_note(struct db *db, const char *text,
                                struct receipt *receipt)
{
    struct record record = {
        .type = RECORD_CALL,
        .phase = PHASE_EVENT,
        .actor = {.agent = "a1", .environment = "production"},
        .call = {.operation = "sandbox.list"            },
        .reason = text
    };
    return log_append(db, &record, receipt);
}

UNUSED static enum err rig_append(struct db *db, void *context)
{
    struct receipt receipt;
    return rig_note(db, "a record", context ? context : &receipt);
}

/* ---- verifying, as an auditor would ---- */

struct rig_lines {
    struct buf text;
    size_t at;
};

static bool rig_emit(void *context, const char *bytes, size_t size)
{
    return buf_add(&((struct rig_lines *)context)->text, bytes, size);
}

static bool rig_line(void *context, const char **text, size_t *size)
{
    struct rig_lines *lines = context;
    const char *start = lines->text.data + lines->at;
    if (lines->at >= lines->text.size)
        return false;
    const char *end = memchr(start, '\n', lines->text.size - lines->at);
    *text = start;
    *size = end ? (size_t)(end - start) : lines->text.size - lines->at;
    lines->at += *size + 1;
    return true;
}

struct rig_range {
    uint64_t first, end;
    struct rig_lines lines;
};

static enum err rig_export(struct db *db, void *context)
{
    struct rig_range *range = context;
    return log_export(db, range->first, range->end, rig_emit, &range->lines);
}

UNUSED static enum audit_verdict rig_verify(uint64_t first, uint64_t end,
                                            uint64_t *records)
{
    struct audit_report report;
    struct rig_range range = {first, end, {.text = BUF(256 << 20)}};
    EQ_INT(rig_read(rig_export, &range), ERR_OK);
    const struct audit_input input = {
        .line = rig_line, .context = &range.lines, .vkey = log_vkey()};
    audit_verify(&input, &report);
    if (report.verdict == AUDIT_TAMPERED)
        (void)fprintf(stderr, "%s\n", report.text.data ? report.text.data : "");
    if (records)
        *records = report.records;
    buf_free(&report.text);
    buf_free(&range.lines.text);
    return report.verdict;
}

/* ---- the file behind the store's back ---- */

UNUSED static void rig_sql(const char *sql)
{
    sqlite3 *handle = NULL;
    char *why = NULL;
    must(sqlite3_open(rig.db, &handle) == SQLITE_OK);
    if (sqlite3_exec(handle, sql, NULL, NULL, &why) != SQLITE_OK)
        (void)fprintf(stderr, "%s: %s\n", sql, why);
    must(!why);
    must(sqlite3_close(handle) == SQLITE_OK);
}

UNUSED static int64_t rig_ask(const char *sql)
{
    sqlite3 *handle = NULL;
    sqlite3_stmt *statement = NULL;
    must(sqlite3_open(rig.db, &handle) == SQLITE_OK);
    must(sqlite3_prepare_v2(handle, sql, -1, &statement, NULL) == SQLITE_OK);
    must(sqlite3_step(statement) == SQLITE_ROW);
    int64_t number = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    must(sqlite3_close(handle) == SQLITE_OK);
    return number;
}

#endif

/* A disk that is full: nothing runs, what was sent is still told, and it heals. */
#include "test_store_rig.h"

#include "core/doc.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <cmocka.h>

static enum err append_much(struct db *db, void *context)
{
    enum err err = ERR_OK;
    for (int i = 0; i < 500 && !err; i++)
        err = rig_append(db, context);
    return err;
}

/* More than the WAL has room for as it is. */
static enum err append_very_much(struct db *db, void *context)
{
    enum err err = ERR_OK;
    for (int i = 0; i < 20 && !err; i++)
        err = append_much(db, context);
    return err;
}

static void until_full(void)
{
    enum err err = ERR_OK;
    for (int i = 0; i < 5000 && !err; i++)
        err = rig_write(append_much, NULL);
    EQ_INT(err, ERR_STORE);
    NOT(store_writable());
}

static bool heals(void)
{
    for (int i = 0; i < 500 && !store_writable(); i++)
        (void)usleep(10000);
    return store_writable();
}

struct restored {
    int64_t rejected;
    size_t count;
};

static bool see_restored(void *context, uint64_t index, const char *leaf, size_t size)
{
    struct doc_error error;
    struct restored *restored = context;
    own_doc *doc = doc_parse(leaf, size, 32, false, &error);
    (void)index;
    must(doc);
    restored->rejected =
        member_int(node_member(doc_root(doc), "detail"), "rejected", -1);
    restored->count++;
    return true;
}

static enum err find_restored(struct db *db, void *context)
{
    const struct log_filter filter = {
        .kind = "restored", .before = UINT64_MAX, .limit = 10};
    return log_search(db, &filter, see_restored, context);
}

static void restored_is_told(int64_t rejected)
{
    struct restored restored = {0};
    EQ_INT(rig_read(find_restored, &restored), ERR_OK);
    EQ_INT(restored.count, 1);
    EQ_INT(restored.rejected, rejected);
    EQ_INT(rig_verify(0, UINT64_MAX, NULL), AUDIT_VERIFIED);
}

/* ---- somebody else has the file ---- */

TEST(a_program_that_locks_the_file_costs_bounded_refusals)
{
    sqlite3 *other = NULL;
    rig_open();
    must(sqlite3_open(rig.db, &other) == SQLITE_OK);
    must(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK);
    EQ_INT(rig_write(rig_append, NULL), ERR_STORE);
    NOT(store_writable());
    must(sqlite3_exec(other, "ROLLBACK", NULL, NULL, NULL) == SQLITE_OK);
    must(sqlite3_close(other) == SQLITE_OK);
    OK(heals());
    EQ_INT(rig_write(rig_append, NULL), ERR_OK);
    restored_is_told(1);
    rig_close();
}

/* ---- no file may grow ---- */

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    must(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = bytes;
    must(setrlimit(RLIMIT_FSIZE, &limit) == 0);
}

TEST(files_that_may_not_grow_fail_jobs_until_they_may)
{
    void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
    rig_open();
    limit_files(600000);
    until_full();
    EQ_INT(rig_write(rig_append, NULL), ERR_STORE);
    (void)usleep(700000); /* a probe in between finds nothing better */
    NOT(store_writable());
    EQ_INT(rig_write(rig_append, NULL), ERR_STORE);
    limit_files(RLIM_INFINITY);
    OK(heals());
    EQ_INT(rig_write(rig_append, NULL), ERR_OK);
    restored_is_told(3);
    rig_close();
    (void)signal(SIGXFSZ, before);
}

/* ---- a file system that is full ---- */

static void fill(const char *path)
{
    static const char block[4096] = {1};
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    must(fd >= 0);
    while (write(fd, block, sizeof(block)) > 0)
        ;
    must(close(fd) == 0);
}

TEST(a_full_file_system_still_takes_the_outcome_of_what_was_sent)
{
    char filler[RIG_PATH + 8], ballast[RIG_PATH + 8];
    struct receipt receipt = {0};
    rig_init(NULL);
    OK(folder_make(rig.folder, 0700, rig.error));
    if (mount("tmpfs", rig.folder, "tmpfs", 0, "size=24m,mode=0700") != 0) {
        rig_remove();
        skip();
    }
    (void)text_format(filler, sizeof(filler), "%s/filler", rig.folder);
    (void)text_format(ballast, sizeof(ballast), "%s/ballast", rig.folder);
    OK(rig_start());
    EQ_INT(access(ballast, F_OK), 0);
    fill(filler);
    until_full();
    NOT(access(ballast, F_OK) == 0);
    EQ_INT(rig_write(rig_append, NULL), ERR_STORE);
    EQ_INT(rig_do(store_write, true, rig_append, &receipt), ERR_OK);
    OK(receipt.index > 0);
    NOT(store_writable());
    for (int i = 0; i < 10; i++) { /* the ballast's room as well, also from a probe */
        fill(filler);
        (void)usleep(60000);
    }
    struct rig_job urgent = {.job.urgent = true};
    rig_send(&urgent, store_write, append_very_much, &receipt);
    IS_NULL(inbox_wait(&urgent.done, 1200)); /* kept, neither lost nor refused */
    must(unlink(filler) == 0);
    EQ_INT(rig_await(&urgent), ERR_OK);
    OK(heals());
    EQ_INT(access(ballast, F_OK), 0);
    EQ_INT(rig_write(rig_append, NULL), ERR_OK);
    restored_is_told(2);
    rig_stop();
    OK(rig_start());
    EQ_INT(rig_verify(0, UINT64_MAX, NULL), AUDIT_VERIFIED);
    rig_stop();
    must(umount(rig.folder) == 0);
    rig_remove();
}

TEST(a_stop_on_a_full_disk_does_not_wait_for_ever)
{
    void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
    rig_open();
    limit_files(600000);
    until_full();
    struct rig_job urgent = {.job.urgent = true};
    rig_send(&urgent, store_write, rig_append, NULL);
    (void)usleep(50000);
    rig_stop();
    EQ_INT(rig_await(&urgent), ERR_STORE);
    limit_files(RLIM_INFINITY);
    OK(rig_start());
    EQ_INT(rig_verify(0, UINT64_MAX, NULL), AUDIT_VERIFIED);
    rig_close();
    (void)signal(SIGXFSZ, before);
}

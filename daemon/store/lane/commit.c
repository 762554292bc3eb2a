#include "store/lane/commit.h"

#include "base/clock.h"
#include "base/fault.h"
#include "base/log.h"
#include "base/must.h"
#include "store/keyring_build.h"
#include "store/log.h"
#include "store/tree/signer.h"

#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

void commit_die(const char *what)
{
    log_error("store",
              "%s; what is on disk is not known: stopping, so that the next "
              "start looks",
              what);
    _exit(EX_IOERR);
}

/* ---- one job ---- */

/* What a job that fails is brought back to. */
struct mark {
    size_t records;
    uint64_t checkpoint;
    bool registry_changed;
};

static struct mark mark(const struct commit *commit)
{
    return (struct mark){commit->batch.count, commit->batch.checkpoint,
                         commit->db.registry_changed};
}

static void forget(struct commit *commit, const struct mark *before)
{
    struct db *db = &commit->db;
    batch_cut(&commit->batch, before->records);
    commit->batch.checkpoint = before->checkpoint;
    db->registry_changed = before->registry_changed;
    if (db->saved && !db->failure) /* else the transaction may be gone, and is lost */
        (void)db_control(db, SQL_UNDO);
}

/* Did it leave anything to commit? */
static bool run_job(struct commit *commit, struct job *job)
{
    struct db *db = &commit->db;
    const struct mark before = mark(commit);
    db->in_job = true;
    job->err = job->run(job, db);
    db->in_job = false;
    bool changed = db->saved || commit->batch.count > before.records;
    if (job->err)
        forget(commit, &before);
    if (db->saved && !db->failure)
        (void)db_control(db, SQL_RELEASE);
    db->saved = false;
    return changed && !job->err;
}

static bool run_jobs(struct commit *commit, struct link *jobs, struct link **rest)
{
    bool changed = false;
    size_t count = 0;
    struct link *at = jobs;
    for (; at && count < COMMIT_JOBS && commit->batch.leaves.size < COMMIT_BYTES
           && !commit->db.failure;
         at = at->next, count++) {
        changed |= run_job(commit, container_of(at, struct job, link));
        (void)fault_at("mid_batch");
    }
    *rest = at;
    return changed;
}

/* ---- undoing ---- */

static enum committed undo(struct commit *commit)
{
    struct db *db = &commit->db;
    if (db->failure == FAILURE_FATAL)
        commit_die("a transaction failed");
    /* SQLite may have rolled back by itself already */
    if (!sqlite3_get_autocommit(db->handle) && db_control(db, SQL_ROLLBACK))
        commit_die("a transaction cannot be rolled back");
    batch_cut(&commit->batch, 0);
    db->saved = db->in_job = db->registry_changed = false;
    commit->stale = true;
    return COMMIT_REFUSED;
}

static bool reload(struct commit *commit)
{
    if (commit->stale && tree_load(&commit->db, commit->durable.size, &commit->tree)) {
        if (commit->db.failure != FAILURE_PASSING)
            commit_die("the tree cannot be read");
        return false;
    }
    commit->stale = false;
    return true;
}

/* ---- the end of a batch ---- */

static bool store_note(struct commit *commit)
{
    if (!commit->note.size)
        return false;
    if (db_run(&commit->db, SQL_CHECKPOINT_ADD,
               IN(P(commit->note_size), P(commit->note.data), P(clock_wall_us())),
               NULL))
        return false;
    commit->batch.checkpoint = commit->note_size;
    return true;
}

static bool finish(struct commit *commit, struct head *next)
{
    struct db *db = &commit->db;
    if (batch_write(db, &commit->batch, &commit->tree, next))
        return false;
    (void)fault_at("before_commit");
    if (fault_at("commit"))
        return false;
    if (fault_at("commit_io"))
        commit_die("COMMIT failed (a test asked for it)");
    if (db_control(db, SQL_COMMIT))
        return false;
    (void)fault_at("after_commit");
    return true;
}

static void publish(struct commit *commit, const struct head *next,
                    struct shared *keyring)
{
    commit->durable = *next;
    commit->batches++;
    if (next->checkpoint >= commit->note_size)
        buf_clear(&commit->note);
    if (keyring)
        snapshot_swap(&keyring_snapshot, keyring);
    commit->db.registry_changed = false;
    batch_cut(&commit->batch, 0);
}

static enum committed end_batch(struct commit *commit)
{
    struct shared *keyring = NULL;
    struct head next = commit->durable;
    next.checkpoint = commit->batch.checkpoint;
    int64_t start_us = clock_mono_us();
    if (commit->db.registry_changed && !(keyring = keyring_build(&commit->db)))
        return undo(commit);
    if (!finish(commit, &next)) {
        keyring_free(keyring);
        return undo(commit);
    }
    publish(commit, &next, keyring);
    commit->took_us = clock_mono_us() - start_us;
    return COMMIT_DONE;
}

static bool begin(struct commit *commit)
{
    struct batch *batch = &commit->batch;
    commit->db.failure = FAILURE_NONE;
    batch->durable = commit->durable;
    batch->boot_seq = commit->durable.boot_seq;
    batch->checkpoint = commit->durable.checkpoint;
    return reload(commit) && !db_control(&commit->db, SQL_BEGIN);
}

enum committed commit_jobs(struct commit *commit, struct link *jobs, struct link **rest)
{
    struct db *db = &commit->db;
    *rest = jobs;
    if (!begin(commit))
        return undo(commit);
    bool changed = store_note(commit);
    changed |= run_jobs(commit, jobs, rest);
    if (db->failure)
        return undo(commit);
    if (changed)
        return end_batch(commit);
    return db_control(db, SQL_ROLLBACK) ? undo(commit) : COMMIT_DONE;
}

/* ---- around it ---- */

void commit_sign(struct commit *commit)
{
    const struct head *head = &commit->durable;
    buf_clear(&commit->note);
    if (signer_checkpoint(head->size, head->root, &commit->note))
        commit->note_size = head->size;
    else
        buf_clear(&commit->note);
}

void commit_checkpoint(struct commit *commit, bool last)
{
    struct db *db = &commit->db;
    int mode = last ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE;
    int code = sqlite3_wal_checkpoint_v2(db->handle, NULL, mode, NULL, NULL);
    db->failure = FAILURE_NONE;
    if (code != SQLITE_BUSY && db_judge(db, code) && db->failure == FAILURE_FATAL)
        commit_die("the WAL cannot be moved into the database");
}

/* Neither is taken away nor cut while it is ours: SQLite would write on into nowhere.
 */
static bool wal_is_there(struct commit *commit)
{
    struct stat now;
    const char *path =
        sqlite3_filename_wal(sqlite3_db_filename(commit->db.handle, "main"));
    if (stat(path, &now) != 0)
        return false; /* it is there since the first commit of this start */
    bool same = commit->wal_inode == 0
                || (commit->wal_inode == now.st_ino && now.st_size >= commit->wal_size);
    commit->wal_inode = now.st_ino;
    commit->wal_size = now.st_size;
    return same;
}

bool commit_file_is_there(struct commit *commit)
{
    int moved = 0;
    int code =
        sqlite3_file_control(commit->db.handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
    return code == SQLITE_OK && !moved && wal_is_there(commit);
}

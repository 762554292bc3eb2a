/* commit: one transaction for many jobs, all or nothing but for those that fail by
 * themselves.  Private to store/; STORE writer lane, and the start before it runs. */
#ifndef STORE_LANE_COMMIT_H
#define STORE_LANE_COMMIT_H

#include "base/snapshot.h"
#include "store/store.h"
#include "store/tree/batch.h"

enum { COMMIT_JOBS = 4096, COMMIT_BYTES = 4 << 20 };

struct commit {
    struct db db;
    struct batch batch;
    struct tree tree;
    bool stale; /* the tree ran ahead of the disk: load it again */
    struct head durable;
    struct buf note; /* a signed checkpoint that is not stored yet */
    uint64_t note_size;
    uint64_t wal_inode; /* 0: not looked at yet */
    int64_t wal_size, took_us;
    uint64_t batches;
};

enum committed {
    COMMIT_DONE,    /* durable; or there was nothing to write */
    COMMIT_REFUSED, /* nothing was written, every job of it failed or is to run again */
};

/* Runs jobs until one of the caps; `*rest` is the first that did not run.  Each
 * job->err is its own.  Ends the process when nobody knows what is on disk. */
enum committed commit_jobs(struct commit *commit, struct link *jobs,
                           struct link **rest);

/* Signs what is durable; the note is stored by the next commit_jobs. */
void commit_sign(struct commit *commit);

/* Moves the WAL into the database: a bit of it while running, all of it at the end. */
void commit_checkpoint(struct commit *commit, bool last);

bool commit_file_is_there(struct commit *commit);
_Noreturn void commit_die(const char *what);

#endif

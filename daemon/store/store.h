/* store: the database behind two lanes.
 *
 * One STORE writer thread owns the only connection that writes and checkpoints.  It
 * takes whatever queued up while the last fsync ran as one transaction, a savepoint a
 * job (group commit), and calls `done` only after COMMIT returned; so what `done` says
 * is durable.  One reader thread has a read-only connection and never delays the
 * writer.
 *
 * A full disk fails jobs with ERR_STORE and heals by itself; any other failure of a
 * commit ends the process with exit code 74, because what is on disk is then unknown
 * and only a restart can look (docs/ARCHITECTURE.md, "When the log cannot be written").
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "base/inbox.h"
#include "core/err.h"
#include "core/keys.h"
#include "core/tlog.h"

#include <stdbool.h>
#include <stdint.h>

struct db;

/* Embedded by its owner, who gives it away with store_write / store_read and gets it
 * back in `done`, on the store's thread: hand it on from there, do not work there. */
struct job {
    struct link link;
    enum err (*run)(struct job *job, struct db *db);
    void (*done)(struct job *job); /* job->err is the outcome */
    enum err err;
    bool urgent; /* the outcome of what was sent: never dropped, waits for the disk */
};

struct store_config {
    const char *folder;              /* holds sandgate.db and lock */
    const char *state_file;          /* last signed size and root; outside the folder */
    const char *origin;              /* the log's name */
    const char *gateway;             /* node name in records */
    const unsigned char *master_key; /* MASTER_KEY bytes; copied into locked memory */
    const unsigned char *log_seed;   /* TLOG_SEED bytes; likewise */
    int64_t checkpoint_ms;           /* at most one signed checkpoint in this time */
    size_t queue_max;                /* jobs that may wait; more are ERR_OVERLOADED */
};

enum { STORE_ERROR = 512 };

/* Opens, migrates, rebuilds the tree and re-hashes what no checkpoint covers, compares
 * with the state file, marks executing runs unknown, writes the sys start record.
 * `*exit_code` (2 rolled back, 65, 70, 74, 75 locked) and `error` say why not. */
bool store_start(const struct store_config *config, int *exit_code,
                 char error[static STORE_ERROR]);
void store_stop(void); /* runs what is queued, signs a last checkpoint, joins */

void store_write(struct job *job); /* any thread; may call done before it returns */
void store_read(struct job *job);  /* any thread */

/* 16 hex digits that name this start of the daemon. Any thread after the start. */
const char *store_boot(void);

/* May anything be promised now?  False while the disk is full. Any thread. */
bool store_writable(void);

struct store_counts {
    uint64_t log_size, checkpoint_size, batches, jobs;
    size_t queued;
    int64_t last_commit_us;
};
void store_counts(struct store_counts *counts); /* any thread */

#endif

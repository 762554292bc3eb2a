#include "store/store.h"

#include "base/clock.h"
#include "base/files.h"
#include "base/log.h"
#include "base/must.h"
#include "base/text.h"
#include "core/record.h"
#include "store/lane/reader.h"
#include "store/lane/writer.h"
#include "store/registry.h"
#include "store/secrets.h"
#include "store/start.h"
#include "store/tree/signer.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sysexits.h>
#include <unistd.h>

enum { PATH = 1024 };

static struct store {
    struct commit commit;
    char boot[17], path[PATH];
    int lock_fd;
} store = {.lock_fd = -1};

const char *store_boot(void)
{
    return store.boot;
}

/* ---- one store a folder ---- */

static bool lock(const char *folder, int *exit_code, char *error)
{
    char path[PATH], why[FILES_ERROR] = "the path is too long";
    *exit_code = EX_IOERR;
    if (!folder_make(folder, 0700, why)
        || !text_format(path, sizeof(path), "%s/lock", folder)
        || !text_format(store.path, sizeof(store.path), "%s/sandgate.db", folder)) {
        (void)text_format(error, STORE_ERROR, "%s: %s", folder, why);
        return false;
    }
    store.lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (store.lock_fd >= 0 && flock(store.lock_fd, LOCK_EX | LOCK_NB) == 0)
        return true;
    *exit_code = store.lock_fd < 0 ? EX_IOERR : EX_TEMPFAIL;
    (void)text_format(error, STORE_ERROR,
                      store.lock_fd < 0 ? "%s: cannot be opened"
                                        : "%s: another sandgated is using this folder",
                      path);
    return false;
}

/* ---- starting ---- */

static void new_boot(void)
{
    unsigned char bytes[8];
    keys_random(bytes, sizeof(bytes));
    text_hex(bytes, sizeof(bytes), store.boot);
}

static bool open_all(const struct store_config *config, int *exit_code, char *error)
{
    struct commit *commit = &store.commit;
    if (!lock(config->folder, exit_code, error))
        return false;
    *exit_code = EX_SOFTWARE;
    if (!secrets_start(config->master_key)) {
        (void)text_copy(error, STORE_ERROR,
                        "no lockable memory left for the master key");
        return false;
    }
    if (!signer_start(config, error)
        || !db_open_writer(&commit->db, store.path, exit_code, error))
        return false;
    batch_init(&commit->batch);
    commit->note = BUF(NOTE_MAX);
    commit->db.batch = &commit->batch;
    return true;
}

static void close_all(void)
{
    struct commit *commit = &store.commit;
    db_close(&commit->db);
    batch_free(&commit->batch);
    buf_free(&commit->note);
    signer_stop();
    secrets_stop();
    if (store.lock_fd >= 0)
        (void)close(store.lock_fd); /* and with it the lock */
    store.lock_fd = -1;
}

bool store_start(const struct store_config *config, int *exit_code,
                 char error[static STORE_ERROR])
{
    struct commit *commit = &store.commit;
    memset(&store, 0, sizeof(store));
    store.lock_fd = -1;
    new_boot();
    snapshot_init(&keyring_snapshot);
    record_start(config->gateway, store.boot);
    if (open_all(config, exit_code, error) && start_prove(commit, exit_code, error)
        && start_tell(commit, store.boot, error) && reader_start(store.path, error)) {
        writer_start(config, commit);
        return true;
    }
    snapshot_destroy(&keyring_snapshot);
    close_all();
    return false;
}

void store_stop(void)
{
    writer_stop();
    reader_stop();
    commit_checkpoint(&store.commit, true); /* the reader is gone: all of it can move */
    snapshot_destroy(&keyring_snapshot);
    close_all();
}

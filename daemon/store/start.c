#include "store/start.h"

#include "base/clock.h"
#include "base/embedded.h"
#include "base/log.h"
#include "base/text.h"
#include "core/doc.h"
#include "core/record.h"
#include "core/writer.h"
#include "store/log.h"
#include "store/runs.h"
#include "store/tree/signer.h"

#include <inttypes.h>
#include <string.h>
#include <sysexits.h>

enum { EXIT_ROLLED_BACK = 2, DETAIL_MAX = 4096, LEAF_DEPTH = 16 };

static bool refuse(int *exit_code, int code, char *error, const char *why, uint64_t at)
{
    *exit_code = code;
    (void)text_format(error, STORE_ERROR, "%s (record %" PRIu64 ")", why, at);
    return false;
}

/* ---- proving ---- */

struct found {
    uint64_t size, boot_seq, checkpoint;
    unsigned char root[HASH], seal[TLOG_SIGNATURE];
    bool any;
};

static bool read_head(struct db *db, struct found *found)
{
    enum err err = db_one(db, SQL_HEAD, NOTHING,
                          OUT(O(&found->size), EXACT(found->root, HASH),
                              O(&found->boot_seq), EXACT(found->seal, TLOG_SIGNATURE)));
    found->any = !err;
    return !err || err == ERR_NOT_FOUND;
}

/* Records behind the head, or none at it, are not what any batch left. */
static bool entries_end_at(struct db *db, uint64_t size)
{
    uint64_t last = 0;
    enum err err = db_one(db, SQL_ENTRY_LAST, NOTHING, OUT(O(&last)));
    return size ? !err && last == size - 1 : err == ERR_NOT_FOUND;
}

static bool same_root(struct db *db, uint64_t size, const unsigned char *root)
{
    unsigned char now[HASH];
    struct tree_reader reader = {.db = db};
    return tlog_root_at(tree_read, &reader, size, now) && memcmp(now, root, HASH) == 0;
}

/* The key is in the record that began the boot which wrote the head. */
static bool seal_holds(struct db *db, const struct found *found)
{
    struct bytes leaf;
    struct doc_error error;
    bool good = false;
    db_start(db, SQL_ENTRY, IN(P(found->boot_seq)));
    if (db_next(db, SQL_ENTRY, OUT(LENT(&leaf)))) {
        own_doc *doc = doc_parse(leaf.data, leaf.size, LEAF_DEPTH, false, &error);
        const struct node *detail = doc ? node_member(doc_root(doc), "detail") : NULL;
        good = detail
               && signer_check_seal(member_text(detail, "seal_key", ""), found->size,
                                    found->root, found->seal);
    }
    return db_end(db, SQL_ENTRY) == ERR_OK && good;
}

static bool checkpoint_holds(struct db *db, struct found *found)
{
    struct bytes note;
    struct checkpoint signed_head;
    uint64_t size;
    db_start(db, SQL_CHECKPOINT_LAST, NOTHING);
    bool any = db_next(db, SQL_CHECKPOINT_LAST, OUT(O(&size), LENT(&note)));
    bool good = !any
                || (signer_open(note.data, note.size, &signed_head)
                    && signed_head.size == size && size <= found->size);
    if (db_end(db, SQL_CHECKPOINT_LAST) || !good)
        return false;
    found->checkpoint = any ? size : 0;
    return !any || same_root(db, size, signed_head.root);
}

static bool state_holds(struct db *db, uint64_t size, int *exit_code, char *error)
{
    bool found;
    struct checkpoint state;
    if (!signer_state(&found, &state, error)) {
        *exit_code = EX_DATAERR;
        return false;
    }
    if (!found) {
        if (size)
            log_warn("store",
                     "no state file: a database that was rolled back would not "
                     "be noticed at this start");
        return true;
    }
    if (!text_same(state.origin, signer_origin()))
        return refuse(exit_code, EX_DATAERR, error,
                      "the state file is of a log with another origin", state.size);
    if (state.size > size)
        return refuse(exit_code, EXIT_ROLLED_BACK, error,
                      "ROLLBACK: the database is older than what was signed last",
                      state.size);
    if (!same_root(db, state.size, state.root))
        return refuse(exit_code, EXIT_ROLLED_BACK, error,
                      "ROLLBACK: the database is another one than what was signed last",
                      state.size);
    return true;
}

static bool log_holds(struct commit *commit, struct found *found, int *exit_code,
                      char *error)
{
    struct db *db = &commit->db;
    unsigned char root[HASH];
    uint64_t bad = found->size;
    if (!entries_end_at(db, found->size))
        return refuse(exit_code, EX_DATAERR, error,
                      "TAMPERED: the records do not end where the head says",
                      found->size);
    if (!checkpoint_holds(db, found))
        return refuse(exit_code, EX_DATAERR, error,
                      "TAMPERED: the newest checkpoint does not fit", found->size);
    if (!found->any)
        return true;
    if (tree_check(db, found->checkpoint, found->size, &bad) || bad != found->size)
        return refuse(exit_code, EX_DATAERR, error,
                      "TAMPERED: a record is not the one that was logged", bad);
    if (tree_load(db, found->size, &commit->tree))
        return refuse(exit_code, EX_DATAERR, error,
                      "TAMPERED: the tree lacks a tile or a record", found->size);
    frontier_root(&commit->tree.frontier, root);
    if (memcmp(root, found->root, HASH) != 0 || !seal_holds(db, found))
        return refuse(exit_code, EX_DATAERR, error,
                      "TAMPERED: the newest records are not those that were sealed",
                      found->size);
    return true;
}

bool start_prove(struct commit *commit, int *exit_code, char *error)
{
    struct found found = {0};
    *exit_code = EX_IOERR;
    if (!read_head(&commit->db, &found)) {
        (void)text_copy(error, STORE_ERROR, "the log's head cannot be read");
        return false;
    }
    /* the state file first: an old copy is sound in itself */
    if (!state_holds(&commit->db, found.size, exit_code, error)
        || !log_holds(commit, &found, exit_code, error))
        return false;
    commit->durable.size = found.size;
    commit->durable.boot_seq = found.boot_seq;
    commit->durable.checkpoint = found.checkpoint;
    memcpy(commit->durable.root, found.root, HASH);
    return true;
}

/* ---- telling ---- */

struct first_words {
    struct job job;
    const char *boot;
};

static enum err tell(struct db *db, const char *event, struct buf *detail,
                     struct receipt *receipt)
{
    struct record record = {.type = RECORD_SYS, .event = event, .detail = detail->data};
    return detail->failed ? ERR_STORE : log_append(db, &record, receipt);
}

static enum err tell_genesis(struct db *db)
{
    struct receipt receipt;
    own_buf detail = BUF(DETAIL_MAX);
    struct writer w = WRITER(&detail);
    write_open(&w, NULL, '{');
    write_text(&w, "origin", signer_origin());
    write_text(&w, "vkey", log_vkey());
    write_close(&w, '}');
    return tell(db, "genesis", &detail, &receipt);
}

static enum err tell_start(struct db *db, const char *boot)
{
    const struct head *before = &db->batch->durable;
    char key[2 * TLOG_PUBLIC + 1], root[2 * HASH + 1];
    struct receipt receipt = {0};
    own_buf detail = BUF(DETAIL_MAX);
    struct writer w = WRITER(&detail);
    signer_seal_key(key);
    text_hex(before->root, HASH, root);
    write_open(&w, NULL, '{');
    write_text(&w, "boot", boot);
    write_text(&w, "seal_key", key);
    write_text(&w, "version", embedded_version);
    write_text(&w, "sqlite", sqlite3_libversion());
    write_int(&w, "size", (int64_t)before->size);
    write_text(&w, "root", before->size ? root : NULL);
    write_close(&w, '}');
    enum err err = tell(db, "start", &detail, &receipt);
    db->batch->boot_seq = receipt.index;
    return err;
}

static enum err first_words(struct job *job, struct db *db)
{
    struct first_words *words = container_of(job, struct first_words, job);
    size_t recovered = 0;
    db->registry_changed = true; /* the first keyring */
    enum err err = db->batch->durable.size ? ERR_OK : tell_genesis(db);
    if (!err)
        err = tell_start(db, words->boot);
    if (!err)
        err = runs_recover(db, clock_wall_ms(), &recovered);
    if (recovered)
        log_warn("store", "runs=%zu were cut off by the last stop and are unknown now",
                 recovered);
    return err;
}

static bool batch(struct commit *commit, struct job *job)
{
    struct link *rest;
    return commit_jobs(commit, job ? &job->link : NULL, &rest) == COMMIT_DONE
           && (!job || !job->err);
}

bool start_tell(struct commit *commit, const char *boot, char *error)
{
    struct first_words words = {.job = {.run = first_words}, .boot = boot};
    const char *why = "the first records of this start cannot be written; "
                      "is the disk full?";
    bool told = batch(commit, &words.job);
    if (told) {
        commit_sign(commit); /* the seal's key is signed for before it is relied on */
        told = commit->note.size > 0;
        why = "the state file cannot be written";
    }
    if (told && batch(commit, NULL))
        return true;
    (void)text_copy(error, STORE_ERROR, why);
    return false;
}

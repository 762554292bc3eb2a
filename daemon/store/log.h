/* log: records into the tree, in the same transaction as the facts they tell.
 *
 * Append on the STORE writer lane inside a job; read on either lane. A receipt is valid
 * once the job is done. */
#ifndef STORE_LOG_H
#define STORE_LOG_H

#include "core/audit.h"
#include "core/record.h"
#include "store/store.h"

struct receipt {
    uint64_t index;
    unsigned char leaf[HASH];
    char id[RECORD_ID];
    uint64_t checkpoint; /* size of the newest signed checkpoint */
};

enum err log_append(struct db *db, struct record *record, struct receipt *receipt);

/* The same for a leaf that another thread wrote with record_write and hashed with
 * tlog_leaf already: keeps SHA-256 off the writer. */
enum err log_append_leaf(struct db *db, const char *leaf, size_t size,
                         const unsigned char hash[static HASH],
                         struct receipt *receipt);

/* "index:first 16 hex of the leaf hash:checkpoint size", the Sandgate-Record header. */
void receipt_text(const struct receipt *receipt, char out[static 80]);

/* ---- reading ---- */

/* Calls `each` with the leaf bytes of [first, end) in order; stops when it says false.
 */
enum err log_range(struct db *db, uint64_t first, uint64_t end,
                   bool (*each)(void *context, uint64_t index, const char *leaf,
                                size_t size),
                   void *context);

/* Newest first; `filter` is compared with the record's own members ("" or NULL: any).
 */
struct log_filter {
    const char *agent, *operation, *approval, *verdict, *target, *person, *kind;
    int64_t since_us, until_us; /* 0: open */
    uint64_t before;            /* indexes below this; UINT64_MAX: from the end */
    size_t limit;
};
enum err log_search(struct db *db, const struct log_filter *filter,
                    bool (*each)(void *context, uint64_t index, const char *leaf,
                                 size_t size),
                    void *context);

uint64_t log_size(struct db *db);
enum err log_latest_checkpoint(struct db *db,
                               struct buf *note); /* ERR_NOT_FOUND: none */

/* A self-contained export of [first, end) (core/audit.h), piece by piece through
 * `emit`. `end` is cut to the newest checkpoint's size unless it is UINT64_MAX (then
 * the sealed tail comes too). */
enum err log_export(struct db *db, uint64_t first, uint64_t end,
                    bool (*emit)(void *context, const char *bytes, size_t size),
                    void *context);

/* Signs a checkpoint for all that is durable; before an export, at stop. STORE lane. */
void log_checkpoint_now(struct db *db);

const char *log_vkey(void); /* the log key's verifier key; any thread after the start */

#endif

/* approval_rows: an approval as its columns, and what only the store knows of it.
 * Private to store/. */
#ifndef STORE_APPROVAL_ROWS_H
#define STORE_APPROVAL_ROWS_H

#include "store/approvals.h"
#include "store/db.h"

struct approval_row {
    struct approval approval;
    const char *state, *digest, *boot; /* as the columns have them */
    int64_t due_ms, due_mono_ms;       /* deadline of the state it is in */
    const char *due_boot;
};

enum { APPROVAL_PARAMS = 29, APPROVAL_COLUMNS = 42, APPROVAL_BOX = 64 << 20 };

/* The first APPROVAL_PARAMS of APPROVAL_ADD. */
void approval_params(const struct approval *held, struct param params[APPROVAL_PARAMS]);

/* Between db_start and db_end; the row's texts are the arena's. False: no more, or the
 * arena is full (db_end says). */
bool approval_next_row(struct db *db, enum sql sql, struct arena *arena,
                       struct approval_row *row);
enum err approval_row(struct db *db, const char *id, struct arena *arena,
                      struct approval_row *row);

/* Past its deadline by the stricter clock: then it can only expire. */
bool approval_past(int64_t due_ms, int64_t due_mono_ms, const char *due_boot,
                   int64_t now_ms);

/* ---- sealing (approval_seals.c) ---- */

/* A fresh key for this approval, sealed; and the call under it. */
enum err approval_seal_call(const char *id, const struct sealed_call *call,
                            struct buf *key_box, struct buf *call_box);
/* Opens the call and checks that its bytes have the row's digest still. */
enum err approval_open_call(struct db *db, const struct approval *approval,
                            struct arena *arena, struct sealed_call *call);
/* The answer under the approval's own key, for APPROVAL_SETTLE. */
enum err approval_seal_answer(struct db *db, const char *id,
                              const struct answer *answer, struct buf *box);

#endif

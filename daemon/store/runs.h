/* runs: one execution of a non-read call against E2B, approved or directly allowed.
 *
 * Begun (durable) before the first byte leaves, settled before anybody hears of it.  A
 * run that is found executing at start is unknown and is never sent again. */
#ifndef STORE_RUNS_H
#define STORE_RUNS_H

#include "store/store.h"

struct run {
    const char *id, *approval /* or "" */, *agent, *environment, *operation, *target_id;
    const unsigned char *digest;
    const char *intent_id; /* id of the intent record */
    int64_t started_ms;
};

enum run_outcome { RUN_OK, RUN_FAILED, RUN_UNKNOWN, RUN_NOT_SENT };

enum err runs_begin(struct db *db, const struct run *run);
enum err runs_settle(struct db *db, const char *id, enum run_outcome outcome,
                     int status, int64_t now_ms);
const char *run_outcome_name(enum run_outcome outcome);

/* Runs that a stop or a crash left executing; `each` appends the outcome record, the
 * approval (if any) is moved too. At start, before listening. */
enum err runs_recover(struct db *db, int64_t now_ms, size_t *recovered);

#endif

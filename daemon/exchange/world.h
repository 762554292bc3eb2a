/* world: what every exchange may look at: the workers, settings, the state of stopping.
 *
 * Filled once by main before the first worker runs; constant afterwards but for
 * `draining`.  Policy and keyring are behind their own snapshots. */
#ifndef EXCHANGE_WORLD_H
#define EXCHANGE_WORLD_H

#include "core/redact.h"
#include "exchange/worker.h"
#include "serve/serve.h"

#include <stdbool.h>

enum { WORKERS_MAX = 65 };

struct world {
    struct worker *workers; /* the last one is control */
    size_t worker_count;
    unsigned char hash_key[REDACT_KEY]; /* keyed hashes in records and cards */
    const char *approve_hint;           /* "sandgate approvals approve" or a URL */
    int64_t cooldown_ms; /* a declined call is refused again for so long */
    int64_t answer_ms;   /* the longest that E2B may take */
    size_t runs_max;     /* approved calls on their way at once */
    bool draining;       /* atomic */
};

extern struct world world;

static inline struct worker *control_worker(void)
{
    return &world.workers[world.worker_count - 1];
}

/* ---- what happens outside of any single exchange; any thread ---- */

/* Tells whoever waits for the approval, and starts it when it is to run. */
void announce(const struct announcement *announcement);

/* Puts an approved call in the executor's line. */
void executor_enqueue(const char *approval);
bool executor_idle(void); /* control thread */

/* Due approvals expire, once a second, from the control loop. Call before it runs. */
void sweep_start(void);

/* Puts all approved calls that are due in line: those that a stop, a full disk or a
 * lack of memory left behind. One that is there already is claimed once all the same.
 */
void executor_recover(void);

/* Reads the policy folder again, as SIGHUP asks. */
void reload_policy(const char *by);

/* Parked exchanges are answered 423 now; new ones 503.  */
void drain_start(void);

#endif

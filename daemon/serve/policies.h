/* policies: the policy set in force, and how it is replaced.
 *
 * Read, check, record, swap; on any error the old set stays. Readers take the snapshot
 * and let it go when their verdict is no longer needed. */
#ifndef SERVE_POLICIES_H
#define SERVE_POLICIES_H

#include "base/buf.h"
#include "base/snapshot.h"
#include "core/policy.h"
#include "store/store.h"

extern struct snapshot policy_snapshot; /* of struct policy */

/* Reads every *.json below the folder (none, or no folder: built-in defaults) and
 * compiles it. NULL: `messages` says why. Blocks on the disk. */
struct policy *policies_read(const char *folder, struct buf *messages);

/* Appends policy.activated and, once that is durable, `policies_activate` swaps; on a
 * set that does not load appends policy.rejected. Inside a STORE job. */
enum err policies_record(struct db *db, const struct policy *fresh,
                         const char *messages, const char *by);
void policies_activate(struct policy *fresh); /* gives it */

/* For status and /ready: digest in force, since when, and since when a newer set on
 * disk was refused (0: it was not). */
struct policies_state {
    char digest[20];
    size_t files, rules;
    int64_t since_ms, refused_ms;
};
void policies_state(struct policies_state *state);
void policies_refused(int64_t now_ms);
void policies_folder(const char *folder); /* set once at start */
const char *policies_folder_path(void);

#endif

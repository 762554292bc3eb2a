/* snapshot: a pointer to something immutable that one thread replaces and many read.
 *
 * A reader takes the current value and lets it go; a replaced value is freed when its
 * last reader has let it go.  Policy set and keyring live behind one each. */
#ifndef BASE_SNAPSHOT_H
#define BASE_SNAPSHOT_H

#include <pthread.h>

/* Embedded as the first member of what is shared. */
struct shared {
    int readers; /* atomic; the pointer itself counts as one */
    void (*free)(struct shared *shared);
};

struct snapshot {
    pthread_mutex_t lock;
    struct shared *current;
};

void snapshot_init(struct snapshot *snapshot);
void snapshot_destroy(struct snapshot *snapshot);

/* `next` is given; its reader count is set here. */
void snapshot_swap(struct snapshot *snapshot, struct shared *next);

struct shared *snapshot_take(struct snapshot *snapshot); /* may be NULL */
void snapshot_drop(struct shared *shared);               /* NULL is fine */

#endif

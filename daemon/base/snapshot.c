#include "base/snapshot.h"

#include "base/must.h"

void snapshot_init(struct snapshot *snapshot)
{
    snapshot->current = NULL;
    must(pthread_mutex_init(&snapshot->lock, NULL) == 0);
}

void snapshot_destroy(struct snapshot *snapshot)
{
    snapshot_swap(snapshot, NULL);
    (void)pthread_mutex_destroy(&snapshot->lock);
}

void snapshot_swap(struct snapshot *snapshot, struct shared *next)
{
    if (next)
        __atomic_store_n(&next->readers, 1, __ATOMIC_RELAXED);
    (void)pthread_mutex_lock(&snapshot->lock);
    struct shared *old = snapshot->current;
    snapshot->current = next;
    (void)pthread_mutex_unlock(&snapshot->lock);
    snapshot_drop(old);
}

struct shared *snapshot_take(struct snapshot *snapshot)
{
    /* The lock covers load and count together; without it the value could be freed
     * in between. */
    (void)pthread_mutex_lock(&snapshot->lock);
    struct shared *current = snapshot->current;
    if (current)
        (void)__atomic_add_fetch(&current->readers, 1, __ATOMIC_RELAXED);
    (void)pthread_mutex_unlock(&snapshot->lock);
    return current;
}

void snapshot_drop(struct shared *shared)
{
    if (shared && __atomic_sub_fetch(&shared->readers, 1, __ATOMIC_ACQ_REL) == 0)
        shared->free(shared);
}

/* parking: exchanges of one worker that wait for an approval to move, by its id.
 *
 * Belongs to the worker's thread.  Several exchanges may wait for the same approval. */
#ifndef EXCHANGE_PARKING_H
#define EXCHANGE_PARKING_H

#include <stddef.h>

enum { PARKING_BUCKETS = 4096 };

/* Embedded in the exchange. */
struct parked {
    struct parked *next, **place; /* place: what points to us; NULL when not parked */
    const char *approval;
};

struct parking {
    struct parked *buckets[PARKING_BUCKETS];
    size_t count;
};

void parking_add(struct parking *parking, struct parked *parked, const char *approval);
void parking_remove(struct parking *parking, struct parked *parked); /* fine when out */

/* Calls `each` for those that wait for `approval` (NULL: for all). `each` may remove
 * its own entry. */
void parking_each(struct parking *parking, const char *approval,
                  void (*each)(struct parked *parked, void *context), void *context);

#endif

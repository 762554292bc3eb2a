#include "exchange/parking.h"

#include "base/must.h"
#include "base/text.h"

#include <stdint.h>

static size_t bucket_of(const char *approval)
{
    uint32_t hash = 2166136261u; /* FNV-1a: ids are ours, nobody can aim */
    for (const char *at = approval; *at; at++)
        hash = (hash ^ (unsigned char)*at) * 16777619u;
    return hash % PARKING_BUCKETS;
}

void parking_add(struct parking *parking, struct parked *parked, const char *approval)
{
    must(!parked->place);
    struct parked **head = &parking->buckets[bucket_of(approval)];
    *parked = (struct parked){.next = *head, .place = head, .approval = approval};
    if (parked->next)
        parked->next->place = &parked->next;
    *head = parked;
    parking->count++;
}

void parking_remove(struct parking *parking, struct parked *parked)
{
    if (!parked->place)
        return;
    *parked->place = parked->next;
    if (parked->next)
        parked->next->place = parked->place;
    parked->place = NULL;
    parking->count--;
}

static void each_in(struct parked *parked, const char *approval,
                    void (*each)(struct parked *parked, void *context), void *context)
{
    while (parked) {
        struct parked *next = parked->next;
        if (!approval || text_same(parked->approval, approval))
            each(parked, context);
        parked = next;
    }
}

void parking_each(struct parking *parking, const char *approval,
                  void (*each)(struct parked *parked, void *context), void *context)
{
    if (approval) {
        each_in(parking->buckets[bucket_of(approval)], approval, each, context);
        return;
    }
    for (size_t i = 0; i < PARKING_BUCKETS; i++)
        each_in(parking->buckets[i], NULL, each, context);
}

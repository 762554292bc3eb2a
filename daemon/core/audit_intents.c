/* A hash table with open addressing: half of an id is chance already. */
#include "core/audit_intents.h"

#include "base/memory.h"
#include "base/must.h"

#include <string.h>

enum { FIRST_ROOM = 256 };

void intents_free(struct intents *intents)
{
    memory_free(intents->slots);
    *intents = (struct intents){.slots = NULL};
}

static size_t home_of(const struct intents *intents,
                      const unsigned char id[static INTENT_ID])
{
    uint64_t chance;
    memcpy(&chance, id + INTENT_ID / 2, sizeof(chance));
    chance *= 0x9e3779b97f4a7c15; /* spreads ids that are not by chance, too */
    return (size_t)(chance >> 32) & (intents->room - 1);
}

static size_t behind(const struct intents *intents, size_t slot)
{
    return (slot + 1) & (intents->room - 1);
}

/* Where the id is, or the free slot where it would be. */
static size_t find(const struct intents *intents,
                   const unsigned char id[static INTENT_ID])
{
    size_t at = home_of(intents, id);
    while (intents->slots[at].used && memcmp(intents->slots[at].id, id, INTENT_ID) != 0)
        at = behind(intents, at);
    return at;
}

/* Half of the slots stay free. */
static void make_room(struct intents *intents)
{
    if (intents->slots && intents->count < intents->room / 2)
        return;
    struct intents larger = {.room = intents->slots ? 2 * intents->room : FIRST_ROOM,
                             .count = intents->count};
    larger.slots = memory_new(larger.room * sizeof(*larger.slots));
    must(larger.slots); /* without memory there is no verification */
    for (size_t i = 0; intents->slots && i < intents->room; i++)
        if (intents->slots[i].used)
            larger.slots[find(&larger, intents->slots[i].id)] = intents->slots[i];
    memory_free(intents->slots);
    *intents = larger;
}

enum intents_add intents_add(struct intents *intents, const struct intent *intent)
{
    make_room(intents);
    struct intent *slot = &intents->slots[find(intents, intent->id)];
    if (slot->used)
        return INTENT_TWICE;
    if (intents->count == INTENTS_MAX)
        return INTENT_NO_ROOM;
    *slot = *intent;
    slot->used = true;
    intents->count++;
    return INTENT_ADDED;
}

/* Moves back what was pushed on by the one that left `hole`. */
static void close_hole(struct intents *intents, size_t hole)
{
    for (size_t at = behind(intents, hole); intents->slots[at].used;
         at = behind(intents, at)) {
        size_t home = home_of(intents, intents->slots[at].id), mask = intents->room - 1;
        if (((at - home) & mask) < ((at - hole) & mask))
            continue; /* its home lies behind the hole */
        intents->slots[hole] = intents->slots[at];
        hole = at;
    }
    intents->slots[hole].used = false;
}

bool intents_take(struct intents *intents, const unsigned char id[static INTENT_ID])
{
    if (!intents->slots)
        return false;
    size_t at = find(intents, id);
    if (!intents->slots[at].used)
        return false;
    close_hole(intents, at);
    intents->count--;
    return true;
}

const struct intent *intents_next(const struct intents *intents, uint64_t from)
{
    const struct intent *next = NULL;
    for (size_t i = 0; intents->slots && i < intents->room; i++) {
        const struct intent *one = &intents->slots[i];
        if (one->used && one->index >= from && (!next || one->index < next->index))
            next = one;
    }
    return next;
}

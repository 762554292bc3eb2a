/* audit_intents: the runs that were begun and not yet told the end of; bounded. */
#ifndef CORE_AUDIT_INTENTS_H
#define CORE_AUDIT_INTENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { INTENT_ID = 16, INTENTS_MAX = 1 << 16 };

struct intent {
    unsigned char id[INTENT_ID];
    uint64_t index;
    int64_t wall_us;
    unsigned boot; /* which boot of the export, counted */
    bool used;
};

struct intents {
    struct intent *slots; /* NULL until the first */
    size_t room, count;   /* room is a power of two */
};

void intents_free(struct intents *intents);

enum intents_add { INTENT_ADDED, INTENT_TWICE, INTENT_NO_ROOM };
enum intents_add intents_add(struct intents *intents, const struct intent *intent);

/* False: there is none, or it was taken before. */
bool intents_take(struct intents *intents, const unsigned char id[static INTENT_ID]);

/* Those that are left, in the order of their index: the first at or behind `from`. */
const struct intent *intents_next(const struct intents *intents, uint64_t from);

#endif

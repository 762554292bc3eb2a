/* record_view: what an auditor reads out of a leaf's bytes. */
#ifndef CORE_RECORD_VIEW_H
#define CORE_RECORD_VIEW_H

#include "core/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct record_view {
    enum record_type type;
    enum record_phase phase;
    char id[RECORD_ID];
    char ref[65], event[65], boot[17]; /* "" when absent */
    int64_t wall_us, mono_us;
    const char *detail; /* in the leaf; NULL when absent */
    size_t detail_size;
};

/* record_check, and the members above. */
bool record_read(const char *leaf, size_t size, struct record_view *view,
                 char why[static RECORD_WHY]);

#endif

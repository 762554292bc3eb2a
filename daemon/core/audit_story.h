/* audit_story: does what the records tell make sense?  Odd is not forged: these
 * findings are anomalies and remarks.  Keeps the seal key that the last start
 * announced. */
#ifndef CORE_AUDIT_STORY_H
#define CORE_AUDIT_STORY_H

#include "core/audit_findings.h"
#include "core/audit_intents.h"
#include "core/note.h"
#include "core/record_view.h"

#include <stdbool.h>
#include <stdint.h>

struct story {
    struct findings *findings;
    bool partial; /* the export does not begin with the log */
    bool begun;   /* the members below are set */
    char boot[17];
    unsigned boots; /* counts them */
    int64_t start_us, last_us;
    struct intents intents;
    bool full;                   /* more open intents than can be followed */
    uint64_t outcomes_of_before; /* of intents before the export */
    uint64_t steps_back;         /* of the clock */
    uint64_t first_step;

    bool has_seal;
    uint64_t seal_index; /* of the record that announced it */
    unsigned char seal_key[TLOG_PUBLIC];
};

void story_start(struct story *story, struct findings *findings, bool partial);
void story_free(struct story *story);
void story_add(struct story *story, uint64_t index, const struct record_view *record);
void story_finish(struct story *story);

#endif

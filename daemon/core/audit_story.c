#include "core/audit_story.h"

#include "base/must.h"
#include "base/text.h"
#include "core/doc.h"

#include <string.h>

enum { DETAIL_DEPTH = 48, SHOWN_MAX = 20 };

/* Records are written by several threads before they queue up, so that their times may
 * overlap; a run that takes longer than this is not running any more. */
static const int64_t overlap_us = 10 * 1000000LL, run_us = 3600 * 1000000LL;

void story_start(struct story *story, struct findings *findings, bool partial)
{
    *story = (struct story){.findings = findings, .partial = partial};
}

void story_free(struct story *story)
{
    intents_free(&story->intents);
}

/* ---- starts ---- */

static void read_seal_key(struct story *story, uint64_t index,
                          const struct record_view *record)
{
    struct doc_error error;
    story->has_seal = false;
    if (!record->detail)
        return;
    own_doc *doc =
        doc_parse(record->detail, record->detail_size, DETAIL_DEPTH, false, &error);
    if (!doc)
        return;
    const char *key = member_text(doc_root(doc), "seal_key", "");
    story->has_seal = text_unhex(key, story->seal_key, TLOG_PUBLIC);
    story->seal_index = index;
}

static void follow_boot(struct story *story, uint64_t index,
                        const struct record_view *record)
{
    bool start = record->type == RECORD_SYS && text_same(record->event, "start");
    bool same = story->begun && text_same(story->boot, record->boot);
    if (start)
        read_seal_key(story, index, record);
    if (same)
        return;
    if (story->begun && !start)
        findings_add(story->findings, AUDIT_ANOMALIES,
                     "record %llu is of boot %s, which no start record before it "
                     "announced",
                     number(index), record->boot);
    story->boots++;
    (void)text_copy(story->boot, sizeof(story->boot), record->boot); /* fits */
}

/* ---- time ---- */

static void follow_time(struct story *story, uint64_t index,
                        const struct record_view *record)
{
    if (!story->begun) {
        story->start_us = record->wall_us;
    } else if (record->wall_us < story->last_us - overlap_us) {
        if (story->steps_back == 0)
            story->first_step = index;
        story->steps_back++;
    }
    story->last_us = record->wall_us;
}

/* ---- intents and outcomes ---- */

static void begin_run(struct story *story, uint64_t index,
                      const struct record_view *record)
{
    struct intent intent = {
        .index = index, .wall_us = record->wall_us, .boot = story->boots};
    must(text_unhex(record->id, intent.id, INTENT_ID)); /* record_read saw to it */
    switch (intents_add(&story->intents, &intent)) {
    case INTENT_ADDED:
        return;
    case INTENT_TWICE:
        findings_add(story->findings, AUDIT_ANOMALIES,
                     "record %llu has the id of an earlier intent", number(index));
        return;
    case INTENT_NO_ROOM:
        if (!story->full)
            findings_add(story->findings, AUDIT_ANOMALIES,
                         "at record %llu more than %d intents wait for an outcome: "
                         "they are not followed any further",
                         number(index), INTENTS_MAX);
        story->full = true;
        return;
    }
}

/* Ids begin with the microsecond that they were made in. */
static bool before_export(const struct story *story, const unsigned char id[INTENT_ID])
{
    uint64_t made_us = 0;
    for (size_t i = 0; i < 8; i++)
        made_us = made_us << 8 | id[i];
    return story->partial && made_us <= (uint64_t)(story->start_us + overlap_us);
}

static void end_run(struct story *story, uint64_t index,
                    const struct record_view *record)
{
    unsigned char id[INTENT_ID];
    if (!text_unhex(record->ref, id, sizeof(id)))
        findings_add(story->findings, AUDIT_ANOMALIES,
                     "record %llu is an outcome that names no intent", number(index));
    else if (intents_take(&story->intents, id) || story->full)
        return;
    else if (before_export(story, id))
        story->outcomes_of_before++;
    else
        findings_add(story->findings, AUDIT_ANOMALIES,
                     "record %llu is an outcome of %s, which is no open intent before "
                     "it: unknown, or ended already",
                     number(index), record->ref);
}

void story_add(struct story *story, uint64_t index, const struct record_view *record)
{
    follow_boot(story, index, record);
    follow_time(story, index, record);
    story->begun = true;
    if (record->type != RECORD_CALL)
        return;
    if (record->phase == PHASE_INTENT)
        begin_run(story, index, record);
    else if (record->phase == PHASE_OUTCOME)
        end_run(story, index, record);
}

/* ---- the end ---- */

/* Nobody can be running it any more. */
static bool orphaned(const struct story *story, const struct intent *intent)
{
    return intent->boot != story->boots || story->last_us - intent->wall_us > run_us;
}

static void tell_intents(const struct story *story)
{
    size_t orphans = 0, running = 0;
    const struct intent *one = intents_next(&story->intents, 0);
    for (size_t i = 0; one && i < SHOWN_MAX;
         i++, one = intents_next(&story->intents, one->index + 1)) {
        bool orphan = orphaned(story, one);
        orphans += orphan;
        running += !orphan;
        findings_add(story->findings, orphan ? AUDIT_ANOMALIES : AUDIT_VERIFIED,
                     orphan ? "record %llu is an intent whose outcome was never told"
                            : "record %llu is an intent without outcome yet",
                     number(one->index));
    }
    if (orphans + running < story->intents.count)
        findings_add(story->findings, orphans ? AUDIT_ANOMALIES : AUDIT_VERIFIED,
                     "%zu intents have no outcome", story->intents.count);
}

void story_finish(struct story *story)
{
    tell_intents(story);
    story->findings->report->intents_open = (unsigned)story->intents.count;
    if (story->outcomes_of_before)
        findings_add(story->findings, AUDIT_VERIFIED,
                     "%llu outcomes belong to intents before the export",
                     number(story->outcomes_of_before));
    if (story->steps_back)
        findings_add(story->findings, AUDIT_VERIFIED,
                     "the clock stepped back %llu times, first at record %llu",
                     number(story->steps_back), number(story->first_step));
}

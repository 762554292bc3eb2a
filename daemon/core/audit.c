#include "core/audit.h"

#include "base/must.h"
#include "base/text.h"
#include "core/audit_line.h"
#include "core/audit_story.h"
#include "core/audit_walk.h"

#include <string.h>

enum { TEXT_MAX = 128 << 10 };

struct audit {
    struct findings findings;
    struct audit_report *report;
    struct walk walk;
    struct story story;
    struct line line;
    uint64_t number; /* of the line, from 1 */

    char name[TLOG_ORIGIN]; /* the auditor's key */
    unsigned char key[TLOG_PUBLIC];
    struct checkpoint since; /* the auditor's checkpoint */
    bool has_since, since_met;

    bool ended;         /* the head was there */
    uint64_t unknown;   /* checkpoints of other keys */
    bool any_signature; /* one that counts was good */
    bool any_checkpoint;
};

/* ---- the auditor's checkpoint ---- */

/* As soon as the tree is that large. */
static void meet_since(struct audit *audit)
{
    struct walk *walk = &audit->walk;
    uint64_t size = audit->since.size;
    if (!audit->has_since || audit->since_met || walk->at < size)
        return;
    switch (walk_compare(walk, size, audit->since.root, "by your checkpoint")) {
    case MATCH_READ:
    case MATCH_TOLD:
        audit->any_signature = true;
        break;
    case MATCH_AWAY:
        return; /* it lies within a subtree: told at the end */
    case MATCH_NONE:
        findings_add(&audit->findings, AUDIT_ROLLED_BACK,
                     "at size %llu this is not the log that your checkpoint signs",
                     number(size));
        break;
    case MATCH_LOST:
        break;
    }
    audit->since_met = true;
}

static void finish_since(struct audit *audit)
{
    uint64_t size = audit->since.size, end = audit->walk.end;
    if (audit->has_since && end < size && end <= audit->walk.at)
        findings_add(&audit->findings, AUDIT_UNVERIFIABLE,
                     "your checkpoint covers %llu records, the export ends with record "
                     "%llu: ask for the rest",
                     number(size), number(end) - 1);
    if (!audit->has_since || audit->since_met)
        return;
    if (size > audit->walk.at)
        findings_add(&audit->findings, AUDIT_ROLLED_BACK,
                     "the log ends at %llu, your checkpoint is of size %llu",
                     number(audit->walk.at), number(size));
    else
        findings_add(&audit->findings, AUDIT_UNVERIFIABLE,
                     "your checkpoint of size %llu cannot be compared: export from a "
                     "record at or before it",
                     number(size));
}

/* ---- lines ---- */

static void take_record(struct audit *audit, const char *text, size_t size)
{
    unsigned char hash[HASH];
    char why[RECORD_WHY];
    struct record_view view;
    tlog_leaf(text, size, hash);
    int64_t index = walk_record(&audit->walk, hash);
    audit->report->records++;
    if (index < 0)
        return;
    if (record_read(text, size, &view, why)) {
        story_add(&audit->story, (uint64_t)index, &view);
        return;
    }
    findings_add(&audit->findings, AUDIT_TAMPERED, "line %llu, record %lld: %s",
                 number(audit->number), (long long)index, why);
    findings_bad(&audit->findings, (uint64_t)index, (uint64_t)index + 1);
}

static void take_good(struct audit *audit, const struct checkpoint *checkpoint)
{
    struct walk *walk = &audit->walk;
    if (audit->any_checkpoint && checkpoint->size == audit->report->size)
        findings_add(&audit->findings, AUDIT_TAMPERED,
                     "line %llu: a second checkpoint of the same size",
                     number(audit->number));
    audit->any_checkpoint = true;
    walk_expect(walk, checkpoint->size, "a checkpoint");
    switch (walk_compare(walk, checkpoint->size, checkpoint->root, "by a checkpoint")) {
    case MATCH_READ:
    case MATCH_TOLD:
        audit->any_signature = true;
        audit->report->size = checkpoint->size;
        return;
    case MATCH_NONE:
    case MATCH_AWAY:
        walk_refuse(walk, checkpoint->size, "the signed checkpoint");
        return;
    case MATCH_LOST:
        return;
    }
}

static void take_checkpoint(struct audit *audit)
{
    struct checkpoint checkpoint;
    const struct buf *note = &audit->line.note;
    switch (
        checkpoint_open(note->data, note->size, audit->name, audit->key, &checkpoint)) {
    case NOTE_GOOD:
        if (text_same(checkpoint.origin, audit->name))
            take_good(audit, &checkpoint);
        else
            findings_add(&audit->findings, AUDIT_TAMPERED,
                         "line %llu: a checkpoint of another log",
                         number(audit->number));
        return;
    case NOTE_MALFORMED:
        findings_add(&audit->findings, AUDIT_TAMPERED,
                     "line %llu: no gateway writes such a checkpoint",
                     number(audit->number));
        return;
    case NOTE_BAD_SIGNATURE:
        findings_add(&audit->findings, AUDIT_TAMPERED,
                     "line %llu: the signature of this checkpoint is not right",
                     number(audit->number));
        return;
    case NOTE_UNKNOWN_KEY:
        if (audit->unknown++ == 0)
            findings_add(&audit->findings, AUDIT_UNVERIFIABLE,
                         "line %llu: a checkpoint that your key did not sign",
                         number(audit->number));
        return;
    }
}

/* What the seal over the tail is worth; NULL: it counts. */
static const char *seal_doubt(const struct audit *audit)
{
    if (!audit->line.sealed)
        return "they have no seal either";
    if (!audit->story.has_seal)
        return "the start record with the key of their seal is not in the export";
    if (audit->story.seal_index >= audit->walk.proven)
        return "the key of their seal is announced among themselves";
    return NULL;
}

static void take_tail(struct audit *audit, const struct checkpoint *head)
{
    struct walk *walk = &audit->walk;
    const char *doubt = seal_doubt(audit);
    if (doubt) {
        findings_add(&audit->findings, AUDIT_UNVERIFIABLE,
                     "the records %llu to %llu are under no checkpoint, and %s",
                     number(walk->proven), number(head->size - 1), doubt);
        return;
    }
    uint64_t from = walk->proven;
    switch (walk_compare(walk, head->size, head->root, "by the seal")) {
    case MATCH_READ:
    case MATCH_TOLD:
        findings_add(&audit->findings, AUDIT_VERIFIED,
                     "the records %llu to %llu are only sealed: a checkpoint is yet to "
                     "come",
                     number(from), number(head->size - 1));
        return;
    case MATCH_NONE:
    case MATCH_AWAY:
        walk_refuse(walk, head->size, "the sealed head");
        return;
    case MATCH_LOST:
        return;
    }
}

static void take_head(struct audit *audit)
{
    struct walk *walk = &audit->walk;
    const struct line *line = &audit->line;
    struct checkpoint head = {.size = line->size};
    unsigned char own[HASH];
    memcpy(head.root, line->hash, HASH);
    (void)text_copy(head.origin, sizeof(head.origin), audit->name); /* fits */
    audit->ended = true;
    walk_expect(walk, head.size, "the head");
    bool last_start_known = audit->story.has_seal && walk->end == head.size;
    if (line->sealed && last_start_known
        && !seal_check(&head, audit->story.seal_key, line->seal)) {
        findings_add(&audit->findings, AUDIT_TAMPERED,
                     "the head's seal is not of the key that record %llu announced",
                     number(audit->story.seal_index));
        return;
    }
    if (head.size > walk->proven) {
        take_tail(audit, &head);
        return;
    }
    frontier_root(&walk->read, own);
    if (!walk->lost && memcmp(own, head.root, HASH) != 0)
        findings_add(&audit->findings, AUDIT_TAMPERED,
                     "the head is not the tree's that the records make");
}

static void take_line(struct audit *audit, const char *text, size_t size)
{
    line_read(&audit->line, text, size);
    if (audit->ended) {
        findings_add(&audit->findings, AUDIT_TAMPERED,
                     "line %llu: something behind the head", number(audit->number));
        return;
    }
    switch (audit->line.kind) {
    case LINE_RECORD:
        take_record(audit, text, size);
        break;
    case LINE_SUBTREE:
        walk_subtree(&audit->walk, &audit->line);
        break;
    case LINE_TILE:
        walk_tile(&audit->walk, &audit->line);
        break;
    case LINE_CHECKPOINT:
        take_checkpoint(audit);
        break;
    case LINE_HEAD:
        take_head(audit);
        break;
    case LINE_HEADER:
    case LINE_MALFORMED:
        findings_add(&audit->findings, AUDIT_TAMPERED,
                     "line %llu: no gateway writes such a line here",
                     number(audit->number));
        break;
    }
    meet_since(audit);
}

/* ---- beginning and end ---- */

static bool begin(struct audit *audit, const struct audit_input *input)
{
    const char *text;
    size_t size;
    if (!vkey_read(input->vkey, audit->name, audit->key)) {
        findings_add(&audit->findings, AUDIT_UNVERIFIABLE, "this is no verifier key");
        return false;
    }
    audit->has_since = input->since != NULL;
    if (input->since
        && checkpoint_open(input->since, input->since_size, audit->name, audit->key,
                           &audit->since)
               != NOTE_GOOD) {
        findings_add(&audit->findings, AUDIT_UNVERIFIABLE,
                     "the older checkpoint is none that your key signed");
        audit->has_since = false;
    }
    audit->number = 1;
    if (input->line(input->context, &text, &size))
        line_read(&audit->line, text, size);
    if (audit->line.kind != LINE_HEADER) {
        findings_add(&audit->findings, AUDIT_UNVERIFIABLE,
                     "this is no export of version %d: its first line is no header",
                     AUDIT_VERSION);
        return false;
    }
    if (!text_same(audit->line.origin, audit->name)) {
        findings_add(&audit->findings, AUDIT_UNVERIFIABLE,
                     "this is an export of %s, your key is of %s", audit->line.origin,
                     audit->name);
        return false;
    }
    walk_start(&audit->walk, &audit->findings, audit->line.first, audit->line.end);
    audit->report->first = audit->line.first;
    audit->report->end = audit->line.end;
    story_start(&audit->story, &audit->findings, audit->line.first > 0);
    meet_since(audit);
    return true;
}

static void finish(struct audit *audit)
{
    const struct walk *walk = &audit->walk;
    walk_finish(&audit->walk);
    finish_since(audit);
    if (audit->unknown > 1)
        findings_add(&audit->findings, AUDIT_UNVERIFIABLE,
                     "%llu checkpoints are not signed by your key",
                     number(audit->unknown));
    if (!audit->ended)
        findings_add(&audit->findings, AUDIT_UNVERIFIABLE,
                     "the export stops before its head: it is not whole");
    else if (walk->at < walk->end && !walk->lost)
        findings_add(&audit->findings, AUDIT_TAMPERED,
                     "the export promises the records up to %llu and ends at %llu",
                     number(walk->end), number(walk->at));
    if (!audit->any_signature)
        findings_add(&audit->findings, AUDIT_UNVERIFIABLE,
                     "nothing in the export is signed by your key");
    story_finish(&audit->story);
}

void audit_verify(const struct audit_input *input, struct audit_report *report)
{
    struct audit audit = {.report = report};
    const char *text;
    size_t size;
    *report =
        (struct audit_report){.first_bad = -1, .bad_end = -1, .text = BUF(TEXT_MAX)};
    audit.findings.report = report;
    line_init(&audit.line);
    if (begin(&audit, input)) {
        while (input->line(input->context, &text, &size)) {
            audit.number++;
            take_line(&audit, text, size);
        }
        finish(&audit);
    }
    report->verdict = findings_verdict(&audit.findings);
    story_free(&audit.story);
    line_free(&audit.line);
}

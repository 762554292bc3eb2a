/* A log in memory with two boots, its export as lines that can be tampered with, and
 * the auditor.  For the tests of core/audit and its fuzz target. */
#ifndef TESTS_AUDIT_RIG_H
#define TESTS_AUDIT_RIG_H

#include "core/audit.h"
#include "core/keys.h"
#include "core/record.h"

#include "base/must.h"
#include "base/text.h"

#include <string.h>

#define UNUSED __attribute__((unused))

enum { RIG_RECORDS = 700, RIG_POINTS = 32, RIG_LINES = 2 * RIG_RECORDS };

static const char rig_name[] = "sandgate.example/log";

struct rig_key {
    unsigned char public_key[TLOG_PUBLIC], secret[TLOG_SECRET];
};

static struct rig_key rig_key(unsigned char seed)
{
    struct rig_key key;
    unsigned char bytes[TLOG_SEED] = {seed};
    tlog_key_from_seed(bytes, key.public_key, key.secret);
    return key;
}

struct rig {
    struct buf leaf[RIG_RECORDS];
    unsigned char hash[RIG_RECORDS][HASH];
    uint64_t size;
    struct rig_key log_key, seal_key;
    struct rig_point {
        uint64_t size;
        struct buf note;
    } points[RIG_POINTS];
    size_t point_count;
    unsigned boots;
    int64_t now_us;
    uint64_t serial;
    char last_intent[RECORD_ID];
};

UNUSED static void rig_free(struct rig *rig)
{
    for (size_t i = 0; i < RIG_RECORDS; i++)
        buf_free(&rig->leaf[i]);
    for (size_t i = 0; i < RIG_POINTS; i++)
        buf_free(&rig->points[i].note);
}

/* ---- writing the log ---- */

static void rig_set(struct rig *rig, uint64_t index, const char *leaf, size_t size)
{
    must(index < RIG_RECORDS);
    buf_free(&rig->leaf[index]);
    rig->leaf[index] = BUF(RECORD_MAX + 100);
    must(buf_add(&rig->leaf[index], leaf, size));
    tlog_leaf(leaf, size, rig->hash[index]);
}

static void rig_add(struct rig *rig, struct record *record)
{
    own_buf leaf = BUF(RECORD_MAX);
    rig->now_us += 1000;
    record->wall_us = rig->now_us;
    record->mono_us = 1 + rig->now_us % 1000000000;
    must(text_format(record->id, RECORD_ID, "%016llx%016llx",
                     (unsigned long long)rig->now_us,
                     (unsigned long long)(0x9e3779b97f4a7c15 * ++rig->serial)));
    must(record_write(record, &leaf));
    rig_set(rig, rig->size, leaf.data, leaf.size);
    rig->size++;
}

static void rig_boot(struct rig *rig)
{
    char boot[17], hex[2 * TLOG_PUBLIC + 1], detail[128];
    rig->boots++;
    rig->seal_key = rig_key((unsigned char)(100 + rig->boots));
    must(text_format(boot, sizeof(boot), "%016x", rig->boots));
    record_start("node-1", boot);
    text_hex(rig->seal_key.public_key, TLOG_PUBLIC, hex);
    must(text_format(detail, sizeof(detail), "{\"seal_key\":\"%s\"}", hex));
    struct record record = {.type = RECORD_SYS, .event = "start", .detail = detail};
    rig_add(rig, &record);
}

/* `ref`: of an outcome, the intent's id; NULL: the last one's. */
static void rig_call(struct rig *rig, enum record_phase phase, const char *ref)
{
    char target[32];
    struct record record = {.phase = phase, .reason = "t\xc3\xa4glich"};
    must(text_format(target, sizeof(target), "i%llx", (unsigned long long)rig->size));
    record.actor.agent = "fleet-janitor";
    record.call.operation = "sandbox.kill";
    record.call.target_id = target;
    record.decision.verdict = "allow";
    if (phase == PHASE_OUTCOME) {
        record.ref = ref ? ref : rig->last_intent;
        record.result.outcome = "ok";
        record.result.status = 204;
    }
    rig_add(rig, &record);
    if (phase == PHASE_INTENT)
        memcpy(rig->last_intent, record.id, RECORD_ID);
}

static bool rig_read(void *context, int level, uint64_t index,
                     unsigned char out[static HASH])
{
    const struct rig *rig = context;
    struct frontier frontier = {.size = 0};
    uint64_t first = index << level, end = (index + 1) << level;
    if (end > rig->size)
        return false;
    for (uint64_t at = first; at < end; at++)
        frontier_push(&frontier, rig->hash[at]);
    frontier_root(&frontier, out);
    return true;
}

static struct checkpoint rig_head(struct rig *rig, uint64_t size)
{
    struct checkpoint head = {.size = size};
    (void)text_copy(head.origin, sizeof(head.origin), rig_name);
    must(tlog_root_at(rig_read, rig, size, head.root));
    return head;
}

static void rig_point(struct rig *rig, size_t at, uint64_t size)
{
    struct checkpoint head = rig_head(rig, size);
    struct rig_point *point = &rig->points[at];
    must(at < RIG_POINTS);
    buf_free(&point->note);
    point->note = BUF(NOTE_MAX);
    point->size = size;
    must(checkpoint_sign(&head, rig->log_key.secret, rig->log_key.public_key,
                         &point->note));
}

UNUSED static void rig_checkpoint(struct rig *rig)
{
    rig_point(rig, rig->point_count, rig->size);
    rig->point_count++;
}

/* Runs and events, checkpoints where they are odd, a second boot, and a sealed tail. */
UNUSED static void rig_fill(struct rig *rig, uint64_t size)
{
    static const uint64_t points[] = {1, 2, 100, 256, 301, 400, 512, 600};
    size_t next = 0;
    *rig = (struct rig){.now_us = 1767225600000000, .log_key = rig_key(1)};
    while (rig->size < size) {
        if (rig->size == 0 || rig->size == 300)
            rig_boot(rig);
        else if (rig->size % 3 == 0)
            rig_call(rig, PHASE_EVENT, NULL);
        else
            rig_call(rig, rig->size % 3 == 1 ? PHASE_INTENT : PHASE_OUTCOME, NULL);
        if (next < COUNT(points) && rig->size == points[next]) {
            rig_checkpoint(rig);
            next++;
        }
    }
}

/* ---- exporting it ---- */

struct rig_range {
    uint64_t first, end, size;
    bool sealed;
};

static const struct rig_point *rig_point_of(const struct rig *rig, uint64_t size)
{
    for (size_t i = 0; i < rig->point_count; i++)
        if (rig->points[i].size == size)
            return &rig->points[i];
    return NULL;
}

static void rig_export_point(struct rig *rig, uint64_t size, struct buf *out)
{
    const struct rig_point *point = rig_point_of(rig, size);
    if (point)
        must(audit_write_checkpoint(out, point->note.data, point->note.size));
}

UNUSED static void rig_export(struct rig *rig, struct rig_range range, struct buf *out)
{
    unsigned char seal[TLOG_SIGNATURE];
    struct checkpoint head = rig_head(rig, range.size);
    must(audit_write_header(out, rig_name, range.first, range.end));
    must(audit_write_proof(out, rig_read, rig, 0, range.first));
    for (uint64_t at = range.first; at < range.end; at++) {
        rig_export_point(rig, at, out);
        if (audit_tile_due(at, range.first))
            must(audit_write_tile(out, rig_read, rig, at, range.end));
        must(audit_write_record(out, rig->leaf[at].data, rig->leaf[at].size));
    }
    rig_export_point(rig, range.end, out);
    must(audit_write_proof(out, rig_read, rig, range.end, range.size));
    if (range.size > range.end)
        rig_export_point(rig, range.size, out);
    seal_sign(&head, rig->seal_key.secret, seal);
    must(audit_write_head(out, &head, range.sealed ? seal : NULL));
}

/* ---- its lines ---- */

struct rig_lines {
    struct rig_line {
        const char *text;
        size_t size;
    } line[RIG_LINES];
    size_t count, next;
};

static void rig_split(struct rig_lines *lines, const char *text, size_t size)
{
    lines->count = 0;
    for (const char *at = text, *end = text + size; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline ? newline : end;
        must(lines->count < RIG_LINES);
        lines->line[lines->count++] = (struct rig_line){at, (size_t)(stop - at)};
        at = stop + 1;
    }
}

static bool rig_next(void *context, const char **text, size_t *size)
{
    struct rig_lines *lines = context;
    if (lines->next == lines->count)
        return false;
    *text = lines->line[lines->next].text;
    *size = lines->line[lines->next++].size;
    return true;
}

/* The auditor; `since` may be NULL. The caller frees report.text. */
UNUSED static struct audit_report
rig_verify(struct rig_lines *lines, const struct rig_key *key, const struct buf *since)
{
    own_buf vkey = BUF(256);
    struct audit_report report;
    must(vkey_write(rig_name, key->public_key, &vkey));
    lines->next = 0;
    const struct audit_input input = {.line = rig_next,
                                      .context = lines,
                                      .vkey = vkey.data,
                                      .since = since ? since->data : NULL,
                                      .since_size = since ? since->size : 0};
    audit_verify(&input, &report);
    return report;
}

#endif

/* The log's readers.  The first byte chooses:
 *   n  the rest is a checkpoint note: what is good is spelled as we would spell it
 *   l  a leaf: what passes is strict JSON, and no second spelling of its view
 *   r  the texts of a record: what is written passes, and no bit of it may change
 *   e  changes of a good export: none of them verifies
 *   otherwise the rest is an export: a verdict, never a crash */
#include "core/doc.h"
#include "core/record_view.h"
#include "unit/audit_rig.h"

#include <stdlib.h>

enum { SIZE = 20, CHANGES = 8 };

static struct rig rig;
static struct buf whole;
static struct rig_lines lines;

static void start(void)
{
    if (rig.size)
        return;
    keys_start();
    tlog_start();
    rig_fill(&rig, SIZE);
    whole = BUF(1 << 20);
    rig_export(&rig, (struct rig_range){0, SIZE, SIZE, true}, &whole);
}

static void read_note(const char *bytes, size_t size)
{
    struct checkpoint checkpoint;
    own_buf again = BUF(NOTE_MAX);
    if (checkpoint_open(bytes, size, rig_name, rig.log_key.public_key, &checkpoint)
        != NOTE_GOOD)
        return;
    must(checkpoint_sign(&checkpoint, rig.log_key.secret, rig.log_key.public_key,
                         &again));
    const char *text = strstr(again.data, "\n\n"); /* others may have signed, too */
    size_t head = (size_t)(text - again.data) + 2;
    must(size >= head && memcmp(bytes, again.data, head) == 0);
}

static void read_leaf(const char *bytes, size_t size)
{
    char why[RECORD_WHY] = "";
    struct record_view view;
    struct doc_error error;
    bool good = record_read(bytes, size, &view, why);
    must(good == record_check(bytes, size, why));
    must(good || *why);
    if (!good)
        return;
    own_doc *doc = doc_parse(bytes, size, 64, false, &error);
    must(doc);
    const struct node *root = doc_root(doc);
    must(text_same(member_text(root, "id", NULL), view.id));
    must(member_int(root, "ts", 0) == view.wall_us);
    must(member_int(root, "mono", 0) == view.mono_us);
}

/* Zero-terminated texts, one behind the other, into whatever member is next. */
static void fill_record(struct record *record, char *at, const char *end)
{
    const char **texts[] = {&record->ref,
                            &record->run,
                            &record->actor.agent,
                            &record->actor.user_agent,
                            &record->call.target_id,
                            &record->call.idempotency_key,
                            &record->call.input,
                            &record->reason,
                            &record->ticket,
                            &record->result.created_id,
                            &record->detail};
    for (size_t i = 0; at < end; i++, at += strlen(at) + 1)
        *texts[i % COUNT(texts)] = at;
}

static void write_record(const char *bytes, size_t size)
{
    char why[RECORD_WHY];
    unsigned char hash[HASH], changed[HASH];
    own_buf texts = BUF(1 << 20), leaf = BUF(RECORD_MAX);
    if (!buf_add(&texts, bytes, size) || size == 0)
        return;
    struct record record = {.phase = PHASE_EVENT, .wall_us = 1, .mono_us = 1};
    record.call.bytes = (int64_t)size;
    fill_record(&record, texts.data, texts.data + texts.size);
    must(record_write(&record, &leaf));
    must(record_check(leaf.data, leaf.size, why));
    for (size_t i = 0; i < leaf.size; i++)
        must(leaf.data[i] >= 0x20 && leaf.data[i] <= 0x7e);
    tlog_leaf(leaf.data, leaf.size, hash);
    size_t at = (size_t)(unsigned char)bytes[size - 1] * leaf.size / 256;
    leaf.data[at] = (char)(leaf.data[at] ^ 1 << size % 8);
    tlog_leaf(leaf.data, leaf.size, changed);
    must(memcmp(hash, changed, HASH) != 0);
}

static enum audit_verdict verify(const char *bytes, size_t size)
{
    size_t count = 0;
    for (size_t i = 0; i < size; i++)
        count += bytes[i] == '\n';
    if (count >= RIG_LINES)
        return AUDIT_UNVERIFIABLE;
    rig_split(&lines, bytes, size);
    struct audit_report report = rig_verify(&lines, &rig.log_key, &rig.points[1].note);
    must(report.verdict != AUDIT_TAMPERED || report.text.size);
    must((report.first_bad < 0) == (report.bad_end < 0));
    must(report.first_bad <= report.bad_end);
    buf_free(&report.text);
    return report.verdict;
}

/* Three bytes a change: where, and with what. */
static void change_export(const char *bytes, size_t size)
{
    own_buf copy = BUF(1 << 20);
    must(buf_add(&copy, whole.data, whole.size));
    for (size_t i = 0; i + 2 < size && i < (size_t)3 * CHANGES; i += 3) {
        size_t at = (size_t)(unsigned char)bytes[i] << 8 | (unsigned char)bytes[i + 1];
        at = at * (copy.size - 1) >> 16; /* the last newline is nobody's */
        copy.data[at] = (char)(copy.data[at] ^ bytes[i + 2]);
    }
    enum audit_verdict verdict = verify(copy.data, copy.size);
    bool same = memcmp(copy.data, whole.data, whole.size) == 0;
    must(same == (verdict == AUDIT_VERIFIED || verdict == AUDIT_ANOMALIES));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    start();
    if (size == 0)
        return 0;
    char *bytes = malloc(size); /* exactly as large, for the sanitizer to see */
    must(bytes);
    memcpy(bytes, data + 1, size - 1);
    switch (data[0]) {
    case 'n':
        read_note(bytes, size - 1);
        break;
    case 'l':
        read_leaf(bytes, size - 1);
        break;
    case 'r':
        write_record(bytes, size - 1);
        break;
    case 'e':
        change_export(bytes, size - 1);
        break;
    default:
        (void)verify(bytes, size - 1);
        break;
    }
    free(bytes);
    return 0;
}

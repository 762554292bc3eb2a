#include "audit_rig.h"
#include "test.h"

#include <stdio.h>

/* One log for all tests, its whole export, and that export's lines to play with. */
enum { SIZE = 620, NEWEST = 600, RESTART = 300 };
static struct rig rig;
static struct buf export;
static struct rig_lines lines;
static const struct rig_range all = {0, SIZE, SIZE, true};

static void start(void)
{
    if (rig.size == 0) {
        keys_start();
        tlog_start();
        rig_fill(&rig, SIZE);
        export = BUF(4 << 20);
        rig_export(&rig, all, &export);
    }
    rig_split(&lines, export.data, export.size);
}

/* The same records, to be changed and exported again. */
static void copy_rig(struct rig *copy)
{
    *copy = rig;
    for (size_t i = 0; i < RIG_RECORDS; i++) {
        copy->leaf[i] = BUF(RECORD_MAX + 100);
        if (rig.leaf[i].data)
            must(buf_add(&copy->leaf[i], rig.leaf[i].data, rig.leaf[i].size));
    }
    for (size_t i = 0; i < RIG_POINTS; i++) {
        copy->points[i].note = BUF(NOTE_MAX);
        if (rig.points[i].note.data)
            must(buf_add(&copy->points[i].note, rig.points[i].note.data,
                         rig.points[i].note.size));
    }
}

static void export_of(struct rig *from, struct rig_range range, struct buf *out)
{
    buf_clear(out);
    rig_export(from, range, out);
    rig_split(&lines, out->data, out->size);
}

/* A record that tells something else and is as well made. */
static void forge(struct rig *from, uint64_t index)
{
    own_buf leaf = BUF(RECORD_MAX);
    must(buf_add(&leaf, from->leaf[index].data, from->leaf[index].size));
    char *agent = strstr(leaf.data, "fleet-janitor");
    must(agent);
    *agent = 'F';
    rig_set(from, index, leaf.data, leaf.size);
}

/* ---- lines ---- */

static bool is_record(size_t line)
{
    return text_starts(lines.line[line].text, "{\"v\":");
}

static size_t line_of(uint64_t index)
{
    uint64_t records = 0;
    for (size_t i = 0; i < lines.count; i++)
        if (is_record(i) && records++ == index)
            return i;
    must(!"a record that is there");
    return 0;
}

/* The `nth` line that begins so. */
static size_t line_like(const char *text, size_t nth)
{
    for (size_t i = 0; i < lines.count; i++)
        if (text_starts(lines.line[i].text, text) && nth-- == 0)
            return i;
    must(!"such a line");
    return 0;
}

static void drop_line(size_t at)
{
    memmove(&lines.line[at], &lines.line[at + 1],
            (lines.count - at - 1) * sizeof(lines.line[0]));
    lines.count--;
}

static void put_line(size_t at, struct rig_line line)
{
    must(lines.count < RIG_LINES);
    memmove(&lines.line[at + 1], &lines.line[at],
            (lines.count - at) * sizeof(lines.line[0]));
    lines.line[at] = line;
    lines.count++;
}

static void swap_lines(size_t a, size_t b)
{
    struct rig_line line = lines.line[a];
    lines.line[a] = lines.line[b];
    lines.line[b] = line;
}

static struct rig_line text_line(const char *text)
{
    return (struct rig_line){text, strlen(text)};
}

/* ---- verdicts ---- */

static void check(struct audit_report report, enum audit_verdict verdict,
                  const char *part, const char *file, int line)
{
    test_has_text(report.text.data ? report.text.data : "", part, "report.text", file,
                  line);
    test_eq_text(audit_verdict_name(report.verdict), audit_verdict_name(verdict),
                 report.text.data ? report.text.data : "verdict", file, line);
    buf_free(&report.text);
}

#define VERIFY(verdict, part) \
    check(rig_verify(&lines, &rig.log_key, NULL), verdict, part, __FILE__, __LINE__)
#define VERIFY_SINCE(since, verdict, part) \
    check(rig_verify(&lines, &rig.log_key, since), verdict, part, __FILE__, __LINE__)

/* ... and exactly this record is named. */
#define NAMES(index, part)                                                   \
    do {                                                                     \
        struct audit_report report = rig_verify(&lines, &rig.log_key, NULL); \
        EQ_INT(report.first_bad, (index));                                   \
        EQ_INT(report.bad_end, (int64_t)(index) + 1);                        \
        check(report, AUDIT_TAMPERED, part, __FILE__, __LINE__);             \
    } while (0)

TEST(an_export_as_written_verifies)
{
    start();
    struct audit_report report = rig_verify(&lines, &rig.log_key, NULL);
    EQ_TEXT(audit_verdict_name(report.verdict), "VERIFIED");
    EQ_INT(report.records, SIZE);
    EQ_INT(report.size, NEWEST);
    EQ_INT(report.first_bad, -1);
    EQ_INT(report.bad_end, -1);
    EQ_INT(report.intents_open, 1);
    EQ_TEXT(
        report.text.data,
        "note: the records 600 to 619 are only sealed: a checkpoint is yet to come\n"
        "note: record 619 is an intent without outcome yet\n");
    buf_free(&report.text);
    for (size_t i = 0; i < rig.point_count; i++)
        VERIFY_SINCE(&rig.points[i].note, AUDIT_VERIFIED, "");
}

TEST(every_range_of_a_log_verifies_by_itself)
{
    static const uint64_t borders[] = {0,   1,   2,   3,   100, 255, 256, 257,
                                       300, 301, 400, 511, 512, 513, 599, 600};
    own_buf out = BUF(4 << 20);
    start();
    for (size_t a = 0; a < COUNT(borders); a++) {
        for (size_t b = a; b < COUNT(borders); b++) {
            struct rig_range range = {borders[a], borders[b], NEWEST, false};
            CASE("%llu to %llu", (unsigned long long)range.first,
                 (unsigned long long)range.end);
            export_of(&rig, range, &out);
            struct audit_report report = rig_verify(&lines, &rig.log_key, NULL);
            EQ_TEXT(report.text.data && report.verdict != AUDIT_VERIFIED
                        ? report.text.data
                        : "",
                    "");
            EQ_INT(report.records, range.end - range.first);
            EQ_INT(report.size, NEWEST);
            buf_free(&report.text);
        }
    }
}

TEST(an_empty_log_has_nothing_that_is_signed)
{
    static struct rig empty;
    own_buf out = BUF(1 << 20);
    start();
    export_of(&empty, (struct rig_range){0, 0, 0, false}, &out);
    VERIFY(AUDIT_UNVERIFIABLE, "nothing in the export is signed");
    empty.log_key = rig.log_key;
    rig_checkpoint(&empty);
    export_of(&empty, (struct rig_range){0, 0, 0, false}, &out);
    VERIFY(AUDIT_VERIFIED, "");
    rig_free(&empty);
}

/* ---- T1, T2, T3: records ---- */

TEST(a_changed_record_is_named)
{
    static const uint64_t indexes[] = {0,   1,   2,   99,  100, 255, 256,
                                       257, 300, 511, 512, 599, 600, 619};
    own_buf copy = BUF(RECORD_MAX);
    start();
    for (size_t i = 0; i < COUNT(indexes); i++) {
        size_t at = line_of(indexes[i]);
        struct rig_line line = lines.line[at];
        for (size_t byte = 7; byte < line.size; byte += line.size / 9) {
            CASE("byte %zu of record %llu", byte, (unsigned long long)indexes[i]);
            buf_clear(&copy);
            must(buf_add(&copy, line.text, line.size));
            copy.data[byte] ^= 1;
            lines.line[at] = text_line(copy.data);
            NAMES(indexes[i], "is not the one that was logged");
        }
        lines.line[at] = line;
    }
    VERIFY(AUDIT_VERIFIED, "");
}

TEST(a_missing_record_is_named)
{
    start();
    for (uint64_t index = 0; index < SIZE; index += index < 10 ? 1 : 31) {
        CASE("record %llu", (unsigned long long)index);
        rig_split(&lines, export.data, export.size);
        drop_line(line_of(index));
        NAMES(index, "is missing");
    }
}

TEST(a_record_put_in_is_named)
{
    static struct rig copy;
    start();
    copy_rig(&copy);
    rig_call(&copy, PHASE_EVENT, NULL); /* one that fits in every way */
    const struct buf *forged = &copy.leaf[SIZE];
    for (uint64_t index = 0; index < SIZE; index += index < 10 ? 1 : 31) {
        CASE("before record %llu", (unsigned long long)index);
        rig_split(&lines, export.data, export.size);
        put_line(line_of(index), text_line(forged->data));
        if (index % 256 == 255 || index == SIZE - 1)
            VERIFY(AUDIT_TAMPERED, "");
        else
            NAMES(index, "has a record before it that was never logged");
    }
    rig_free(&copy);
}

TEST(moved_records_are_found)
{
    start();
    swap_lines(line_of(40), line_of(41));
    NAMES(40, "record 40 is missing");
    start();
    swap_lines(line_of(10), line_of(200));
    NAMES(10, "");
    start();
    swap_lines(line_of(10), line_of(500)); /* in another block */
    NAMES(10, "record 500 is not the one that was logged");
    start();
    put_line(line_of(33), lines.line[line_of(32)]);
    NAMES(33, "has a record before it that was never logged");
    start();
    size_t a = line_like("{\"sandgate_tile\"", 0),
           b = line_like("{\"sandgate_tile\"", 1);
    for (size_t i = 0; i < 100; i++) /* whole blocks, hashes and all */
        swap_lines(a + i, b + i);
    VERIFY(AUDIT_TAMPERED, "");
}

TEST(several_changes_are_all_told)
{
    own_buf a = BUF(RECORD_MAX), b = BUF(RECORD_MAX);
    start();
    must(buf_add(&a, lines.line[line_of(50)].text, lines.line[line_of(50)].size));
    must(buf_add(&b, lines.line[line_of(450)].text, lines.line[line_of(450)].size));
    a.data[30] ^= 2;
    b.data[30] ^= 2;
    lines.line[line_of(50)] = text_line(a.data);
    lines.line[line_of(450)] = text_line(b.data);
    drop_line(line_of(470));
    NAMES(50, "record 50 is not the one that was logged (by a checkpoint)");
    VERIFY(AUDIT_TAMPERED,
           "record 450 is not the one that was logged (by a checkpoint)");
    VERIFY(AUDIT_TAMPERED, "record 470 is missing (by a checkpoint)");
}

/* ---- T4: with the hashes beside them ---- */

TEST(a_record_changed_with_its_hash_is_bounded_by_the_checkpoints)
{
    static struct rig copy;
    own_buf out = BUF(4 << 20);
    start();
    copy_rig(&copy);
    forge(&copy, 333);
    export_of(&copy, all, &out);
    struct audit_report report = rig_verify(&lines, &rig.log_key, NULL);
    EQ_INT(report.first_bad, 301); /* between two checkpoints */
    EQ_INT(report.bad_end, 400);
    check(report, AUDIT_TAMPERED, "records 301 to 399", __FILE__, __LINE__);
    rig_free(&copy);
}

TEST(changed_hashes_beside_good_records_are_found)
{
    own_buf copy = BUF(1 << 20);
    start();
    size_t at = line_like("{\"sandgate_tile\"", 1);
    must(buf_add(&copy, lines.line[at].text, lines.line[at].size));
    char *digit = strstr(copy.data, "leaves\":\"") + 9 + 700;
    *digit = *digit == 'A' ? 'B' : 'A';
    lines.line[at] = text_line(copy.data);
    struct audit_report report = rig_verify(&lines, &rig.log_key, NULL);
    EQ_INT(report.first_bad, -1); /* every record is as signed */
    check(report, AUDIT_TAMPERED, "the leaf hashes from record 272 on were changed",
          __FILE__, __LINE__);
}

TEST(a_changed_tail_breaks_its_seal)
{
    static struct rig copy;
    own_buf out = BUF(4 << 20);
    start();
    copy_rig(&copy);
    forge(&copy, 610);
    export_of(&copy, all, &out);           /* sealed by the right key: it was stolen */
    VERIFY(AUDIT_VERIFIED, "only sealed"); /* and this is what a seal cannot show */
    copy.seal_key = rig_key(77);
    export_of(&copy, all, &out);
    VERIFY(AUDIT_TAMPERED, "seal is not of the key that record 300 announced");
    size_t head = line_like("{\"sandgate_head\"", 0);
    struct rig_line forged = lines.line[head];
    rig_split(&lines, export.data, export.size);
    lines.line[line_like("{\"sandgate_head\"", 0)] = forged;
    VERIFY(AUDIT_TAMPERED, "seal is not of the key");
    rig_free(&copy);
}

/* ---- T5, T6, T8, T9: the end of the log ---- */

TEST(a_log_cut_short_takes_an_older_checkpoint_to_see)
{
    static struct rig copy;
    own_buf out = BUF(4 << 20);
    start();
    copy_rig(&copy);
    copy.size = 550;
    copy.point_count = 7; /* the newest is of size 512 */
    export_of(&copy, (struct rig_range){0, 550, 550, true}, &out);
    VERIFY(AUDIT_VERIFIED, "only sealed"); /* as it was once: nothing in it shows */
    VERIFY_SINCE(&rig.points[6].note, AUDIT_VERIFIED, "");
    VERIFY_SINCE(&rig.points[7].note, AUDIT_ROLLED_BACK,
                 "the log ends at 550, your checkpoint is of size 600");
    export_of(&copy, (struct rig_range){0, 512, 512, false}, &out);
    VERIFY_SINCE(&rig.points[7].note, AUDIT_ROLLED_BACK, "the log ends at 512");

    rig_split(&lines, export.data, export.size); /* cut, and the newest head kept */
    while (is_record(lines.count - 2))
        drop_line(lines.count - 2);
    struct audit_report report = rig_verify(&lines, &rig.log_key, NULL);
    EQ_INT(report.first_bad, 600);
    check(report, AUDIT_TAMPERED, "each of the records 600 to 619 is missing", __FILE__,
          __LINE__);
    rig_free(&copy);
}

TEST(an_export_that_stops_early_is_not_whole)
{
    start();
    for (size_t count = 0; count < lines.count; count += count < 20 ? 1 : 37) {
        size_t whole = lines.count;
        CASE("%zu lines", count);
        lines.count = count;
        VERIFY(AUDIT_UNVERIFIABLE, "");
        lines.count = whole;
    }
    size_t head = line_like("{\"sandgate_head\"", 0);
    put_line(head + 1, lines.line[line_of(0)]);
    VERIFY(AUDIT_TAMPERED, "something behind the head");
}

TEST(a_fork_is_seen_by_checkpoints_or_by_the_auditors_own)
{
    static struct rig fork;
    own_buf out = BUF(4 << 20);
    start();
    copy_rig(&fork);
    forge(&fork, 123);
    export_of(&fork, all, &out); /* with the seal key: the checkpoints contradict */
    VERIFY(AUDIT_TAMPERED, "the signed checkpoint of size 256 has another root");
    VERIFY_SINCE(&rig.points[3].note, AUDIT_TAMPERED, "ROLLED_BACK: at size 256");

    for (size_t i = 0; i < fork.point_count; i++) /* with the log key as well */
        rig_point(&fork, i, fork.points[i].size);
    export_of(&fork, all, &out);
    VERIFY(AUDIT_VERIFIED, "");                            /* nothing in it shows */
    VERIFY_SINCE(&rig.points[2].note, AUDIT_VERIFIED, ""); /* size 100: before it */
    VERIFY_SINCE(&rig.points[3].note, AUDIT_ROLLED_BACK,
                 "at size 256 this is not the log that your checkpoint signs");
    VERIFY_SINCE(&rig.points[7].note, AUDIT_ROLLED_BACK, "at size 600");
    rig_free(&fork);
}

TEST(an_older_checkpoint_must_be_one)
{
    own_buf note = BUF(NOTE_MAX), out = BUF(4 << 20);
    start();
    VERIFY_SINCE(&export, AUDIT_UNVERIFIABLE, "the older checkpoint is none");
    must(buf_add(&note, rig.points[4].note.data, rig.points[4].note.size));
    note.data[note.size - 10] ^= 1;
    VERIFY_SINCE(&note, AUDIT_UNVERIFIABLE, "the older checkpoint is none");

    export_of(&rig, (struct rig_range){320, 380, NEWEST, false}, &out);
    VERIFY_SINCE(&rig.points[3].note, AUDIT_VERIFIED, ""); /* 256: a subtree's border */
    VERIFY_SINCE(&rig.points[2].note, AUDIT_UNVERIFIABLE, "cannot be compared");
    VERIFY_SINCE(&rig.points[5].note, AUDIT_UNVERIFIABLE, "cannot be compared");
    VERIFY_SINCE(&rig.points[7].note, AUDIT_UNVERIFIABLE, "ask for the rest");
}

/* ---- T10, T11, T12: checkpoints ---- */

static void with_note(const struct buf *note, enum audit_verdict verdict,
                      const char *part)
{
    own_buf line = BUF(1 << 20);
    start();
    must(audit_write_checkpoint(&line, note->data ? note->data : "", note->size));
    size_t at = line_like("{\"sandgate_checkpoint\"", 3);
    lines.line[at] = (struct rig_line){line.data, line.size - 1};
    VERIFY(verdict, part);
}

#define DASH "\xe2\x80\x94 "
#define LOG "sandgate.example/log"
#define LAG "sandgate.example/lag"

TEST(changed_checkpoints_are_found)
{
    static const struct {
        const char *from, *to;
        enum audit_verdict verdict;
        const char *part;
    } cases[] = {
        {"\n256\n", "\n0256\n",           AUDIT_TAMPERED,     "no gateway writes"    },
        {"\n256\n", "\n257\n",            AUDIT_TAMPERED,     "the signature"        },
        {"\n256\n", "\r\n256\n",          AUDIT_TAMPERED,     "no gateway writes"    },
        {"\n256\n", "\n256\nextension\n", AUDIT_TAMPERED,     "no gateway writes"    },
        {"\n\n",    "\n\n\n",             AUDIT_TAMPERED,     "no gateway writes"    },
        {LOG "\n",  LAG "\n",             AUDIT_TAMPERED,     "the signature"        },
        {DASH LOG,  DASH LAG,             AUDIT_UNVERIFIABLE, "your key did not sign"},
        {DASH LOG,  "- " LOG,             AUDIT_TAMPERED,     "no gateway writes"    },
    };
    start();
    for (size_t i = 0; i < COUNT(cases); i++) {
        own_buf note = BUF(NOTE_MAX);
        const struct buf *good = &rig.points[3].note;
        const char *at = strstr(good->data, cases[i].from);
        CASE("%zu", i);
        NOT_NULL(at);
        must(buf_add(&note, good->data, (size_t)(at - good->data)));
        must(buf_text(&note, cases[i].to));
        must(buf_text(&note, at + strlen(cases[i].from)));
        with_note(&note, cases[i].verdict, cases[i].part);
    }
}

TEST(signatures_of_others_are_passed_over_up_to_a_hundred)
{
    own_buf note = BUF(NOTE_MAX);
    start();
    must(buf_add(&note, rig.points[3].note.data, rig.points[3].note.size));
    for (int i = 1; i < NOTE_SIGNATURES; i++)
        must(buf_text(&note, "\xe2\x80\x94 witness.example/w AAAAAAAA\n"));
    with_note(&note, AUDIT_VERIFIED, "");
    must(buf_text(&note, "\xe2\x80\x94 witness.example/w AAAAAAAA\n"));
    with_note(&note, AUDIT_TAMPERED, "no gateway writes such a checkpoint");
    note.size = 0;
    with_note(&note, AUDIT_TAMPERED, "no gateway writes such a checkpoint");
}

TEST(a_good_checkpoint_in_the_wrong_place_is_found)
{
    start();
    with_note(&rig.points[2].note, AUDIT_TAMPERED, "of size 100 stands behind");
    with_note(&rig.points[4].note, AUDIT_TAMPERED, "");
}

TEST(another_log_key_proves_nothing)
{
    static struct rig copy;
    own_buf out = BUF(4 << 20);
    start();
    copy_rig(&copy);
    copy.log_key = rig_key(2);
    for (size_t i = 0; i < copy.point_count; i++)
        rig_point(&copy, i, copy.points[i].size);
    export_of(&copy, all, &out);
    VERIFY(AUDIT_UNVERIFIABLE, "a checkpoint that your key did not sign");
    VERIFY(AUDIT_UNVERIFIABLE, "nothing in the export is signed by your key");
    VERIFY(AUDIT_UNVERIFIABLE, "the key of their seal is announced among themselves");
    rig_free(&copy);
}

TEST(another_logs_key_or_none_is_said_so)
{
    own_buf header = BUF(1000);
    start();
    must(audit_write_header(&header, "sandgate.example/other", 0, SIZE));
    lines.line[0] = (struct rig_line){header.data, header.size - 1};
    VERIFY(AUDIT_UNVERIFIABLE, "this is an export of sandgate.example/other");
    const struct audit_input input = {
        .line = rig_next, .context = &lines, .vkey = "sandgate.example/log+0+x"};
    struct audit_report report;
    audit_verify(&input, &report);
    check(report, AUDIT_UNVERIFIABLE, "this is no verifier key", __FILE__, __LINE__);
}

/* ---- T13: seals ---- */

TEST(a_seal_counts_only_with_a_key_under_a_checkpoint)
{
    static struct rig copy;
    own_buf out = BUF(4 << 20);
    start();
    export_of(&rig, (struct rig_range){0, SIZE, SIZE, false}, &out);
    VERIFY(AUDIT_UNVERIFIABLE, "under no checkpoint, and they have no seal either");
    export_of(&rig, (struct rig_range){310, SIZE, SIZE, true}, &out);
    VERIFY(AUDIT_UNVERIFIABLE, "the start record with the key of their seal");
    copy_rig(&copy);
    copy.seal_key = rig_key(101); /* of the first boot */
    export_of(&copy, all, &out);
    VERIFY(AUDIT_TAMPERED, "seal is not of the key that record 300 announced");
    rig_boot(&copy); /* nothing was signed since */
    export_of(&copy, (struct rig_range){0, SIZE + 1, SIZE + 1, true}, &out);
    VERIFY(AUDIT_UNVERIFIABLE, "the key of their seal is announced among themselves");
    rig_free(&copy);
}

/* ---- T17, T19: bytes ---- */

TEST(the_same_json_in_other_bytes_is_another_record)
{
    static const struct {
        const char *from, *to;
    } cases[] = {
        {"{\"v\":1,",               "{\"v\": 1,"               },
        {"{\"v\":1,\"t\":\"call\"", "{\"t\":\"call\",\"v\":1"  },
        {"\\u00e4",                 "\\u00E4"                  },
        {"\\u00e4",                 "\xc3\xa4"                 },
        {"\"agent\"",               "\"\\u0061gent\""          },
        {"\"agent\"",               "\"agent\":\"x\",\"agent\""},
        {"{\"v\":1,",               "{\"v\":1.0,"              },
        {"}",                       "} "                       },
    };
    start();
    size_t at = line_of(7);
    struct rig_line good = lines.line[at];
    for (size_t i = 0; i < COUNT(cases); i++) {
        own_buf copy = BUF(RECORD_MAX), text = BUF(RECORD_MAX);
        must(buf_add(&text, good.text, good.size));
        const char *place = strstr(text.data, cases[i].from);
        CASE("%s", cases[i].to);
        NOT_NULL(place);
        must(buf_add(&copy, text.data, (size_t)(place - text.data)));
        must(buf_text(&copy, cases[i].to));
        must(buf_text(&copy, place + strlen(cases[i].from)));
        lines.line[at] = text_line(copy.data);
        NAMES(7, "byte ");
    }
}

TEST(a_leaf_that_is_no_record_is_refused_even_when_signed)
{
    static struct rig copy;
    own_buf out = BUF(4 << 20);
    unsigned char node[1 + 2 * HASH] = {1};
    start();
    copy_rig(&copy);
    memset(node + 1, 'h', 2 * HASH);
    rig_set(&copy, 5, (const char *)node, sizeof(node)); /* looks like a node */
    for (size_t i = 0; i < copy.point_count; i++)
        rig_point(&copy, i, copy.points[i].size);
    export_of(&copy, all, &out);
    NAMES(5, "record 5: byte 0: '{' should be here");
    rig_free(&copy);
}

/* ---- T18: what the records tell ---- */

static void tell(struct rig *story, enum audit_verdict verdict, const char *part)
{
    own_buf out = BUF(4 << 20);
    rig_checkpoint(story);
    export_of(story, (struct rig_range){0, story->size, story->size, false}, &out);
    check(rig_verify(&lines, &story->log_key, NULL), verdict, part, __FILE__, __LINE__);
    rig_free(story);
}

static struct rig *story(void)
{
    static struct rig rig_of_story;
    start();
    rig_of_story = (struct rig){.now_us = 1767225600000000, .log_key = rig.log_key};
    rig_boot(&rig_of_story);
    return &rig_of_story;
}

TEST(odd_stories_are_anomalies)
{
    struct rig *s = story();
    rig_call(s, PHASE_INTENT, NULL);
    rig_call(s, PHASE_OUTCOME, NULL);
    tell(s, AUDIT_VERIFIED, "");

    s = story();
    rig_call(s, PHASE_INTENT, NULL);
    rig_call(s, PHASE_OUTCOME, NULL);
    rig_call(s, PHASE_OUTCOME, NULL);
    tell(s, AUDIT_ANOMALIES, "record 3 is an outcome of ");

    s = story();
    rig_call(s, PHASE_OUTCOME, "00000000000000000000000000000001");
    tell(s, AUDIT_ANOMALIES, "which is no open intent before it");

    s = story();
    rig_call(s, PHASE_OUTCOME, "run_1");
    tell(s, AUDIT_ANOMALIES, "an outcome that names no intent");

    s = story();
    rig_call(s, PHASE_INTENT, NULL);
    rig_boot(s);
    tell(s, AUDIT_ANOMALIES, "record 1 is an intent whose outcome was never told");

    s = story();
    rig_call(s, PHASE_INTENT, NULL);
    s->now_us += 2 * 3600 * 1000000LL;
    rig_call(s, PHASE_EVENT, NULL);
    tell(s, AUDIT_ANOMALIES, "record 1 is an intent whose outcome was never told");

    s = story();
    record_start("node-1", "ffffffffffffffff");
    rig_call(s, PHASE_EVENT, NULL);
    tell(s, AUDIT_ANOMALIES, "record 1 is of boot ffffffffffffffff");

    s = story();
    s->now_us -= 60 * 1000000LL;
    rig_call(s, PHASE_EVENT, NULL);
    tell(s, AUDIT_VERIFIED, "the clock stepped back 1 times, first at record 1");
}

TEST(many_open_intents_are_counted_and_some_named)
{
    struct rig *s = story();
    for (int i = 0; i < 100; i++)
        rig_call(s, PHASE_INTENT, NULL);
    rig_boot(s);
    rig_checkpoint(s);
    own_buf out = BUF(4 << 20);
    export_of(s, (struct rig_range){0, s->size, s->size, false}, &out);
    struct audit_report report = rig_verify(&lines, &s->log_key, NULL);
    EQ_INT(report.intents_open, 100);
    check(report, AUDIT_ANOMALIES, "100 intents have no outcome", __FILE__, __LINE__);
    rig_free(s);
}

TEST(outcomes_of_intents_before_a_range_are_no_anomaly)
{
    own_buf out = BUF(4 << 20);
    start();
    export_of(&rig, (struct rig_range){50, 100, NEWEST, false}, &out);
    VERIFY(AUDIT_VERIFIED, "1 outcomes belong to intents before the export");
}

/* ---- T20: ranges ---- */

TEST(a_range_shows_when_its_ends_are_missing)
{
    static const char *const kinds[] = {"{\"sandgate_subtree\"", "{\"sandgate_tile\"",
                                        "{\"sandgate_checkpoint\""};
    own_buf out = BUF(4 << 20), header = BUF(1000);
    const struct rig_range range = {70, 500, NEWEST, false};
    start();
    export_of(&rig, range, &out);
    drop_line(line_like("{\"v\":", 0));
    NAMES(70, "record 70 is missing");
    export_of(&rig, range, &out);
    drop_line(line_of(500 - 70 - 1));
    NAMES(499, "record 499 is missing");
    for (size_t i = 0; i < COUNT(kinds) - 1; i++) {
        export_of(&rig, range, &out);
        drop_line(line_like(kinds[i], 0));
        CASE("%s", kinds[i]);
        VERIFY(AUDIT_TAMPERED, "");
    }
    static const uint64_t other[][2] = {
        {71, 500},
        {69, 500},
        {70, 501},
        {70, 499},
        {0,  500}
    };
    for (size_t i = 0; i < COUNT(other); i++) { /* the header of another range */
        export_of(&rig, range, &out);
        buf_clear(&header);
        must(audit_write_header(&header, rig_name, other[i][0], other[i][1]));
        lines.line[0] = (struct rig_line){header.data, header.size - 1};
        CASE("%zu", i);
        VERIFY(AUDIT_TAMPERED, "");
    }
}

TEST(hostile_lines_are_verdicts_and_no_crash)
{
    static const char *const bad[] = {
        "",
        "{",
        "null",
        "\xff\xfe",
        "{\"sandgate_\"}",
        "{\"sandgate_tile\":1}",
        "{\"sandgate_tile\":{\"first\":0,\"leaves\":\"\"}}",
        "{\"sandgate_tile\":{\"first\":0,\"leaves\":\"AAAA\"}}",
        "{\"sandgate_tile\":{\"first\":-1,\"leaves\":\"AAAA\"}}",
        "{\"sandgate_subtree\":{\"level\":0,\"index\":9007199254740991,\"hash\":"
        "\"SBNJTRN+FjG7owHVrKtue7eqdM4RhdRWVl71HXN2d7I=\"}}",
        "{\"sandgate_subtree\":{\"level\":52,\"index\":9007199254740991,\"hash\":"
        "\"SBNJTRN+FjG7owHVrKtue7eqdM4RhdRWVl71HXN2d7I=\"}}",
        "{\"sandgate_subtree\":{\"level\":64,\"index\":0,\"hash\":"
        "\"SBNJTRN+FjG7owHVrKtue7eqdM4RhdRWVl71HXN2d7I=\"}}",
        "{\"sandgate_subtree\":{\"level\":8,\"index\":0,\"hash\":"
        "\"SBNJTRN+FjG7owHVrKtue7eqdM4RhdRWVl71HXN2d7I=\"}}",
        "{\"sandgate_checkpoint\":\"\"}",
        "{\"sandgate_checkpoint\":{}}",
        "{\"sandgate_head\":{\"size\":9007199254740991,\"root\":"
        "\"SBNJTRN+FjG7owHVrKtue7eqdM4RhdRWVl71HXN2d7I=\"}}",
        "{\"sandgate_head\":{\"size\":0,\"root\":\"\"}}",
        "{\"sandgate_export\":1,\"origin\":\"sandgate.example/"
        "log\",\"first\":0,\"end\":0}",
        "{\"sandgate_new\":1}",
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        start();
        for (size_t at = 1; at < lines.count; at += 61) {
            CASE("%s before line %zu", bad[i], at);
            put_line(at, text_line(bad[i]));
            VERIFY(AUDIT_TAMPERED, "");
            drop_line(at);
            struct rig_line good = lines.line[at];
            lines.line[at] = text_line(bad[i]);
            VERIFY(AUDIT_TAMPERED, "");
            lines.line[at] = good;
        }
        put_line(0, text_line(bad[i]));
        if (!text_starts(bad[i], "{\"sandgate_export"))
            VERIFY(AUDIT_UNVERIFIABLE, "its first line is no header");
    }
}

TEST(a_line_may_be_as_long_as_it_likes)
{
    own_buf line = BUF(8 << 20);
    start();
    must(buf_text(&line, "{\"sandgate_checkpoint\":\""));
    while (line.size < (4 << 20))
        must(buf_text(&line, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"));
    put_line(100, text_line(line.data));
    VERIFY(AUDIT_TAMPERED, "no gateway writes such a line");
    line.data[0] = 'x';
    VERIFY(AUDIT_TAMPERED, "bytes, at most 60000");
}

/* ---- at random ---- */

static uint64_t chance(uint64_t below)
{
    static uint64_t state = 88172645463325252;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % below;
}

/* One change of the export; `copy` keeps a changed line. */
static void tamper(struct buf *copy)
{
    size_t at = chance(lines.count), other = chance(lines.count);
    const struct rig_line line = lines.line[at];
    buf_clear(copy);
    must(buf_add(copy, line.text, line.size));
    size_t byte = chance(line.size);
    bool point = text_starts(line.text, "{\"sandgate_checkpoint\"");
    switch (point ? 0 : chance(7)) { /* that one was dropped nobody can know */
    case 0:
    case 1:
        copy->data[byte] = (char)(copy->data[byte] ^ 1 << chance(8));
        lines.line[at] = (struct rig_line){copy->data, copy->size};
        break;
    case 2:
        drop_line(at);
        break;
    case 3:
        if (lines.line[at].text == lines.line[other].text)
            other = (at + 1) % lines.count;
        swap_lines(at, other);
        break;
    case 4:
        put_line(at, lines.line[other]); /* may stand where it stood */
        break;
    case 5: /* one byte less */
        memmove(copy->data + byte, copy->data + byte + 1, copy->size - byte - 1);
        lines.line[at] = (struct rig_line){copy->data, copy->size - 1};
        break;
    default:
        lines.count = at;
        break;
    }
}

TEST(two_thousand_tamperings_at_random_are_all_found)
{
    own_buf copy = BUF(1 << 20), range = BUF(1 << 20);
    static unsigned verdicts[AUDIT_ANOMALIES + 1];
    start();
    rig_export(&rig, (struct rig_range){230, 320, NEWEST, false}, &range);
    for (int i = 0; i < 2000; i++) {
        const struct buf *from = i % 4 ? &range : &export;
        rig_split(&lines, from->data, from->size);
        tamper(&copy);
        struct audit_report report = rig_verify(&lines, &rig.log_key, NULL);
        verdicts[report.verdict]++;
        CASE("change %d: %.*s", i, (int)copy.size, copy.data);
        OK(report.verdict == AUDIT_TAMPERED || report.verdict == AUDIT_UNVERIFIABLE);
        buf_free(&report.text);
    }
    OK(verdicts[AUDIT_TAMPERED] > 1200); /* the rest is cut short, or an unknown key */
}

TEST(every_bit_of_a_small_export_counts)
{
    struct rig *s = story();
    own_buf out = BUF(1 << 20);
    rig_call(s, PHASE_INTENT, NULL);
    rig_call(s, PHASE_OUTCOME, NULL);
    rig_checkpoint(s);
    rig_call(s, PHASE_EVENT, NULL);
    rig_export(s, (struct rig_range){0, s->size, s->size, true}, &out);
    rig_split(&lines, out.data, out.size);
    VERIFY(AUDIT_VERIFIED, "only sealed");
    for (size_t bit = 0; bit < 8 * (out.size - 1);
         bit++) { /* the last newline is none */
        out.data[bit / 8] = (char)(out.data[bit / 8] ^ 1 << bit % 8);
        rig_split(&lines, out.data, out.size);
        struct audit_report report = rig_verify(&lines, &s->log_key, NULL);
        CASE("bit %zu of byte %zu", bit % 8, bit / 8);
        OK(report.verdict == AUDIT_TAMPERED || report.verdict == AUDIT_UNVERIFIABLE);
        buf_free(&report.text);
        out.data[bit / 8] = (char)(out.data[bit / 8] ^ 1 << bit % 8);
    }
    rig_free(s);
}

/* Verdicts of the log as exit codes and words; the verifier itself has tests of its
 * own. */
#include "test_cli_rig.h"

#include "audit_rig.h"

enum { LOG_SIZE = 40 };

static struct rig rig;
static char vkey[512], export_path[RIG_PATH], since_path[RIG_PATH];
static struct buf exported;

static void make_export(uint64_t size)
{
    own_buf text = BUF(sizeof(vkey) - 1);
    rig_free(&rig);
    rig_fill(&rig, size);
    rig_checkpoint(&rig);
    buf_free(&exported);
    exported = BUF(4 << 20);
    rig_export(&rig, (struct rig_range){0, size, size, false}, &exported);
    must(vkey_write(rig_name, rig.log_key.public_key, &text));
    must(text_copy(vkey, sizeof(vkey), text.data));
    must(text_copy(export_path, RIG_PATH, in_folder("log.jsonl")));
    must(text_copy(since_path, RIG_PATH, in_folder("note")));
    write_text_file(export_path, exported.data);
}

static struct ran verify(const char *more)
{
    char line[2048];
    must(text_format(line, sizeof(line), "audit verify %s --key %s %s", export_path,
                     vkey, more));
    return run(line);
}

TEST(an_untouched_export_is_verified)
{
    make_export(LOG_SIZE);
    EQ_INT(verify("").code, DONE);
    HAS_TEXT(ran.out, "verified: every record");
    HAS_TEXT(ran.out, "40 records read");
    EQ_INT(verify("--json").code, DONE);
    HAS_TEXT(ran.out, "{\"verdict\":\"VERIFIED\",\"records\":40,\"size\":40,");
}

/* Where record `index` stands in the export. */
static size_t offset_of(size_t index)
{
    static struct rig_lines lines;
    size_t records = 0, at = 0;
    rig_split(&lines, exported.data, exported.size);
    while (records < index + 1)
        records += text_starts(lines.line[at++].text, "{\"v\":1,");
    return (size_t)(lines.line[at - 1].text - exported.data);
}

TEST(a_changed_record_is_named)
{
    make_export(LOG_SIZE);
    char *word = strstr(exported.data + offset_of(17), "sandbox.kill");
    NOT_NULL(word);
    word[0] = 'S';
    write_text_file(export_path, exported.data);
    EQ_INT(verify("").code, NOT_VERIFIED);
    HAS_TEXT(ran.out, "tampered with");
    HAS_TEXT(ran.out, "record 17 is not as it was signed");
    EQ_INT(verify("--json").code, NOT_VERIFIED);
    HAS_TEXT(ran.out, "\"verdict\":\"TAMPERED\"");
    HAS_TEXT(ran.out, "\"first_bad\":17,\"bad_end\":18");
}

TEST(a_log_that_is_shorter_than_it_was_is_rolled_back)
{
    make_export(LOG_SIZE + 20);
    write_text_file(since_path, rig.points[rig.point_count - 1].note.data);
    char since[RIG_PATH + 20];
    must(text_format(since, sizeof(since), "--since %s", since_path));
    EQ_INT(verify(since).code, DONE);
    make_export(LOG_SIZE);
    EQ_INT(verify("").code, DONE);
    EQ_INT(verify(since).code, NOT_VERIFIED);
    HAS_TEXT(ran.out, "rolled back");
}

TEST(a_cut_or_foreign_file_is_not_verified)
{
    char line[2048];
    make_export(LOG_SIZE);
    exported.data[exported.size / 2] = '\0';
    write_text_file(export_path, exported.data);
    EQ_INT(verify("").code, NOT_VERIFIED);
    write_text_file(export_path, "");
    EQ_INT(verify("").code, NOT_VERIFIED);
    write_text_file(export_path, "\x1b[2J not an export\n\xff\xfe\n");
    EQ_INT(verify("").code, NOT_VERIFIED);
    NOT(strchr(ran.out, '\x1b'));
    make_export(LOG_SIZE);
    must(text_format(line, sizeof(line), "audit verify %s --key %s", export_path,
                     "sandgate.example/log+00000000+AAAA"));
    EQ_INT(run(line).code, NOT_VERIFIED);
}

TEST(the_key_may_be_in_a_file_and_has_to_be_somewhere)
{
    char line[2048], file[600];
    make_export(LOG_SIZE);
    must(text_format(file, sizeof(file), "%s\n", vkey));
    write_text_file(in_folder("vkey"), file);
    must(text_format(line, sizeof(line), "audit verify %s --key-file %s", export_path,
                     in_folder("vkey")));
    EQ_INT(run(line).code, DONE);
    must(text_format(line, sizeof(line), "audit verify %s", export_path));
    EQ_INT(run(line).code, USAGE);
    HAS_TEXT(ran.talk, "which key?");
    EQ_INT(verify("--key-file x").code, USAGE);
    must(text_format(line, sizeof(line), "audit verify /nonexistent --key %s", vkey));
    EQ_INT(run(line).code, FAILED);
}

TEST(without_a_file_the_daemon_is_asked_and_its_key_only_trusted_aloud)
{
    static char head[1024];
    make_export(LOG_SIZE);
    must(text_format(head, sizeof(head), "{\"vkey\":\"%s\"}", vkey));
    const struct said said[] = {
        {"POST /api/v1/audit/checkpoint", 200, head         },
        {"GET /api/v1/audit/export",      200, exported.data},
        {NULL,                            0,   NULL         }
    };
    char line[2048];
    EQ_INT(run_against(said, NULL, "audit verify").code, DONE);
    HAS_TEXT(ran.talk, "trusts the key that the daemon itself names");
    must(text_format(line, sizeof(line), "audit verify --key %s", vkey));
    EQ_INT(run_against(said, NULL, line).code, DONE);
    EQ_TEXT(ran.talk, "");
}

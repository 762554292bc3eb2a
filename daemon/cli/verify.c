/* audit verify: is the log what it was? */
#include "base/files.h"
#include "base/must.h"
#include "base/text.h"
#include "cli/api.h"
#include "cli/export.h"
#include "cli/groups.h"
#include "cli/talk.h"
#include "core/audit.h"

#include <errno.h>
#include <string.h>

enum { LINE_CAP = 16 << 20, NOTE_CAP = 64 << 10, VKEY_CAP = 4 << 10, CHUNK = 64 << 10 };

/* ---- lines of a file ---- */

struct lines {
    FILE *file;
    struct buf line;
    char chunk[CHUNK];
    size_t at, size;
};

/* A line without its end is one, too: the export is then cut, and the verifier says
 * what that means.  A line past the cap is given as far as it fits: it is no record. */
static bool next_line(void *context, const char **text, size_t *size)
{
    struct lines *lines = context;
    bool some = false, whole = false;
    buf_clear(&lines->line);
    while (!whole) {
        if (lines->at == lines->size) {
            lines->size = fread(lines->chunk, 1, CHUNK, lines->file);
            lines->at = 0;
        }
        if (lines->size == 0)
            break;
        const char *from = lines->chunk + lines->at;
        const char *end = memchr(from, '\n', lines->size - lines->at);
        size_t run = end ? (size_t)(end - from) : lines->size - lines->at;
        (void)buf_add(&lines->line, from, run);
        lines->at += run + (end != NULL);
        some = true;
        whole = end != NULL;
    }
    *text = lines->line.data ? lines->line.data : "";
    *size = lines->line.size;
    return some;
}

/* ---- what the auditor brings ---- */

static int read_small(struct call *call, const char *path, size_t cap,
                      const char **text, size_t *size)
{
    char error[FILES_ERROR];
    own_buf bytes = BUF(cap);
    if (!file_read(path, &bytes, error))
        return fail(call, FAILED, "%s", error);
    *text = arena_copy(call->arena, bytes.data ? bytes.data : "", bytes.size);
    must(*text);
    *size = bytes.size;
    return DONE;
}

static int read_key(struct call *call, const char **vkey)
{
    const char *file = flag_text(call, "key-file");
    size_t size;
    if (flag_on(call, "key") && file)
        return fail(call, USAGE, "either --key or --key-file");
    if (flag_on(call, "key"))
        *vkey = flag_text(call, "key");
    else if (file && read_small(call, file, VKEY_CAP, vkey, &size))
        return FAILED;
    if (*vkey)
        *vkey = words(call, "%.*s", (int)strcspn(*vkey, "\r\n"), *vkey);
    return DONE;
}

/* ---- what is said ---- */

static const char *const meanings[] = {
    [AUDIT_VERIFIED] = "verified: every record is as it was signed",
    [AUDIT_TAMPERED] = "tampered with: the log contradicts a signature or itself",
    [AUDIT_ROLLED_BACK] = "rolled back: the log does not continue the older checkpoint",
    [AUDIT_UNVERIFIABLE] = "not verifiable: not all of it is under a known signature",
    [AUDIT_ANOMALIES] = "as signed, but it tells of odd things: look at each of them",
};

static void put_findings(struct call *call, const struct audit_report *report)
{
    const char *at = report->text.data ? report->text.data : "";
    while (*at) {
        size_t size = strcspn(at, "\n");
        put(call, "  %s\n", safe(call, words(call, "%.*s", (int)size, at)));
        at += size + (at[size] == '\n');
    }
}

static void put_report(struct call *call, const struct audit_report *report)
{
    bool good = report->verdict == AUDIT_VERIFIED;
    put(call, "%s\n", painted(call, good ? GREEN : RED, meanings[report->verdict]));
    if (report->first_bad >= 0 && report->bad_end == report->first_bad + 1)
        put(call, "  record %lld is not as it was signed\n",
            (long long)report->first_bad);
    else if (report->first_bad >= 0)
        put(call,
            "  record %lld, or one after it and before record %lld, is not as it "
            "was signed\n",
            (long long)report->first_bad, (long long)report->bad_end);
    put(call, "  %llu records read; the newest good signature is over the first %llu\n",
        (unsigned long long)report->records, (unsigned long long)report->size);
    if (report->first > 0 || report->end < report->size)
        put(call, "  a part of the log: records %llu to %llu\n",
            (unsigned long long)report->first, (unsigned long long)report->end - 1);
    if (report->intents_open)
        put(call, "  %u calls were begun and their end is not told\n",
            report->intents_open);
    put_findings(call, report);
}

static void put_report_json(struct call *call, const struct audit_report *report)
{
    own_buf line = BUF(LINE_CAP);
    struct writer w = WRITER(&line);
    write_open(&w, NULL, '{');
    write_text(&w, "verdict", audit_verdict_name(report->verdict));
    write_int(&w, "records", (int64_t)report->records);
    write_int(&w, "size", (int64_t)report->size);
    if (report->first_bad >= 0) {
        write_int(&w, "first_bad", report->first_bad);
        write_int(&w, "bad_end", report->bad_end);
    }
    write_int(&w, "intents_open", report->intents_open);
    write_text(&w, "findings", report->text.data ? report->text.data : "");
    write_close(&w, '}');
    put(call, "%s\n", line.data);
}

/* ---- verifying ---- */

static int verify(struct call *call, FILE *file, const char *vkey)
{
    static struct lines lines;
    struct audit_report report = {.first_bad = -1};
    struct audit_input input = {.line = next_line, .context = &lines, .vkey = vkey};
    const char *since = flag_text(call, "since");
    int code = since
                   ? read_small(call, since, NOTE_CAP, &input.since, &input.since_size)
                   : DONE;
    if (code)
        return code;
    lines = (struct lines){.file = file, .line = BUF(LINE_CAP)};
    audit_verify(&input, &report);
    if (ferror(file))
        code = fail(call, FAILED, "the export cannot be read to its end");
    else if (flag_on(call, "json"))
        put_report_json(call, &report);
    else
        put_report(call, &report);
    if (!code && report.verdict != AUDIT_VERIFIED)
        code = NOT_VERIFIED;
    buf_free(&lines.line);
    buf_free(&report.text);
    return code;
}

static int verify_file(struct call *call, const char *path, const char *vkey)
{
    if (!vkey) {
        (void)fail(call, USAGE, "which key? --key VKEY, or --key-file FILE");
        hint(call, "it is what `sandgate audit head` told when the log was young");
        return USAGE;
    }
    FILE *file = fopen(path, "re");
    if (!file)
        return fail(call, FAILED, "%s: %s", path, strerrordesc_np(errno));
    int code = verify(call, file, vkey);
    (void)fclose(file);
    return code;
}

static int verify_daemon(struct call *call, const char *vkey)
{
    const char *own = NULL;
    int code = api_place(call);
    if (code)
        return code;
    FILE *file = tmpfile();
    if (!file)
        return fail(call, FAILED, "no temporary file can be made");
    code = export_to(call, true, file, &own);
    if (!code && !vkey)
        say(call, "No --key was given: this trusts the key that the daemon itself "
                  "names.");
    rewind(file);
    if (!code)
        code = verify(call, file, vkey ? vkey : own);
    (void)fclose(file);
    return code;
}

int audit_check(struct call *call)
{
    const char *vkey = NULL;
    int code = read_key(call, &vkey);
    if (code)
        return code;
    return call->arg_count ? verify_file(call, call->args[0], vkey)
                           : verify_daemon(call, vkey);
}

#include "core/audit_findings.h"

#include "base/must.h"

#include <stdarg.h>
#include <stdio.h>

enum { LINES_MAX = 200, TEXT_LINE = 512 };

static const char *const names[] = {
    [AUDIT_VERIFIED] = "VERIFIED",       [AUDIT_TAMPERED] = "TAMPERED",
    [AUDIT_ROLLED_BACK] = "ROLLED_BACK", [AUDIT_UNVERIFIABLE] = "UNVERIFIABLE",
    [AUDIT_ANOMALIES] = "ANOMALIES",
};

const char *audit_verdict_name(enum audit_verdict verdict)
{
    must((unsigned)verdict < COUNT(names));
    return names[verdict];
}

void findings_add(struct findings *findings, enum audit_verdict verdict,
                  const char *format, ...)
{
    char line[TEXT_LINE];
    struct buf *text = &findings->report->text;
    findings->verdicts |= 1u << verdict;
    findings->lines++;
    if (findings->lines == LINES_MAX + 1)
        (void)buf_text(text, "note: more findings are not shown\n");
    if (findings->lines > LINES_MAX)
        return;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(line, sizeof(line), format, args); /* a long one is cut */
    va_end(args);
    const char *label = verdict == AUDIT_VERIFIED ? "note" : names[verdict];
    (void)buf_printf(text, "%s: %s\n", label, line); /* fewer words change no verdict */
}

void findings_bad(struct findings *findings, uint64_t first, uint64_t end)
{
    struct audit_report *report = findings->report;
    bool lower = report->first_bad < 0 || first < (uint64_t)report->first_bad;
    bool same = report->first_bad >= 0 && first == (uint64_t)report->first_bad;
    if (!lower && !(same && end < (uint64_t)report->bad_end))
        return;
    report->first_bad = (int64_t)first;
    report->bad_end = (int64_t)end;
}

enum audit_verdict findings_verdict(const struct findings *findings)
{
    for (unsigned verdict = AUDIT_TAMPERED; verdict < COUNT(names); verdict++)
        if (findings->verdicts & 1u << verdict)
            return (enum audit_verdict)verdict;
    return AUDIT_VERIFIED;
}

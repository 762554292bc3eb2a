/* audit_findings: what a verification has to say, in words and in the report. */
#ifndef CORE_AUDIT_FINDINGS_H
#define CORE_AUDIT_FINDINGS_H

#include "core/audit.h"

#include <stdint.h>

struct findings {
    struct audit_report *report;
    unsigned verdicts; /* one bit each */
    unsigned lines;
};

/* For %llu. */
static inline unsigned long long number(uint64_t value)
{
    return value;
}

/* One line; AUDIT_VERIFIED makes it a remark. Texts of the export must be escaped. */
void findings_add(struct findings *findings, enum audit_verdict verdict,
                  const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Records of [first, end) are not as signed: the lowest range is what is reported. */
void findings_bad(struct findings *findings, uint64_t first, uint64_t end);

/* The gravest so far. */
enum audit_verdict findings_verdict(const struct findings *findings);

#endif

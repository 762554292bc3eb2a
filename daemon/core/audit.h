/* audit: verifies an export of the log, offline, with nothing but a public key.
 *
 * An export is a file of JSON lines that walks the tree once (core/audit_export.h,
 * docs/AUDIT.md): a header, each record as its exact leaf bytes, and in between the
 * leaf hashes, checkpoints and subtree hashes in their places; a head ends it.  Pure:
 * reads through a callback, in one pass and bounded memory.  Malformed input is a
 * verdict. */
#ifndef CORE_AUDIT_H
#define CORE_AUDIT_H

#include "base/buf.h"
#include "core/audit_export.h"
#include "core/tlog.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum audit_verdict { /* the cli maps them to the exit codes of docs/AUDIT.md */
                     AUDIT_VERIFIED,
                     AUDIT_TAMPERED,     /* contradicts a signature or itself */
                     AUDIT_ROLLED_BACK,  /* contradicts the auditor's checkpoint */
                     AUDIT_UNVERIFIABLE, /* not all of it is under a known signature */
                     AUDIT_ANOMALIES     /* as signed, but it tells of odd things */
};

struct audit_input {
    /* Next line without its newline; false at the end. The line lives until the next
     * call. */
    bool (*line)(void *context, const char **text, size_t *size);
    void *context;
    const char *vkey;  /* the auditor's own */
    const char *since; /* an older checkpoint note the auditor kept, or NULL */
    size_t since_size;
};

struct audit_report {
    enum audit_verdict verdict; /* the gravest, in the order of the enum */
    uint64_t records, size;     /* records read; size of the newest good checkpoint */
    uint64_t first, end;        /* the export is of [first, end): maybe a part */
    /* The first record that is not as signed is in [first_bad, bad_end): one record
     * when the leaf hashes tell which. -1: none, or not to be told. */
    int64_t first_bad, bad_end;
    unsigned intents_open; /* intents without outcome */
    struct buf text;       /* findings, one a line, for a person; caller frees */
};

void audit_verify(const struct audit_input *input, struct audit_report *report);

const char *audit_verdict_name(enum audit_verdict verdict); /* "TAMPERED", ... */

#endif

/* audit_line: the lines of an export that are not records, as values.  Each has exactly
 * one spelling: what is read is written again and compared.  Only core/audit*.c include
 * this. */
#ifndef CORE_AUDIT_LINE_H
#define CORE_AUDIT_LINE_H

#include "base/buf.h"
#include "core/tlog.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AUDIT_VERSION = 1, LINE_MAX = 8 * NOTE_MAX };

enum line_kind {
    LINE_RECORD, /* whatever is none of the others */
    LINE_HEADER,
    LINE_SUBTREE,
    LINE_TILE,
    LINE_CHECKPOINT,
    LINE_HEAD,
    LINE_MALFORMED,
};

struct line {
    enum line_kind kind;
    char origin[TLOG_ORIGIN];           /* header */
    uint64_t first, end;                /* header; tile: of its leaves */
    int level;                          /* subtree */
    uint64_t index;                     /* subtree */
    unsigned char hash[HASH];           /* subtree, head */
    unsigned char leaves[TILE_BYTES];   /* tile */
    uint64_t size;                      /* head */
    bool sealed;                        /* head */
    unsigned char seal[TLOG_SIGNATURE]; /* head, when sealed */
    struct buf note;                    /* checkpoint */
    struct buf again;                   /* the line as it should be */
};

void line_init(struct line *line);
void line_free(struct line *line);
void line_read(struct line *line, const char *text, size_t size);

/* Where the block of leaf hashes that begins at `index` ends. */
uint64_t tile_end(uint64_t index, uint64_t end);

/* ---- for audit_export.h's functions too ---- */
bool line_write_subtree(struct buf *out, int level, uint64_t index,
                        const unsigned char hash[static HASH]);
bool line_write_tile(struct buf *out, uint64_t first, const unsigned char *leaves,
                     size_t count);

#endif

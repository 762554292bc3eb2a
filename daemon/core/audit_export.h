/* audit_export: writes the lines of an export of the log (docs/AUDIT.md).  Pure.
 *
 * An export of the records [first, end) walks the tree from its first leaf to its size,
 * once, and every line stands where it belongs on that walk:
 *
 *     audit_write_header(out, origin, first, end);
 *     audit_write_proof(out, read, context, 0, first);       what lies before
 *     for each index in [first, end):
 *         audit_write_checkpoint(...) for the stored one of size `index`, if there is
 * one audit_write_tile(out, read, context, index, end) when audit_tile_due(index,
 * first) audit_write_record(out, leaf, size); audit_write_checkpoint(...) for the
 * stored one of size `end`, if any audit_write_proof(out, read, context, end, size);
 * what lies behind audit_write_checkpoint(...)             for the newest one, of size
 * `size` > end audit_write_head(out, head, seal);                     ends the export
 *
 * `size` is the newest checkpoint's, or `end` when the tail beyond it is exported too:
 * only then the seal matters.  All return false when the buffer or `read` failed. */
#ifndef CORE_AUDIT_EXPORT_H
#define CORE_AUDIT_EXPORT_H

#include "base/buf.h"
#include "core/tlog.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool audit_write_header(struct buf *out, const char *origin, uint64_t first,
                        uint64_t end);

/* The hashes of the perfect subtrees that stand for the leaves [from, to). */
bool audit_write_proof(struct buf *out, tlog_read *read, void *context, uint64_t from,
                       uint64_t to);

/* A block begins: at the first record and at every multiple of 256. */
bool audit_tile_due(uint64_t index, uint64_t first);

/* The leaf hashes of the block that begins at `index` and ends before `end`. */
bool audit_write_tile(struct buf *out, tlog_read *read, void *context, uint64_t index,
                      uint64_t end);

bool audit_write_record(struct buf *out, const char *leaf, size_t size);
bool audit_write_checkpoint(struct buf *out, const char *note, size_t size);

/* The tree that the walk ended at; `seal` is NULL when a checkpoint has that size. */
bool audit_write_head(struct buf *out, const struct checkpoint *head,
                      const unsigned char *seal);

#endif

/* doc_write: the canonical spelling of strings and scalars, for who writes a tree in an
 * order of his own.  RFC 8785's strings: only what must be escaped is. */
#ifndef CORE_DOC_WRITE_H
#define CORE_DOC_WRITE_H

#include "base/buf.h"
#include "core/doc.h"

void doc_write_text(struct buf *out, const char *text);
void doc_write_scalar(struct buf *out, const struct node *node);

#endif

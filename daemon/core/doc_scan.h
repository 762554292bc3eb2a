/* doc_scan: what a JSON parser would accept without a word, and we do not.
 *
 * Runs ahead of the parser, in one pass and without recursion, so that no depth of
 * openers reaches one.  What it lets pass need not be JSON yet. */
#ifndef CORE_DOC_SCAN_H
#define CORE_DOC_SCAN_H

#include "core/doc.h"

enum { DOC_REAL_TEXT = 40 };

bool doc_scan(const char *bytes, size_t size, int depth_max, bool reals,
              struct doc_error *error);

/* False, with the place and the reason noted. */
bool doc_fault(struct doc_error *error, int line, int column, const char *text);

/* The shortest spelling that reads back as the same number. */
void doc_real_text(double real, char text[static DOC_REAL_TEXT]);

#endif

/* approval_json: how an approval looks to agents, people and the log. Private to serve/
 * and exchange/. */
#ifndef SERVE_APPROVAL_JSON_H
#define SERVE_APPROVAL_JSON_H

#include "core/record.h"
#include "core/writer.h"
#include "store/approvals.h"

/* Members only; the object is the caller's. */
void approval_write_for_agent(const struct approval *approval, struct writer *w);
void approval_write(const struct approval *approval, struct writer *w);

/* Fills who, what and which approval of a record about it. */
void approval_record(const struct approval *approval, struct record *record);

#endif

/* when: spans and moments as people write them, and as they like to read them. */
#ifndef CLI_WHEN_H
#define CLI_WHEN_H

#include "cli/command.h"

/* "90s", "15m", "2h", "7d", "500ms". */
bool span_read(const char *text, int64_t *ms);

/* RFC 3339 in UTC, seconds with or without a fraction: "2025-01-31T08:00:00.000Z". */
bool moment_read(const char *text, int64_t *wall_ms);

/* The span of a flag, or `otherwise`; told when it is not one. */
int flag_span(struct call *call, const char *flag, int64_t otherwise, int64_t *ms);

/* "3 m ago", "in 52 m" on a terminal; RFC 3339 elsewhere. */
const char *moment_text(struct call *call, int64_t wall_ms);

#endif

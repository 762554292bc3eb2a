/* clock: the only place that asks what time it is.
 *
 * Wall time is for people and records, monotonic time for waiting.  Any thread.
 * In test builds (SANDGATE_FAULTS) the wall clock can be shifted with the
 * environment variable SANDGATE_CLOCK_FILE: a file that holds a number of
 * milliseconds, read anew at each call. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stddef.h>
#include <stdint.h>

int64_t clock_wall_us(void);
int64_t clock_wall_ms(void);
int64_t clock_mono_us(void);
int64_t clock_mono_ms(void);

/* RFC 3339 in UTC with milliseconds; `out` holds at least 25 bytes. */
void clock_rfc3339(int64_t wall_ms, char out[static 25]);

#endif

/* record_scan: the byte rules of a leaf.  One spelling a value: no blanks, only bytes
 * 0x20..0x7e, \uXXXX in lower case for all others and for nothing else, integers within
 * 2^53-1 without leading zeros, no key twice in an object.  Every function moves past
 * what it read, or says why it did not.  Only core/record*.c include this. */
#ifndef CORE_RECORD_SCAN_H
#define CORE_RECORD_SCAN_H

#include "core/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SCAN_DEPTH = 40, SCAN_KEYS = RECORD_MAX / 4 };

struct scan {
    const char *start, *at, *end;
    char *why; /* RECORD_WHY; written once, by the first failure */
    int depth;
    uint16_t keys[SCAN_KEYS]; /* where the keys of the open objects begin */
    size_t key_count;
};

/* `size` is at most RECORD_MAX. */
void scan_start(struct scan *scan, const char *bytes, size_t size, char *why);

bool scan_fail(struct scan *scan, const char *what); /* always false */
bool scan_skip(struct scan *scan, char c);           /* only if it is there */
bool scan_want(struct scan *scan, char c);
bool scan_done(const struct scan *scan);

bool scan_string(struct scan *scan, const char **inside, size_t *size);
bool scan_int(struct scan *scan, int64_t *number);
bool scan_text(struct scan *scan); /* a string, or {"b64":".."} */
bool scan_list(struct scan *scan);
bool scan_object(struct scan *scan);

/* Is this one object that obeys the rules?  With `hidden`, the member "hidden" may
 * follow it: redact_request writes the two in one go. */
bool scan_is_input(const char *bytes, bool hidden);

#endif

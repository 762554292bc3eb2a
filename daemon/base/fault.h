/* fault: places where tests make the program fail (SANDGATE_FAULTS builds only).
 *
 *   SANDGATE_FAIL=after_send:abort      the process is killed when it gets there
 *   SANDGATE_FAIL=commit:error:3        the third time it gets there it reports failure
 *   SANDGATE_FAIL_ALLOC=17              the 17th allocation fails
 *
 * Several points are separated by commas.  In release builds every call is a constant
 * and the strings are not in the binary. */
#ifndef BASE_FAULT_H
#define BASE_FAULT_H

#include <stdbool.h>

#ifdef SANDGATE_FAULTS
bool fault_at(const char *point); /* true: behave as if this step failed */
bool fault_alloc(void);           /* true: this allocation fails */
#else
#define fault_at(point) (false)
#define fault_alloc() (false)
#endif

#endif

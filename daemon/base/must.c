#include "base/must.h"

#include <stdio.h>
#include <stdlib.h>

_Noreturn void must_failed(const char *condition, const char *file, int line)
{
    (void)fprintf(stderr, "must: %s:%d: %s\n", file, line, condition);
    abort();
}

#include "base/memory.h"

#include "base/fault.h"

#include <stdlib.h>

void *memory_new(size_t size)
{
    return fault_alloc() ? NULL : calloc(1, size);
}

void memory_free(void *pointer)
{
    free(pointer);
}

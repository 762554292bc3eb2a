#include "base/fault.h"

#ifdef SANDGATE_FAULTS

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { POINTS = 16 };

static struct point {
    const char *name;
    size_t size;
    bool kill, counted;
    long left; /* counted: fires when it gets to zero, once */
} points[POINTS];
static int count = -1;
static long allocations_left = -1;

static void read_point(const char *text, size_t size)
{
    const char *colon = memchr(text, ':', size);
    if (!colon || count == POINTS)
        return;
    struct point *point = &points[count++];
    point->name = text;
    point->size = (size_t)(colon - text);
    point->kill = colon[1] == 'a';
    const char *second = memchr(colon + 1, ':', size - point->size - 1);
    point->counted = second != NULL;
    point->left = second ? strtol(second + 1, NULL, 10) : 0;
}

__attribute__((constructor)) static void read_environment(void)
{
    const char *at = getenv("SANDGATE_FAIL");
    const char *alloc = getenv("SANDGATE_FAIL_ALLOC");
    count = 0;
    if (alloc)
        allocations_left = strtol(alloc, NULL, 10);
    while (at && *at) {
        size_t size = strcspn(at, ",");
        read_point(at, size);
        at += size + (at[size] == ',');
    }
}

bool fault_at(const char *name)
{
    for (int i = 0; i < count; i++) {
        struct point *point = &points[i];
        if (strlen(name) != point->size || memcmp(name, point->name, point->size) != 0)
            continue;
        if (point->counted
            && __atomic_sub_fetch(&point->left, 1, __ATOMIC_RELAXED) != 0)
            return false;
        if (point->kill)
            (void)kill(getpid(), SIGKILL);
        return true;
    }
    return false;
}

bool fault_alloc(void)
{
    return allocations_left > 0
           && __atomic_sub_fetch(&allocations_left, 1, __ATOMIC_RELAXED) == 0;
}

#else
typedef int fault_is_empty; /* ISO C forbids an empty file */
#endif

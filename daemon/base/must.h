/* must: assertions that stay on in release, and the few macros the tree shares.
 *
 * A broken `must` is a bug of ours, never a fault of the world: it prints where and
 * aborts.  What the world can cause is an `enum err` (core/err.h). */
#ifndef BASE_MUST_H
#define BASE_MUST_H

#include <stddef.h>

#define must(condition) \
    ((condition) ? (void)0 : must_failed(#condition, __FILE__, __LINE__))

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

#define container_of(pointer, type, member) \
    ((type *)(void *)((char *)(pointer)-offsetof(type, member)))

_Noreturn void must_failed(const char *condition, const char *file, int line);

#endif

/* arena: the memory of one request (or one compiled policy), freed as a whole.
 *
 * Single owner, no locks.  Allocation past the cap, or out of memory, returns NULL
 * and leaves the arena usable; the caller answers ERR_TOO_BIG.  Never hold secrets
 * here: an arena is not wiped. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stddef.h>

struct arena;

struct arena *arena_new(size_t cap);
void arena_free(struct arena *arena); /* NULL is fine */

void *arena_alloc(struct arena *arena, size_t size); /* zeroed, aligned to 16 */
char *arena_copy(struct arena *arena, const void *bytes, size_t size); /* adds a NUL */
char *arena_text(struct arena *arena, const char *text);
char *arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif

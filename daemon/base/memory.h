/* memory: single objects that outlive a request, zeroed.  Any thread.
 *
 * Request memory comes from an arena and bytes from a buf; this is for the rest. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stddef.h>

void *memory_new(size_t size);   /* zeroed; NULL when there is none */
void memory_free(void *pointer); /* NULL is fine */

#endif

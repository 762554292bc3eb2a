#include "base/arena.h"

#include "base/fault.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 4096 - 32, ALIGN = 16 };

struct chunk {
    struct chunk *next;
    size_t size, used;
    _Alignas(ALIGN) char bytes[];
};

struct arena {
    struct chunk *chunks;
    size_t cap, total;
};

static struct chunk *chunk_new(size_t size)
{
    if (fault_alloc())
        return NULL;
    struct chunk *chunk = malloc(sizeof(*chunk) + size);
    if (!chunk)
        return NULL;
    chunk->next = NULL;
    chunk->size = size;
    chunk->used = 0;
    return chunk;
}

struct arena *arena_new(size_t cap)
{
    struct chunk *chunk = chunk_new(CHUNK);
    if (!chunk)
        return NULL;
    chunk->used = (sizeof(struct arena) + ALIGN - 1) / ALIGN * ALIGN;
    struct arena *arena = (struct arena *)(void *)chunk->bytes;
    *arena = (struct arena){.chunks = chunk, .cap = cap, .total = CHUNK};
    return arena;
}

void arena_free(struct arena *arena)
{
    struct chunk *chunk = arena ? arena->chunks : NULL;
    while (chunk) {
        struct chunk *next = chunk->next;
        free(chunk);
        chunk = next;
    }
}

void *arena_alloc(struct arena *arena, size_t size)
{
    if (size > arena->cap)
        return NULL;
    size = (size + ALIGN - 1) / ALIGN * ALIGN;
    struct chunk *chunk = arena->chunks;
    if (chunk->size - chunk->used < size) {
        size_t want = size > CHUNK ? size : CHUNK;
        if (arena->total + want > arena->cap && arena->total + size > arena->cap)
            return NULL;
        chunk = chunk_new(want);
        if (!chunk)
            return NULL;
        chunk->next = arena->chunks;
        arena->chunks = chunk;
        arena->total += want;
    }
    void *memory = chunk->bytes + chunk->used;
    chunk->used += size;
    return memset(memory, 0, size);
}

char *arena_copy(struct arena *arena, const void *bytes, size_t size)
{
    char *copy = size < SIZE_MAX ? arena_alloc(arena, size + 1) : NULL;
    if (copy && size)
        memcpy(copy, bytes, size);
    return copy;
}

char *arena_text(struct arena *arena, const char *text)
{
    return arena_copy(arena, text, strlen(text));
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    size_t size = text_measure(format, args);
    char *text = arena_alloc(arena, size + 1);
    if (text)
        (void)vsnprintf(text, size + 1, format, again);
    va_end(args);
    va_end(again);
    return text;
}

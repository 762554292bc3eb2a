#include "core/reference.h"

#include <string.h>

enum { REFERENCE_MAX = 256 };

#define WORD "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

/* Past one word of letters, digits, '-', '_' and '.'; NULL when it is empty or only
 * dots, which a path could be made of. */
static const char *skip_word(const char *at)
{
    size_t size = strspn(at, WORD);
    return size > strspn(at, ".") ? at + size : NULL;
}

bool reference_is_good(const char *text)
{
    const char *at = text + strspn(text, " ");
    if (strlen(text) > REFERENCE_MAX || !(at = skip_word(at)))
        return false;
    if (*at == '/' && !(at = skip_word(at + 1)))
        return false;
    if (*at == ':' && !(at = skip_word(at + 1)))
        return false;
    return at[strspn(at, " ")] == '\0';
}

const char *reference_fold(struct arena *arena, const char *text)
{
    const char *start = text + strspn(text, " ");
    size_t size = strlen(start);
    while (size > 0 && start[size - 1] == ' ')
        size--;
    char *folded = arena_copy(arena, start, size);
    for (char *at = folded; at && *at; at++)
        if (*at >= 'A' && *at <= 'Z')
            *at = (char)(*at - 'A' + 'a');
    return folded;
}

const char *reference_name(struct arena *arena, const char *folded)
{
    return arena_copy(arena, folded, strcspn(folded, ":"));
}

const char *reference_tag(const char *folded, const char *otherwise)
{
    const char *colon = strchr(folded, ':');
    return colon ? colon + 1 : otherwise;
}

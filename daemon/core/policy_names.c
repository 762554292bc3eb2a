#include "core/policy_names.h"

#include "base/text.h"

#include <string.h>

static const char *next_character(const char *at)
{
    do
        at++;
    while (((unsigned char)*at & 0xc0) == 0x80);
    return at;
}

/* Stars do not cross a slash, so it is enough to let the last one grow. */
static bool general_matches(const char *pattern, const char *text)
{
    const char *after_star = NULL, *grown = NULL;
    while (*text) {
        if (*pattern == '*') {
            after_star = ++pattern;
            grown = text;
        } else if (*pattern == '?' && *text != '/') {
            pattern++;
            text = next_character(text);
        } else if (*pattern == *text && *pattern != '?') {
            pattern++;
            text++;
        } else if (after_star && *grown != '/') {
            pattern = after_star;
            text = grown = next_character(grown);
        } else {
            return false;
        }
    }
    while (*pattern == '*')
        pattern++;
    return *pattern == '\0';
}

bool has_glob(const char *text)
{
    return strpbrk(text, "*?") != NULL;
}

struct glob glob_of(const char *pattern)
{
    size_t size = strlen(pattern);
    size_t first = strcspn(pattern, "*?");
    if (text_same(pattern, "*"))
        return (struct glob){GLOB_ANY, pattern, size};
    if (first + 1 == size && pattern[first] == '*')
        return (struct glob){GLOB_PREFIX, pattern, size};
    if (*pattern == '*' && !has_glob(pattern + 1))
        return (struct glob){GLOB_SUFFIX, pattern, size};
    return (struct glob){GLOB_GENERAL, pattern, size};
}

bool glob_matches(const struct glob *glob, const char *text)
{
    size_t fixed = glob->size - 1, size;
    switch (glob->kind) {
    case GLOB_ANY:
        return true;
    case GLOB_PREFIX:
        return strncmp(text, glob->text, fixed) == 0 && !strchr(text + fixed, '/');
    case GLOB_SUFFIX:
        size = strlen(text);
        return size >= fixed && text_same(text + size - fixed, glob->text + 1)
               && !memchr(text, '/', size - fixed);
    case GLOB_GENERAL:
        return general_matches(glob->text, text);
    }
    return false;
}

bool sorted_has(const char *const *sorted, size_t count, const char *text)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(text, sorted[middle]);
        if (order == 0)
            return true;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return false;
}

/* Sets do not nest, so one level is all. */
static bool own_list(const struct names *names, const char *text)
{
    return sorted_has(names->literals, names->literal_count, text);
}

static bool own_match(const struct names *names, const char *text)
{
    if (own_list(names, text))
        return true;
    for (size_t i = 0; i < names->glob_count; i++)
        if (glob_matches(&names->globs[i], text))
            return true;
    return false;
}

bool names_list(const struct names *names, const char *text)
{
    for (size_t i = 0; i < names->set_count; i++)
        if (own_list(names->sets[i], text))
            return true;
    return own_list(names, text);
}

bool names_match(const struct names *names, const char *text)
{
    for (size_t i = 0; i < names->set_count; i++)
        if (own_match(names->sets[i], text))
            return true;
    return own_match(names, text);
}

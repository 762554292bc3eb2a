#include "upstream/passed.h"

#include "base/must.h"
#include "upstream/head.h"

static const char *const names[] = {
#define PASS(name) name,
#define OURS(name)
#include "upstream/headers.def"
#undef PASS
#undef OURS
};

_Static_assert(COUNT(names) <= TRANSFER_HEADERS, "every name has its place");

static bool is_printable(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (text[i] < 0x20 || text[i] > 0x7e)
            return false;
    return true;
}

static size_t named(const struct header *header)
{
    size_t at = 0;
    while (at < COUNT(names) && !head_same_name(header, names[at]))
        at++;
    return at;
}

void passed_collect(struct transfer *transfer)
{
    bool taken[COUNT(names)] = {false};
    struct header header;
    size_t at = 0;
    transfer->passed_count = 0;
    while (head_next(&transfer->head, &at, &header)) {
        size_t name = named(&header);
        if (name == COUNT(names) || taken[name]
            || !is_printable(header.value, header.value_size))
            continue;
        taken[name] = true;
        transfer->passed[transfer->passed_count++] = header;
    }
}

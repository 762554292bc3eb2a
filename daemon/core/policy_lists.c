/* Lists of texts: none twice, none empty; and what they become. */
#include "base/text.h"
#include "core/policy_load.h"
#include "core/policy_values.h"

#include <stdlib.h>
#include <string.h>

enum { LIST_MAX = 1000, ENTRY_MAX = 255 };

static int by_text(const void *a, const void *b)
{
    const struct entry *left = a, *right = b;
    int order = strcmp(left->text, right->text);
    return order ? order : (left->index > right->index) - (left->index < right->index);
}

static bool entry_ok(struct reader *r, const struct node *node)
{
    if (!kind_is(r, node, NODE_TEXT))
        return false;
    int64_t size = characters(node_text(node));
    if (size == 0)
        complain(r, "is empty; write a name");
    else if (size > ENTRY_MAX)
        complain(r, "has %lld characters; at most %d are possible", (long long)size,
                 ENTRY_MAX);
    return size > 0 && size <= ENTRY_MAX;
}

/* Tells of what stands there twice, and keeps it once. */
static void drop_repeats(struct reader *r, struct entries *entries)
{
    char shown[QUOTE];
    size_t kept = 0;
    for (size_t i = 0; i < entries->count; i++) {
        struct entry *entry = &entries->all[i];
        if (kept == 0 || !text_same(entries->all[kept - 1].text, entry->text)) {
            entries->all[kept++] = *entry;
            continue;
        }
        size_t before = place_index(r, entry->index);
        complain(r, "%s is in this list twice; remove one", quote(shown, entry->text));
        place_leave(r, before);
    }
    entries->count = kept;
}

struct entries read_entries(struct reader *r, const struct node *list)
{
    size_t size = node_size(list);
    struct entries entries = {0};
    if (size == 0)
        complain(r, "is an empty list; leave it out, or name something");
    else if (size > LIST_MAX)
        complain(r, "has %zu entries; at most %d are possible", size, LIST_MAX);
    if (size == 0 || size > LIST_MAX)
        return entries;
    entries.all = arena_alloc(r->load->scratch, size * sizeof(struct entry));
    if (!entries.all) {
        r->load->starved = true;
        return entries;
    }
    for (size_t i = 0; i < size; i++) {
        const struct node *node = node_at(list, i);
        size_t before = place_index(r, i);
        if (entry_ok(r, node))
            entries.all[entries.count++] = (struct entry){node_text(node), i};
        place_leave(r, before);
    }
    qsort(entries.all, entries.count, sizeof(struct entry), by_text);
    drop_repeats(r, &entries);
    return entries;
}

const char *const *entries_texts(struct reader *r, const struct entries *entries)
{
    const char **texts = load_alloc(r->load, (entries->count + 1) * sizeof(*texts));
    for (size_t i = 0; texts && i < entries->count; i++)
        texts[i] = load_text(r->load, entries->all[i].text);
    return texts;
}

/* ---- names ---- */

static void unknown_set(struct reader *r, const char *name)
{
    char shown[QUOTE], text[QUOTE];
    struct guess guess = {.word = name};
    for (const struct named_set *set = r->load->sets; set; set = set->next)
        guess_try(&guess, set->name);
    if (!r->load->incomplete)
        complain(r, "no set is named %s%s", quote(shown, name),
                 guess.best ? guess_text(text, &guess) : "; define it under \"sets\"");
}

static const struct names *set_named(struct reader *r, const struct entry *entry)
{
    const char *name = entry->text + 1;
    for (const struct named_set *set = r->load->sets; set; set = set->next)
        if (text_same(set->name, name))
            return set->names;
    size_t before = place_index(r, entry->index);
    unknown_set(r, name);
    place_leave(r, before);
    return NULL;
}

/* Where the names of a list go: room for as many as it has entries. */
struct sorting {
    const char **literals;
    struct glob *globs;
    const struct names **sets;
    struct names *names;
};

static bool sorting_start(struct load *load, size_t count, struct sorting *sorting)
{
    *sorting = (struct sorting){
        .literals = load_alloc(load, count * sizeof(char *)),
        .globs = load_alloc(load, count * sizeof(struct glob)),
        .sets = load_alloc(load, count * sizeof(struct names *)),
        .names = load_alloc(load, sizeof(struct names)),
    };
    if (load->starved)
        return false;
    sorting->names->literals = sorting->literals;
    sorting->names->globs = sorting->globs;
    sorting->names->sets = sorting->sets;
    return true;
}

static void sort_in(struct reader *r, const struct entry *entry,
                    struct sorting *sorting)
{
    struct names *names = sorting->names;
    if (*entry->text == '@') {
        const struct names *set = set_named(r, entry);
        if (set)
            sorting->sets[names->set_count++] = set;
        return;
    }
    const char *text = load_text(r->load, entry->text);
    if (has_glob(text))
        sorting->globs[names->glob_count++] = glob_of(text);
    else
        sorting->literals[names->literal_count++] = text;
}

const struct names *entries_names(struct reader *r, const struct entries *entries)
{
    struct sorting sorting;
    if (!sorting_start(r->load, entries->count, &sorting))
        return NULL;
    for (size_t i = 0; i < entries->count; i++)
        sort_in(r, &entries->all[i], &sorting);
    return sorting.names;
}

void read_names(struct reader *r, const struct value *value)
{
    const struct names **out = value->slot;
    const struct entries entries = read_entries(r, value->node);
    *out = entries_names(r, &entries);
}

#include "base/must.h"
#include "base/text.h"
#include "core/facts_parts.h"
#include "core/reference.h"

#include <string.h>

bool facts_operation_is(const struct asking *asking, const char *name)
{
    return text_same(asking->canon->operation->name, name);
}

const struct node *facts_at(const struct asking *asking, const char *path)
{
    static const char prefix[] = "network.";
    const struct node *node = asking->body;
    if (facts_operation_is(asking, "sandbox.network") && text_starts(path, prefix))
        path += sizeof(prefix) - 1; /* there the body is what create calls network */
    while (node && *path) {
        char name[64] = "";
        size_t size = strcspn(path, ".");
        must(size < sizeof(name));
        memcpy(name, path, size);
        node = node_member(node, name);
        path += size + (path[size] == '.');
    }
    return node && node_kind(node) != NODE_NULL ? node : NULL;
}

/* ---- small makers ---- */

const char *facts_kept(struct asking *asking, const char *text)
{
    asking->full |= !text;
    return text ? text : "";
}

const char *facts_folded(struct asking *asking, const char *text)
{
    return facts_kept(asking, reference_fold(asking->arena, text));
}

void facts_set_text(struct fact *fact, const char *text)
{
    fact->state = FACT_VALUE;
    fact->text = text ? text : "";
}

void facts_set_number(struct fact *fact, int64_t number)
{
    fact->state = number == FACTS_ABSENT ? FACT_ABSENT : FACT_VALUE;
    fact->number = number == FACTS_ABSENT ? 0 : number;
}

const char **facts_set_list(struct asking *asking, struct fact *fact, size_t count)
{
    static const char *const none[] = {NULL};
    const char **list =
        count ? arena_alloc(asking->arena, (count + 1) * sizeof(*list)) : NULL;
    asking->full |= count && !list;
    fact->state = FACT_VALUE;
    fact->list = list ? list : none;
    return list;
}

/* ---- plain kinds ---- */

READER(facts_integer)
{
    int64_t number = row->otherwise;
    (void)node_int(facts_at(asking, row->path), &number);
    facts_set_number(fact, number);
}

READER(facts_truth)
{
    bool value = false;
    bool there = node_bool(facts_at(asking, row->path), &value);
    facts_set_number(fact, there ? value : row->otherwise);
}

READER(facts_text)
{
    facts_set_text(fact, node_text(facts_at(asking, row->path)));
}

READER(facts_texts)
{
    const struct node *node = facts_at(asking, row->path);
    const char **list = facts_set_list(asking, fact, node_size(node));
    for (size_t i = 0; list && i < node_size(node); i++)
        list[i] = facts_folded(asking, node_text(node_at(node, i)));
}

READER(facts_verbatim)
{
    const struct node *node = facts_at(asking, row->path);
    const char **list = facts_set_list(asking, fact, node_size(node));
    for (size_t i = 0; list && i < node_size(node); i++)
        list[i] = node_text(node_at(node, i));
}

READER(facts_keys)
{
    const struct node *value, *node = facts_at(asking, row->path);
    const char **list = facts_set_list(asking, fact, node_size(node));
    for (size_t i = 0; list && node_each(node, i, &list[i], &value); i++)
        ;
}

READER(facts_members)
{
    const char *member = strrchr(row->path, '.') + 1;
    char path[64] = "";
    size_t size = (size_t)(member - row->path) - 1;
    must(size < sizeof(path));
    memcpy(path, row->path, size);
    const struct node *node = facts_at(asking, path);
    const char **list = facts_set_list(asking, fact, node_size(node));
    for (size_t i = 0; list && i < node_size(node); i++)
        list[i] = member_text(node_at(node, i), member, "");
}

READER(facts_map)
{
    const struct node *value, *node = facts_at(asking, row->path);
    const char **list = facts_set_list(asking, fact, 2 * node_size(node));
    for (size_t i = 0; list && node_each(node, i, &list[2 * i], &value); i++)
        list[2 * i + 1] = node_text(value);
}

#include "core/doc.h"

#include "base/arena.h"
#include "base/text.h"
#include "core/doc_node.h"
#include "core/doc_scan.h"

#include <jansson.h>
#include <string.h>

enum { ARENA_PER_BYTE = 64, ARENA_LEAST = 64 << 10 };

struct doc {
    struct arena *arena;
    struct node root;
};

/* ---- from the parser's tree to ours: constant, indexed, in one arena ---- */

struct copying {
    struct arena *arena;
    struct doc_error *error;
};

static bool copy_node(struct copying *copying, json_t *from, struct node *to);

static struct node *children(struct copying *copying, struct node *parent, size_t count)
{
    struct node *first = arena_alloc(copying->arena, (count + 1) * sizeof(*first));
    parent->children.first = first;
    parent->children.count = count;
    if (!first)
        (void)doc_fault(copying->error, 1, 1, "too large");
    return first;
}

static bool copy_object(struct copying *copying, json_t *from, struct node *to)
{
    struct node *child = children(copying, to, json_object_size(from));
    const char *key;
    json_t *value;
    if (!child)
        return false;
    json_object_foreach(from, key, value)
    {
        child->key = arena_text(copying->arena, key);
        if (!child->key)
            return doc_fault(copying->error, 1, 1, "too large");
        if (!copy_node(copying, value, child++))
            return false;
    }
    return true;
}

static bool copy_list(struct copying *copying, json_t *from, struct node *to)
{
    struct node *child = children(copying, to, json_array_size(from));
    for (size_t i = 0; child && i < json_array_size(from); i++)
        if (!copy_node(copying, json_array_get(from, i), &child[i]))
            return false;
    return child != NULL;
}

static bool copy_text(struct copying *copying, json_t *from, struct node *to)
{
    to->text =
        arena_copy(copying->arena, json_string_value(from), json_string_length(from));
    return to->text || doc_fault(copying->error, 1, 1, "too large");
}

/* The one true recursion: its depth was bounded by doc_scan. */
static bool copy_node(struct copying *copying, json_t *from, struct node *to)
{
    static const enum node_kind kinds[] = {
        [JSON_OBJECT] = NODE_OBJECT, [JSON_ARRAY] = NODE_LIST,
        [JSON_STRING] = NODE_TEXT,   [JSON_INTEGER] = NODE_INT,
        [JSON_REAL] = NODE_REAL,     [JSON_TRUE] = NODE_BOOL,
        [JSON_FALSE] = NODE_BOOL,    [JSON_NULL] = NODE_NULL,
    };
    to->kind = kinds[json_typeof(from)];
    switch (to->kind) {
    case NODE_OBJECT:
        return copy_object(copying, from, to);
    case NODE_LIST:
        return copy_list(copying, from, to);
    case NODE_TEXT:
        return copy_text(copying, from, to);
    case NODE_INT:
        to->number = json_integer_value(from);
        return true;
    case NODE_REAL:
        to->real = json_real_value(from);
        return true;
    case NODE_BOOL:
        to->truth = json_is_true(from);
        return true;
    case NODE_NULL:
        return true;
    }
    return false;
}

static struct doc *doc_from(json_t *tree, size_t size, struct doc_error *error)
{
    struct arena *arena = arena_new(ARENA_LEAST + size * ARENA_PER_BYTE);
    struct doc *doc = arena ? arena_alloc(arena, sizeof(*doc)) : NULL;
    struct copying copying = {.arena = arena, .error = error};
    if (doc && copy_node(&copying, tree, &doc->root)) {
        doc->arena = arena;
        return doc;
    }
    if (!doc)
        (void)doc_fault(error, 1, 1, "out of memory");
    arena_free(arena);
    return NULL;
}

/* The parser quotes the document, which may hold a secret: its words end there. */
static void note_syntax(struct doc_error *error, const json_error_t *where)
{
    (void)doc_fault(error, where->line, where->column, where->text);
    char *quoted = strstr(error->text, " near ");
    if (quoted)
        *quoted = '\0';
}

struct doc *doc_parse(const char *bytes, size_t size, int depth_max, bool reals,
                      struct doc_error *error)
{
    json_error_t where;
    *error = (struct doc_error){0};
    if (!doc_scan(bytes, size, depth_max, reals, error))
        return NULL;
    json_t *tree =
        json_loadb(bytes, size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &where);
    if (!tree) {
        note_syntax(error, &where);
        return NULL;
    }
    struct doc *doc = doc_from(tree, size, error);
    json_decref(tree);
    return doc;
}

void doc_free(struct doc *doc)
{
    if (doc)
        arena_free(doc->arena);
}

/* ---- reading ---- */

const struct node *doc_root(const struct doc *doc)
{
    return &doc->root;
}

enum node_kind node_kind(const struct node *node)
{
    return node->kind;
}

const char *node_text(const struct node *node)
{
    return node && node->kind == NODE_TEXT ? node->text : NULL;
}

bool node_int(const struct node *node, int64_t *out)
{
    if (!node || node->kind != NODE_INT)
        return false;
    *out = node->number;
    return true;
}

bool node_bool(const struct node *node, bool *out)
{
    if (!node || node->kind != NODE_BOOL)
        return false;
    *out = node->truth;
    return true;
}

size_t node_size(const struct node *node)
{
    return node && node->kind >= NODE_LIST ? node->children.count : 0;
}

const struct node *node_at(const struct node *list, size_t index)
{
    return index < node_size(list) ? &list->children.first[index] : NULL;
}

bool node_each(const struct node *object, size_t index, const char **key,
               const struct node **value)
{
    *value = node_at(object, index);
    *key = *value ? (*value)->key : NULL;
    return *value != NULL;
}

const struct node *node_member(const struct node *object, const char *key)
{
    for (size_t i = 0; i < node_size(object); i++)
        if (text_same(object->children.first[i].key, key))
            return &object->children.first[i];
    return NULL;
}

const char *member_text(const struct node *object, const char *key,
                        const char *otherwise)
{
    const char *text = node_text(node_member(object, key));
    return text ? text : otherwise;
}

int64_t member_int(const struct node *object, const char *key, int64_t otherwise)
{
    int64_t number = otherwise;
    (void)node_int(node_member(object, key), &number);
    return number;
}

#include "core/doc_write.h"

#include "base/arena.h"
#include "base/must.h"
#include "core/doc_node.h"
#include "core/doc_scan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ARENA_LEAST = 64 << 10 };

void doc_write_text(struct buf *out, const char *text)
{
    static const char escapes[] = "\b\f\n\r\t\"\\", letters[] = "bfnrt\"\\";
    buf_char(out, '"');
    for (const char *at = text; *at; at++) {
        const char *escape = strchr(escapes, *at);
        if (escape)
            buf_printf(out, "\\%c", letters[escape - escapes]);
        else if ((unsigned char)*at < 0x20)
            buf_printf(out, "\\u%04x", (unsigned)*at);
        else
            buf_char(out, *at);
    }
    buf_char(out, '"');
}

/* Never as an integer: a reader must find a real again. */
static void put_real(struct buf *out, double real)
{
    char text[DOC_REAL_TEXT];
    if (real == trunc(real) && fabs(real) < 1e15) {
        buf_printf(out, "%.1f", real);
        return;
    }
    doc_real_text(real, text);
    buf_printf(out, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

void doc_write_scalar(struct buf *out, const struct node *node)
{
    switch (node->kind) {
    case NODE_TEXT:
        doc_write_text(out, node->text);
        break;
    case NODE_INT:
        buf_printf(out, "%lld", (long long)node->number);
        break;
    case NODE_REAL:
        put_real(out, node->real);
        break;
    case NODE_BOOL:
        buf_text(out, node->truth ? "true" : "false");
        break;
    case NODE_NULL:
        buf_text(out, "null");
        break;
    case NODE_LIST:
    case NODE_OBJECT:
        must(false);
    }
}

struct member {
    const struct node *node;
};

static int by_key(const void *a, const void *b)
{
    const struct member *left = a, *right = b;
    return strcmp(left->node->key, right->node->key);
}

static bool put_node(const struct node *node, struct buf *out, struct arena *arena);

static bool put_object(const struct node *node, struct buf *out, struct arena *arena)
{
    size_t count = node_size(node);
    struct member *sorted = arena_alloc(arena, (count + 1) * sizeof(*sorted));
    if (!sorted)
        return false;
    for (size_t i = 0; i < count; i++)
        sorted[i].node = &node->children.first[i];
    qsort(sorted, count, sizeof(*sorted), by_key);
    buf_char(out, '{');
    for (size_t i = 0; i < count; i++) {
        buf_text(out, i ? "," : "");
        doc_write_text(out, sorted[i].node->key);
        buf_char(out, ':');
        if (!put_node(sorted[i].node, out, arena))
            return false;
    }
    return buf_char(out, '}');
}

static bool put_list(const struct node *node, struct buf *out, struct arena *arena)
{
    buf_char(out, '[');
    for (size_t i = 0; i < node_size(node); i++) {
        buf_text(out, i ? "," : "");
        if (!put_node(node_at(node, i), out, arena))
            return false;
    }
    return buf_char(out, ']');
}

static bool put_node(const struct node *node, struct buf *out, struct arena *arena)
{
    if (node->kind == NODE_OBJECT)
        return put_object(node, out, arena);
    if (node->kind == NODE_LIST)
        return put_list(node, out, arena);
    doc_write_scalar(out, node);
    return !out->failed;
}

bool node_canonical(const struct node *node, struct buf *out)
{
    struct arena *arena = arena_new(out->cap + ARENA_LEAST);
    bool ok = arena && put_node(node, out, arena);
    arena_free(arena);
    return ok;
}

/* Answers: credentials taken out, all else left as it is and in its order. */
#include "base/must.h"
#include "base/text.h"
#include "core/doc.h"
#include "core/doc_write.h"
#include "core/origin.h"
#include "core/redact.h"

#include <string.h>
#include <strings.h>

enum { DEPTH_MAX = 64, PATHS_MAX = 8, LIST_MAX = 1024, ID_MAX = 128, IDS_MAX = 8192 };

/* What is left of each credential pointer at this place of the tree; NULL: it leads
 * elsewhere. */
struct pointers {
    const char *rest[PATHS_MAX];
};

struct stripping {
    const struct operation *operation;
    struct arena *arena;
    struct buf *out;
    bool found[PATHS_MAX];
};

/* ---- pointers ---- */

/* What follows the first part if that is `key` or `*`; NULL when it is neither. */
static const char *follow(const char *pointer, const char *key)
{
    if (!pointer || *pointer != '/')
        return NULL;
    const char *part = pointer + 1;
    size_t size = strcspn(part, "/");
    bool any = size == 1 && *part == '*';
    if (!any && (strlen(key) != size || memcmp(part, key, size) != 0))
        return NULL;
    return part + size;
}

static struct pointers follow_all(const struct pointers *pointers, const char *key)
{
    struct pointers next = {{NULL}};
    for (size_t i = 0; i < PATHS_MAX; i++)
        next.rest[i] = follow(pointers->rest[i], key);
    return next;
}

/* The pointer that ends here, or -1. */
static int ends_here(const struct pointers *pointers)
{
    for (int i = 0; i < PATHS_MAX; i++)
        if (pointers->rest[i] && !*pointers->rest[i])
            return i;
    return -1;
}

/* ---- the tree ---- */

/* Of an URL the origin stays, as far as there is more to it; NULL: the member goes. */
static const char *origin_left(struct stripping *stripping, const char *pointer,
                               const struct node *value, bool *whole)
{
    struct origin origin;
    const char *text = node_text(value);
    must(pointer);
    size_t size = strlen(pointer);
    *whole = false;
    if (!text || size < 3 || strcasecmp(pointer + size - 3, "url") != 0
        || !origin_of_url(stripping->arena, text, &origin))
        return NULL;
    *whole = origin.whole;
    return origin_text(stripping->arena, &origin);
}

static void put(struct stripping *stripping, const struct node *node,
                const struct pointers *pointers);

static void put_key(struct buf *out, const char *key, bool *first)
{
    buf_text(out, *first ? "" : ",");
    *first = false;
    if (!key)
        return;
    doc_write_text(out, key);
    buf_char(out, ':');
}

/* A credential: gone, or cut to its origin.  A null one is none. */
static bool strip(struct stripping *stripping, int pointer, const char *key,
                  const struct node *value, bool *first)
{
    bool whole;
    if (node_kind(value) == NODE_NULL)
        return false;
    const char *path = stripping->operation->credential_paths[pointer];
    const char *left = origin_left(stripping, path, value, &whole);
    if (whole)
        return false;
    stripping->found[pointer] = true;
    if (left) {
        put_key(stripping->out, key, first);
        doc_write_text(stripping->out, left);
    }
    return true;
}

static void put_children(struct stripping *stripping, const struct node *node,
                         const struct pointers *pointers)
{
    const char *key;
    const struct node *child;
    bool first = true;
    for (size_t i = 0; node_each(node, i, &key, &child); i++) {
        struct pointers next = follow_all(pointers, key ? key : "*");
        int pointer = ends_here(&next);
        if (pointer >= 0 && strip(stripping, pointer, key, child, &first))
            continue;
        put_key(stripping->out, key, &first);
        put(stripping, child, &next);
    }
}

/* True recursion: its depth was bounded when the answer was parsed. */
static void put(struct stripping *stripping, const struct node *node,
                const struct pointers *pointers)
{
    struct buf *out = stripping->out;
    switch (node_kind(node)) {
    case NODE_OBJECT:
        buf_char(out, '{');
        put_children(stripping, node, pointers);
        buf_char(out, '}');
        return;
    case NODE_LIST:
        buf_char(out, '[');
        put_children(stripping, node, pointers);
        buf_char(out, ']');
        return;
    case NODE_TEXT:
    case NODE_INT:
    case NODE_REAL:
    case NODE_BOOL:
    case NODE_NULL:
        doc_write_scalar(out, node);
        return;
    }
}

static const char *found_list(const struct stripping *stripping)
{
    own_buf text = BUF(LIST_MAX);
    for (size_t i = 0; i < PATHS_MAX; i++)
        if (stripping->found[i])
            buf_printf(&text, "%s%s", text.size ? "," : "",
                       stripping->operation->credential_paths[i]);
    return text.failed ? NULL
                       : arena_text(stripping->arena, text.size ? text.data : "");
}

enum err redact_response(const struct operation *operation, const char *body,
                         size_t size, struct arena *arena, struct buf *out,
                         const char **stripped)
{
    struct doc_error error;
    struct stripping stripping = {.operation = operation, .arena = arena, .out = out};
    struct pointers pointers = {{NULL}};
    *stripped = "";
    if (!operation->credential_paths)
        return ERR_OK;
    for (size_t i = 0; operation->credential_paths[i]; i++) {
        must(i < PATHS_MAX);
        pointers.rest[i] = operation->credential_paths[i];
    }
    own_doc *doc = doc_parse(body, size, DEPTH_MAX, true, &error);
    if (!doc)
        return ERR_UPSTREAM_BROKEN;
    put(&stripping, doc_root(doc), &pointers);
    const char *list = out->failed ? NULL : found_list(&stripping);
    if (!list)
        return ERR_TOO_LARGE;
    if (!*list)
        buf_clear(out);
    *stripped = list;
    return ERR_OK;
}

/* ---- what was made ---- */

static void collect(const struct node *node, const char *pointer, struct buf *ids)
{
    const char *key, *id = node_text(node);
    const struct node *child;
    if (!*pointer && id && *id && strlen(id) <= ID_MAX) {
        buf_text(ids, ids->size ? "," : "");
        (void)text_escape(ids, id, strlen(id));
    }
    for (size_t i = 0; *pointer && node_each(node, i, &key, &child); i++) {
        const char *rest = follow(pointer, key ? key : "*");
        if (rest)
            collect(child, rest, ids);
    }
}

const char *redact_created(const struct operation *operation, const char *body,
                           size_t size, struct arena *arena)
{
    struct doc_error error;
    own_buf ids = BUF(IDS_MAX);
    if (!operation->creates)
        return NULL;
    own_doc *doc = doc_parse(body, size, DEPTH_MAX, true, &error);
    if (doc)
        collect(doc_root(doc), operation->creates, &ids);
    return ids.size && !ids.failed ? arena_text(arena, ids.data) : NULL;
}

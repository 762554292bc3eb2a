#include "core/redact.h"

#include "base/text.h"
#include "core/doc.h"
#include "core/doc_write.h"
#include "core/keys.h"
#include "core/origin.h"

#include <string.h>

enum {
    BUDGET = 24 << 10, /* a record and a card must have room for the rest */
    TEXT_MOST = 512,
    MARKED_MOST = 1024, /* a cut text and what it was */
    NAME_MOST = 160,
    ITEMS_MOST = 64,
    VALUE_MOST = 16 << 20
};

struct showing {
    const struct canon *canon;
    const unsigned char *hash_key;
    struct writer *w;
    struct arena *arena;
    size_t limit; /* of the buffer's size; beyond it leaves are only counted */
    size_t more;
    bool clear; /* this pass shows, the other one hides */
};

/* ---- leaves ---- */

static size_t cut(const char *text, size_t most)
{
    size_t size = strlen(text);
    if (size <= most)
        return size;
    while (most > 0 && ((unsigned char)text[most] & 0xc0) == 0x80)
        most--;
    return most;
}

/* Else `more` leaves are only counted. */
static bool has_room(struct showing *showing, size_t more)
{
    bool room = showing->w->out->size < showing->limit;
    showing->more += room ? 0 : more;
    return room && !showing->w->out->failed;
}

static void hide_bytes(struct showing *showing, const char *name, const char *bytes,
                       size_t size)
{
    char hash[32];
    struct writer *w = showing->w;
    if (!has_room(showing, 1))
        return;
    keys_hash_text(showing->hash_key, bytes, size, hash);
    write_open(w, NULL, '{');
    write_bytes(w, "name", name, cut(name, NAME_MOST));
    write_int(w, "bytes", (int64_t)size);
    write_text(w, "hash", hash);
    write_close(w, '}');
}

/* A text as its own bytes, anything else as its canonical JSON. */
static void hide(struct showing *showing, const char *name, const struct node *node)
{
    const char *text = node_text(node);
    own_buf json = BUF(VALUE_MOST);
    if (text)
        hide_bytes(showing, name, text, strlen(text));
    else if (node_canonical(node, &json))
        hide_bytes(showing, name, json.data, json.size);
    else
        showing->w->out->failed = true;
}

static void hide_leaf(struct showing *showing, const char *name,
                      const struct node *node)
{
    if (!showing->clear)
        hide(showing, name, node);
}

static void show_text(struct showing *showing, const char *name, const char *text)
{
    size_t size = strlen(text), kept = cut(text, TEXT_MOST);
    own_buf marked = BUF(MARKED_MOST);
    if (!has_room(showing, 1))
        return;
    buf_add(&marked, text, kept);
    if (kept < size) { /* two texts that differ behind the cut do not look alike */
        char hash[32];
        keys_hash_text(showing->hash_key, text, size, hash);
        buf_printf(&marked, "... (%zu bytes, %s)", size, hash);
    }
    write_bytes(showing->w, name, marked.data ? marked.data : "", marked.size);
}

static void show_texts(struct showing *showing, const char *name,
                       const struct node *list)
{
    size_t count = node_size(list), shown = count < ITEMS_MOST ? count : ITEMS_MOST;
    if (!has_room(showing, 1))
        return;
    write_open(showing->w, name, '[');
    for (size_t i = 0; i < shown; i++)
        show_text(showing, NULL, node_text(node_at(list, i)));
    write_close(showing->w, ']');
    showing->more += count - shown;
}

static void show_scalar(struct showing *showing, const char *name,
                        const struct node *node)
{
    own_buf json = BUF(64);
    if (node_text(node)) {
        show_text(showing, name, node_text(node));
        return;
    }
    doc_write_scalar(&json, node);
    showing->w->out->failed |= json.failed;
    if (has_room(showing, 1))
        write_raw(showing->w, name, json.data);
}

/* Only where it leads; the rest is hidden beside it. */
static void origin_leaf(struct showing *showing, const struct body_field *row,
                        const char *name, const struct node *node)
{
    struct origin origin;
    const char *text = node_text(node);
    bool ok = row->type == BODY_URL ? origin_of_url(showing->arena, text, &origin)
                                    : origin_of_address(showing->arena, text, &origin);
    const char *shown = ok ? origin_text(showing->arena, &origin) : NULL;
    if (showing->clear && shown)
        show_text(showing, name, shown);
    if (!shown || !origin.whole)
        hide_leaf(showing, name, node);
}

/* ---- the tree ---- */

static void walk(struct showing *showing, const struct body_field *row,
                 const char *name, const struct node *node);

static const char *joined(struct showing *showing, const char *path, const char *key)
{
    const char *name = arena_printf(showing->arena, "%s%s%.*s", path, *path ? "." : "",
                                    (int)cut(key, NAME_MOST), key);
    if (!name)
        showing->w->out->failed = true;
    return name;
}

static const char *child_path(struct showing *showing, const char *path,
                              const struct node *parent, size_t index, const char *key)
{
    char number[24];
    (void)text_format(number, sizeof(number), "%zu", index);
    return joined(showing, path, node_kind(parent) == NODE_LIST ? number : key);
}

/* Members and elements, each with its row; what has none is hidden as a whole. */
static void walk_children(struct showing *showing, const struct body_field *row,
                          const char *path, const struct node *node)
{
    const struct canon *canon = showing->canon;
    const char *key;
    const struct node *child;
    for (size_t i = 0; node_each(node, i, &key, &child); i++) {
        if (!has_room(showing, node_size(node) - i))
            return;
        const char *name = child_path(showing, path, node, i, key);
        if (!name)
            return;
        walk(showing,
             body_child(canon->operation->body, canon->route->version, row,
                        key ? key : "*"),
             name, child);
    }
}

/* Values of a map or elements of a list that nobody may see. */
static void hide_children(struct showing *showing, const char *path,
                          const struct node *node)
{
    const char *key;
    const struct node *child;
    for (size_t i = 0; !showing->clear && node_each(node, i, &key, &child); i++) {
        if (!has_room(showing, node_size(node) - i))
            return;
        const char *name = child_path(showing, path, node, i, key);
        if (!name)
            return;
        hide(showing, name, child);
    }
}

/* True recursion: as deep as the table is. */
static void walk(struct showing *showing, const struct body_field *row,
                 const char *name, const struct node *node)
{
    if (row && row->nullable && node_kind(node) == NODE_NULL)
        return;
    if (row && (row->type == BODY_OBJECT || row->type == BODY_LIST))
        walk_children(showing, row, name, node);
    else if (row && row->clear && (row->type == BODY_URL || row->type == BODY_ADDRESS))
        origin_leaf(showing, row, name, node);
    else if (row && (row->type == BODY_MAP || (row->type == BODY_TEXTS && !row->clear)))
        hide_children(showing, name, node);
    else if (!row || !row->clear)
        hide_leaf(showing, name, node);
    else if (showing->clear && row->type == BODY_TEXTS)
        show_texts(showing, name, node);
    else if (showing->clear)
        show_scalar(showing, name, node);
}

static void write_hidden(struct showing *showing)
{
    struct writer *w = showing->w, before = *w;
    size_t start = w->out->size;
    write_open(w, "hidden", '[');
    size_t empty = w->out->size;
    walk_children(showing, NULL, "", doc_root(showing->canon->doc));
    bool any = w->out->size > empty;
    write_close(w, ']');
    if (any || w->out->failed)
        return;
    w->out->size = start; /* nothing to hide: no member either */
    *w = before;
}

void redact_request(const struct canon *canon, const unsigned char hash_key[REDACT_KEY],
                    struct writer *w, const char *key)
{
    struct showing showing = {.canon = canon,
                              .hash_key = hash_key,
                              .w = w,
                              .arena = arena_new(VALUE_MOST),
                              .limit = w->out->size + BUDGET,
                              .clear = true};
    write_open(w, key, '{');
    if (!showing.arena)
        w->out->failed = true;
    if (canon->doc && showing.arena) {
        walk_children(&showing, NULL, "", doc_root(canon->doc));
        showing.clear = false;
        write_hidden(&showing);
    }
    if (showing.more)
        write_int(w, "more", (int64_t)showing.more);
    write_close(w, '}');
    arena_free(showing.arena);
}

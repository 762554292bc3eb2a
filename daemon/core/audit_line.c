#include "core/audit_line.h"

#include "base/text.h"
#include "core/audit_export.h"
#include "core/doc.h"

#include "base/must.h"

#include <string.h>

enum { LINE_DEPTH = 4 };

/* ---- members ---- */

static bool read_size(const struct node *object, const char *key, uint64_t *size)
{
    int64_t number = member_int(object, key, -1);
    if (number < 0)
        return false;
    *size = (uint64_t)number;
    return true;
}

/* Exactly `size` bytes. */
static bool read_base64(const struct node *object, const char *key, void *bytes,
                        size_t size)
{
    const char *text = member_text(object, key, NULL);
    own_buf data = BUF(TILE_BYTES);
    if (!text || strlen(text) > (size_t)2 * TILE_BYTES
        || !text_unbase64(&data, text, strlen(text)) || data.size != size)
        return false;
    memcpy(bytes, data.data, size);
    return true;
}

/* ---- kinds: read, and write again ---- */

static bool read_header(struct line *line, const struct node *root,
                        const struct node *inner)
{
    const char *origin = member_text(root, "origin", "");
    (void)inner;
    return member_int(root, "sandgate_export", 0) == AUDIT_VERSION
           && note_name_valid(origin)
           && text_copy(line->origin, sizeof(line->origin), origin)
           && read_size(root, "first", &line->first)
           && read_size(root, "end", &line->end) && line->first <= line->end
           && audit_write_header(&line->again, origin, line->first, line->end);
}

static bool read_subtree(struct line *line, const struct node *root,
                         const struct node *inner)
{
    int64_t level = member_int(inner, "level", -1);
    (void)root;
    line->level = (int)level;
    return level >= 0 && level < 53 && read_size(inner, "index", &line->index)
           && read_base64(inner, "hash", line->hash, HASH)
           && line_write_subtree(&line->again, line->level, line->index, line->hash);
}

static bool read_tile(struct line *line, const struct node *root,
                      const struct node *inner)
{
    const char *text = member_text(inner, "leaves", "");
    size_t count = strlen(text) * 3 / 4 / HASH; /* padding is less than a hash */
    (void)root;
    if (!read_size(inner, "first", &line->first) || count == 0 || count > TILE_WIDTH
        || !read_base64(inner, "leaves", line->leaves, count * HASH))
        return false;
    line->end = line->first + count;
    return line_write_tile(&line->again, line->first, line->leaves, count);
}

static bool read_checkpoint(struct line *line, const struct node *root,
                            const struct node *inner)
{
    const char *note = node_text(inner);
    (void)root;
    buf_clear(&line->note);
    return note && buf_text(&line->note, note)
           && audit_write_checkpoint(&line->again, note, strlen(note));
}

static bool read_head(struct line *line, const struct node *root,
                      const struct node *inner)
{
    (void)root;
    line->sealed = node_member(inner, "seal") != NULL;
    if (!read_size(inner, "size", &line->size)
        || !read_base64(inner, "root", line->hash, HASH)
        || (line->sealed && !read_base64(inner, "seal", line->seal, TLOG_SIGNATURE)))
        return false;
    struct checkpoint head = {.size = line->size};
    memcpy(head.root, line->hash, HASH);
    return audit_write_head(&line->again, &head, line->sealed ? line->seal : NULL);
}

static const struct {
    const char *key;
    enum line_kind kind;
    bool object; /* the member is one */
    bool (*read)(struct line *line, const struct node *root, const struct node *inner);
} kinds[] = {
    {"sandgate_export",     LINE_HEADER,     false, read_header    },
    {"sandgate_subtree",    LINE_SUBTREE,    true,  read_subtree   },
    {"sandgate_tile",       LINE_TILE,       true,  read_tile      },
    {"sandgate_checkpoint", LINE_CHECKPOINT, false, read_checkpoint},
    {"sandgate_head",       LINE_HEAD,       true,  read_head      },
};

static enum line_kind read_kind(struct line *line, const struct node *root)
{
    for (size_t i = 0; i < COUNT(kinds); i++) {
        const struct node *inner = node_member(root, kinds[i].key);
        if (!inner)
            continue;
        bool shaped = !kinds[i].object || node_kind(inner) == NODE_OBJECT;
        return shaped && kinds[i].read(line, root, inner) ? kinds[i].kind
                                                          : LINE_MALFORMED;
    }
    return LINE_MALFORMED;
}

void line_init(struct line *line)
{
    *line = (struct line){.note = BUF(NOTE_MAX), .again = BUF(LINE_MAX)};
}

void line_free(struct line *line)
{
    buf_free(&line->note);
    buf_free(&line->again);
}

void line_read(struct line *line, const char *text, size_t size)
{
    static const char opening[] = "{\"sandgate_";
    size_t length = sizeof(opening) - 1;
    struct doc_error error;
    line->kind = LINE_RECORD;
    if (size < length || memcmp(text, opening, length) != 0)
        return;
    line->kind = LINE_MALFORMED;
    if (size >= LINE_MAX)
        return;
    own_doc *doc = doc_parse(text, size, LINE_DEPTH, false, &error);
    if (!doc || node_kind(doc_root(doc)) != NODE_OBJECT)
        return;
    buf_clear(&line->again);
    enum line_kind kind = read_kind(line, doc_root(doc));
    if (line->again.size == size + 1 && memcmp(line->again.data, text, size) == 0)
        line->kind = kind; /* with its newline, and byte for byte */
}

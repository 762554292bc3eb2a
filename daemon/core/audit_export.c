#include "core/audit_export.h"

#include "base/must.h"
#include "base/text.h"
#include "core/audit_line.h"
#include "core/writer.h"

/* ---- one line each ---- */

static struct writer line_open(struct buf *out, const char *kind)
{
    struct writer w = WRITER(out);
    write_open(&w, NULL, '{');
    if (kind)
        write_open(&w, kind, '{');
    return w;
}

static bool line_close(struct writer *w, const char *kind)
{
    if (kind)
        write_close(w, '}');
    write_close(w, '}');
    return buf_char(w->out, '\n');
}

static void write_base64(struct writer *w, const char *key, const void *bytes,
                         size_t size)
{
    own_buf text = BUF((size_t)2 * TILE_BYTES);
    if (text_base64(&text, bytes, size) && text.data)
        write_bytes(w, key, text.data, text.size);
    else
        w->out->failed = true;
}

static void write_size(struct writer *w, const char *key, uint64_t size)
{
    must(size <= INT64_MAX);
    write_int(w, key, (int64_t)size);
}

bool line_write_subtree(struct buf *out, int level, uint64_t index,
                        const unsigned char hash[static HASH])
{
    struct writer w = line_open(out, "sandgate_subtree");
    write_int(&w, "level", level);
    write_size(&w, "index", index);
    write_base64(&w, "hash", hash, HASH);
    return line_close(&w, "sandgate_subtree");
}

bool line_write_tile(struct buf *out, uint64_t first, const unsigned char *leaves,
                     size_t count)
{
    struct writer w = line_open(out, "sandgate_tile");
    write_size(&w, "first", first);
    write_base64(&w, "leaves", leaves, count * HASH);
    return line_close(&w, "sandgate_tile");
}

bool audit_write_header(struct buf *out, const char *origin, uint64_t first,
                        uint64_t end)
{
    struct writer w = line_open(out, NULL);
    write_int(&w, "sandgate_export", AUDIT_VERSION);
    write_text(&w, "origin", origin);
    write_size(&w, "first", first);
    write_size(&w, "end", end);
    return line_close(&w, NULL);
}

bool audit_write_record(struct buf *out, const char *leaf, size_t size)
{
    return buf_add(out, leaf, size) && buf_char(out, '\n');
}

bool audit_write_checkpoint(struct buf *out, const char *note, size_t size)
{
    struct writer w = line_open(out, NULL);
    write_bytes(&w, "sandgate_checkpoint", note, size);
    return line_close(&w, NULL);
}

bool audit_write_head(struct buf *out, const struct checkpoint *head,
                      const unsigned char *seal)
{
    struct writer w = line_open(out, "sandgate_head");
    write_size(&w, "size", head->size);
    write_base64(&w, "root", head->root, HASH);
    if (seal)
        write_base64(&w, "seal", seal, TLOG_SIGNATURE);
    return line_close(&w, "sandgate_head");
}

/* ---- several ---- */

/* Of the largest subtree that begins at `from` and does not reach beyond `to`. */
static int level_at(uint64_t from, uint64_t to)
{
    int fits = 63 - __builtin_clzll(to - from);
    int aligned = from ? __builtin_ctzll(from) : fits;
    return aligned < fits ? aligned : fits;
}

bool audit_write_proof(struct buf *out, tlog_read *read, void *context, uint64_t from,
                       uint64_t to)
{
    unsigned char hash[HASH];
    for (uint64_t at = from; at < to;) {
        int level = level_at(at, to);
        if (!read(context, level, at >> level, hash)
            || !line_write_subtree(out, level, at >> level, hash))
            return false;
        at += (uint64_t)1 << level;
    }
    return !out->failed;
}

bool audit_tile_due(uint64_t index, uint64_t first)
{
    return index == first || index % TILE_WIDTH == 0;
}

uint64_t tile_end(uint64_t index, uint64_t end)
{
    uint64_t border = index - index % TILE_WIDTH + TILE_WIDTH;
    return border < end ? border : end;
}

bool audit_write_tile(struct buf *out, tlog_read *read, void *context, uint64_t index,
                      uint64_t end)
{
    unsigned char leaves[TILE_BYTES];
    size_t count = 0;
    must(index < end);
    for (uint64_t at = index; at < tile_end(index, end); at++, count++)
        if (!read(context, 0, at, leaves + count * HASH))
            return false;
    return line_write_tile(out, index, leaves, count);
}

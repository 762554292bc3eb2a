/* Exporting: the walk that core/audit_export.h describes, piece by piece. */
#include "core/audit_export.h"
#include "store/lane/reader.h"
#include "store/log.h"
#include "store/tree/signer.h"
#include "store/tree/tree.h"

#include <string.h>

enum { PIECE = 256 << 10, PIECE_MAX = 4 << 20 };

struct export
{
    struct db *db;
    bool (*emit)(void *context, const char *bytes, size_t size);
    void *context;
    struct buf out;
    struct tree_reader reader;
    uint64_t first, end, next; /* next: the record that is due */
    struct checkpoint head;    /* where the walk ends */
    unsigned char seal[TLOG_SIGNATURE];
    bool sealed;        /* the head is no checkpoint's */
    struct buf note;    /* the next stored checkpoint, of size `note_size` */
    uint64_t note_size; /* UINT64_MAX: there is none */
    bool gone;          /* emit has had enough, or something failed */
    enum err err;
};

/* ---- what the database has ---- */

static enum err find_note(struct export *x, enum sql sql, struct params in)
{
    struct bytes text;
    buf_clear(&x->note);
    db_start(x->db, sql, in);
    if (!db_next(x->db, sql, OUT(O(&x->note_size), LENT(&text))))
        x->note_size = UINT64_MAX;
    else
        buf_add(&x->note, text.data, text.size);
    return db_end(x->db, sql);
}

static enum err read_head(struct export *x)
{
    uint64_t boot_seq;
    return db_one(x->db, SQL_HEAD, NOTHING,
                  OUT(O(&x->head.size), EXACT(x->head.root, HASH), O(&boot_seq),
                      EXACT(x->seal, TLOG_SIGNATURE)));
}

/* With the tail the walk ends at the sealed head, else at the newest checkpoint. */
static enum err find_end(struct export *x)
{
    enum err err = read_head(x);
    if (!err)
        err = find_note(x, SQL_CHECKPOINT_LAST, NOTHING);
    if (err)
        return err;
    uint64_t covered = x->note_size == UINT64_MAX ? 0 : x->note_size;
    x->sealed = x->end == UINT64_MAX && covered < x->head.size;
    if (!x->sealed)
        x->head.size = covered;
    if (x->end > x->head.size)
        x->end = x->head.size;
    if (x->end == 0 || x->first > x->end)
        return ERR_NOT_FOUND;
    memcpy(x->head.origin, signer_origin(), sizeof(x->head.origin));
    return x->sealed || tlog_root_at(tree_read, &x->reader, x->head.size, x->head.root)
               ? ERR_OK
               : ERR_STORE;
}

/* ---- the walk ---- */

static bool flush(struct export *x, size_t above)
{
    if (x->out.size <= above || x->out.failed)
        return !x->out.failed;
    x->gone = !x->emit(x->context, x->out.data, x->out.size);
    buf_clear(&x->out);
    return !x->gone;
}

/* The stored checkpoint of exactly this size, if there is one. */
static bool checkpoint_at(struct export *x, uint64_t size)
{
    if (x->note_size != UINT64_MAX && x->note_size < size)
        x->err = find_note(x, SQL_CHECKPOINT_NEXT, IN(P(size)));
    if (x->err)
        return false;
    return x->note_size != size
           || audit_write_checkpoint(&x->out, x->note.data, x->note.size);
}

static bool one_record(void *context, uint64_t index, const char *leaf, size_t size)
{
    struct export *x = context;
    bool tile = audit_tile_due(index, x->first);
    x->gone =
        !(index == x->next++ && checkpoint_at(x, index)
          && (!tile || audit_write_tile(&x->out, tree_read, &x->reader, index, x->end))
          && audit_write_record(&x->out, leaf, size) && flush(x, PIECE));
    return !x->gone;
}

static bool walk(struct export *x)
{
    uint64_t size = x->head.size;
    if (!audit_write_header(&x->out, x->head.origin, x->first, x->end)
        || !audit_write_proof(&x->out, tree_read, &x->reader, 0, x->first))
        return false;
    x->err = log_range(x->db, x->first, x->end, one_record, x);
    if (x->err || x->gone || x->next != x->end || !checkpoint_at(x, x->end)
        || !audit_write_proof(&x->out, tree_read, &x->reader, x->end, size))
        return false;
    return (size == x->end || checkpoint_at(x, size))
           && audit_write_head(&x->out, &x->head, x->sealed ? x->seal : NULL)
           && flush(x, 0);
}

enum err log_export(struct db *db, uint64_t first, uint64_t end,
                    bool (*emit)(void *context, const char *bytes, size_t size),
                    void *context)
{
    struct export x = {.db = db,
                       .emit = emit,
                       .context = context,
                       .out = BUF(PIECE_MAX),
                       .note = BUF(NOTE_MAX),
                       .reader = {.db = db},
                       .first = first,
                       .next = first,
                       .end = end};
    enum err err = find_end(&x);
    if (!err)
        err = find_note(&x, SQL_CHECKPOINT_NEXT, IN(P(first)));
    if (!err && !walk(&x))
        err = x.err ? x.err : ERR_STORE;
    buf_free(&x.out);
    buf_free(&x.note);
    return err;
}

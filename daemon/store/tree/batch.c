#include "store/tree/batch.h"

#include "base/clock.h"
#include "core/record.h"
#include "store/tree/signer.h"

#include <string.h>

enum { LEAVES_MAX = 256 << 20, ITEMS_MAX = 64 << 20, ROOM_KEPT = 8 << 20 };

struct item {
    size_t offset, size;
    unsigned char hash[HASH];
};

void batch_init(struct batch *batch)
{
    *batch = (struct batch){
        .leaves = BUF(LEAVES_MAX), .items = BUF(ITEMS_MAX), .scratch = BUF(RECORD_MAX)};
}

void batch_free(struct batch *batch)
{
    buf_free(&batch->leaves);
    buf_free(&batch->items);
    buf_free(&batch->scratch);
}

/* A single huge batch does not keep its memory. */
static void empty(struct buf *buf, size_t cap)
{
    if (buf->room <= ROOM_KEPT) {
        buf_clear(buf);
        return;
    }
    buf_free(buf);
    *buf = BUF(cap);
}

void batch_cut(struct batch *batch, size_t count)
{
    if (count == 0) {
        empty(&batch->leaves, LEAVES_MAX);
        empty(&batch->items, ITEMS_MAX);
    } else if (count < batch->count) {
        struct item first;
        memcpy(&first, batch->items.data + count * sizeof(first), sizeof(first));
        batch->leaves.size = first.offset;
        batch->items.size = count * sizeof(first);
    }
    batch->count = count;
}

enum err batch_add(struct batch *batch, const char *leaf, size_t size,
                   const unsigned char hash[static HASH], uint64_t *index)
{
    struct item item = {.offset = batch->leaves.size, .size = size};
    memcpy(item.hash, hash, HASH);
    if (!buf_reserve(&batch->items, sizeof(item)) || !buf_reserve(&batch->leaves, size))
        return ERR_STORE;
    (void)buf_add(&batch->leaves, leaf, size);
    (void)buf_add(&batch->items, &item, sizeof(item));
    *index = batch->durable.size + batch->count++;
    return ERR_OK;
}

static enum err write_item(struct db *db, const struct batch *batch, size_t at)
{
    struct item item;
    memcpy(&item, batch->items.data + at * sizeof(item), sizeof(item));
    const struct bytes leaf = {batch->leaves.data + item.offset, item.size};
    return db_run(db, SQL_ENTRY_ADD,
                  IN(P(batch->durable.size + at), BLOB(leaf.data, leaf.size)), NULL);
}

static enum err push_item(struct db *db, const struct batch *batch, size_t at,
                          struct tree *tree)
{
    struct item item;
    memcpy(&item, batch->items.data + at * sizeof(item), sizeof(item));
    return tree_push(db, tree, item.hash);
}

static enum err write_head(struct db *db, const struct head *head)
{
    unsigned char seal[TLOG_SIGNATURE];
    signer_seal(head->size, head->root, seal);
    return db_run(db, SQL_HEAD_SET,
                  IN(P(head->size), BLOB(head->root, HASH), P(head->boot_seq),
                     BLOB(seal, sizeof(seal)), P(clock_wall_us())),
                  NULL);
}

enum err batch_write(struct db *db, struct batch *batch, struct tree *tree,
                     struct head *next)
{
    enum err err = ERR_OK;
    for (size_t i = 0; i < batch->count && !err; i++) {
        err = write_item(db, batch, i);
        if (!err)
            err = push_item(db, batch, i, tree);
    }
    if (err || batch->count == 0)
        return err;
    next->size = tree->frontier.size;
    next->boot_seq = batch->boot_seq;
    frontier_root(&tree->frontier, next->root);
    must(next->size == batch->durable.size + batch->count);
    return write_head(db, next);
}

/* Appending: a record joins the batch; it is a row and part of the tree at its end. */
#include "store/log.h"

#include "base/clock.h"
#include "base/text.h"
#include "store/tree/batch.h"
#include "store/tree/signer.h"

#include <inttypes.h>
#include <string.h>

enum err log_append_leaf(struct db *db, const char *leaf, size_t size,
                         const unsigned char hash[static HASH], struct receipt *receipt)
{
    must(db->batch && db->in_job);
    uint64_t index;
    enum err err = batch_add(db->batch, leaf, size, hash, &index);
    if (err)
        return err;
    *receipt =
        (struct receipt){.index = index, .checkpoint = db->batch->durable.checkpoint};
    memcpy(receipt->leaf, hash, HASH);
    return ERR_OK;
}

enum err log_append(struct db *db, struct record *record, struct receipt *receipt)
{
    unsigned char hash[HASH];
    struct buf *text = &db->batch->scratch;
    buf_clear(text);
    if (!record_write(record, text))
        return ERR_STORE;
    tlog_leaf(text->data, text->size, hash);
    enum err err = log_append_leaf(db, text->data, text->size, hash, receipt);
    if (!err)
        (void)text_copy(receipt->id, sizeof(receipt->id), record->id);
    return err;
}

void receipt_text(const struct receipt *receipt, char out[static 80])
{
    char leaf[17];
    text_hex(receipt->leaf, 8, leaf);
    (void)text_format(out, 80, "%" PRIu64 ":%s:%" PRIu64, receipt->index, leaf,
                      receipt->checkpoint);
}

void log_checkpoint_now(struct db *db)
{
    must(db->batch && db->in_job);
    const struct head *head = &db->batch->durable;
    own_buf note = BUF(NOTE_MAX);
    if (db->batch->checkpoint == head->size
        || !signer_checkpoint(head->size, head->root, &note))
        return;
    if (!db_run(db, SQL_CHECKPOINT_ADD,
                IN(P(head->size), P(note.data), P(clock_wall_us())), NULL))
        db->batch->checkpoint = head->size;
}

/* batch: the records of one transaction, until they are rows.
 *
 * Private to store/.  Jobs add leaves in order; a job that fails takes its own back.
 * They become rows at the end, all at once: so a job that only logs costs one insert.
 */
#ifndef STORE_TREE_BATCH_H
#define STORE_TREE_BATCH_H

#include "base/buf.h"
#include "store/tree/tree.h"

/* What COMMIT made true. */
struct head {
    uint64_t size;
    unsigned char root[HASH];
    uint64_t boot_seq;   /* index of the start record that names the seal's key */
    uint64_t checkpoint; /* size of the newest signed note that is stored */
};

struct batch {
    struct head durable;           /* before this batch */
    uint64_t boot_seq, checkpoint; /* what the next head says */
    struct buf leaves,
        items; /* bytes one after the other; where each is, and its hash */
    size_t count;
    struct buf scratch; /* the record that is being written */
};

void batch_init(struct batch *batch);
void batch_free(struct batch *batch);

enum err batch_add(struct batch *batch, const char *leaf, size_t size,
                   const unsigned char hash[static HASH], uint64_t *index);
void batch_cut(struct batch *batch, size_t count); /* back to so many */

/* Entry rows, tiles and the sealed head; `*next` is true once COMMIT returned. */
enum err batch_write(struct db *db, struct batch *batch, struct tree *tree,
                     struct head *next);

#endif

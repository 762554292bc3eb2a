/* audit_walk: the tree while an export is read, in bounded memory.
 *
 * Two trees grow side by side: the one of the records that are there, and the one of
 * the leaf hashes that the export gives beforehand, block by block.  As long as they
 * agree they are one.  A signed root then tells which of the two is true; if it is the
 * second, the records that differ from it are known one by one. */
#ifndef CORE_AUDIT_WALK_H
#define CORE_AUDIT_WALK_H

#include "core/audit_findings.h"
#include "core/audit_line.h"
#include "core/tlog.h"

#include <stdbool.h>
#include <stdint.h>

enum suspicion { CHANGED, MISSING, INSERTED };

struct suspect {
    enum suspicion how;
    uint64_t first, end;
};

enum { SUSPECTS = 32 };

struct walk {
    struct findings *findings;
    uint64_t first, end; /* the records that the header promises */
    uint64_t at;         /* the leaf that is due next */
    uint64_t proven;     /* all leaves below are under a signature */
    bool lost;           /* neither tree can be the true one any more */

    struct frontier read; /* of the records */
    struct frontier told; /* of the leaf hashes, up to the block's first */
    bool parted;          /* the two differ since `proven` */
    uint64_t block;       /* first leaf of the block */
    size_t count;         /* hashes in it */
    unsigned char leaves[TILE_BYTES];

    struct suspect suspects[SUSPECTS];
    size_t suspect_count; /* all of them, also those without room */
};

enum match {
    MATCH_READ, /* the records are the true ones */
    MATCH_TOLD, /* the leaf hashes are */
    MATCH_NONE,
    MATCH_AWAY, /* no tree of that size is at hand */
    MATCH_LOST  /* none of any size */
};

void walk_start(struct walk *walk, struct findings *findings, uint64_t first,
                uint64_t end);

void walk_subtree(struct walk *walk, const struct line *line);
void walk_tile(struct walk *walk, const struct line *line);

/* The index that the record has, or -1 when it stands where none may. */
int64_t walk_record(struct walk *walk, const unsigned char hash[static HASH]);

/* Something that stands at `place` of the tree came: says so when records are missing
 * or too many before it. */
void walk_expect(struct walk *walk, uint64_t place, const char *what);

/* Compares with a root that a signature vouches for. On the first two all leaves below
 * `size` are proven and the suspects are judged; on the others nothing is said yet. */
enum match walk_compare(struct walk *walk, uint64_t size,
                        const unsigned char root[static HASH], const char *what);

/* The signed root is another one: says which records are affected. */
void walk_refuse(struct walk *walk, uint64_t size, const char *what);

/* At the end: suspects that no signature judged. */
void walk_finish(struct walk *walk);

#endif

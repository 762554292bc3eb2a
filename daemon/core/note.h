/* note: signatures of the log: verifier keys, checkpoints, seals.  Pure.
 *
 * A checkpoint is a C2SP signed note (signed-note, tlog-checkpoint) of exactly three
 * lines, signed with Ed25519 by the long-lived log key.  A seal is the per-boot key's
 * signature over a batch's head and never a note signature. */
#ifndef CORE_NOTE_H
#define CORE_NOTE_H

#include "base/buf.h"
#include "core/sha256.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TLOG_SEED = 32,
    TLOG_PUBLIC = 32,
    TLOG_SECRET = 64,
    TLOG_SIGNATURE = 64,
    TLOG_ORIGIN = 128,    /* with its NUL */
    NOTE_MAX = 64 * 1024, /* bytes of a whole note */
    NOTE_SIGNATURES = 100,
};

void tlog_key_from_seed(const unsigned char seed[static TLOG_SEED],
                        unsigned char public_key[static TLOG_PUBLIC],
                        unsigned char secret[static TLOG_SECRET]);

/* Origins are key names: printable ASCII without blanks and '+'. */
bool note_name_valid(const char *origin);

/* "name+hash+keydata": what an auditor keeps. Exactly one spelling is read. */
bool vkey_write(const char *name, const unsigned char public_key[static TLOG_PUBLIC],
                struct buf *out);
bool vkey_read(const char *text, char name[static TLOG_ORIGIN],
               unsigned char public_key[static TLOG_PUBLIC]);

struct checkpoint {
    char origin[TLOG_ORIGIN];
    uint64_t size;
    unsigned char root[HASH];
};

/* A whole signed note: three lines, blank line, one signature line. */
bool checkpoint_sign(const struct checkpoint *checkpoint,
                     const unsigned char secret[static TLOG_SECRET],
                     const unsigned char public_key[static TLOG_PUBLIC],
                     struct buf *out);

enum note_check { NOTE_GOOD, NOTE_MALFORMED, NOTE_UNKNOWN_KEY, NOTE_BAD_SIGNATURE };

/* Signatures of other keys are passed over; a bad one of this key refuses the note.
 * The checkpoint is written on NOTE_GOOD only. */
enum note_check checkpoint_open(const char *note, size_t size, const char *key_name,
                                const unsigned char public_key[static TLOG_PUBLIC],
                                struct checkpoint *checkpoint);

void seal_sign(const struct checkpoint *head,
               const unsigned char secret[static TLOG_SECRET],
               unsigned char seal[static TLOG_SIGNATURE]);
bool seal_check(const struct checkpoint *head,
                const unsigned char public_key[static TLOG_PUBLIC],
                const unsigned char seal[static TLOG_SIGNATURE]);

#endif

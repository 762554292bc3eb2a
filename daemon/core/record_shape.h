/* record_shape: the members of a record, in their order, as a table that writing and
 * checking share.  Only core/record*.c include this. */
#ifndef CORE_RECORD_SHAPE_H
#define CORE_RECORD_SHAPE_H

#include "core/record.h"

#include <stdbool.h>
#include <stddef.h>

enum shape_kind {
    SHAPE_VERSION, /* 1 */
    SHAPE_WORD,    /* an enum by its `word` */
    SHAPE_EFFECT,  /* the same, when `known` */
    SHAPE_HEX,     /* `cap` lower-case digits, in an array */
    SHAPE_TEXT,    /* at most `cap` characters; a string or {"b64":".."} */
    SHAPE_TEXTS,   /* a list of such */
    SHAPE_INT,     /* int64_t; 0 is left out */
    SHAPE_STATUS,  /* int; 0 is left out */
    SHAPE_FLAG,    /* true or left out */
    SHAPE_DIGEST,  /* "b2:" and 64 hex digits */
    SHAPE_RAW,     /* any object that obeys the byte rules */
    SHAPE_INPUT,   /* the same; brings the member behind it along */
    SHAPE_HIDDEN,  /* that member: a list */
    SHAPE_GROUP,   /* an object of `members` */
    SHAPE_CUT,     /* the names of what was shortened */
    SHAPE_KINDS
};

struct shape {
    const char *key; /* NULL ends a list of rows */
    enum shape_kind kind;
    size_t offset; /* in struct leaf */
    unsigned cap;
    bool required;
    const char *(*word)(int value); /* NULL: no word, so the member is left out */
    const struct shape *members;
};

/* The rows of the record itself; what they are called here is what they are about. */
enum record_row {
    ROW_VERSION,
    ROW_TYPE,
    ROW_PHASE,
    ROW_EVENT,
    ROW_ID,
    ROW_REF,
    ROW_RUN,
    ROW_WALL,
    ROW_MONO,
    ROW_BOOT,
    ROW_GATEWAY,
    ROW_ACTOR,
    ROW_CALL,
    ROW_DECISION,
    ROW_APPROVAL,
    ROW_TICKET,
    ROW_REASON,
    ROW_RESULT,
    ROW_DETAIL,
    ROW_CUT,
    RECORD_ROWS
};

enum { BOOT_DIGITS = 16, GATEWAY_MAX = 64, CUTS_MAX = 48, TEXTS_MAX = 64 };

extern const struct shape record_rows[RECORD_ROWS + 1];

/* A record with what its process adds; the offsets of the rows point into it. */
struct leaf {
    struct record record;
    char boot[BOOT_DIGITS + 1];
    const char *gateway;
};

#endif

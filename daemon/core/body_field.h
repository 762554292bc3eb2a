/* body_field: one known key of a request body, a row of an operation's table.
 *
 * `path` is dotted for nested keys ("network.allowOut"); a `*` is any key of a map or
 * any element of a list.  What has no row is refused, or passed on as unrecognised. */
#ifndef CORE_BODY_FIELD_H
#define CORE_BODY_FIELD_H

#include <stdbool.h>

/* INT has 32 bits, as E2B's own; TEXTS is a list of strings, MAP string -> string; REF
 * is a template reference, [namespace/]name[:tag].  Of an URL only the origin is ever
 * shown, of an ADDRESS ([user@]host:port) only host:port. */
enum body_type {
    BODY_TEXT,
    BODY_INT,
    BODY_BOOL,
    BODY_TEXTS,
    BODY_OBJECT,
    BODY_LIST,
    BODY_MAP,
    BODY_ANY,
    BODY_REF,
    BODY_URL,
    BODY_ADDRESS
};

struct body_field {
    const char *path;
    const char *only; /* the one API version that knows it; NULL: every one */
    enum body_type type;
    bool required;
    bool secret; /* never shown: name, length and keyed hash only */
    bool nullable;
    bool clear; /* shown on cards and in records as it is */
};

/* The last part of the row's path if it is a direct child of `parent` (NULL: the body
 * itself), else NULL. */
const char *body_child_name(const struct body_field *parent,
                            const struct body_field *row);

/* The row of a member (or with "*" of an element) in that API version, or NULL. */
const struct body_field *body_child(const struct body_field *rows, const char *version,
                                    const struct body_field *parent, const char *key);

/* Is the row part of that version? */
bool body_in_version(const struct body_field *row, const char *version);

#endif

/* doc: a parsed JSON document, read only.
 *
 * Strict: UTF-8, no duplicate keys (compared after unescaping), no NUL, depth and size
 * bounded, nothing behind the document; numbers are integers within 2^53-1 unless
 * `reals` is set, and then must survive a round trip.  One owner; doc_free.  Nodes live
 * as long as their doc.  The only wrapper around jansson that other folders see. */
#ifndef CORE_DOC_H
#define CORE_DOC_H

#include "core/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct doc;
struct node; /* a place in a doc; never freed by itself */

enum node_kind {
    NODE_NULL,
    NODE_BOOL,
    NODE_INT,
    NODE_REAL,
    NODE_TEXT,
    NODE_LIST,
    NODE_OBJECT
};

struct doc_error {
    int line, column;
    char text[160];
};

struct doc *doc_parse(const char *bytes, size_t size, int depth_max, bool reals,
                      struct doc_error *error); /* NULL on error */
void doc_free(struct doc *doc);
static inline void doc_cleanup(struct doc **doc)
{
    doc_free(*doc);
}
#define own_doc __attribute__((cleanup(doc_cleanup))) struct doc

const struct node *doc_root(const struct doc *doc);
enum node_kind node_kind(const struct node *node);
const char *node_text(const struct node *node); /* NULL when it is not text */
bool node_int(const struct node *node, int64_t *out);
bool node_bool(const struct node *node, bool *out);
size_t node_size(const struct node *node); /* members or elements */

/* Or NULL. */
const struct node *node_member(const struct node *object, const char *key);
const struct node *node_at(const struct node *list, size_t index);
/* Members in the order of the document. */
bool node_each(const struct node *object, size_t index, const char **key,
               const struct node **value);
/* For readers of API answers: the member, or `otherwise`. */
const char *member_text(const struct node *object, const char *key,
                        const char *otherwise);
int64_t member_int(const struct node *object, const char *key, int64_t otherwise);
/* Canonical bytes: compact, members sorted by key, UTF-8 kept, minimal escapes. */
struct buf;
bool node_canonical(const struct node *node, struct buf *out);

/* ---- requests of the people API: fields by table ---- */

enum field_kind { FIELD_TEXT, FIELD_INT, FIELD_BOOL, FIELD_LIST };

struct field {
    const char *name;
    enum field_kind kind;
    void *out; /* const char **, int64_t *, bool *, const struct node ** */
    bool required;
};

/* ERR_BAD_FIELD for unknown, ill-typed and missing members; `*bad` names the first. An
 * absent field leaves its output as it was. */
enum err fields_read(const struct node *object, const struct field *fields,
                     size_t count, const char **bad);

#endif

/* policy_reader: a strict walk over one policy file that knows where it is.
 *
 * Each kind of object has a table of its members; what the table does not know is an
 * error.  Values go into a struct that the caller filled with what holds when a member
 * is left out. */
#ifndef CORE_POLICY_READER_H
#define CORE_POLICY_READER_H

#include "core/doc.h"
#include "core/policy_messages.h"

struct load;
struct part;
struct member;

struct reader {
    struct load *load;
    struct part *part; /* the file's */
    const char *file;
    char place[MESSAGE_PLACE]; /* JSON pointer */
    size_t size;
};

struct value {
    const struct node *node;
    const struct member *row;
    void *slot; /* row->at bytes behind the beginning of the struct */
};

struct member {
    const char *name;
    enum node_kind kind;
    void (*read)(struct reader *r, const struct value *value);
    size_t at;
    bool required;
    int64_t min, max; /* of a number; seconds of a duration; characters of a text */
};

/* What an object may hold. */
struct shape {
    const struct member *members;
    size_t count;
    const char *const *later;   /* NULL-terminated: words that this version lacks */
    const char *const *guesses; /* pairs: what people write, what they mean; or NULL */
};

void read_members(struct reader *r, const struct node *object,
                  const struct shape *shape, void *into);
/* Only members that are there and of their kind; no complaints. */
void read_known(struct reader *r, const struct node *object, const struct shape *shape,
                void *into);
/* Complains unless the node is of that kind. */
bool kind_is(struct reader *r, const struct node *node, enum node_kind kind);

/* Where the reader is. `place_enter` gives what `place_leave` takes. */
size_t place_enter(struct reader *r, const char *key);
size_t place_index(struct reader *r, size_t index);
void place_leave(struct reader *r, size_t size);

void complain(struct reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void complain_at(struct reader *r, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void caution(struct reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif

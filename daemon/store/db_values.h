/* db_values: C values on their way into and out of a statement, by their C type. */
#ifndef STORE_DB_VALUES_H
#define STORE_DB_VALUES_H

#include "base/arena.h"
#include "base/must.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes {
    const void *data; /* NULL: SQL's NULL */
    size_t size;
};

/* ---- in: texts and bytes stay the caller's, until the statement ended ---- */

struct param {
    enum { PARAM_INT, PARAM_TEXT, PARAM_BYTES } kind;
    int64_t number;
    struct bytes bytes;
};

struct params {
    const struct param *list;
    size_t count;
};

struct param param_int(int64_t number);
struct param param_unsigned(uint64_t number); /* past 63 bits: the largest there is */
struct param param_text(const char *text);    /* NULL: SQL's NULL */
struct param param_bytes(struct bytes bytes);
#define BLOB(data, size) param_bytes((struct bytes){(data), (size)})
#define IN(...)                                           \
    ((struct params){(const struct param[]){__VA_ARGS__}, \
                     COUNT(((const struct param[]){__VA_ARGS__}))})
#define NOTHING ((struct params){NULL, 0})

/* ---- out ---- */

/* ROOM: text into char[size].  EXACT: `size` bytes, no more, no fewer.  LENT: struct
 * bytes, SQLite's until the next row.  KEPT: const char *, copied into the arena. */
struct column {
    enum { AS_INT64, AS_INT, AS_BOOL, AS_ROOM, AS_EXACT, AS_LENT, AS_KEPT } kind;
    void *out;
    size_t size;
    struct arena *arena;
};

struct columns {
    const struct column *list;
    size_t count;
};

struct column column_int64(int64_t *out), column_uint64(uint64_t *out);
struct column column_int(int *out), column_bool(bool *out);

#define LENT(bytes) ((struct column){AS_LENT, (bytes), 0, NULL})
#define ROOM(array) ((struct column){AS_ROOM, (array), sizeof(array), NULL})
#define EXACT(array, count) ((struct column){AS_EXACT, (array), (count), NULL})
#define KEEP(pointer, in) ((struct column){AS_KEPT, (pointer), 0, (in)})
#define OUT(...)                                            \
    ((struct columns){(const struct column[]){__VA_ARGS__}, \
                      COUNT(((const struct column[]){__VA_ARGS__}))})

#ifndef __GNUC__ /* cppcheck, which stumbles over _Generic */
#define P(value) param_of(value)
#define O(out) column_of(out)
#else
#define P(value) \
    _Generic((value), bool: param_int, int: param_int, unsigned: param_int,            \
             int64_t: param_int, uint64_t: param_unsigned, const char *: param_text,   \
             char *: param_text)(value)
#define O(out) \
    _Generic((out), int64_t *: column_int64, uint64_t *: column_uint64,                \
             int *: column_int, bool *: column_bool)(out)
#endif

#endif

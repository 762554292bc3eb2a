/* embedded: files that were put into the binary when it was built, sorted by name.
 *
 * A name is the path below its folder (`0001_start.sql`, `vendor/lit.js`).  The bytes
 * are followed by a NUL that does not count.  Link the library of the same name;
 * CMakeLists.txt says which layers do. */
#ifndef BASE_EMBEDDED_H
#define BASE_EMBEDDED_H

#include <stddef.h>

struct embedded_file {
    const char *name;
    const unsigned char *data;
    size_t size;
};

extern const struct embedded_file embedded_migrations[], embedded_policy[],
    embedded_web[];
extern const size_t embedded_migrations_count, embedded_policy_count,
    embedded_web_count;

extern const char embedded_version[], embedded_commit[];

#endif

/* err: the failures of the world, catalogued once (errors.def).
 *
 * Functions return `enum err`; outputs come last and are written on success only.
 * Bugs are `must` (base/must.h), not errors. */
#ifndef CORE_ERR_H
#define CORE_ERR_H

enum err {
    ERR_OK,
#define ERR(name, status, code, text) ERR_##name,
#include "core/errors.def"
#undef ERR
    ERR_COUNT
};

int err_status(enum err err);
const char *err_code(enum err err); /* the wire's error_code */
const char *err_text(enum err err);
enum err err_named(const char *code); /* by error_code; ERR_INTERNAL when unknown */

#endif

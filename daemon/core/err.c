#include "core/err.h"

#include "base/must.h"
#include "base/text.h"

struct row {
    int status;
    const char *code, *text;
};

#define ERR(name, status, code, text) [ERR_##name] = {status, code, text},
static const struct row rows[] = {
    [ERR_OK] = {200, "ok", "done"},
#include "core/errors.def"
};
#undef ERR

int err_status(enum err err)
{
    must((unsigned)err < ERR_COUNT);
    return rows[err].status;
}

const char *err_code(enum err err)
{
    must((unsigned)err < ERR_COUNT);
    return rows[err].code;
}

const char *err_text(enum err err)
{
    must((unsigned)err < ERR_COUNT);
    return rows[err].text;
}

enum err err_named(const char *code)
{
    for (unsigned i = 1; i < COUNT(rows); i++)
        if (text_same(rows[i].code, code))
            return (enum err)i;
    return ERR_INTERNAL;
}

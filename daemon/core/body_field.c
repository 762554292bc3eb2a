#include "core/body_field.h"

#include "base/text.h"

#include <string.h>

const char *body_child_name(const struct body_field *parent,
                            const struct body_field *row)
{
    size_t size = parent ? strlen(parent->path) : 0;
    const char *name = row->path + size;
    if (parent && (strncmp(row->path, parent->path, size) != 0 || *name++ != '.'))
        return NULL;
    return strchr(name, '.') ? NULL : name;
}

bool body_in_version(const struct body_field *row, const char *version)
{
    return !row->only || text_same(row->only, version);
}

const struct body_field *body_child(const struct body_field *rows, const char *version,
                                    const struct body_field *parent, const char *key)
{
    for (; rows->path; rows++) {
        const char *name = body_child_name(parent, rows);
        if (name && body_in_version(rows, version)
            && (text_same(name, key) || text_same(name, "*")))
            return rows;
    }
    return NULL;
}

#include "core/doc.h"

#include "base/text.h"

static bool read_field(const struct field *field, const struct node *value)
{
    switch (field->kind) {
    case FIELD_TEXT: {
        const char *text = node_text(value);
        if (text)
            *(const char **)field->out = text;
        return text != NULL;
    }
    case FIELD_INT:
        return node_int(value, field->out);
    case FIELD_BOOL:
        return node_bool(value, field->out);
    case FIELD_LIST:
        if (node_kind(value) == NODE_LIST)
            *(const struct node **)field->out = value;
        return node_kind(value) == NODE_LIST;
    }
    return false;
}

static const struct field *field_named(const struct field *fields, size_t count,
                                       const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (text_same(fields[i].name, name))
            return &fields[i];
    return NULL;
}

enum err fields_read(const struct node *object, const struct field *fields,
                     size_t count, const char **bad)
{
    const struct node *value;
    for (size_t i = 0; node_each(object, i, bad, &value); i++) {
        const struct field *field = field_named(fields, count, *bad);
        if (!field || !read_field(field, value))
            return ERR_BAD_FIELD;
    }
    for (size_t i = 0; i < count; i++) {
        *bad = fields[i].name;
        if (fields[i].required && !node_member(object, *bad))
            return ERR_BAD_FIELD;
    }
    *bad = NULL;
    return ERR_OK;
}

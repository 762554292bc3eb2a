#include "config.h"

#include "base/files.h"
#include "base/must.h"
#include "base/text.h"
#include "core/doc.h"

#include <stdio.h>
#include <string.h>

enum { FILE_MAX = 64 << 10, DEPTH = 4, PATH_MAX_TEXT = 64 };

struct option {
    const char *path;
    bool number;
    size_t offset;
    const char *text; /* defaults */
    int64_t value, least, most;
    const char *help;
};

#define TEXT(path, name, otherwise, least, most, help) \
    {path, false, offsetof(struct config, name), otherwise, 0, least, most, help},
#define NUMBER(path, name, otherwise, least, most, help) \
    {path, true, offsetof(struct config, name), NULL, otherwise, least, most, help},
static const struct option options[] = {
#include "config.def"
};
#undef TEXT
#undef NUMBER

static bool fail(char *error, const char *file, const char *path, const char *what)
{
    (void)text_format(error, CONFIG_ERROR, "%s: %s: %s", file, path, what);
    return false;
}

static char *text_at(struct config *config, const struct option *option)
{
    return (char *)config + option->offset;
}

static int64_t *number_at(struct config *config, const struct option *option)
{
    return (int64_t *)(void *)((char *)config + option->offset);
}

static void set_defaults(struct config *config)
{
    for (size_t i = 0; i < COUNT(options); i++)
        if (options[i].number)
            *number_at(config, &options[i]) = options[i].value;
        else
            must(text_copy(text_at(config, &options[i]), CONFIG_TEXT, options[i].text));
}

static bool set_option(struct config *config, const struct option *option,
                       const struct node *node, const char **what)
{
    static char bounds[120];
    int64_t number = 0;
    if (option->number) {
        (void)text_format(bounds, sizeof(bounds), "is a number from %lld to %lld",
                          (long long)option->least, (long long)option->most);
        *what = bounds;
        if (!node_int(node, &number) || number < option->least || number > option->most)
            return false;
        *number_at(config, option) = number;
        return true;
    }
    const char *text = node_text(node);
    (void)text_format(bounds, sizeof(bounds), "is text of %lld to %lld characters",
                      (long long)option->least, (long long)option->most);
    *what = bounds;
    if (!text || (int64_t)strlen(text) < option->least
        || (int64_t)strlen(text) > option->most)
        return false;
    return text_copy(text_at(config, option), CONFIG_TEXT, text);
}

static const struct option *option_at(const char *path)
{
    for (size_t i = 0; i < COUNT(options); i++)
        if (text_same(options[i].path, path))
            return &options[i];
    return NULL;
}

static bool opens_group(const char *path)
{
    size_t size = strlen(path);
    for (size_t i = 0; i < COUNT(options); i++)
        if (text_starts(options[i].path, path) && options[i].path[size] == '.')
            return true;
    return false;
}

/* Recursion is bounded by the depth that the parser allows. */
static bool read_object(struct config *config, const struct node *object,
                        const char *above, const char *file, char *error)
{
    const char *key, *what = "is not an option; see sandgated --help";
    const struct node *value;
    for (size_t i = 0; node_each(object, i, &key, &value); i++) {
        char path[PATH_MAX_TEXT];
        if (!text_format(path, sizeof(path), "%s%s%s", above, *above ? "." : "", key))
            return fail(error, file, key, what);
        const struct option *option = option_at(path);
        bool ok = option ? set_option(config, option, value, &what)
                         : node_kind(value) == NODE_OBJECT && opens_group(path);
        if (!ok)
            return fail(error, file, path, what);
        if (!option && !read_object(config, value, path, file, error))
            return false;
    }
    return true;
}

bool config_read(const char *file, struct config *config,
                 char error[static CONFIG_ERROR])
{
    own_buf bytes = BUF(FILE_MAX);
    struct doc_error where;
    set_defaults(config);
    if (!file_read(file, &bytes, error))
        return false;
    own_doc *doc = doc_parse(bytes.data, bytes.size, DEPTH, false, &where);
    if (!doc) {
        (void)text_format(error, CONFIG_ERROR, "%s: line %d column %d: %s", file,
                          where.line, where.column, where.text);
        return false;
    }
    if (node_kind(doc_root(doc)) != NODE_OBJECT)
        return fail(error, file, "/", "is not a JSON object");
    return read_object(config, doc_root(doc), "", file, error);
}

void config_help(void)
{
    for (size_t i = 0; i < COUNT(options); i++) {
        const struct option *option = &options[i];
        if (option->number)
            (void)printf("  %-26s %-28lld %s\n", option->path, (long long)option->value,
                         option->help);
        else
            (void)printf("  %-26s %-28s %s\n", option->path, option->text,
                         option->help);
    }
}

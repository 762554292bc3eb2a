#include "cli/json.h"

#include "base/must.h"
#include "base/text.h"
#include "cli/talk.h"

#include <string.h>

enum { KEY = 128, LINE_CAP = 64 << 20 };

const struct node *node_path(const struct node *object, const char *path)
{
    while (object && *path) {
        char key[KEY];
        size_t size = strcspn(path, ".");
        if (node_kind(object) != NODE_OBJECT
            || !text_format(key, sizeof(key), "%.*s", (int)size, path))
            return NULL;
        object = node_member(object, key);
        path += size + (path[size] == '.');
    }
    return object;
}

const char *path_text(const struct node *object, const char *path)
{
    const struct node *node = node_path(object, path);
    const char *text = node ? node_text(node) : NULL;
    return text ? text : "";
}

static void write_leaf(const struct node *node, struct writer *w, const char *key)
{
    int64_t number = 0;
    bool truth = false;
    if (node_kind(node) == NODE_TEXT)
        write_text(w, key, node_text(node));
    else if (node_int(node, &number))
        write_int(w, key, number);
    else if (node_bool(node, &truth))
        write_bool(w, key, truth);
    else
        write_null(w, key);
}

/* Recursion is bounded by the depth that the parser allows. */
void node_write(const struct node *node, struct writer *w, const char *key)
{
    const char *name;
    const struct node *value;
    if (node_kind(node) == NODE_OBJECT) {
        write_open(w, key, '{');
        for (size_t i = 0; node_each(node, i, &name, &value); i++)
            node_write(value, w, name);
        write_close(w, '}');
    } else if (node_kind(node) == NODE_LIST) {
        write_open(w, key, '[');
        for (size_t i = 0; i < node_size(node); i++)
            node_write(node_at(node, i), w, NULL);
        write_close(w, ']');
    } else {
        write_leaf(node, w, key);
    }
}

void put_json(struct call *call, const struct node *node)
{
    own_buf line = BUF(LINE_CAP);
    struct writer w = WRITER(&line);
    node_write(node, &w, NULL);
    must(!line.failed); /* an answer is smaller than the cap */
    put(call, "%s\n", line.data);
}

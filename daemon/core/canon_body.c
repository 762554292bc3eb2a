/* The body against its operation's table: keys exactly known, types right, what is
 * required there; then its one canonical spelling. */
#include "base/must.h"
#include "base/text.h"
#include "core/canon_parts.h"
#include "core/doc.h"
#include "core/origin.h"
#include "core/reference.h"

#include <string.h>
#include <strings.h>

enum { DEPTH_MAX = 32, STRANGE_MAX = 32, STRANGE_NAME_MAX = 128 };

struct walk {
    struct canon *canon;
    struct arena *arena;
    bool lenient;
    const char **strange; /* room for STRANGE_MAX and a NULL */
    size_t strange_count;
};

static bool in_version(const struct walk *walk, const struct body_field *row)
{
    return body_in_version(row, walk->canon->route->version);
}

static const struct body_field *child(const struct walk *walk,
                                      const struct body_field *parent, const char *key)
{
    const struct canon *canon = walk->canon;
    return body_child(canon->operation->body, canon->route->version, parent, key);
}

/* ---- keys that upstream would take for one another ---- */

/* As Go folds: case, and two letters whose lower case is ASCII. */
static uint32_t fold(uint32_t code)
{
    if (code >= 'A' && code <= 'Z')
        return code - 'A' + 'a';
    return code == 0x17f ? 's' : code == 0x212a ? 'k' : code;
}

static bool folds_alike(const char *a, const char *b)
{
    const char *a_end = a + strlen(a), *b_end = b + strlen(b);
    while (a < a_end && b < b_end) {
        uint32_t left, right;
        if (!text_utf8_next(&a, a_end, &left) || !text_utf8_next(&b, b_end, &right)
            || fold(left) != fold(right))
            return false;
    }
    return a == a_end && b == b_end;
}

static bool mimics_known(const struct walk *walk, const struct body_field *parent,
                         const char *key)
{
    for (const struct body_field *row = walk->canon->operation->body; row->path;
         row++) {
        const char *name = body_child_name(parent, row);
        if (name && !text_same(name, key) && folds_alike(name, key))
            return true;
    }
    return false;
}

static bool mimics_sibling(const struct node *object, size_t index, const char *key)
{
    const char *other;
    const struct node *value;
    for (size_t i = 0; i < index && node_each(object, i, &other, &value); i++)
        if (folds_alike(other, key))
            return true;
    return false;
}

static enum err strange(struct walk *walk, const struct body_field *parent,
                        const struct node *object, size_t index)
{
    const char *key;
    const struct node *value;
    must(node_each(object, index, &key, &value));
    if (mimics_known(walk, parent, key))
        return canon_refuse(walk->canon,
                            "\"%.64s\" is another spelling of a known field", key);
    if (!walk->lenient)
        return canon_refuse(walk->canon, "%s%s\"%.64s\" is no field of %s here",
                            parent ? parent->path : "", parent ? "." : "", key,
                            walk->canon->operation->name);
    if (walk->strange_count == STRANGE_MAX)
        return canon_refuse(walk->canon, "more than %d unrecognised fields",
                            STRANGE_MAX);
    if (strlen(key) > STRANGE_NAME_MAX || mimics_sibling(object, index, key))
        return canon_refuse(walk->canon, "\"%.64s\" is too long or there twice", key);
    const char *name = arena_printf(walk->arena, "%s%s%s", parent ? parent->path : "",
                                    parent ? "." : "", key);
    walk->strange[walk->strange_count++] = name;
    return name ? ERR_OK : ERR_TOO_LARGE;
}

/* ---- values ---- */

static bool all_texts(const struct node *node)
{
    for (size_t i = 0; i < node_size(node); i++)
        if (!node_text(node_at(node, i)))
            return false;
    return true;
}

static bool fits(const struct walk *walk, enum body_type type, const struct node *node)
{
    struct origin origin;
    int64_t number;
    bool truth;
    const char *text = node_text(node);
    switch (type) {
    case BODY_TEXT:
        return text != NULL;
    case BODY_INT:
        return node_int(node, &number) && number >= INT32_MIN && number <= INT32_MAX;
    case BODY_BOOL:
        return node_bool(node, &truth);
    case BODY_TEXTS:
        return node_kind(node) == NODE_LIST && all_texts(node);
    case BODY_OBJECT:
        return node_kind(node) == NODE_OBJECT;
    case BODY_LIST:
        return node_kind(node) == NODE_LIST;
    case BODY_MAP:
        return node_kind(node) == NODE_OBJECT && all_texts(node);
    case BODY_ANY:
        return true;
    case BODY_REF:
        return text && reference_is_good(text);
    case BODY_URL:
        return text && origin_of_url(walk->arena, text, &origin);
    case BODY_ADDRESS:
        return text && origin_of_address(walk->arena, text, &origin);
    }
    return false;
}

static enum err misfit(const struct walk *walk, const struct body_field *row)
{
    static const char *const nouns[] = {
        [BODY_TEXT] = "a string",
        [BODY_INT] = "an integer of 32 bits",
        [BODY_BOOL] = "true or false",
        [BODY_TEXTS] = "a list of strings",
        [BODY_OBJECT] = "an object",
        [BODY_LIST] = "a list",
        [BODY_MAP] = "an object of strings",
        [BODY_ANY] = "anything",
        [BODY_REF] = "a template reference",
        [BODY_URL] = "a plain http or https URL",
        [BODY_ADDRESS] = "host:port",
    };
    return canon_refuse(walk->canon, "%s is not %s", row->path, nouns[row->type]);
}

static enum err walk_object(struct walk *walk, const struct body_field *parent,
                            const struct node *object);

static enum err walk_value(struct walk *walk, const struct body_field *row,
                           const struct node *value)
{
    if (node_kind(value) == NODE_NULL && row->nullable)
        return ERR_OK;
    if (!fits(walk, row->type, value))
        return misfit(walk, row);
    if (row->type == BODY_OBJECT)
        return walk_object(walk, row, value);
    enum err err = ERR_OK;
    const struct body_field *element =
        row->type == BODY_LIST ? child(walk, row, "*") : NULL;
    for (size_t i = 0; element && !err && i < node_size(value); i++)
        err = walk_value(walk, element, node_at(value, i));
    return err;
}

static enum err check_required(struct walk *walk, const struct body_field *parent,
                               const struct node *object)
{
    for (const struct body_field *row = walk->canon->operation->body; row->path;
         row++) {
        const char *name = body_child_name(parent, row);
        if (name && row->required && in_version(walk, row)
            && !node_member(object, name))
            return canon_refuse(walk->canon, "%s is missing", row->path);
    }
    return ERR_OK;
}

/* True recursion: as deep as the table is. */
static enum err walk_object(struct walk *walk, const struct body_field *parent,
                            const struct node *object)
{
    const char *key;
    const struct node *value;
    for (size_t i = 0; node_each(object, i, &key, &value); i++) {
        const struct body_field *row = child(walk, parent, key);
        enum err err =
            row ? walk_value(walk, row, value) : strange(walk, parent, object, i);
        if (err)
            return err;
    }
    return check_required(walk, parent, object);
}

/* ---- the body as a whole ---- */

static bool is_json_type(const char *value, size_t size)
{
    static const char json[] = "application/json", charset[] = "charset=";
    const char *end = value + size, *at = value + sizeof(json) - 1;
    if (size < sizeof(json) - 1 || strncasecmp(value, json, sizeof(json) - 1) != 0)
        return false;
    while (at < end && (*at == ' ' || *at == ';'))
        at++;
    if (at == end)
        return true;
    if ((size_t)(end - at) < sizeof(charset) - 1
        || strncasecmp(at, charset, sizeof(charset) - 1) != 0)
        return false;
    at += sizeof(charset) - 1;
    return end - at == 5 && strncasecmp(at, "utf-8", 5) == 0;
}

static bool right_type(const struct raw_request *raw)
{
    static const char name[] = "Content-Type";
    for (size_t i = 0; i < raw->header_count; i++) {
        const struct header *header = &raw->headers[i];
        if (header->name_size == sizeof(name) - 1
            && strncasecmp(header->name, name, sizeof(name) - 1) == 0)
            return is_json_type(header->value, header->value_size);
    }
    return true;
}

/* Tags name their template in the body. */
static enum err name_target(struct canon *canon, const struct node *root,
                            struct arena *arena)
{
    const struct body_field *row = canon->operation->body;
    if (canon->operation->target != TARGET_TEMPLATE || *canon->target_id)
        return ERR_OK;
    while (row->path && !(row->type == BODY_REF && row->required))
        row++;
    must(row->path);
    canon->target_id = reference_fold(arena, node_text(node_member(root, row->path)));
    return canon->target_id ? ERR_OK : ERR_TOO_LARGE;
}

static enum err check(struct canon *canon, const struct node *root, bool lenient,
                      struct arena *arena)
{
    struct walk walk = {.canon = canon, .arena = arena, .lenient = lenient};
    walk.strange = arena_alloc(arena, (STRANGE_MAX + 1) * sizeof(*walk.strange));
    canon->unrecognised = walk.strange;
    if (!walk.strange)
        return ERR_TOO_LARGE;
    if (node_kind(root) != NODE_OBJECT)
        return canon_refuse(canon, "the body is not a JSON object");
    enum err err = walk_object(&walk, NULL, root);
    return err ? err : name_target(canon, root, arena);
}

static enum err spell(struct canon *canon, const struct node *root, size_t raw_size,
                      struct arena *arena)
{
    own_buf out = BUF(4 * raw_size + 64); /* a real may grow */
    if (!node_canonical(root, &out))
        return ERR_TOO_LARGE;
    canon->body = arena_copy(arena, out.data, out.size);
    canon->body_size = out.size;
    return canon->body ? ERR_OK : ERR_TOO_LARGE;
}

static enum err read_body(struct canon *canon, const struct raw_request *raw,
                          bool lenient, struct arena *arena)
{
    struct doc_error error;
    struct doc *doc = doc_parse(raw->body, raw->body_size, DEPTH_MAX, true, &error);
    if (!doc)
        return canon_refuse(canon, "the body is not strict JSON: %s, line %d column %d",
                            error.text, error.line, error.column);
    enum err err = check(canon, doc_root(doc), lenient, arena);
    if (!err)
        err = spell(canon, doc_root(doc), raw->body_size, arena);
    if (err)
        doc_free(doc);
    else
        canon->doc = doc;
    return err;
}

static enum err empty_body(struct canon *canon)
{
    struct walk walk = {.canon = canon};
    if (!canon->operation->body)
        return ERR_OK;
    for (const struct body_field *row = canon->operation->body; row->path; row++)
        if (row->required && in_version(&walk, row) && body_child_name(NULL, row))
            return canon_refuse(canon, "%s is missing: there is no body", row->path);
    return canon->operation->body_optional ? ERR_OK
                                           : canon_refuse(canon, "the body is missing");
}

enum err canon_body(const struct raw_request *raw, bool lenient, struct arena *arena,
                    struct canon *canon)
{
    static const char *const none[] = {NULL};
    must(canon->route && !canon->doc);
    canon->unrecognised = none;
    if (!canon->route->forwarded) /* nothing of it will be sent */
        return ERR_OK;
    if (raw->body_size > canon->operation->body_cap)
        return ERR_TOO_LARGE;
    if (raw->body_size == 0)
        return empty_body(canon);
    if (!canon->operation->body)
        return canon_refuse(canon, "%s takes no body", canon->operation->name);
    if (!right_type(raw))
        return canon_refuse(canon, "the body's Content-Type is not application/json");
    return read_body(canon, raw, lenient, arena);
}

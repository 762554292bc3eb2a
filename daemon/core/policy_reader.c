#include "core/policy_reader.h"

#include "base/must.h"
#include "base/text.h"
#include "core/policy_load.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- where we are ---- */

static void add_place(struct reader *r, const char *text, size_t size)
{
    if (r->size + size >= sizeof(r->place))
        return; /* too deep or too long for a line: the beginning will do */
    memcpy(r->place + r->size, text, size);
    r->size += size;
    r->place[r->size] = '\0';
}

/* RFC 6901, and then safe for a terminal. */
size_t place_enter(struct reader *r, const char *key)
{
    size_t before = r->size;
    own_buf clean = BUF(MESSAGE_PLACE);
    (void)text_escape(&clean, key, strnlen(key, MESSAGE_PLACE));
    add_place(r, "/", 1);
    for (size_t i = 0; i < clean.size; i++) {
        char c = clean.data[i];
        if (c == '~' || c == '/')
            add_place(r, c == '~' ? "~0" : "~1", 2);
        else
            add_place(r, &c, 1);
    }
    return before;
}

size_t place_index(struct reader *r, size_t index)
{
    char text[24];
    (void)text_format(text, sizeof(text), "%zu", index);
    return place_enter(r, text);
}

void place_leave(struct reader *r, size_t size)
{
    must(size <= r->size);
    r->size = size;
    r->place[size] = '\0';
}

/* ---- messages ---- */

__attribute__((format(printf, 3, 0))) static void say(struct reader *r, bool warning,
                                                      const char *format, va_list args)
{
    struct message message = {.file = r->file, .warning = warning};
    (void)text_copy(message.place, sizeof(message.place), r->place);
    (void)vsnprintf(message.text, sizeof(message.text), format, args);
    messages_add(r->load->messages, &message);
}

void complain(struct reader *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(r, false, format, args);
    va_end(args);
}

void complain_at(struct reader *r, const char *key, const char *format, ...)
{
    size_t before = place_enter(r, key);
    va_list args;
    va_start(args, format);
    say(r, false, format, args);
    va_end(args);
    place_leave(r, before);
}

void caution(struct reader *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    say(r, true, format, args);
    va_end(args);
}

/* ---- members ---- */

/* By enum node_kind. */
static const struct {
    const char *is, *how;
} kinds[] = {
    {"null",                     "leave the member out"       },
    {"true or false",            "write it without quotes"    },
    {"a whole number",           "write digits without quotes"},
    {"a number with a fraction", "write it without quotes"    },
    {"text",                     "write it in double quotes"  },
    {"a list",                   "write it in square brackets"},
    {"an object",                "write it in curly brackets" },
};

/* What the author wrote. */
static const char *subject(char out[static QUOTE], const struct node *node)
{
    int64_t number = 0;
    bool flag = false;
    switch (node_kind(node)) {
    case NODE_TEXT:
        return quote(out, node_text(node));
    case NODE_INT:
        (void)node_int(node, &number);
        (void)text_format(out, QUOTE, "%lld", (long long)number);
        return out;
    case NODE_BOOL:
        (void)node_bool(node, &flag);
        return flag ? "true" : "false";
    case NODE_NULL:
    case NODE_REAL:
    case NODE_LIST:
    case NODE_OBJECT:
        break;
    }
    return kinds[node_kind(node)].is;
}

bool kind_is(struct reader *r, const struct node *node, enum node_kind kind)
{
    char shown[QUOTE];
    if (node_kind(node) == kind)
        return true;
    bool null = node_kind(node) == NODE_NULL;
    complain(r, "%s is not %s; %s", subject(shown, node), kinds[kind].is,
             kinds[null ? NODE_NULL : kind].how);
    return false;
}

static const struct member *member_named(const struct shape *shape, const char *name)
{
    for (size_t i = 0; i < shape->count; i++)
        if (text_same(shape->members[i].name, name))
            return &shape->members[i];
    return NULL;
}

static bool comes_later(const struct shape *shape, const char *name)
{
    for (const char *const *at = shape->later; at && *at; at++)
        if (text_same(*at, name))
            return true;
    return false;
}

/* The right word for one that is wrong, misspelt, or both; or NULL. */
static const char *right_word(const struct shape *shape, const char *key)
{
    struct guess guess = {.word = key};
    for (size_t i = 0; i < shape->count; i++)
        guess_try(&guess, shape->members[i].name);
    for (const char *const *at = shape->later; at && *at; at++)
        guess_try(&guess, *at);
    const char *right = guess.best;
    for (const char *const *at = shape->guesses; at && *at; at += 2) {
        guess_try(&guess, at[0]);
        if (guess.best == at[0] || text_same(at[0], key))
            right = at[1];
    }
    return right;
}

static void unknown_member(struct reader *r, const struct shape *shape, const char *key)
{
    const char *right = right_word(shape, key);
    if (right) {
        complain(r, "unknown member; did you mean \"%s\"?", right);
        return;
    }
    own_buf known = BUF(MESSAGE_TEXT);
    for (size_t i = 0; i < shape->count; i++)
        (void)buf_printf(&known, "%s%s", i ? ", " : "", shape->members[i].name);
    complain(r, "unknown member; remove it, or use one of: %s",
             known.data ? known.data : "");
}

static void read_value(struct reader *r, const struct node *node,
                       const struct member *row, void *into)
{
    const struct value value = {node, row, (char *)into + row->at};
    row->read(r, &value);
}

static void read_member(struct reader *r, const struct shape *shape, const char *key,
                        const struct node *node, void *into)
{
    const struct member *row = member_named(shape, key);
    size_t before = place_enter(r, key);
    if (row && kind_is(r, node, row->kind))
        read_value(r, node, row, into);
    else if (!row && comes_later(shape, key))
        complain(r, "not supported by this version yet; leave it out");
    else if (!row)
        unknown_member(r, shape, key);
    place_leave(r, before);
}

void read_members(struct reader *r, const struct node *object,
                  const struct shape *shape, void *into)
{
    const char *key;
    const struct node *node;
    for (size_t i = 0; node_each(object, i, &key, &node); i++)
        read_member(r, shape, key, node, into);
    for (size_t i = 0; i < shape->count; i++)
        if (shape->members[i].required && !node_member(object, shape->members[i].name))
            complain_at(r, shape->members[i].name, "is missing; it is required");
}

void read_known(struct reader *r, const struct node *object, const struct shape *shape,
                void *into)
{
    for (size_t i = 0; i < shape->count; i++) {
        const struct member *row = &shape->members[i];
        const struct node *node = node_member(object, row->name);
        if (!node || node_kind(node) != row->kind)
            continue;
        size_t before = place_enter(r, row->name);
        read_value(r, node, row, into);
        place_leave(r, before);
    }
}

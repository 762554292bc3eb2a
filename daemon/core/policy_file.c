/* One policy file: its name, sets, groups and defaults. */
#include "base/must.h"
#include "base/text.h"
#include "core/policy_load.h"
#include "core/policy_values.h"

#include <stddef.h>

enum { VERSION = 1, NOTE_MAX = 1000, OWNER_MAX = 120 };

/* ---- first: what other files may refer to ---- */

static void read_version(struct reader *r, const struct value *value)
{
    int64_t version = 0;
    must(node_int(value->node, &version));
    if (version != VERSION)
        complain(r, "%lld is no version of the policy language; write %d",
                 (long long)version, VERSION);
}

static void read_mode(struct reader *r, const struct value *value)
{
    char shown[QUOTE];
    const char *mode = node_text(value->node);
    if (text_same(mode, "shadow"))
        complain(r, "\"shadow\" is not supported by this version yet; leave it out");
    else if (!text_same(mode, "enforce"))
        complain(r, "%s is no mode; write \"enforce\"", quote(shown, mode));
}

static void read_name(struct reader *r, const struct value *value)
{
    char shown[QUOTE], file[QUOTE];
    const char *name = node_text(value->node);
    if (!slug_ok(r, name))
        return;
    if (text_same(name, "builtin"))
        complain(r, "\"builtin\" is what Sandgate calls its own rules; choose another");
    for (const struct part *part = r->load->parts; part < r->part; part++)
        if (text_same(part->name, name))
            complain(r, "%s is the name of %s too; choose another", quote(shown, name),
                     quote(file, r->load->files[part->index].path));
    r->part->name = load_text(r->load, name);
}

static void twice(struct reader *r, const char *name, const char *file)
{
    char shown[QUOTE], other[QUOTE];
    complain(r, "%s is defined in %s already; rename one", quote(shown, name),
             quote(other, file));
}

static bool flat(struct reader *r, const struct entries *entries)
{
    bool nested = false;
    for (size_t i = 0; i < entries->count; i++) {
        if (*entries->all[i].text != '@')
            continue;
        nested = true;
        size_t before = place_index(r, entries->all[i].index);
        complain(r, "sets do not nest; write the names themselves");
        place_leave(r, before);
    }
    return !nested;
}

static void read_set(struct reader *r, const char *name, const struct node *list)
{
    struct load *load = r->load;
    for (const struct named_set *old = load->sets; old; old = old->next)
        if (text_same(old->name, name))
            twice(r, name, old->file);
    if (!slug_ok(r, name) || !kind_is(r, list, NODE_LIST))
        return;
    const struct entries entries = read_entries(r, list);
    struct named_set *set = load_alloc(load, sizeof(*set));
    if (!set || !flat(r, &entries))
        return;
    *set = (struct named_set){load_text(load, name), r->file,
                              entries_names(r, &entries), load->sets};
    load->sets = set;
}

static void read_sets(struct reader *r, const struct value *value)
{
    const char *name;
    const struct node *node;
    for (size_t i = 0; node_each(value->node, i, &name, &node); i++) {
        size_t before = place_enter(r, name);
        read_set(r, name, node);
        place_leave(r, before);
    }
}

/* ---- groups ---- */

static void read_users(struct reader *r, const struct value *value)
{
    char shown[QUOTE];
    struct group *group = value->slot;
    const struct entries entries = read_entries(r, value->node);
    for (size_t i = 0; i < entries.count; i++) {
        const struct entry *entry = &entries.all[i];
        size_t before = place_index(r, entry->index);
        if (has_glob(entry->text) || *entry->text == '@')
            complain(r, "%s is not one person; name each user",
                     quote(shown, entry->text));
        place_leave(r, before);
    }
    group->users = entries_texts(r, &entries);
    group->count = entries.count;
}

static void read_elsewhere(struct reader *r, const struct value *value)
{
    struct group *group = value->slot;
    (void)read_entries(r, value->node);
    group->elsewhere = true;
}

static const struct member group_members[] = {
    {"note",       NODE_TEXT, check_text,     0, false, 0, NOTE_MAX},
    {"users",      NODE_LIST, read_users,     0, false, 0, 0       },
    {"idp_groups", NODE_LIST, read_elsewhere, 0, false, 0, 0       },
};

static const char *const group_guesses[] = {"members", "users", NULL};

static const struct shape group_shape = {group_members, COUNT(group_members), NULL,
                                         group_guesses};

static void read_group(struct reader *r, const char *name, const struct node *node)
{
    struct load *load = r->load;
    for (const struct group *old = load->groups; old; old = old->next)
        if (text_same(old->name, name))
            twice(r, name, old->file);
    if (text_same(name, "approvers"))
        complain(r, "\"approvers\" is built in: everybody with the approver role; "
                    "choose another name");
    struct group *group = load_alloc(load, sizeof(*group));
    if (!group || !slug_ok(r, name) || !kind_is(r, node, NODE_OBJECT))
        return;
    read_members(r, node, &group_shape, group);
    if (!node_member(node, "users") && !node_member(node, "idp_groups"))
        complain(r, "has nobody in it; name its \"users\"");
    group->name = load_text(load, name);
    group->file = r->file;
    group->next = load->groups;
    load->groups = group;
}

static void read_groups(struct reader *r, const struct value *value)
{
    const char *name;
    const struct node *node;
    for (size_t i = 0; node_each(value->node, i, &name, &node); i++) {
        size_t before = place_enter(r, name);
        read_group(r, name, node);
        place_leave(r, before);
    }
}

static const struct member file_members[] = {
    {"$schema",   NODE_TEXT,   read_nothing, 0, false, 0, 0        },
    {"version",   NODE_INT,    read_version, 0, true,  0, 0        },
    {"name",      NODE_TEXT,   read_name,    0, true,  0, 0        },
    {"note",      NODE_TEXT,   check_text,   0, false, 0, NOTE_MAX },
    {"owner",     NODE_TEXT,   check_text,   0, false, 0, OWNER_MAX},
    {"mode",      NODE_TEXT,   read_mode,    0, false, 0, 0        },
    {"scope",     NODE_OBJECT, read_nothing, 0, false, 0, 0        },
    {"sets",      NODE_OBJECT, read_sets,    0, false, 0, 0        },
    {"approvers", NODE_OBJECT, read_groups,  0, false, 0, 0        },
    {"defaults",  NODE_OBJECT, read_nothing, 0, false, 0, 0        },
    {"rules",     NODE_LIST,   read_nothing, 0, false, 0, 0        },
};

static const char *const file_later[] = {"calendars", "confine",     "limits",
                                         "grants",    "credentials", "visibility",
                                         "tests",     NULL};
static const char *const file_guesses[] = {"groups", "approvers", NULL};

static const struct shape file_shape = {file_members, COUNT(file_members), file_later,
                                        file_guesses};

void part_read_names(struct reader *r, const struct node *root)
{
    if (kind_is(r, root, NODE_OBJECT))
        read_members(r, root, &file_shape, r->part);
}

/* ---- then: defaults and rules ---- */

static void read_fallback(struct reader *r, const struct value *value)
{
    struct fallback *fallback = value->slot;
    const struct value decision = {value->node, value->row, &fallback->decision};
    read_decision(r, &decision);
    fallback->named = true;
    fallback->part = r->part;
    fallback->name =
        arena_printf(r->load->arena, "%s/defaults.%s", r->part->name, value->row->name);
    r->load->starved |= !fallback->name;
}

static void read_unknown(struct reader *r, const struct value *value)
{
    char shown[QUOTE];
    if (!text_same(node_text(value->node), "deny"))
        complain(r,
                 "%s is not possible: what the catalogue does not know is never "
                 "forwarded; write \"deny\"",
                 quote(shown, node_text(value->node)));
}

static void check_order(struct reader *r, const struct part *part)
{
    for (int effect = EFFECT_WRITE; effect <= EFFECT_DESTRUCTIVE; effect++) {
        const struct fallback *here = &part->fallbacks[effect];
        const struct fallback *less = here - 1;
        if (here->decision < less->decision)
            complain_at(r, effect_name((enum effect)effect),
                        "%s%s is looser than %s, which is %s; write \"%s\" or stricter",
                        decision_name(here->decision),
                        here->named ? "" : ", which is built in,",
                        effect_name((enum effect)(effect - 1)),
                        decision_name(less->decision), decision_name(less->decision));
    }
}

#define PART(field) offsetof(struct part, field)
#define ON(effect) offsetof(struct part, fallbacks[EFFECT_##effect])

static const struct member defaults_members[] = {
    {"read",        NODE_TEXT,   read_fallback, ON(READ),        false, 0, 0},
    {"write",       NODE_TEXT,   read_fallback, ON(WRITE),       false, 0, 0},
    {"destructive", NODE_TEXT,   read_fallback, ON(DESTRUCTIVE), false, 0, 0},
    {"unknown",     NODE_TEXT,   read_unknown,  0,               false, 0, 0},
    {"approval",    NODE_OBJECT, read_terms,    PART(terms),     false, 0, 0},
};

static const struct shape defaults_shape = {defaults_members, COUNT(defaults_members),
                                            NULL, NULL};

static void read_defaults(struct reader *r, const struct value *value)
{
    check_members(r, value);
    read_members(r, value->node, &defaults_shape, r->part);
    check_order(r, r->part);
}

/* Rules need the scope and the terms of their file: hence the order. */
static const struct member later_members[] = {
    {"scope",    NODE_OBJECT, read_scope,    PART(scope), false, 0, 0},
    {"defaults", NODE_OBJECT, read_defaults, 0,           false, 0, 0},
    {"rules",    NODE_LIST,   read_rules,    0,           false, 0, 0},
};

static const struct shape later_shape = {later_members, COUNT(later_members), NULL,
                                         NULL};

void part_read_rules(struct reader *r, const struct node *root)
{
    if (node_kind(root) == NODE_OBJECT)
        read_known(r, root, &later_shape, r->part);
}

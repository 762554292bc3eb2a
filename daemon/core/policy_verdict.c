#include "core/policy_verdict.h"

#include "base/must.h"
#include "base/text.h"
#include "core/doc.h"
#include "core/writer.h"

#include <limits.h>
#include <string.h>

static const char *const decisions[] = {
    [DECIDE_ALLOW] = "allow", [DECIDE_HOLD] = "hold", [DECIDE_DENY] = "deny"};

/* ---- merging ---- */

static bool same_groups(const char *const *a, const char *const *b)
{
    while (*a && *b && strcmp(*a, *b) == 0) {
        a++;
        b++;
    }
    return !*a && !*b;
}

static void shorten(int64_t *time_s, int64_t more_s)
{
    if (more_s < *time_s)
        *time_s = more_s;
}

static bool require(struct terms *terms, const struct requirement *more)
{
    for (size_t i = 0; i < terms->requirement_count; i++) {
        struct requirement *old = &terms->requirements[i];
        if (!same_groups(old->groups, more->groups))
            continue;
        if (more->need > old->need)
            old->need = more->need;
        return true;
    }
    if (terms->requirement_count == POLICY_REQUIREMENTS) {
        terms->requirements[0].need = INT_MAX;
        return false;
    }
    terms->requirements[terms->requirement_count++] = *more;
    return true;
}

bool terms_merge(struct terms *terms, const struct terms *more)
{
    bool fits = true;
    for (size_t i = 0; i < more->requirement_count; i++)
        fits &= require(terms, &more->requirements[i]);
    shorten(&terms->expires_s, more->expires_s);
    shorten(&terms->wait_s, more->wait_s);
    shorten(&terms->wait_max_s, more->wait_max_s);
    shorten(&terms->collect_s, more->collect_s);
    return fits;
}

/* ---- as JSON ---- */

static void write_needs(const struct terms *terms, struct writer *w)
{
    write_open(w, "needs", '[');
    for (size_t i = 0; i < terms->requirement_count; i++) {
        const struct requirement *requirement = &terms->requirements[i];
        write_open(w, NULL, '{');
        write_open(w, "groups", '[');
        for (const char *const *group = requirement->groups; *group; group++)
            write_text(w, NULL, *group);
        write_close(w, ']');
        write_int(w, "need", requirement->need);
        write_close(w, '}');
    }
    write_close(w, ']');
}

void verdict_write(const struct verdict *verdict, struct writer *w, const char *key)
{
    const struct terms *terms = &verdict->terms;
    write_open(w, key, '{');
    write_text(w, "decision", decision_name(verdict->decision));
    write_open(w, "because", '[');
    for (const char *const *name = verdict->because; name && *name; name++)
        write_text(w, NULL, *name);
    write_close(w, ']');
    write_text(w, "why", verdict->why);
    if (verdict->failed)
        write_bool(w, "failed", true);
    if (verdict->decision == DECIDE_HOLD) {
        write_needs(terms, w);
        write_int(w, "expires_s", terms->expires_s);
        write_int(w, "wait_s", terms->wait_s);
        write_int(w, "wait_max_s", terms->wait_max_s);
        write_int(w, "collect_s", terms->collect_s);
    }
    write_close(w, '}');
}

static const struct node *list_in(const struct node *object, const char *key)
{
    const struct node *list =
        object && node_kind(object) == NODE_OBJECT ? node_member(object, key) : NULL;
    return list && node_kind(list) == NODE_LIST && node_size(list) > 0 ? list : NULL;
}

static bool seconds_in(const struct node *object, const char *key, int64_t *out)
{
    const struct node *node = node_member(object, key);
    return node && node_kind(node) == NODE_INT && node_int(node, out) && *out >= 0;
}

static const char *const *read_groups(const struct node *list, struct arena *arena)
{
    size_t size = node_size(list);
    const char **groups = arena_alloc(arena, (size + 1) * sizeof(*groups));
    for (size_t i = 0; groups && i < size; i++) {
        const char *text = node_text(node_at(list, i));
        groups[i] = text ? arena_text(arena, text) : NULL;
        if (!groups[i] || (i > 0 && strcmp(groups[i - 1], groups[i]) >= 0))
            return NULL;
    }
    return groups;
}

static bool read_requirement(const struct node *node, struct arena *arena,
                             struct requirement *out)
{
    int64_t need;
    const struct node *groups = list_in(node, "groups");
    if (!groups || !seconds_in(node, "need", &need) || need < 1 || need > INT_MAX)
        return false;
    out->need = (int)need;
    out->groups = read_groups(groups, arena);
    return out->groups != NULL;
}

bool terms_read(const struct node *verdict, struct arena *arena, struct terms *terms)
{
    struct terms got = {0};
    const struct node *needs = list_in(verdict, "needs");
    if (!needs || node_size(needs) > POLICY_REQUIREMENTS)
        return false;
    for (; got.requirement_count < node_size(needs); got.requirement_count++)
        if (!read_requirement(node_at(needs, got.requirement_count), arena,
                              &got.requirements[got.requirement_count]))
            return false;
    if (!seconds_in(verdict, "expires_s", &got.expires_s)
        || !seconds_in(verdict, "wait_s", &got.wait_s)
        || !seconds_in(verdict, "wait_max_s", &got.wait_max_s)
        || !seconds_in(verdict, "collect_s", &got.collect_s))
        return false;
    *terms = got;
    return true;
}

const char *decision_name(enum decision decision)
{
    must((unsigned)decision < COUNT(decisions));
    return decisions[decision];
}

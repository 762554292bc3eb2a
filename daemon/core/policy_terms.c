/* Approval terms as a file states them. */
#include "base/must.h"
#include "base/text.h"
#include "core/policy_load.h"
#include "core/policy_values.h"

#include <stddef.h>

#define APPROVERS "approvers" /* built in: everybody with the approver role */

enum { MINUTE = 60, TEN_MINUTES = 600, HOUR = 3600, DAY = 86400, WEEK = 604800 };

static const char *const approvers[] = {APPROVERS, NULL};

const struct terms builtin_terms = {
    .requirements = {{approvers, 1}},
    .requirement_count = 1,
    .expires_s = HOUR,
    .wait_s = 45,
    .wait_max_s = TEN_MINUTES,
    .collect_s = 900,
};

/* One `approval`, before it is checked as a whole. */
struct asked {
    const char *const *from;
    int64_t need, expires_s, wait_s, wait_max_s, collect_s;
};

/* ---- groups ---- */

static const struct group *group_named(const struct load *load, const char *name)
{
    const struct group *group = load->groups;
    while (group && !text_same(group->name, name))
        group = group->next;
    return group;
}

static void check_group(struct reader *r, const struct entry *entry)
{
    char shown[QUOTE], text[QUOTE];
    if (text_same(entry->text, APPROVERS) || group_named(r->load, entry->text)
        || r->load->incomplete)
        return;
    struct guess guess = {.word = entry->text};
    guess_try(&guess, APPROVERS);
    for (const struct group *group = r->load->groups; group; group = group->next)
        guess_try(&guess, group->name);
    size_t before = place_index(r, entry->index);
    complain(r, "no group of approvers is named %s%s", quote(shown, entry->text),
             guess.best ? guess_text(text, &guess) : "; define it under \"approvers\"");
    place_leave(r, before);
}

static void read_from(struct reader *r, const struct value *value)
{
    const char *const **out = value->slot;
    const struct entries entries = read_entries(r, value->node);
    for (size_t i = 0; i < entries.count; i++)
        check_group(r, &entries.all[i]);
    const char *const *groups = entries_texts(r, &entries);
    if (groups && entries.count > 0)
        *out = groups;
}

static bool counted_before(const struct load *load, const char *const *from,
                           const char *const *here, const char *user)
{
    for (; from < here; from++) {
        const struct group *group = group_named(load, *from);
        if (group && sorted_has(group->users, group->count, user))
            return true;
    }
    return false;
}

/* Different people in these groups; -1: nobody can tell. */
static int64_t people_in(const struct load *load, const char *const *from)
{
    int64_t people = 0;
    for (const char *const *at = from; *at; at++) {
        const struct group *group = group_named(load, *at);
        if (!group || group->elsewhere)
            return -1;
        for (size_t i = 0; i < group->count; i++)
            people += !counted_before(load, from, at, group->users[i]);
    }
    return people;
}

/* ---- an approval as a whole ---- */

/* The member to change: the first of the two that the author wrote. */
static const char *written(const struct node *approval, const char *first,
                           const char *second)
{
    return node_member(approval, first) ? first : second;
}

static void check_people(struct reader *r, const struct node *approval,
                         const struct asked *asked)
{
    int64_t people = people_in(r->load, asked->from);
    bool written_here = node_member(approval, "need") || node_member(approval, "from");
    if (written_here && people >= 0 && people < asked->need)
        complain_at(r, written(approval, "need", "from"),
                    "%lld different people are needed and these groups have %lld; "
                    "name more users, or need fewer",
                    (long long)asked->need, (long long)people);
}

static void check_waits(struct reader *r, const struct node *approval,
                        const struct asked *asked)
{
    char wait[DURATION_TEXT], max[DURATION_TEXT];
    bool written_here =
        node_member(approval, "wait") || node_member(approval, "wait_max");
    if (written_here && asked->wait_s > asked->wait_max_s)
        complain_at(r, written(approval, "wait", "wait_max"),
                    "wait is %s and wait_max only %s; wait may not be longer",
                    duration_text(wait, asked->wait_s),
                    duration_text(max, asked->wait_max_s));
}

#define AT(field) offsetof(struct asked, field)

static const struct member approval_members[] = {
    {"from",     NODE_LIST, read_from,     AT(from),       false, 0,      0          },
    {"need",     NODE_INT,  read_int,      AT(need),       false, 1,      5          },
    {"expires",  NODE_TEXT, read_duration, AT(expires_s),  false, MINUTE, WEEK       },
    {"wait",     NODE_TEXT, read_duration, AT(wait_s),     false, 0,      TEN_MINUTES},
    {"wait_max", NODE_TEXT, read_duration, AT(wait_max_s), false, 0,      TEN_MINUTES},
    {"collect",  NODE_TEXT, read_duration, AT(collect_s),  false, MINUTE, DAY        },
};

static const char *const approval_later[] = {
    "delay", "ticket", "ticket_pattern", "reason", "step_up", "bulk", "offer", NULL};
static const char *const approval_guesses[] = {
    "groups", "from", "approvers", "from", "timeout", "expires", NULL};

static const struct shape approval_shape = {approval_members, COUNT(approval_members),
                                            approval_later, approval_guesses};

void read_terms(struct reader *r, const struct value *value)
{
    struct terms *terms = value->slot;
    struct asked asked = {terms->requirements[0].groups,
                          terms->requirements[0].need,
                          terms->expires_s,
                          terms->wait_s,
                          terms->wait_max_s,
                          terms->collect_s};
    check_members(r, value);
    read_members(r, value->node, &approval_shape, &asked);
    check_people(r, value->node, &asked);
    check_waits(r, value->node, &asked);
    *terms = (struct terms){.requirements = {{asked.from, (int)asked.need}},
                            .requirement_count = 1,
                            .expires_s = asked.expires_s,
                            .wait_s = asked.wait_s,
                            .wait_max_s = asked.wait_max_s,
                            .collect_s = asked.collect_s};
}

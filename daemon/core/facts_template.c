/* What a call says of templates: references, names, tags, build steps. */
#include "base/must.h"
#include "core/facts_parts.h"
#include "core/reference.h"

#include <strings.h>

/* The reference as E2B will read it: from the body or the path. */
static const char *reference(struct asking *asking)
{
    const struct canon *canon = asking->canon;
    if (facts_operation_is(asking, "sandbox.create"))
        return facts_folded(asking, member_text(asking->body, "templateID", ""));
    must(*canon->target_id || canon->args[0]);
    return *canon->target_id ? canon->target_id : facts_folded(asking, canon->args[0]);
}

READER(facts_template)
{
    (void)row;
    const char **list = facts_set_list(asking, fact, 1);
    if (list)
        list[0] = facts_kept(asking, reference_name(asking->arena, reference(asking)));
}

READER(facts_template_tag)
{
    (void)row;
    facts_set_text(fact, reference_tag(reference(asking), "default"));
}

/* Without its tag, so that no tag evades a rule. */
READER(facts_reference)
{
    const char *whole = node_text(facts_at(asking, row->path));
    const char *name = facts_folded(asking, whole ? whole : "");
    facts_set_text(fact, facts_kept(asking, reference_name(asking->arena, name)));
}

static bool names_a_template(const struct asking *asking)
{
    return facts_operation_is(asking, "template.create")
           || facts_operation_is(asking, "sandbox.snapshot");
}

/* E2B takes one of the two when both are there; which one is its business. */
READER(facts_name)
{
    bool plain = facts_at(asking, "name"), alias = facts_at(asking, "alias");
    struct attribute from = *row;
    from.path = plain || !alias ? "name" : "alias";
    if (names_a_template(asking))
        facts_reference(asking, &from, fact);
    else
        facts_text(asking, &from, fact);
    if (facts_operation_is(asking, "secret.create"))
        fact->text = facts_folded(asking, fact->text);
    if (plain && alias)
        fact->state = FACT_CANNOT_TELL;
}

/* A tag may hide in the name of a new template. */
READER(facts_tags)
{
    size_t count = 0;
    facts_texts(asking, row, fact);
    const char *const *given = fact->list;
    const char *tag = reference_tag(member_text(asking->body, "name", ""), NULL);
    if (!tag || !facts_operation_is(asking, "template.create"))
        return;
    while (given[count])
        count++;
    const char **list = facts_set_list(asking, fact, count + 1);
    for (size_t i = 0; list && i < count; i++)
        list[i] = given[i];
    if (list)
        list[count] = facts_folded(asking, tag);
}

/* ---- build steps ---- */

static const char *upper(struct asking *asking, const char *text)
{
    char *copy = arena_text(asking->arena, text);
    for (char *at = copy; at && *at; at++)
        if (*at >= 'a' && *at <= 'z')
            *at = (char)(*at - 'a' + 'A');
    return facts_kept(asking, copy);
}

READER(facts_step_types)
{
    const struct node *steps = facts_at(asking, row->path);
    const char **list = facts_set_list(asking, fact, node_size(steps));
    for (size_t i = 0; list && i < node_size(steps); i++)
        list[i] = upper(asking, member_text(node_at(steps, i), "type", ""));
}

/* An ENV step is name, value, name, value ...; others set none. */
static const struct node *env_args(const struct node *step)
{
    bool env = strcasecmp(member_text(step, "type", ""), "ENV") == 0;
    return env ? node_member(step, "args") : NULL;
}

static void step_env_names(struct asking *asking, struct fact *fact)
{
    const struct node *steps = facts_at(asking, "steps");
    size_t count = 0, used = 0;
    for (size_t i = 0; i < node_size(steps); i++)
        count += (node_size(env_args(node_at(steps, i))) + 1) / 2;
    const char **list = facts_set_list(asking, fact, count);
    for (size_t i = 0; list && i < node_size(steps); i++) {
        const struct node *args = env_args(node_at(steps, i));
        for (size_t k = 0; k < node_size(args); k += 2)
            list[used++] = node_text(node_at(args, k));
    }
}

READER(facts_env_names)
{
    if (facts_operation_is(asking, "template.build"))
        step_env_names(asking, fact);
    else
        facts_keys(asking, row, fact);
}

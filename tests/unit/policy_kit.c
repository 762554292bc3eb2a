#include "policy_kit.h"

#include "base/text.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

enum { FILES = 8, JSON = 1 << 21 };

static void quoted(struct buf *out, const char *json)
{
    for (; *json; json++)
        must(buf_char(out, *json == '\'' ? '"' : *json));
}

struct policy *kit_load(const char *const *pairs, struct buf *messages)
{
    struct policy_file files[FILES];
    struct buf texts[FILES];
    size_t count = 0;
    own_buf own = BUF(1 << 20);
    for (; pairs[2 * count]; count++) {
        must(count < FILES);
        texts[count] = BUF(JSON);
        quoted(&texts[count], pairs[2 * count + 1]);
        files[count] = (struct policy_file){pairs[2 * count], texts[count].data,
                                            texts[count].size};
    }
    struct policy *policy = policy_load(files, count, messages ? messages : &own);
    if (!policy && !messages)
        (void)fprintf(stderr, "%s", own.data ? own.data : "no message\n");
    for (size_t i = 0; i < count; i++)
        buf_free(&texts[i]);
    return policy;
}

struct policy *kit_load_one(const char *json)
{
    const char *const pairs[] = {"one.json", json, NULL};
    struct policy *policy = kit_load(json ? pairs : &pairs[2], NULL);
    NOT_NULL(policy);
    return policy;
}

static void add_rule(struct buf *json, const struct kit_rule *rule)
{
    (void)buf_printf(json,
                     "{'id': '%s', 'why': 'A sentence for a person.', "
                     "'decide': '%s'",
                     rule->id, rule->decide);
    if (rule->match)
        (void)buf_printf(json, ", 'match': {%s}", rule->match);
    if (rule->approval)
        (void)buf_printf(json, ", 'approval': {%s}", rule->approval);
    (void)buf_char(json, '}');
}

struct policy *kit_load_rules(const char *head, const struct kit_rule *rules,
                              size_t count)
{
    own_buf json = BUF(JSON);
    (void)buf_printf(&json, "{'version': 1, 'name': 'a', %s%s'rules': [", head,
                     *head ? ", " : "");
    for (size_t i = 0; i < count; i++) {
        (void)buf_text(&json, i ? ", " : "");
        add_rule(&json, &rules[i]);
    }
    must(buf_text(&json, "]}"));
    return kit_load_one(json.data);
}

void kit_free(struct policy *policy)
{
    if (policy)
        snapshot_drop(&policy->shared);
}

static const char * or (const char *text, const char *otherwise)
{
    return text ? text : otherwise;
}

void kit_facts(const struct kit_call *call, struct facts *facts, struct fact *route)
{
    const struct operation *operation = text_same(call->operation, "unknown")
                                            ? &operation_unknown
                                            : operation_named(call->operation);
    must(operation);
    *facts = (struct facts){
        .operation = operation,
        .effect = call->destructive ? EFFECT_DESTRUCTIVE : operation->effect,
        .guarded = call->guarded || operation->treatment == TREAT_DENY,
        .unrecognised = call->unrecognised,
    };
    if (!call->route)
        return;
    *route = (struct fact){.name = "route", .text = call->route};
    facts->all[0] = *route;
    facts->count = 1;
}

struct verdict kit_judge(const struct policy *policy, const struct kit_call *call,
                         struct arena *arena)
{
    static struct facts facts; /* large */
    struct fact route;
    struct verdict verdict;
    const struct caller caller = {
        .agent = or (call->agent, "bot"),
        .skill = or (call->skill, ""),
        .team = or (call->team, "web"),
        .environment = or (call->environment, "staging"),
    };
    kit_facts(call, &facts, &route);
    policy_judge(policy, &caller, &facts, arena, &verdict);
    return verdict;
}

static const char *keep(struct buf *text, struct arena *arena)
{
    const char *kept = arena_text(arena, text->data ? text->data : "");
    must(kept && !text->failed);
    return kept;
}

const char *kit_tell(const struct verdict *verdict, struct arena *arena)
{
    own_buf text = BUF(1 << 20);
    (void)buf_text(&text, decision_name(verdict->decision));
    for (const char *const *at = verdict->because; *at; at++)
        (void)buf_printf(&text, " %s", *at);
    return keep(&text, arena);
}

const char *kit_terms(const struct terms *terms, struct arena *arena)
{
    own_buf text = BUF(1 << 16);
    for (size_t i = 0; i < terms->requirement_count; i++) {
        const struct requirement *one = &terms->requirements[i];
        for (const char *const *group = one->groups; *group; group++)
            (void)buf_printf(&text, "%s%s", group > one->groups ? "|" : "", *group);
        (void)buf_printf(&text, ":%d ", one->need);
    }
    (void)buf_printf(&text, "expires %d wait %d max %d collect %d",
                     (int)terms->expires_s, (int)terms->wait_s, (int)terms->wait_max_s,
                     (int)terms->collect_s);
    return keep(&text, arena);
}

#include "base/arena.h"
#include "base/text.h"
#include "core/doc.h"
#include "core/policy.h"
#include "core/writer.h"
#include "policy_kit.h"
#include "test.h"

#include <limits.h>
#include <string.h>

static const char *const ops[] = {"ops", NULL};
static const char *const lead_or_ops[] = {"lead", "ops", NULL};
static const char *const because[] = {"a/one", "b/two", NULL};

static const struct terms some_terms = {
    .requirements = {{ops, 1}, {lead_or_ops, 2}},
    .requirement_count = 2,
    .expires_s = 3600,
    .wait_s = 45,
    .wait_max_s = 600,
    .collect_s = 900,
};

/* ---- as JSON ---- */

TEST(a_verdict_is_written_as_cards_and_approvals_keep_it)
{
    const struct {
        struct verdict verdict;
        const char *json;
    } cases[] = {
        {{.decision = DECIDE_HOLD,
          .because = because,
          .why = "Say \"yes\".",
          .terms = some_terms},
         "{\"decision\":\"hold\",\"because\":[\"a/one\",\"b/two\"],"
         "\"why\":\"Say \\\"yes\\\".\",\"needs\":[{\"groups\":[\"ops\"],\"need\":1},"
         "{\"groups\":[\"lead\",\"ops\"],\"need\":2}],\"expires_s\":3600,\"wait_s\":45,"
         "\"wait_max_s\":600,\"collect_s\":900}"                             },
        {{.decision = DECIDE_ALLOW, .because = &because[1], .why = "Fine."},
         "{\"decision\":\"allow\",\"because\":[\"b/two\"],\"why\":\"Fine.\"}"},
        {{.decision = DECIDE_DENY, .failed = true},
         "{\"decision\":\"deny\",\"because\":[],\"failed\":true}"            },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        own_buf text = BUF(4096);
        struct writer w = WRITER(&text);
        CASE("case %zu", i);
        verdict_write(&cases[i].verdict, &w, NULL);
        NOT(text.failed);
        EQ_TEXT(text.data, cases[i].json);
    }
}

static bool read_terms_of(const char *json, struct arena *arena, struct terms *terms)
{
    struct doc_error error;
    own_doc *doc = doc_parse(json, strlen(json), 16, false, &error);
    NOT_NULL(doc);
    return terms_read(doc_root(doc), arena, terms);
}

TEST(terms_come_back_as_they_were_written)
{
    const struct verdict verdict = {
        .decision = DECIDE_HOLD, .because = because, .why = "x", .terms = some_terms};
    own_buf text = BUF(4096);
    struct writer w = WRITER(&text);
    struct arena *arena = arena_new(1 << 16);
    struct terms terms;
    verdict_write(&verdict, &w, NULL);
    OK(read_terms_of(text.data, arena, &terms));
    EQ_TEXT(kit_terms(&terms, arena), kit_terms(&some_terms, arena));
    EQ_TEXT(kit_terms(&terms, arena),
            "ops:1 lead|ops:2 expires 3600 wait 45 max 600 collect 900");
    arena_free(arena);
}

#define TIMES "\"expires_s\": 1, \"wait_s\": 1, \"wait_max_s\": 1, \"collect_s\": 1"
#define NEEDS(groups, need) \
    "{" TIMES ", \"needs\": [{\"groups\": " groups ", \"need\": " need "}]}"
#define G "{\"groups\": [\"g\"], \"need\": 1}"

TEST(terms_that_say_less_than_all_are_refused)
{
    static const struct {
        const char *json;
        bool ok;
    } cases[] = {
        {NEEDS("[\"a\", \"b\"]", "1"),                      true},
        {NEEDS("[\"a\"]",                      "5"),                                 true},
        {NEEDS("[\"a\"]",                  "0"),           false},
        {NEEDS("[\"a\"]", "-1"),           false},
        {NEEDS("[\"a\"]",        "2147483648"),                            false},
        {NEEDS("[\"a\"]",                      "\"1\""),                                 false},
        {NEEDS("[]",                 "1"),               false},
        {NEEDS("\"a\"","1"),false},
        {NEEDS("[1]",             "1"),                  false},
        {NEEDS("[\"b\", \"a\"]",                      "1"),                                   false},
        {NEEDS("[\"a\", \"a\"]",                 "1"),                                                              false},
        {"{" TIMES ", \"needs\": []}",      false        },
        {"{" TIMES ", \"needs\": [3]}", false},
        {"{" TIMES ", \"needs\": {}}",                      false                         },
        {"{" TIMES "}",                 false},
        {"{\"needs\": [" G "], \"wait_s\": 1, \"wait_max_s\": 1, \"collect_s\": 1}",
         false                            },
        {"{\"needs\": [" G "], \"expires_s\": -1, \"wait_s\": 1, \"wait_max_s\": 1, "
         "\"collect_s\": 1}",                 false                                         },
        {"{" TIMES ", \"needs\": [" G "," G "," G "," G "," G "," G "," G "," G "," G
         "]}",false},
        {"[]", false                                             },
        {"3",                  false              },
        {"null", false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena *arena = arena_new(1 << 16);
        struct terms terms = {.expires_s = 77};
        CASE("%s", cases[i].json);
        EQ_INT(read_terms_of(cases[i].json, arena, &terms), cases[i].ok);
        EQ_INT(terms.expires_s, cases[i].ok ? 1 : 77);
        arena_free(arena);
    }
}

/* ---- merging ---- */

TEST(merged_terms_ask_for_everything_that_each_asked_for)
{
    struct terms terms = some_terms;
    const struct terms more = {
        .requirements = {{lead_or_ops, 1}, {&lead_or_ops[1], 3}},
        .requirement_count = 2,
        .expires_s = 7200,
        .wait_s = 0,
        .wait_max_s = 60,
        .collect_s = 900,
    };
    struct arena *arena = arena_new(1 << 16);
    OK(terms_merge(&terms, &more));
    EQ_TEXT(kit_terms(&terms, arena),
            "ops:3 lead|ops:2 expires 3600 wait 0 max 60 collect 900");
    arena_free(arena);
}

TEST(when_too_much_is_asked_for_nobody_can_meet_it)
{
    static const char *const names[POLICY_REQUIREMENTS + 1][2] = {
        {"a"}, {"b"}, {"c"}, {"d"}, {"e"}, {"f"}, {"g"}, {"h"}, {"i"}};
    struct terms terms = some_terms;
    terms.requirement_count = 0;
    for (size_t i = 0; i < COUNT(names); i++) {
        struct terms one = some_terms;
        one.requirements[0] = (struct requirement){names[i], 1};
        one.requirement_count = 1;
        CASE("requirement %zu", i);
        EQ_INT(terms_merge(&terms, &one), i < POLICY_REQUIREMENTS);
    }
    EQ_INT(terms.requirement_count, POLICY_REQUIREMENTS);
    EQ_INT(terms.requirements[0].need, INT_MAX);
}

/* ---- who may answer ---- */

TEST(a_group_is_its_users_and_approvers_is_a_role)
{
    static const struct {
        const char *group, *user;
        bool role, in;
    } cases[] = {
        {"ops",       "ann",  false, true },
        {"ops",       "zoe",  false, true },
        {"ops",       "mel",  false, true },
        {"ops",       "an",   true,  false},
        {"ops",       "anna", true,  false},
        {"ops",       "Ann",  true,  false},
        {"ops",       "",     true,  false},
        {"sre",       "ann",  true,  false},
        {"approvers", "ann",  false, false},
        {"approvers", "ann",  true,  true },
        {"approvers", "any",  true,  true },
        {"gone",      "ann",  true,  false},
        {"",          "ann",  true,  false},
    };
    struct policy *policy =
        kit_load_one("{'version': 1, 'name': 'a', 'approvers': {'ops': {'users': "
                     "['zoe', 'ann', 'mel']}, 'sre': {'idp_groups': ['ann']}}}");
    for (size_t i = 0; i < COUNT(cases); i++) {
        CASE("%s in %s", cases[i].user, cases[i].group);
        EQ_INT(policy_in_group(policy, cases[i].group, cases[i].user, cases[i].role),
               cases[i].in);
    }
    kit_free(policy);
}

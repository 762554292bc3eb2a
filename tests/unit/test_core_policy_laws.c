/* What holds for every policy and every call; tried on random ones. */
#include "base/arena.h"
#include "base/clock.h"
#include "base/text.h"
#include "core/policy.h"
#include "core/policy_set.h"
#include "policy_kit.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RULES = 7, FILES = 3, POLICIES = 800, TEXT = 400 };

static uint64_t seed;

static unsigned below(unsigned limit)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)(seed >> 33) % limit;
}

/* ---- random policies ---- */

static const struct {
    const char
        *text; /* as in a list; @ops is {sandbox.create, webhook.create, secret.*} */
    bool destroys, never;
} operations[] = {
    {"'*'",                                false, false},
    {"'sandbox.*'",                        false, false},
    {"'secret.*', 'webhook.*'",            false, false},
    {"'@ops'",                             false, false},
    {"'sandbox.create'",                   false, false},
    {"'secret.create', 'webhook.create'",  false, false},
    {"'sandbox.kill'",                     true,  false},
    {"'secret.delete', 'sandbox.timeout'", true,  false},
    {"'apikey.create', 'sandbox.list'",    false, true },
};
static const char *const agents[] = {"'bot'", "'b?t', 'x'", "'ci-*'", "'*'"};
static const char *const effects[] = {"'read'", "'write'", "'destructive'",
                                      "'write', 'destructive'"};
static const char *const decisions[] = {"allow", "hold", "deny"};

struct made {
    char text[TEXT];
    unsigned file, decision;
    int operations, effects; /* -1: none named */
};

struct random_policy {
    struct made rules[RULES];
    unsigned count;
    char defaults[FILES][TEXT];
};

static int maybe(unsigned limit)
{
    return below(2) ? (int)below(limit) : -1;
}

static void add_list(char *text, const char *name, const char *list)
{
    size_t used = strlen(text);
    (void)text_format(text + used, TEXT - used, "%s'%s': [%s]",
                      text[used - 1] == '{' ? "" : ", ", name, list);
}

static void make_rule(struct made *made, unsigned index, unsigned decision)
{
    *made = (struct made){.file = below(FILES), .decision = decision};
    made->operations = maybe(COUNT(operations));
    made->effects = maybe(COUNT(effects));
    if (made->operations >= 0 && operations[made->operations].never && decision != 2)
        made->operations = -1;
    if (decision == 0 && made->operations >= 0 && operations[made->operations].destroys)
        made->effects = 2 + (int)below(2);
    (void)text_format(made->text, TEXT,
                      "{'id': 'r%u', 'why': 'A sentence for a person.', 'decide': "
                      "'%s', 'match': {",
                      index, decisions[decision]);
    int agent = maybe(COUNT(agents));
    if (agent >= 0)
        add_list(made->text, "agents", agents[agent]);
    if (made->operations >= 0)
        add_list(made->text, "operations", operations[made->operations].text);
    if (made->effects >= 0)
        add_list(made->text, "effects", effects[made->effects]);
    size_t used = strlen(made->text);
    (void)text_format(made->text + used, TEXT - used, "}}");
}

static void make_defaults(char *text)
{
    unsigned read = below(3), write = read + below(3 - read);
    unsigned destructive = write + below(3 - write);
    *text = '\0';
    if (below(2))
        (void)text_format(text, TEXT,
                          ", 'defaults': {'read': '%s', 'write': '%s', 'destructive': "
                          "'%s'}",
                          decisions[read], decisions[write], decisions[destructive]);
    if (below(3) == 0) {
        size_t used = strlen(text);
        (void)text_format(text + used, TEXT - used, ", 'scope': {'agents': [%s]}",
                          agents[below(COUNT(agents))]);
    }
}

static void make_policy(struct random_policy *random)
{
    random->count = 1 + below(RULES - 1);
    for (unsigned i = 0; i < random->count; i++)
        make_rule(&random->rules[i], i, below(3));
    for (unsigned i = 0; i < FILES; i++)
        make_defaults(random->defaults[i]);
}

/* `backwards`: files and rules in the other order. */
static struct policy *load(const struct random_policy *random, unsigned count,
                           bool backwards)
{
    static const char *const heads[FILES] = {"a", "b", "c"};
    struct buf texts[FILES];
    const char *pairs[2 * FILES + 1] = {0};
    for (unsigned i = 0; i < FILES; i++) {
        unsigned file = backwards ? FILES - 1 - i : i;
        texts[i] = BUF(1 << 16);
        (void)buf_printf(&texts[i], "{'version': 1, 'name': '%s'%s%s, 'rules': [",
                         heads[file], random->defaults[file],
                         file ? ""
                              : ", 'sets': {'ops': ['sandbox.create', "
                                "'webhook.create', 'secret.*']}");
        bool first = true;
        for (unsigned k = 0; k < count; k++) {
            const struct made *made = &random->rules[backwards ? count - 1 - k : k];
            if (made->file != file)
                continue;
            (void)buf_printf(&texts[i], "%s%s", first ? "" : ", ", made->text);
            first = false;
        }
        (void)buf_text(&texts[i], "]}");
        pairs[2 * i] = heads[file];
        pairs[2 * i + 1] = texts[i].data;
    }
    own_buf messages = BUF(1 << 16); /* warnings are fine */
    struct policy *policy = kit_load(pairs, &messages);
    if (!policy)
        (void)fprintf(stderr, "%s\n%s\n", texts[0].data, messages.data);
    for (unsigned i = 0; i < FILES; i++)
        buf_free(&texts[i]);
    NOT_NULL(policy);
    return policy;
}

/* ---- calls ---- */

static const struct kit_call calls[] = {
    {"sandbox.list"      },
    {"sandbox.create"    },
    {"sandbox.create",     .agent = "ci-1"},
    {"sandbox.create",                    .guarded = true},
    {"sandbox.kill"},
    {"sandbox.kill",       .agent = "x"},
    {"sandbox.timeout"      },
    {"sandbox.timeout",                    .destructive = true},
    {"webhook.create",              .guarded = true},
    {"template.update",.guarded = true, .agent = "ci-1"},
    {"secret.create"    },
    {"secret.delete"                   },
    {"apikey.create"                       },
    {"unknown"                   },
};

static struct kit_call strange(const struct kit_call *call)
{
    struct kit_call strange = *call;
    strange.unrecognised = true;
    return strange;
}

static bool has_full_name(int list, const char *operation)
{
    char quoted[64];
    (void)text_format(quoted, sizeof(quoted), "'%s'", operation);
    if (list < 0)
        return false;
    return strstr(operations[list].text, quoted)
           || (strstr(operations[list].text, "@ops")
               && (text_same(operation, "sandbox.create")
                   || text_same(operation, "webhook.create")));
}

/* ---- the laws ---- */

TEST(the_order_of_rules_and_files_never_matters)
{
    seed = 0x9e3779b97f4a7c15;
    for (int n = 0; n < POLICIES; n++) {
        struct random_policy random;
        make_policy(&random);
        struct policy *one = load(&random, random.count, false);
        struct policy *two = load(&random, random.count, true);
        for (size_t i = 0; i < COUNT(calls); i++) {
            struct arena *arena = arena_new(1 << 16);
            struct verdict a = kit_judge(one, &calls[i], arena);
            struct verdict b = kit_judge(two, &calls[i], arena);
            CASE("policy %d, call %zu", n, i);
            EQ_TEXT(kit_tell(&a, arena), kit_tell(&b, arena));
            EQ_TEXT(kit_terms(&a.terms, arena), kit_terms(&b.terms, arena));
            EQ_TEXT(a.why, b.why);
            arena_free(arena);
        }
        kit_free(one);
        kit_free(two);
    }
}

TEST(one_more_deny_never_loosens)
{
    seed = 0xd1b54a32d192ed03;
    for (int n = 0; n < POLICIES; n++) {
        struct random_policy random;
        make_policy(&random);
        make_rule(&random.rules[random.count], random.count, 2);
        struct policy *before = load(&random, random.count, false);
        struct policy *after = load(&random, random.count + 1, false);
        for (size_t i = 0; i < COUNT(calls); i++) {
            struct arena *arena = arena_new(1 << 16);
            CASE("policy %d, call %zu", n, i);
            OK(kit_judge(after, &calls[i], arena).decision
               >= kit_judge(before, &calls[i], arena).decision);
            arena_free(arena);
        }
        kit_free(before);
        kit_free(after);
    }
}

TEST(fields_that_nobody_knows_never_loosen)
{
    seed = 0x8cb92ba72f3d8dd7;
    for (int n = 0; n < POLICIES; n++) {
        struct random_policy random;
        make_policy(&random);
        struct policy *policy = load(&random, random.count, false);
        for (size_t i = 0; i < COUNT(calls); i++) {
            struct kit_call odd = strange(&calls[i]);
            struct arena *arena = arena_new(1 << 16);
            struct verdict verdict = kit_judge(policy, &odd, arena);
            CASE("policy %d, call %zu", n, i);
            OK(verdict.decision >= kit_judge(policy, &calls[i], arena).decision);
            OK(verdict.decision != DECIDE_ALLOW);
            arena_free(arena);
        }
        kit_free(policy);
    }
}

static const struct made *rule_named(const struct random_policy *random,
                                     const char *name)
{
    return name[2] == 'r' ? &random->rules[name[3] - '0'] : NULL; /* "a/r3" */
}

static void check_permission(const struct random_policy *random,
                             const struct kit_call *call, const struct facts *facts,
                             const char *name)
{
    const struct made *rule = rule_named(random, name);
    if (!rule) { /* a default */
        NOT(facts->guarded);
        if (facts->effect == EFFECT_DESTRUCTIVE)
            HAS_TEXT(random->defaults[name[0] - 'a'], "'destructive': 'allow'");
        return;
    }
    EQ_INT(rule->decision, DECIDE_ALLOW);
    if (facts->effect == EFFECT_DESTRUCTIVE)
        OK(rule->effects >= 2); /* its list holds `destructive` */
    if (facts->guarded)
        OK(has_full_name(rule->operations, call->operation));
}

TEST(nothing_destructive_or_guarded_is_allowed_without_its_explicit_reason)
{
    size_t allowed = 0;
    seed = 0xa0761d6478bd642f;
    for (int n = 0; n < POLICIES; n++) {
        struct random_policy random;
        make_policy(&random);
        struct policy *policy = load(&random, random.count, false);
        for (size_t i = 0; i < COUNT(calls); i++) {
            static struct facts facts;
            struct fact route;
            struct arena *arena = arena_new(1 << 16);
            struct verdict verdict = kit_judge(policy, &calls[i], arena);
            CASE("policy %d, call %zu: %s", n, i, kit_tell(&verdict, arena));
            kit_facts(&calls[i], &facts, &route);
            NOT(verdict.failed);
            OK(facts.operation->treatment != TREAT_NEVER
               || verdict.decision == DECIDE_DENY);
            for (const char *const *at = verdict.because;
                 *at && verdict.decision == DECIDE_ALLOW; at++) {
                allowed += facts.guarded || facts.effect == EFFECT_DESTRUCTIVE;
                if ((*at)[1] == '/')
                    check_permission(&random, &calls[i], &facts, *at);
                else
                    EQ_TEXT(*at, "builtin/read");
            }
            arena_free(arena);
        }
        kit_free(policy);
    }
    OK(allowed > 20); /* or this test says nothing */
}

/* ---- memory ---- */

static const char many_holds[] =
    "{'version': 1, 'name': 'a', 'rules': ["
    "{'id': 'one', 'why': 'A sentence for a person.', 'decide': 'hold', "
    "'match': {'effects': ['write']}}, "
    "{'id': 'two', 'why': 'A sentence for a person.', 'decide': 'hold', "
    "'match': {'effects': ['write']}}, "
    "{'id': 'three', 'why': 'A sentence for a person.', 'decide': 'allow', "
    "'match': {'operations': ['sandbox.*']}}]}";

/* An arena that has room for so many more steps of 16 bytes. */
static struct arena *nearly_full(size_t steps)
{
    enum { FIRST_CHUNK = 4096 - 32 };
    size_t count = 0;
    struct arena *probe = arena_new(FIRST_CHUNK);
    while (arena_alloc(probe, 16))
        count++;
    arena_free(probe);
    struct arena *arena = arena_new(FIRST_CHUNK);
    for (; count > steps; count--)
        NOT_NULL(arena_alloc(arena, 16));
    return arena;
}

TEST(a_verdict_that_does_not_fit_into_memory_is_a_deny)
{
    struct policy *policy = kit_load_one(many_holds);
    size_t failed = 0, steps = 0;
    for (bool done = false; !done; steps++) {
        struct arena *arena = nearly_full(steps), *apart = arena_new(1 << 16);
        struct verdict verdict =
            kit_judge(policy, &(struct kit_call){"sandbox.create"}, arena);
        CASE("room for %zu steps", steps);
        EQ_TEXT(kit_tell(&verdict, apart),
                verdict.failed ? "deny builtin/error" : "hold a/one a/two");
        failed += verdict.failed;
        done = !verdict.failed;
        arena_free(arena);
        arena_free(apart);
    }
    OK(failed > 4);
    kit_free(policy);
}

/* Run by the next test in a process of its own, with one allocation that fails. */
TEST(child_loads_and_judges_with_what_memory_it_gets)
{
    static char json[sizeof(many_holds)];
    const struct policy_file file = {"one.json", json, sizeof(json) - 1};
    own_buf messages = BUF(1 << 16);
    for (size_t i = 0; i < sizeof(json); i++)
        json[i] = many_holds[i] == '\'' ? '"' : many_holds[i];
    struct policy *policy = policy_load(&file, 1, &messages);
    struct arena *arena = policy ? arena_new(1 << 16) : NULL;
    if (policy && arena) {
        static struct facts facts;
        struct fact route;
        struct verdict verdict;
        const struct caller caller = {"bot", "", "web", "staging"};
        kit_facts(&(struct kit_call){"sandbox.create"}, &facts, &route);
        policy_judge(policy, &caller, &facts, arena, &verdict);
        OK(verdict.decision == (verdict.failed ? DECIDE_DENY : DECIDE_HOLD));
        EQ_TEXT(verdict.because[0], verdict.failed ? "builtin/error" : "a/one");
    }
    OK(policy || messages.failed || messages.size > 0);
    arena_free(arena);
    kit_free(policy);
}

#ifdef SANDGATE_FAULTS
static int run_child(int allocation)
{
    char number[16];
    (void)text_format(number, sizeof(number), "%d", allocation);
    (void)fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        (void)setenv("SANDGATE_FAIL_ALLOC", number, 1);
        must(freopen("/dev/null", "w", stdout) && freopen("/dev/null", "w", stderr));
        (void)execl("/proc/self/exe", "child", "child_loads_and_judges", NULL);
        _exit(99);
    }
    int status = 0;
    must(child > 0 && waitpid(child, &status, 0) == child);
    return status;
}

TEST(whichever_allocation_fails_nothing_is_allowed)
{
    for (int allocation = 1; allocation <= 40; allocation++) {
        CASE("allocation %d", allocation);
        EQ_INT(run_child(allocation), 0);
    }
}
#endif

/* ---- cost ---- */

/* 10 files with 50 rules each; one in `every` concerns sandbox.create. */
static struct policy *large(int every)
{
    static struct policy_file files[10];
    static char paths[10][16];
    struct buf texts[10];
    own_buf messages = BUF(1 << 16);
    for (int f = 0; f < 10; f++) {
        texts[f] = BUF(1 << 20);
        (void)buf_printf(&texts[f], "{\"version\": 1, \"name\": \"f%d\", \"rules\": [",
                         f);
        for (int i = 0; i < 50; i++)
            (void)buf_printf(
                &texts[f],
                "%s{\"id\": \"r%d\", \"why\": \"A sentence for a person.\", "
                "\"decide\": \"%s\", \"match\": {\"agents\": [\"agent-%d\", "
                "\"ci-%d-*\"], "
                "\"environments\": [\"staging\", \"prod*\"], \"operations\": "
                "[\"%s\"]}}",
                i ? ", " : "", i, i % 2 ? "hold" : "deny", i, i,
                i % every ? "volume.delete" : "sandbox.create");
        (void)buf_text(&texts[f], "]}");
        (void)text_format(paths[f], sizeof(paths[f]), "f%d.json", f);
        files[f] = (struct policy_file){paths[f], texts[f].data, texts[f].size};
    }
    struct policy *policy = policy_load(files, 10, &messages);
    for (int f = 0; f < 10; f++)
        buf_free(&texts[f]);
    NOT_NULL(policy);
    return policy;
}

TEST(judging_looks_only_at_the_rules_of_the_operation)
{
    static const struct {
        int every;
        size_t rules;
    } cases[] = {
        {1,  500},
        {10, 50 },
        {50, 10 },
    };
    const struct operation *create = operation_named("sandbox.create");
    for (size_t i = 0; i < COUNT(cases); i++) {
        enum { ROUNDS = 2000 };
        struct policy *policy = large(cases[i].every);
        EQ_INT(policy->set->candidates[operation_index(create)].count, cases[i].rules);
        const struct kit_call call = {"sandbox.create", .agent = "agent-7"};
        int64_t began = clock_mono_us();
        for (int n = 0; n < ROUNDS; n++) {
            struct arena *arena = arena_new(1 << 16);
            (void)kit_judge(policy, &call, arena);
            arena_free(arena);
        }
        (void)printf("judge: 500 rules in 10 files, %zu of this operation: %.2f us\n",
                     cases[i].rules, (double)(clock_mono_us() - began) / ROUNDS);
        kit_free(policy);
    }
}

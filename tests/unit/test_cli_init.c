/* A set-up in a folder of its own: made once, never overwritten, repeatable anywhere.
 */
#include "test_cli_rig.h"

#include "base/embedded.h"

/* Each test has a folder of its own. */
static char dir[RIG_PATH];

static struct ran init(const char *more)
{
    char line[1024];
    must(text_format(line, sizeof(line), "init --no-input --yes --dir %s %s", dir,
                     more));
    return run(line);
}

static void fresh_dir(const char *name)
{
    must(text_copy(dir, sizeof(dir), in_folder(name)));
}

static const char *at(const char *name)
{
    static char path[2 * RIG_PATH];
    must(text_format(path, sizeof(path), "%s/%s", dir, name));
    return path;
}

static unsigned mode_of(const char *name)
{
    struct stat status;
    return stat(at(name), &status) ? 0 : status.st_mode & 0777;
}

static bool is_there(const char *name)
{
    return access(at(name), F_OK) == 0;
}

static const char *const files[] = {"sandgate.json", "master-key", "audit-key",
                                    "policy.d/00-starter.json"};

TEST(files_come_first_with_the_modes_they_need)
{
    fresh_dir("modes");
    EQ_INT(init("").code, TRY_AGAIN); /* there is no daemon */
    HAS_TEXT(ran.talk, "sandgated --config ");
    EQ_INT(mode_of("sandgate.json"), 0644);
    EQ_INT(mode_of("master-key"), 0600);
    EQ_INT(mode_of("audit-key"), 0600);
    EQ_INT(mode_of("data"), 0700);
    EQ_INT(mode_of("policy.d"), 0755);
    for (size_t i = 1; i < 3; i++) {
        const char *key = read_text_file(at(files[i]));
        EQ_INT((int64_t)strlen(key), 65);
        EQ_INT((int64_t)strspn(key, "0123456789abcdef"), 64);
    }
    EQ_TEXT(read_text_file(at("policy.d/00-starter.json")),
            (const char *)embedded_policy[0].data);
}

TEST(a_second_run_changes_nothing)
{
    static char before[COUNT(files)][RIG_BYTES];
    fresh_dir("twice");
    EQ_INT(init("").code, TRY_AGAIN);
    for (size_t i = 0; i < COUNT(files); i++)
        must(text_copy(before[i], RIG_BYTES, read_text_file(at(files[i]))));
    EQ_INT(init("--agents-listen 127.0.0.1:9 --admin eve").code, TRY_AGAIN);
    NOT(strstr(ran.talk, "done "));
    for (size_t i = 0; i < COUNT(files); i++) {
        CASE("%s", files[i]);
        EQ_TEXT(read_text_file(at(files[i])), before[i]);
    }
}

TEST(a_run_that_broke_anywhere_is_completed)
{
    fresh_dir("broken");
    for (size_t i = 0; i < COUNT(files); i++) {
        CASE("without %s", files[i]);
        EQ_INT(init("").code, TRY_AGAIN);
        must(unlink(at(files[i])) == 0);
        EQ_INT(init("").code, TRY_AGAIN);
        for (size_t j = 0; j < COUNT(files); j++)
            OK(is_there(files[j]));
    }
}

TEST(a_dry_run_makes_nothing)
{
    fresh_dir("dry");
    EQ_INT(init("--dry-run").code, DONE);
    HAS_TEXT(ran.talk, "would do  key that signs the log");
    HAS_TEXT(ran.talk, "first person");
    NOT(is_there(""));
}

TEST(a_database_keeps_its_keys)
{
    fresh_dir("kept");
    EQ_INT(init("").code, TRY_AGAIN);
    write_text_file(at("data/sandgate.db"), "x");
    must(unlink(at("master-key")) == 0);
    EQ_INT(init("").code, INVALID);
    HAS_TEXT(ran.talk, "put the key back");
    NOT(is_there("master-key"));
}

TEST(the_first_person_is_the_group_that_approves)
{
    fresh_dir("eve");
    char line[256];
    EQ_INT(init("--admin eve --agents-listen 127.0.0.1:8999").code, TRY_AGAIN);
    HAS_TEXT(read_text_file(at("policy.d/00-starter.json")), "\"users\": [\"eve\"]");
    HAS_TEXT(read_text_file(at("sandgate.json")), "{\"listen\": \"127.0.0.1:8999\"}");
    must(text_format(line, sizeof(line), "policy check %s", at("policy.d")));
    EQ_INT(run(line).code, DONE);
    HAS_TEXT(ran.talk, "would load");
    write_text_file(at("policy.d/10-odd.json"), "{\"version\": 1, \"nmae\": \"x\"}");
    EQ_INT(run(line).code, INVALID);
    HAS_TEXT(ran.out, "10-odd.json");
}

TEST(names_and_addresses_are_checked_before_anything_is_made)
{
    static const char *const bad[] = {
        "--admin Eve", "--agent 'a b'",          "--environment ''",     "--admin '\"'",
        "--agent -x",  "--agents-listen 'x\"y'", "--metrics-listen a/b",
    };
    for (size_t i = 0; i < COUNT(bad); i++) {
        fresh_dir("checked");
        CASE("%s", bad[i]);
        EQ_INT(init(bad[i]).code, USAGE);
        NOT(is_there(""));
    }
    must(text_format(dir, sizeof(dir), "/tmp/%090d", 0));
    EQ_INT(init("").code, USAGE);
    NOT(is_there(""));
}

/* ---- with a daemon ---- */

#define KEY "e2b_0123456789abcdef0123456789abcdef01234567"

static const struct said empty[] = {
    {"GET /api/v1/status",        200, "{\"ready\":true}"              },
    {"GET /api/v1/environments",  200, "{\"environments\":[]}"         },
    {"GET /api/v1/agents",        200, "{\"agents\":[]}"               },
    {"GET /api/v1/keys",          200,
     "{\"keys\":[{\"agent\":\"demo\",\"environment\":\"production\",\"id\":\"1\","
     "\"revoked\":\"2025-01-01T00:00:00.000Z\"},{\"agent\":\"demo\",\"id\":\"2\","
     "\"environment\":\"other\"}]}"                                    },
    {"GET /api/v1/people",        200, "{\"people\":[]}"               },
    {"POST /api/v1/environments", 200, "{\"status\":200,\"running\":2}"},
    {"POST /api/v1/agents",       200, "{}"                            },
    {"POST /api/v1/keys",         200, "{\"key\":\"" KEY "\"}"         },
    {"POST /api/v1/people",       200, "{\"people\":[]}"               },
    {NULL,                        0,   NULL                            }
};

static struct ran init_with(const struct said *said, const char *input,
                            const char *more)
{
    char line[1024], path[2 * RIG_PATH];
    must(text_copy(path, sizeof(path), at("admin.sock")));
    must(text_format(line, sizeof(line), "init --yes --dir %s %s", dir, more));
    must(mkdir(dir, 0700) == 0 || is_there(""));
    rig_play(path, said);
    struct ran result = run_with(&(struct setting){.input = input}, line);
    rig_stop(path);
    return result;
}

TEST(the_key_is_shown_once_and_the_e2b_key_never)
{
    fresh_dir("whole");
    EQ_INT(init_with(empty, "e2b_real\n", "").code, DONE);
    EQ_TEXT(ran.out, "export E2B_API_URL=http://127.0.0.1:8080\n"
                     "export E2B_API_KEY=" KEY "\n");
    NOT(strstr(ran.talk, KEY) || strstr(ran.talk, "e2b_real"));
    HAS_TEXT(asked("POST /api/v1/environments"), "\"key\":\"e2b_real\"");
    EQ_TEXT(asked("POST /api/v1/agents"), "POST /api/v1/agents {\"name\":\"demo\"}");
    HAS_TEXT(asked("POST /api/v1/people"),
             "\"roles\":\"admin,approver,policy-admin,auditor\"");
}

/* Who mints a key cannot approve its calls, and before there is a person it is nobody.
 */
TEST(the_person_comes_last)
{
    fresh_dir("order");
    EQ_INT(init_with(empty, "e2b_real\n", "").code, DONE);
    size_t key = 0, person = 0;
    for (size_t i = 0; i < played.count; i++) {
        key = text_starts(played.asked[i], "POST /api/v1/keys") ? i : key;
        person = text_starts(played.asked[i], "POST /api/v1/people") ? i : person;
    }
    OK(key > 0 && person > key);
}

TEST(what_the_daemon_has_is_not_made_again)
{
    char people[128];
    fresh_dir("again");
    must(text_format(people, sizeof(people),
                     "{\"people\":[{\"name\":\"ada\",\"uid\":%lld}]}",
                     (long long)getuid()));
    const struct said full[] = {
        {"GET /api/v1/status",       200, "{\"ready\":true}"                  },
        {"GET /api/v1/environments", 200,
         "{\"environments\":[{\"name\":\"production\"}]}"                     },
        {"GET /api/v1/agents",       200, "{\"agents\":[{\"name\":\"demo\"}]}"},
        {"GET /api/v1/keys",         200,
         "{\"keys\":[{\"agent\":\"demo\",\"environment\":\"production\"}]}"   },
        {"GET /api/v1/people",       200, people                              },
        {NULL,                       0,   NULL                                }
    };
    EQ_INT(init_with(full, "", "").code, DONE);
    EQ_INT((int64_t)asked_count("POST "), 0);
    EQ_TEXT(ran.out, "");
    HAS_TEXT(ran.talk, "sandgate.json agent key add demo --environment production");
}

TEST(a_key_that_was_made_is_shown_even_if_the_rest_fails)
{
    struct said said[COUNT(empty)];
    fresh_dir("late");
    memcpy(said, empty, sizeof(said));
    for (size_t i = 0; said[i].start; i++)
        if (text_same(said[i].start, "POST /api/v1/people"))
            said[i] = (struct said){
                "POST /api/v1/people", 503,
                "{\"error_code\":\"log_unavailable\",\"message\":\"full\"}"};
    EQ_INT(init_with(said, "e2b_real\n", "").code, TRY_AGAIN);
    HAS_TEXT(ran.out, "export E2B_API_KEY=" KEY "\n");
    HAS_TEXT(ran.talk, "full");
}

TEST(json_gives_one_object)
{
    fresh_dir("json");
    EQ_INT(init_with(empty, "e2b_real\n", "--json --quiet").code, DONE);
    HAS_TEXT(ran.out,
             "\"url\":\"http://127.0.0.1:8080\",\"agent\":\"demo\",\"environment\":"
             "\"production\",\"key\":\"" KEY "\"}\n");
    EQ_TEXT(ran.talk, "");
}

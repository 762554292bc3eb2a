/* The command line against a daemon of a few fixed answers. */
#include "test_cli_rig.h"

#define ERROR(code, name, text) \
    "{\"code\":" #code ",\"error_code\":\"" name "\",\"message\":\"" text "\"}"
#define APPROVAL(state, effect, more)                                                  \
    "{\"id\":\"apr_1\",\"state\":\"" state                                             \
    "\",\"version\":4,\"summary\":\"Kill i0abc\","                                     \
    "\"agent\":\"bot\",\"environment\":\"production\",\"operation\":\"sandbox.kill\"," \
    "\"effect\":\"" effect "\",\"target\":\"i0abc\"" more "}"

TEST(the_daemons_errors_become_exit_codes_with_its_words)
{
    static const struct {
        struct said said;
        int code;
        const char *says;
    } cases[] = {
        {{"GET ", 404, ERROR(404, "not_found", "no such thing")},
         NOT_FOUND,                                                                    "apr_1: no such thing"         },
        {{"GET ", 403, ERROR(403, "forbidden", "you may not")},
         NO_RIGHTS,                                                                    "you may not"                  },
        {{"GET ", 400, ERROR(400, "bad_field", "limit is a number")},
         USAGE,                                                                        "limit is a number"            },
        {{"GET ", 409, ERROR(409, "approval_moved", "it has changed")},
         FAILED,                                                                       "sandgate approvals show apr_1"},
        {{"GET ", 503, ERROR(503, "log_unavailable", "cannot be written")},
         TRY_AGAIN,                                                                    "cannot be written"            },
        {{"GET ", 503, ERROR(503, "shutting_down", "stopping")},            TRY_AGAIN, "stopping"                     },
        {{"GET ", 500, ERROR(500, "internal_error", "a fault")},            FAILED,    "a fault"                      },
        {{"GET ", 500, "<html>"},                                           FAILED,    "the daemon answered 500"      },
        {{"GET ", 200, "<html>"},                                           FAILED,    "is no JSON"                   },
        {{"GET ", 403, ERROR(403, "forbidden", "\\u001b[31mred")},
         NO_RIGHTS,                                                                    "\\x1b[31mred"                 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct said said[] = {
            cases[i].said, {NULL, 0, NULL}
        };
        CASE("%s", cases[i].said.body);
        EQ_INT(run_against(said, NULL, "approvals show apr_1").code, cases[i].code);
        HAS_TEXT(ran.talk, cases[i].says);
        EQ_TEXT(ran.out, "");
    }
}

TEST(an_id_that_is_none_is_not_asked_for)
{
    static const struct said said[] = {
        {"GET ", 200, "{}"},
        {NULL,   0,   NULL}
    };
    EQ_INT(run_against(said, NULL, "approvals show ../keys").code, USAGE);
    EQ_INT(run_against(said, NULL, "approvals approve apr_1/decline --yes").code,
           USAGE);
    EQ_INT((int64_t)asked_count(""), 0);
}

TEST(lists_ask_for_what_the_flags_say)
{
    static const struct said said[] = {
        {"GET ", 200, "{\"approvals\":[],\"records\":[],\"keys\":[]}"},
        {NULL,   0,   NULL                                           }
    };
    static const struct {
        const char *line, *asked;
    } cases[] = {
        {"approvals ls",                                                             "GET /api/v1/approvals?state=open"},
        {"approvals ls --state all",                                                 "GET /api/v1/approvals"           },
        {"approvals ls --agent 'a&b=c d'",
         "GET /api/v1/approvals?state=open&agent=a%26b%3Dc%20d"                                                        },
        {"audit ls",                                                                 "GET /api/v1/audit"               },
        {"audit ls --since 1970-01-01T00:00:01Z --operation sandbox.kill --limit 3",
         "GET /api/v1/audit?since_us=1000000&operation=sandbox.kill&limit=3"                                           },
        {"key ls --agent bot",                                                       "GET /api/v1/keys?agent=bot"      },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        CASE("%s", cases[i].line);
        EQ_INT(run_against(said, NULL, cases[i].line).code, DONE);
        EQ_TEXT(asked("GET "), cases[i].asked);
    }
    EQ_INT(run_against(said, NULL, "audit ls --since yesterday").code, USAGE);
}

/* ---- deciding ---- */

static const struct said grave[] = {
    {"GET ",                                 200,                    APPROVAL("pending", "destructive", "")},
    {"POST /api/v1/approvals/apr_1/approve",                                   200,
     APPROVAL("executed",                                      "destructive", ",\"status\":204")},
    {"POST /api/v1/approvals/apr_1/decline",                    200,
     APPROVAL("declined","destructive", "")},
    {NULL, 0, NULL                                                               }
};
static const struct said plain[] = {
    {"GET ",              200,     APPROVAL("pending",        "write", "")},
    {"POST /api/v1/approvals/apr_1/approve",                200,                       APPROVAL("pending",           "write", "")},
    {NULL, 0,NULL}
};

TEST(what_cannot_be_undone_is_approved_in_words_only)
{
    static const struct {
        const char *line;
        struct setting setting;
        int code;
        bool sent;
    } cases[] = {
        {"",                                           {NULL, false, 0},           USAGE,  false},
        {"--yes",                                      {NULL, false, 0},           USAGE,  false},
        {"--yes --no-input",                           {"kill i0abc\n", true, 80}, USAGE,  false},
        {"--confirm 'kill i0abd'",                     {NULL, false, 0},           FAILED, false},
        {"--confirm kill",                             {NULL, false, 0},           FAILED, false},
        {"",                                           {"y\n", true, 80},          FAILED, false},
        {"--yes",                                      {"yes\n", true, 80},        FAILED, false},
        {"",                                           {"kill i0abc\n", true, 80}, DONE,   true },
        {"--confirm 'kill i0abc'",                     {NULL, false, 0},           DONE,   true },
        {"--confirm 'kill i0abc' --reason 'not used'", {NULL, false, 0},           DONE,   true },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char line[200];
        must(text_format(line, sizeof(line), "approvals approve apr_1 %s",
                         cases[i].line));
        CASE("%s", line);
        EQ_INT(run_against(grave, &cases[i].setting, line).code, cases[i].code);
        EQ_INT((int64_t)asked_count("POST "), cases[i].sent);
        HAS_TEXT(ran.talk, "Kill i0abc"); /* the facts come first, whatever follows */
    }
    HAS_TEXT(asked("POST "), "{\"reason\":\"not used\",\"version\":4}");
}

TEST(a_plain_call_is_approved_by_a_yes_and_says_who_is_missing)
{
    EQ_INT(run_against(plain, NULL, "approvals approve apr_1").code, USAGE);
    HAS_TEXT(ran.talk, "--yes");
    EQ_INT((int64_t)asked_count("POST "), 0);
    const struct setting no = {"n\n", true, 80}, yes = {"y\n", true, 80};
    EQ_INT(run_against(plain, &no, "approvals approve apr_1").code, FAILED);
    EQ_INT((int64_t)asked_count("POST "), 0);
    EQ_INT(run_against(plain, &yes, "approvals approve apr_1").code, STILL_PENDING);
    EQ_INT(run_against(plain, NULL, "approvals approve apr_1 --yes").code,
           STILL_PENDING);
    EQ_TEXT(asked("POST "), "POST /api/v1/approvals/apr_1/approve {\"version\":4}");
}

TEST(a_decline_has_a_reason)
{
    EQ_INT(run_against(grave, NULL, "approvals decline apr_1").code, USAGE);
    EQ_INT(run_against(grave, NULL, "approvals decline apr_1 --reason ''").code, USAGE);
    EQ_INT((int64_t)asked_count("POST "), 0);
    EQ_INT(run_against(grave, NULL, "approvals decline apr_1 --reason 'in use'").code,
           DONE);
    EQ_TEXT(
        asked("POST "),
        "POST /api/v1/approvals/apr_1/decline {\"reason\":\"in use\",\"version\":4}");
}

TEST(what_is_decided_already_is_told_and_not_voted_on)
{
    static const struct {
        const char *body;
        int code;
    } cases[] = {
        {APPROVAL("declined",   "write", ""), NOT_APPROVED},
        {APPROVAL("expired",    "write", ""), NOT_APPROVED},
        {APPROVAL("superseded", "write", ""), NOT_APPROVED},
        {APPROVAL("executed",   "write", ""), FAILED      },
        {APPROVAL("unknown",    "write", ""), FAILED      },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct said said[] = {
            {"GET ", 200, cases[i].body},
            {NULL,   0,   NULL         }
        };
        CASE("%s", cases[i].body);
        EQ_INT(run_against(said, NULL, "approvals approve apr_1 --yes").code,
               cases[i].code);
        HAS_TEXT(ran.talk, "nothing to decide");
        EQ_INT((int64_t)asked_count("POST "), 0);
    }
}

TEST(only_an_unknown_outcome_is_settled)
{
    static const struct said unknown[] = {
        {"GET ",               200,     APPROVAL("unknown",         "write", "")},
        {"POST ",                 200,                        APPROVAL("executed",                                            "write", "")},
        {NULL, 0,NULL}
    };
    EQ_INT(
        run_against(grave, NULL, "approvals settle apr_1 --outcome executed --reason x")
            .code,
        STILL_PENDING);
    EQ_INT(
        run_against(unknown, NULL, "approvals settle apr_1 --outcome maybe --reason x")
            .code,
        USAGE);
    EQ_INT(
        run_against(unknown, NULL, "approvals settle apr_1 --outcome failed --reason x")
            .code,
        DONE);
    EQ_TEXT(asked("POST "), "POST /api/v1/approvals/apr_1/settle "
                            "{\"outcome\":\"failed\",\"reason\":\"x\"}");
}

/* ---- secrets ---- */

TEST(a_key_comes_from_stdin_or_a_file_after_its_powers_were_told)
{
    static const struct said said[] = {
        {"POST /api/v1/environments", 200,
         "{\"environment\":\"production\",\"status\":200,\"running\":3}"},
        {NULL,                        0,   NULL                         }
    };
    const struct setting piped = {"e2b_secret\n", false, 0}, alone = {NULL, false, 0};
    EQ_INT(run_against(said, &piped, "env add production").code, USAGE);
    EQ_INT((int64_t)asked_count("POST "), 0);
    EQ_INT(run_against(said, &piped, "env add production --yes").code, DONE);
    HAS_TEXT(ran.talk, "destructive: ");
    HAS_TEXT(ran.talk, "sandbox.kill");
    HAS_TEXT(ran.talk, "3 sandboxes");
    NOT(strstr(ran.talk, "e2b_secret") || strstr(ran.out, "e2b_secret"));
    EQ_TEXT(asked("POST "),
            "POST /api/v1/environments {\"name\":\"production\",\"base_url\":"
            "\"https://api.e2b.app\",\"lenient\":false,\"key\":\"e2b_secret\"}");
    EQ_INT(run_against(said, &alone, "env add production --yes").code, USAGE);
    char line[200];
    write_text_file(in_folder("key"), "e2b_filed\n");
    must(text_format(line, sizeof(line),
                     "env add x --yes --key-file %s --url https://e.x",
                     in_folder("key")));
    EQ_INT(run_against(said, &alone, line).code, DONE);
    HAS_TEXT(asked("POST "), "\"base_url\":\"https://e.x\"");
    HAS_TEXT(asked("POST "), "\"key\":\"e2b_filed\"");
}

TEST(a_fresh_key_is_all_there_is_on_stdout)
{
    static const struct said said[] = {
        {"POST /api/v1/keys", 200,
         "{\"id\":\"01234567\",\"agent\":\"bot\",\"environment\":\"production\","
         "\"key\":\"e2b_0123\"}"       },
        {NULL,                0,   NULL}
    };
    EQ_INT(run_against(said, NULL, "key add bot --valid 2h --skills a,b").code, DONE);
    EQ_TEXT(ran.out, "e2b_0123\n");
    NOT(strstr(ran.talk, "e2b_0123"));
    EQ_TEXT(asked("POST "), "POST /api/v1/keys {\"agent\":\"bot\",\"environment\":"
                            "\"production\",\"skills\":\"a,b\",\"valid_s\":7200}");
    EQ_INT(run_against(said, NULL, "key rotate 01234567").code, DONE);
    EQ_TEXT(asked("POST "), "POST /api/v1/keys/01234567/rotate {\"overlap_s\":86400}");
    EQ_INT(run_against(said, NULL, "key revoke 01234567").code, USAGE);
    EQ_INT((int64_t)asked_count("POST "), 0);
}

TEST(changing_a_person_keeps_what_is_not_said)
{
    static const struct said said[] = {
        {"GET /api/v1/people",  200,
         "{\"people\":[{\"name\":\"ada\",\"roles\":\"approver\",\"uid\":1001}]}"},
        {"POST /api/v1/people", 200, "{\"people\":[]}"                          },
        {NULL,                  0,   NULL                                       }
    };
    static const struct {
        const char *line, *asked;
    } cases[] = {
        {"people add ada --disabled",
         "{\"name\":\"ada\",\"roles\":\"approver\",\"uid\":1001,\"disabled\":true}"},
        {"people add ada --roles admin",
         "{\"name\":\"ada\",\"roles\":\"admin\",\"uid\":1001,\"disabled\":false}"  },
        {"people add ben",
         "{\"name\":\"ben\",\"roles\":\"viewer\",\"disabled\":false}"              },
        {"people add ben --uid 7 --roles auditor",
         "{\"name\":\"ben\",\"roles\":\"auditor\",\"uid\":7,\"disabled\":false}"   },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        CASE("%s", cases[i].line);
        EQ_INT(run_against(said, NULL, cases[i].line).code, DONE);
        HAS_TEXT(asked("POST "), cases[i].asked);
    }
    EQ_INT(run_against(said, NULL, "people add ben --uid root").code, USAGE);
}

TEST(a_policy_that_does_not_load_is_exit_code_8)
{
    static const struct said bad[] = {
        {"POST ", 422, "{\"active\":false,\"messages\":\"a.json: /x: is odd\\n\"}"},
        {NULL,    0,   NULL                                                       }
    };
    static const struct said good[] = {
        {"POST ", 200, "{\"active\":true,\"digest\":\"b2:1\",\"messages\":\"\"}"},
        {NULL,    0,   NULL                                                     }
    };
    EQ_INT(run_against(bad, NULL, "policy reload").code, INVALID);
    HAS_TEXT(ran.out, "a.json: /x: is odd");
    EQ_INT(run_against(good, NULL, "policy reload").code, DONE);
    HAS_TEXT(ran.talk, "in force: b2:1");
}

TEST(status_is_done_only_when_ready)
{
    static const struct said ready[] = {
        {"GET ", 200, "{\"ready\":true,\"log\":{\"size\":12,\"vkey\":\"k\"}}"},
        {NULL,   0,   NULL                                                   }
    };
    static const struct said not_ready[] = {
        {"GET ", 200, "{\"ready\":false}"},
        {NULL,   0,   NULL               }
    };
    EQ_INT(run_against(ready, NULL, "status").code, DONE);
    HAS_TEXT(ran.out, "12");
    EQ_INT(run_against(not_ready, NULL, "status").code, TRY_AGAIN);
    EQ_INT(run_against(not_ready, NULL, "status --json").code, TRY_AGAIN);
    EQ_TEXT(ran.out, "{\"ready\":false}\n");
}

TEST(an_export_is_whole_or_not_there)
{
    static const struct said good[] = {
        {"POST /api/v1/audit/checkpoint", 200, "{\"vkey\":\"k\"}"    },
        {"GET /api/v1/audit/export",      200, "line one\nline two\n"},
        {NULL,                            0,   NULL                  }
    };
    static const struct said bad[] = {
        {"POST /api/v1/audit/checkpoint", 200, "{\"vkey\":\"k\"}"},
        {"GET /api/v1/audit/export",      503, ERROR(503,          "log_unavailable", "no room")},
        {NULL,                     0,                        NULL                                      }
    };
    char line[200];
    const char *path = in_folder("export.jsonl");
    must(text_format(line, sizeof(line), "audit export -o %s --first 3", path));
    EQ_INT(run_against(bad, NULL, line).code, TRY_AGAIN);
    HAS_TEXT(ran.talk, "no room");
    IS_NULL(read_text_file(path));
    EQ_INT(run_against(good, NULL, line).code, DONE);
    EQ_TEXT(read_text_file(path), "line one\nline two\n");
    EQ_TEXT(asked("GET "), "GET /api/v1/audit/export?first=3");
    EQ_INT(run_against(bad, NULL, line).code, TRY_AGAIN);
    EQ_TEXT(read_text_file(path), "line one\nline two\n");
    EQ_INT(run_against(good, NULL, "audit export").code, DONE);
    EQ_TEXT(ran.out, "line one\nline two\n");
    EQ_INT(run_against(bad, NULL, "audit export").code, TRY_AGAIN);
    EQ_TEXT(ran.out, "");
}

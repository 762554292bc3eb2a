#include "test_cli_rig.h"

#include "cli/parse.h"

/* ---- what is understood ---- */

static struct call parsed;
static char *spoken;

static int parse_line(const char *line)
{
    static char words[4096], *argv[RIG_WORDS];
    size_t size;
    arena_free(parsed.arena);
    free(spoken);
    must(text_format(words, sizeof(words), "sandgate %s", line));
    parsed = (struct call){.arena = arena_new(1 << 20)};
    parsed.out = parsed.talk = open_memstream(&spoken, &size);
    int code = parse(&parsed, (int)split(words, argv), argv);
    (void)fclose(parsed.talk);
    return code;
}

TEST(words_and_flags_are_read_by_the_table)
{
    static const struct {
        const char *line, *command, *arg, *flag, *value;
    } cases[] = {
        {"status",                                      "status",            NULL,    "json",   NULL     },
        {"--json status",                               "status",            NULL,    "json",   ""       },
        {"status --json",                               "status",            NULL,    "json",   ""       },
        {"approvals ls --state all",                    "approvals ls",      NULL,    "state",  "all"    },
        {"approvals ls --state=all",                    "approvals ls",      NULL,    "state",  "all"    },
        {"approvals ls --agent=a=b",                    "approvals ls",      NULL,    "agent",  "a=b"    },
        {"approvals show apr_1",                        "approvals show",    "apr_1", "json",   NULL     },
        {"approvals approve apr_1 --confirm 'kill i1'", "approvals approve", "apr_1",
         "confirm",                                                                             "kill i1"},
        {"approvals approve --reason x apr_1",          "approvals approve", "apr_1", "reason",
         "x"                                                                                             },
        {"agent list",                                  "agent ls",          NULL,    "json",   NULL     },
        {"agent key add bot",                           "agent key add",     "bot",   "valid",  NULL     },
        {"key add bot",                                 "agent key add",     "bot",   "valid",  NULL     },
        {"key list",                                    "agent key ls",      NULL,    "agent",  NULL     },
        {"audit export -o f.jsonl",                     "audit export",      NULL,    "output", "f.jsonl"},
        {"agent add -- --odd",                          "agent add",         "--odd", "team",   NULL     },
        {"audit verify -",                              "audit verify",      "-",     "key",    NULL     },
        {"--config c --socket s env test x",            "env test",          "x",     "socket", "s"      },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        CASE("%s", cases[i].line);
        EQ_INT(parse_line(cases[i].line), DONE);
        NOT_NULL(parsed.command);
        EQ_TEXT(parsed.command->name, cases[i].command);
        EQ_TEXT(parsed.arg_count ? parsed.args[0] : NULL, cases[i].arg);
        EQ_TEXT(flag_text(&parsed, cases[i].flag), cases[i].value);
    }
}

TEST(what_is_not_in_the_table_is_refused_with_the_reason)
{
    static const struct {
        const char *line, *says;
    } cases[] = {
        {"aprovals",                         "did you mean \"approvals\"?"     },
        {"approvals shwo",                   "did you mean \"approvals show\"?"},
        {"agent key ad",                     "did you mean \"agent key add\"?" },
        {"key rotat x",                      "no such command: agent key rotat"},
        {"stats",                            "did you mean \"status\"?"        },
        {"completely-else",                  "no such command: completely-else"},
        {"status extra",                     "that is too much"                },
        {"approvals show",                   "something is missing"            },
        {"approvals show a b",               "that is too much"                },
        {"approvals ls --stat x",            "did you mean \"state\"?"         },
        {"approvals ls --state",             "--state needs a value"           },
        {"approvals ls --state a --state b", "--state is given twice"          },
        {"status --json=yes",                "--json takes no value"           },
        {"--state open approvals ls",        "no such flag before the command" },
        {"status --key",                     "no such flag: --key"             },
        {"approvals",                        "approvals approve ID"            },
        {"agent key",                        "agent key rotate ID"             },
        {"nope\x1b[31m",                     "nope\\x1b[31m"                   },
        {"a b c d e f g h",                  "no such command: a"              },
        {"help a b c d",                     "usage: sandgate help"            },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        CASE("%s", cases[i].line);
        EQ_INT(parse_line(cases[i].line), USAGE);
        HAS_TEXT(spoken, cases[i].says);
    }
}

/* ---- help ---- */

static bool same_meaning(const struct flag *a, const struct flag *b)
{
    return !text_same(a->name, b->name) || (a->value == NULL) == (b->value == NULL);
}

TEST(every_command_and_flag_has_its_help)
{
    for (size_t i = 0; i < command_count; i++) {
        const struct command *command = &commands[i];
        CASE("%s", command->name);
        OK(command->summary[0] && command->run);
        for (const struct flag *flag = command->flags; flag->name; flag++) {
            OK(flag->help[0]);
            for (const struct flag *global = global_flags; global->name; global++)
                NOT(text_same(flag->name, global->name));
        }
    }
}

TEST(a_flag_is_a_switch_in_all_commands_or_in_none)
{
    for (size_t i = 0; i < command_count; i++)
        for (const struct flag *flag = commands[i].flags; flag->name; flag++)
            for (size_t j = 0; j < i; j++)
                for (const struct flag *old = commands[j].flags; old->name; old++) {
                    CASE("%s and %s: --%s", commands[i].name, commands[j].name,
                         flag->name);
                    OK(same_meaning(flag, old));
                }
}

TEST(help_is_data_and_comes_in_three_sizes)
{
    struct ran all = run("help");
    EQ_INT(all.code, DONE);
    HAS_TEXT(all.out, "audit verify [FILE]");
    HAS_TEXT(all.out, "75 try again");
    EQ_INT(run("agent key --help").code, DONE);
    HAS_TEXT(ran.out, "agent key revoke ID");
    NOT(strstr(ran.out, "people ls"));
    EQ_INT(run("help approvals approve").code, DONE);
    HAS_TEXT(ran.out, "--confirm WORDS");
    EQ_INT(run("help nothing").code, USAGE);
    EQ_INT(run("").code, USAGE);
}

TEST(the_page_of_commands_tells_all_of_them)
{
    const char *page = read_text_file("docs/CLI.md");
    NOT_NULL(page);
    for (size_t i = 0; i < command_count; i++) {
        CASE("%s", commands[i].name);
        HAS_TEXT(page, commands[i].name);
        HAS_TEXT(page, commands[i].summary);
        for (const struct flag *flag = commands[i].flags; flag->name; flag++)
            HAS_TEXT(page, flag->name);
    }
}

TEST(local_commands_need_no_daemon)
{
    HAS_TEXT(run("version").out, "sandgate ");
    EQ_INT(ran.code, DONE);
    HAS_TEXT(run("tools sandbox.kill").out, "DELETE /sandboxes/{sandbox}");
    HAS_TEXT(run("tools").out, "sandbox.create");
    HAS_TEXT(run("tools --json sandbox.kill").out, "\"effect\":\"destructive\"");
    EQ_INT(run("tools sandbox.kil").code, NOT_FOUND);
    HAS_TEXT(ran.talk, "did you mean \"sandbox.kill\"?");
    EQ_INT(run("version --color sometimes").code, USAGE);
}

TEST(who_cannot_be_reached_is_named)
{
    EQ_INT(run("--socket /nonexistent/admin.sock status").code, TRY_AGAIN);
    HAS_TEXT(ran.talk, "cannot reach the daemon at /nonexistent/admin.sock");
    HAS_TEXT(ran.talk, "is it running? sandgated --config ");
    EQ_INT(run("--config /nonexistent.json status").code, INVALID);
    write_text_file(in_folder("bad.json"), "{\"admin\": {\"socket\": 7}}");
    char line[256];
    must(text_format(line, sizeof(line), "status --config %s", in_folder("bad.json")));
    EQ_INT(run(line).code, INVALID);
    HAS_TEXT(ran.talk, "admin.socket: is not text");
}

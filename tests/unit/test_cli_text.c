#include "test_cli_rig.h"

#include "base/clock.h"
#include "cli/card.h"
#include "cli/table.h"
#include "cli/talk.h"
#include "cli/when.h"

TEST(spans_have_one_number_and_one_unit)
{
    static const struct {
        const char *text;
        int64_t ms; /* -1: not one */
    } cases[] = {
        {"500ms",                 500      },
        {"10s",                   10000    },
        {"2m",                    120000   },
        {"2h",                    7200000  },
        {"7d",                    604800000},
        {"0s",                    0        },
        {"",                      -1       },
        {"s",                     -1       },
        {"10",                    -1       },
        {"1h30m",                 -1       },
        {"-1s",                   -1       },
        {"01s",                   -1       },
        {"1 s",                   -1       },
        {"1y",                    -1       },
        {"99999999999999999999s", -1       },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t ms = -1;
        CASE("%s", cases[i].text);
        EQ_INT(span_read(cases[i].text, &ms), cases[i].ms >= 0);
        EQ_INT(ms, cases[i].ms);
    }
}

TEST(moments_are_rfc_3339_in_utc)
{
    static const struct {
        const char *text;
        int64_t ms; /* -1: not one */
    } cases[] = {
        {"1970-01-01T00:00:00Z",      0            },
        {"1970-01-01T00:00:00.250Z",  250          },
        {"2000-02-29T12:00:00Z",      951825600000 },
        {"2024-02-29T23:59:59.999Z",  1709251199999},
        {"2100-03-01T00:00:00.5Z",    4107542400500},
        {"2025-12-01T01:02:03.0004Z", 1764550923000},
        {"2025-12-01",                -1           },
        {"2025-12-01T01:02:03",       -1           },
        {"2025-12-01T01:02:03+01:00", -1           },
        {"2025-13-01T01:02:03Z",      -1           },
        {"2025-12-01T24:00:00Z",      -1           },
        {"2025-12-01T01:02:03.Z",     -1           },
        {"2025-12-01t01:02:03Z",      -1           },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t ms = -1;
        CASE("%s", cases[i].text);
        EQ_INT(moment_read(cases[i].text, &ms), cases[i].ms >= 0);
        EQ_INT(ms, cases[i].ms);
    }
}

TEST(moments_read_what_the_clock_writes)
{
    char text[25];
    for (int64_t ms = 1; ms < 4102444800000; ms += 86399999 * INT64_C(37)) {
        int64_t back = -1;
        clock_rfc3339(ms, text);
        CASE("%s", text);
        OK(moment_read(text, &back));
        EQ_INT(back, ms);
    }
}

/* ---- lists and cards ---- */

static char *shown;
static size_t shown_size;

static struct call desk(bool terminal, int width)
{
    free(shown);
    shown = NULL;
    struct call call = {.arena = arena_new(8 << 20),
                        .out = open_memstream(&shown, &shown_size),
                        .out_terminal = terminal,
                        .width = width};
    call.talk = call.out;
    return call;
}

static const char *leave(struct call *call)
{
    (void)fclose(call->out);
    arena_free(call->arena);
    return shown;
}

static struct doc *read_doc(const char *json)
{
    struct doc_error error;
    struct doc *doc = doc_parse(json, strlen(json), 16, false, &error);
    must(doc);
    return doc;
}

static const char two_rows[] =
    "[{\"id\":\"apr_1\",\"what\":\"kill a sandbox that has a rather long "
    "name\",\"n\":7,"
    "\"deep\":{\"er\":\"x\"},\"off\":true},{\"id\":\"apr_22\",\"what\":\"short\","
    "\"other\":\"y\",\"off\":false,\"list\":[\"p\",\"q\"]}]";

static const struct column two_columns[] = {
    {"id",       "id",            CELL_TEXT, false},
    {"what",     "what",          CELL_TEXT, true },
    {"n",        "n",             CELL_TEXT, false},
    {"either",   "deep.er|other", CELL_TEXT, false},
    {"list",     "list",          CELL_TEXT, false},
    {"disabled", "off",           CELL_YES,  false}
};

TEST(a_pipe_gets_whole_cells_in_aligned_columns)
{
    own_doc *doc = read_doc(two_rows);
    struct call call = desk(false, 40);
    EQ_INT(put_list(&call, doc_root(doc), two_columns, COUNT(two_columns), "none"),
           DONE);
    EQ_TEXT(leave(&call),
            "id      what                                        n  either  list  "
            "disabled\n"
            "apr_1   kill a sandbox that has a rather long name  7  x             "
            "disabled\n"
            "apr_22  short                                          y       p, q\n");
}

TEST(a_terminal_cuts_one_column_and_no_id)
{
    own_doc *doc = read_doc(two_rows);
    struct call call = desk(true, 60);
    EQ_INT(put_list(&call, doc_root(doc), two_columns, COUNT(two_columns), "none"),
           DONE);
    const char *text = leave(&call);
    HAS_TEXT(text, "apr_22");
    HAS_TEXT(text, "...");
    for (const char *at = text; *at; at += strcspn(at, "\n") + 1)
        OK(strcspn(at, "\n") <= 60);
}

TEST(an_empty_list_says_so_and_a_missing_one_fails)
{
    own_doc *doc = read_doc("[]");
    struct call call = desk(false, 80);
    EQ_INT(put_list(&call, doc_root(doc), two_columns, COUNT(two_columns),
                    "nothing waits"),
           DONE);
    EQ_INT(put_list(&call, NULL, two_columns, COUNT(two_columns), "x"), FAILED);
    HAS_TEXT(leave(&call), "nothing waits\n");
}

TEST(json_lines_are_ascii_whatever_an_agent_wrote)
{
    own_doc *doc =
        read_doc("{\"a\":\"\xe2\x80\xae\\u001b[31m\",\"b\":[1,true,null,{}]}");
    struct call call = desk(false, 80);
    put_json(&call, doc_root(doc));
    EQ_TEXT(leave(&call), "{\"a\":\"\\u202e\\u001b[31m\",\"b\":[1,true,null,{}]}\n");
}

static const char hostile[] =
    "{\"id\":\"apr_1\",\"state\":\"pending\",\"version\":3,\"summary\":\"Kill "
    "\\u001b[2J\","
    "\"agent\":\"bot\",\"team\":\"web\",\"environment\":\"production\","
    "\"operation\":\"sandbox.kill\",\"effect\":\"destructive\",\"target\":\"i0abc\","
    "\"agent_says\":\"\xe2\x80\xae"
    "approve "
    "me\",\"shown\":{\"method\":\"DELETE\",\"path\":\"/sandboxes/"
    "i0abc\",\"request\":{\"timeout\":0},\"risks\":[\"r1\",\"r2\"]},"
    "\"verdict\":{\"because\":[\"starter/irreversible\"],\"why\":\"cannot be undone\","
    "\"needs\":[{\"groups\":[\"operators\",\"leads\"],\"need\":2}]},"
    "\"agent_waits\":true,\"runs_when_absent\":false,"
    "\"votes\":[{\"person\":\"ada\",\"vote\":\"approve\",\"reason\":\"fine\"}]}";

TEST(a_card_tells_what_an_approver_has_to_know_and_no_escapes)
{
    static const char *const told[] = {"Kill \\x1b[2J",
                                       "apr_1",
                                       "it cannot be undone",
                                       "bot",
                                       "web",
                                       "production",
                                       "sandbox.kill",
                                       "i0abc",
                                       "agent says   \\u202eapprove me",
                                       "DELETE /sandboxes/i0abc",
                                       "body         {\"timeout\":0}",
                                       "r1, r2",
                                       "2 of operators, leads",
                                       "starter/irreversible",
                                       "cannot be undone",
                                       "waits for the answer",
                                       "ada: approve (fine)"};
    own_doc *doc = read_doc(hostile);
    struct call call = desk(false, 80);
    card_put(&call, doc_root(doc), call.out);
    EQ_TEXT(card_words(&call, doc_root(doc)), "kill i0abc");
    OK(card_grave(doc_root(doc)));
    const char *text = leave(&call);
    for (size_t i = 0; i < COUNT(told); i++) {
        CASE("%s", told[i]);
        HAS_TEXT(text, told[i]);
    }
    for (const char *at = text; *at; at++)
        OK(*at == '\n' || (*at >= ' ' && *at <= '~'));
}

TEST(only_reads_and_writes_are_not_grave)
{
    static const struct {
        const char *json;
        bool grave;
    } cases[] = {
        {"{\"effect\":\"read\"}",        false},
        {"{\"effect\":\"write\"}",       false},
        {"{\"effect\":\"destructive\"}", true },
        {"{\"effect\":\"unknown\"}",     true },
        {"{}",                           true },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        own_doc *doc = read_doc(cases[i].json);
        CASE("%s", cases[i].json);
        EQ_INT(card_grave(doc_root(doc)), cases[i].grave);
    }
}

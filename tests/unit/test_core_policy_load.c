#include "base/arena.h"
#include "base/files.h"
#include "base/text.h"
#include "core/policy.h"
#include "policy_kit.h"
#include "test.h"

#include <string.h>

#define HEAD "{'version': 1, 'name': 'a', "
#define WHY "'why': 'A sentence for a person.'"
#define ID "'id': 'r', " WHY
#define RULE(rest) HEAD "'rules': [{" ID ", " rest "}]}"
#define TERMS(terms)                                                              \
    HEAD "'rules': [{" ID ", 'decide': 'hold', 'match': {'effects': ['write']}, " \
         "'approval': {" terms "}}]}"
#define GROUPS                                              \
    HEAD "'approvers': {'ops': {'users': ['ann', 'bob']}, " \
         "'sre': {'users': ['bob', 'cy'], 'idp_groups': ['x']}}, "

/* "/rules/0/id /name": the places of all lines, in their order. */
static const char *places(const char *messages, char *out, size_t room)
{
    *out = '\0';
    for (const char *at = messages; *at; at = strchr(at, '\n') + 1) {
        const char *place = strstr(at, ": ") + 2;
        const char *end = strstr(place, ": ");
        size_t used = strlen(out);
        if (*place != '/' && !text_starts(place, "line "))
            continue; /* the file as a whole */
        (void)text_format(out + used, room - used, "%s%.*s", used ? " " : "",
                          (int)(end - place), place);
    }
    return out;
}

/* The file does not load, and the messages are about these places and say this. */
static void refuse(const char *json, const char *where, const char *says)
{
    char got[2048];
    own_buf messages = BUF(1 << 16);
    const char *const files[] = {"one.json", json, NULL};
    CASE("%s", json);
    IS_NULL(kit_load(files, &messages));
    NOT_NULL(messages.data);
    EQ_TEXT(places(messages.data, got, sizeof(got)), where);
    HAS_TEXT(messages.data, says);
    OK(text_starts(messages.data, "one.json: "));
    OK(!strstr(messages.data, "warning"));
}

/* The file loads; with a warning where `where` is not "". */
static void accept(const char *json, const char *where, const char *says)
{
    char got[1024];
    own_buf messages = BUF(1 << 16);
    const char *const files[] = {"one.json", json, NULL};
    CASE("%s", json);
    struct policy *policy = kit_load(files, &messages);
    const char *text = messages.data ? messages.data : "";
    EQ_TEXT(places(text, got, sizeof(got)), where);
    HAS_TEXT(text, says);
    NOT_NULL(policy);
    kit_free(policy);
}

TEST(broken_files_are_refused_and_the_message_says_where)
{
    refuse("", "line 1 column 0", "no JSON");
    refuse("[", "line 1 column 1", "expected");
    refuse(HEAD "\n'rules': [}]}", "line 2 column 11", "no JSON");
    refuse(HEAD "'rules': []}}", "line 1 column 41", "end of file expected");
    refuse(HEAD "'name': 'b'}", "line 1 column 34", "duplicate object key");
    refuse("{'version': 1, 'name': 'a\xff'}", "line 1 column 25", "the parser says");
    refuse("3", "", "3 is not an object");
    refuse("['version']", "", "a list is not an object");
    refuse("{}", "/name /version", "is missing");
    refuse("{'version': 2, 'name': 'a'}", "/version", "write 1");
    refuse("{'version': '1', 'name': 'a'}", "/version", "write digits without quotes");
    refuse("{'version': 1.5, 'name': 'a'}", "/version", "fraction");
    refuse("{'version': null, 'name': 'a'}", "/version", "leave the member out");
    refuse("{'version': 1, 'name': 'The A'}", "/name", "use a-z, 0-9 and -");
    refuse("{'version': 1, 'name': '-a'}", "/name", "cannot be a name");
    refuse("{'version': 1, 'name': ''}", "/name", "\"\" cannot be a name");
    refuse("{'version': 1, 'name': 'builtin'}", "/name", "its own rules");
    refuse("{'version': 1, 'name': 7}", "/name", "7 is not text");
    refuse(HEAD "'note': 5}", "/note", "5 is not text");
    refuse(HEAD "'owner': ['x']}", "/owner", "a list is not text");
    refuse(HEAD "'mode': 'shadow'}", "/mode", "not supported by this version yet");
    refuse(HEAD "'mode': 'dry'}", "/mode", "\"dry\" is no mode");
    refuse(HEAD "'rulez': []}", "/rulez", "unknown member; did you mean \"rules\"?");
    refuse(HEAD "'Rules': []}", "/Rules", "did you mean \"rules\"?");
    refuse(HEAD "'groups': {}}", "/groups", "did you mean \"approvers\"?");
    refuse(HEAD "'on_expiry': 'run'}", "/on_expiry", "use one of: $schema, version");
    refuse(HEAD "'a/b~\\u001b': 1}", "/a~1b~0\\x1b", "unknown member; remove it");
    refuse(HEAD "'calendars': {}}", "/calendars", "not supported by this version yet");
    refuse(HEAD "'confine': []}", "/confine", "not supported by this version yet");
    refuse(HEAD "'limits': []}", "/limits", "not supported by this version yet");
    refuse(HEAD "'limit': []}", "/limit", "did you mean \"limits\"?");
    refuse(HEAD "'grants': []}", "/grants", "not supported by this version yet");
    refuse(HEAD "'credentials': []}", "/credentials", "not supported");
    refuse(HEAD "'visibility': []}", "/visibility", "not supported");
    refuse(HEAD "'tests': []}", "/tests", "not supported by this version yet");
    refuse(HEAD "'rules': {}}", "/rules", "an object is not a list");
    refuse(HEAD "'rules': [3]}", "/rules/0", "3 is not an object");
    refuse(HEAD "'rules': [{}]}", "/rules/0/decide /rules/0/id /rules/0/why",
           "is missing");
}

TEST(broken_scopes_sets_and_groups_are_refused)
{
    refuse(HEAD "'scope': {}}", "/scope", "is empty");
    refuse(HEAD "'scope': []}", "/scope", "a list is not an object");
    refuse(HEAD "'scope': {'operations': ['sandbox.kill']}}", "/scope/operations",
           "use one of: agents, skills, teams, environments");
    refuse(HEAD "'scope': {'team': ['web']}}", "/scope/team",
           "did you mean \"teams\"?");
    refuse(HEAD "'scope': {'teams': []}}", "/scope/teams", "is an empty list");
    refuse(HEAD "'scope': {'teams': 'web'}}", "/scope/teams", "write it in square");
    refuse(HEAD "'scope': {'teams': ['web', 'ops', 'web']}}", "/scope/teams/2",
           "\"web\" is in this list twice");
    refuse(HEAD "'scope': {'teams': ['web', 4]}}", "/scope/teams/1", "4 is not text");
    refuse(HEAD "'scope': {'teams': ['']}}", "/scope/teams/0", "is empty");
    refuse(HEAD "'scope': {'teams': ['@web']}}", "/scope/teams/0",
           "no set is named \"web\"; define it under \"sets\"");
    refuse(HEAD "'sets': {'webs': ['w']}, 'scope': {'teams': ['@web']}}",
           "/scope/teams/0", "did you mean \"webs\"?");
    refuse(HEAD "'sets': {'Web': ['w']}}", "/sets/Web", "cannot be a name");
    refuse(HEAD "'sets': {'web': 'w'}}", "/sets/web", "\"w\" is not a list");
    refuse(HEAD "'sets': {'web': []}}", "/sets/web", "is an empty list");
    refuse(HEAD "'sets': {'web': ['w', '@x']}}", "/sets/web/1", "sets do not nest");
    refuse(HEAD "'approvers': {'ops': {}}}", "/approvers/ops", "name its \"users\"");
    refuse(HEAD "'approvers': {'ops': ['ann']}}", "/approvers/ops", "is not an object");
    refuse(HEAD "'approvers': {'ops': {'members': ['ann']}}}",
           "/approvers/ops /approvers/ops/members", "did you mean \"users\"?");
    refuse(HEAD "'approvers': {'ops': {'users': []}}}", "/approvers/ops/users",
           "is an empty list");
    refuse(HEAD "'approvers': {'ops': {'users': ['*']}}}", "/approvers/ops/users/0",
           "is not one person");
    refuse(HEAD "'approvers': {'ops': {'users': ['a', '@b']}}}",
           "/approvers/ops/users/1", "is not one person");
    refuse(HEAD "'approvers': {'ops': {'idp_groups': [1]}}}",
           "/approvers/ops/idp_groups/0", "1 is not text");
    refuse(HEAD "'approvers': {'approvers': {'users': ['ann']}}}",
           "/approvers/approvers", "built in");
    refuse(HEAD "'approvers': {'O': {'users': ['ann']}}}", "/approvers/O",
           "cannot be a name");
}

TEST(broken_defaults_are_refused)
{
    refuse(HEAD "'defaults': {}}", "/defaults", "is empty");
    refuse(HEAD "'defaults': {'reads': 'allow'}}", "/defaults/reads",
           "did you mean \"read\"?");
    refuse(HEAD "'defaults': {'read': 'alow'}}", "/defaults/read",
           "\"alow\" is no decision, those are allow, hold and deny; did you mean "
           "\"allow\"?");
    refuse(HEAD "'defaults': {'read': true}}", "/defaults/read", "true is not text");
    refuse(HEAD "'defaults': {'unknown': 'allow'}}", "/defaults/unknown",
           "write \"deny\"");
    refuse(HEAD
           "'defaults': {'read': 'hold', 'write': 'allow', 'destructive': 'hold'}}",
           "/defaults/write", "allow is looser than read, which is hold");
    refuse(HEAD "'defaults': {'write': 'deny', 'destructive': 'hold'}}",
           "/defaults/destructive", "hold is looser than write, which is deny");
    refuse(
        HEAD "'defaults': {'read': 'deny'}}", "/defaults/write",
        "hold, which is built in, is looser than read, which is deny; write \"deny\" "
        "or stricter");
    refuse(HEAD "'defaults': {'write': 'deny'}}", "/defaults/destructive",
           "which is built in");
    refuse(HEAD "'defaults': {'approval': {}}}", "/defaults/approval", "is empty");
    refuse(HEAD "'defaults': {'approval': {'from': ['opz']}}}",
           "/defaults/approval/from/0", "no group of approvers is named \"opz\"");
}

TEST(broken_rules_are_refused)
{
    refuse(HEAD "'rules': [{" ID ", 'desicion': 'hold'}]}",
           "/rules/0/decide /rules/0/desicion",
           "one.json: /rules/0/desicion: unknown member; did you mean \"decide\"?\n");
    refuse(HEAD "'rules': [{" ID ", 'action': 'hold'}]}",
           "/rules/0/action /rules/0/decide", "did you mean \"decide\"?");
    refuse(RULE("'decide': 'block'"), "/rules/0/decide", "\"block\" is no decision");
    refuse(RULE("'decide': 'Deny'"), "/rules/0/decide", "did you mean \"deny\"?");
    refuse(RULE("'decide': 1"), "/rules/0/decide", "1 is not text");
    refuse(HEAD "'rules': [{'id': 'r', 'decide': 'deny'}]}", "/rules/0/why",
           "is missing");
    refuse(HEAD "'rules': [{'id': 'r', 'why': 'short', 'decide': 'deny'}]}",
           "/rules/0/why", "has 5 characters; at least 12 are needed");
    refuse(HEAD "'rules': [{'id': 'r', 'why': 'éééééé', 'decide': 'deny'}]}",
           "/rules/0/why", "has 6 characters");
    refuse(HEAD "'rules': [{'id': 'R 1', " WHY ", 'decide': 'deny'}]}", "/rules/0/id",
           "\"R 1\" cannot be a name");
    refuse(HEAD "'rules': [{" ID ", 'decide': 'deny'}, {'id': 's', " WHY
                ", 'decide': 'deny'}, {" ID ", 'decide': 'allow'}]}",
           "/rules/2/id", "\"r\" is the id of another rule");
    refuse(
        RULE("'decide': 'deny', 'where': {}"), "/rules/0/where",
        "one.json: /rules/0/where: not supported by this version yet; leave it out\n");
    refuse(RULE("'decide': 'deny', 'unless': []"), "/rules/0/unless", "not supported");
    refuse(RULE("'decide': 'deny', 'during': []"), "/rules/0/during", "not supported");
    refuse(RULE("'decide': 'deny', 'outside': []"), "/rules/0/outside",
           "not supported");
    refuse(RULE("'decide': 'deny', 'shadow': true"), "/rules/0/shadow",
           "not supported");
    refuse(RULE("'decide': 'deny', 'grantable': true"), "/rules/0/grantable",
           "not supported");
    refuse(RULE("'decide': 'allow', 'expires': 'x'"), "/rules/0/expires",
           "not supported");
    refuse(RULE("'decide': 'deny', 'approval': {'need': 1}"), "/rules/0/approval",
           "only a rule that holds");
    refuse(RULE("'decide': 'allow', 'approval': {'need': 1}"), "/rules/0/approval",
           "only a rule that holds");
    refuse(RULE("'decide': 'deny', 'match': []"), "/rules/0/match", "is not an object");
    refuse(RULE("'decide': 'deny', 'match': {'agent': ['x']}"), "/rules/0/match/agent",
           "did you mean \"agents\"?");
    refuse(RULE("'decide': 'deny', 'match': {'operations': ['sandbox.kil']}"),
           "/rules/0/match/operations/0",
           "\"sandbox.kil\" is no operation; did you mean \"sandbox.kill\"?");
    refuse(RULE("'decide': 'deny', 'match': {'operations': ['sandbox.kill', 'vm.*']}"),
           "/rules/0/match/operations/1", "\"vm.*\" matches no operation");
    refuse(RULE("'decide': 'deny', 'match': {'operations': ['unknown']}"),
           "/rules/0/match/operations/0", "is no operation");
    refuse(RULE("'decide': 'deny', 'match': {'operations': ['@kills']}"),
           "/rules/0/match/operations/0", "no set is named \"kills\"");
    refuse(HEAD "'sets': {'kills': ['sandbox.kil']}, 'rules': [{" ID
                ", 'decide': 'deny', 'match': {'operations': ['@kills']}}]}",
           "/rules/0/match/operations/0", "\"@kills\" holds \"sandbox.kil\"");
    refuse(RULE("'decide': 'deny', 'match': {'effects': ['destroy']}"),
           "/rules/0/match/effects/0", "\"destroy\" is no effect");
    refuse(RULE("'decide': 'deny', 'match': {'effects': ['reads']}"),
           "/rules/0/match/effects/0", "did you mean \"read\"?");
    refuse(RULE("'decide': 'deny', 'match': {'effects': []}"), "/rules/0/match/effects",
           "is an empty list");
    refuse(RULE("'decide': 'allow', 'match': {'operations': ['sandbox.kill']}"),
           "/rules/0/match/effects",
           "sandbox.kill is destructive; list \"destructive\"");
    refuse(
        RULE("'decide': 'allow', 'match': {'operations': ['sandbox.kill'], 'effects': "
             "['write']}"),
        "/rules/0/match/effects", "sandbox.kill is destructive");
    refuse(RULE("'decide': 'allow', 'match': {'operations': ['apikey.create']}"),
           "/rules/0/match/operations", "apikey.create is never forwarded");
    refuse(RULE("'decide': 'hold', 'match': {'operations': ['team.list']}"),
           "/rules/0/match/operations", "team.list is never forwarded");
    refuse(HEAD "'sets': {'keys': ['apikey.create']}, 'rules': [{" ID
                ", 'decide': 'allow', 'match': {'operations': ['@keys']}}]}",
           "/rules/0/match/operations", "apikey.create is never forwarded");
}

TEST(broken_terms_are_refused)
{
    refuse(TERMS(""), "/rules/0/approval", "is empty");
    refuse(TERMS("'needs': 2"), "/rules/0/approval/needs", "did you mean \"need\"?");
    refuse(TERMS("'need': '2'"), "/rules/0/approval/need", "without quotes");
    refuse(TERMS("'need': 0"), "/rules/0/approval/need", "a number from 1 to 5");
    refuse(TERMS("'need': 6"), "/rules/0/approval/need", "6 is out of bounds");
    refuse(TERMS("'need': 1.5"), "/rules/0/approval/need", "fraction");
    refuse(TERMS("'expires': '1 hour'"), "/rules/0/approval/expires",
           "\"1 hour\" is not a duration");
    refuse(TERMS("'expires': '01h'"), "/rules/0/approval/expires", "is not a duration");
    refuse(TERMS("'expires': '1w'"), "/rules/0/approval/expires", "is not a duration");
    refuse(TERMS("'expires': '0m'"), "/rules/0/approval/expires", "is not a duration");
    refuse(TERMS("'expires': '1000000s'"), "/rules/0/approval/expires",
           "is not a duration");
    refuse(TERMS("'expires': 3600"), "/rules/0/approval/expires", "3600 is not text");
    refuse(TERMS("'expires': '59s'"), "/rules/0/approval/expires",
           "write a duration from 1m to 7d");
    refuse(TERMS("'expires': '8d'"), "/rules/0/approval/expires", "out of bounds");
    refuse(TERMS("'wait': '11m'"), "/rules/0/approval/wait", "from 0s to 10m");
    refuse(TERMS("'wait_max': '601s'"), "/rules/0/approval/wait_max", "from 0s to 10m");
    refuse(TERMS("'collect': '25h'"), "/rules/0/approval/collect", "from 1m to 1d");
    refuse(TERMS("'wait': '2m', 'wait_max': '90s'"), "/rules/0/approval/wait",
           "wait is 2m and wait_max only 90s");
    refuse(TERMS("'wait_max': '30s'"), "/rules/0/approval/wait_max",
           "wait is 45s and wait_max only 30s");
    refuse(TERMS("'from': []"), "/rules/0/approval/from", "is an empty list");
    refuse(TERMS("'from': 'ops'"), "/rules/0/approval/from", "is not a list");
    refuse(TERMS("'from': ['approver']"), "/rules/0/approval/from/0",
           "did you mean \"approvers\"?");
    refuse(TERMS("'delay': '10s'"), "/rules/0/approval/delay", "not supported");
    refuse(TERMS("'ticket': 'required'"), "/rules/0/approval/ticket", "not supported");
    refuse(TERMS("'ticket_pattern': '^x$'"), "/rules/0/approval/ticket_pattern",
           "not supported");
    refuse(TERMS("'reason': 'required'"), "/rules/0/approval/reason", "not supported");
    refuse(TERMS("'step_up': true"), "/rules/0/approval/step_up", "not supported");
    refuse(TERMS("'bulk': false"), "/rules/0/approval/bulk", "not supported");
    refuse(TERMS("'offer': ['leave']"), "/rules/0/approval/offer", "not supported");
    refuse(GROUPS "'defaults': {'approval': {'from': ['ops'], 'need': 3}}}",
           "/defaults/approval/need",
           "3 different people are needed and these groups have 2");
    refuse(GROUPS "'defaults': {'approval': {'need': 5}}, 'rules': [{" ID
                  ", 'decide': 'hold', 'match': {'effects': ['write']}, 'approval': "
                  "{'from': ['ops']}}]}",
           "/rules/0/approval/from", "5 different people");
    refuse(GROUPS "'defaults': {'approval': {'from': ['ops'], 'wait_max': '10s', "
                  "'wait': '5s'}}, 'rules': [{" ID
                  ", 'decide': 'hold', 'match': {'effects': ['write']}, 'approval': "
                  "{'wait': '20s'}}]}",
           "/rules/0/approval/wait", "wait_max only 10s");
    refuse(HEAD
           "'approvers': {'a': {'users': ['x', 'y']}, 'b': {'users': ['y', 'z']}}, "
           "'defaults': {'approval': {'from': ['a', 'b'], 'need': 4}}}",
           "/defaults/approval/need", "these groups have 3");
}

TEST(what_two_files_define_is_told_of_the_later_one)
{
    static const struct {
        const char *files[7];
        const char *want;
    } cases[] = {
        {{"b.json", HEAD "'rules': []}", "a.json", HEAD "'rules': []}"},
         "b.json: /name: \"a\" is the name of \"a.json\" too; choose another\n" },
        {{"b.json", "{'version': 1, 'name': 'b', 'sets': {'x': ['1']}}", "a.json",
          HEAD "'sets': {'x': ['1']}}"},
         "b.json: /sets/x: \"x\" is defined in \"a.json\" already; rename one\n"},
        {{"x/b.json",
          "{'version': 1, 'name': 'b', 'approvers': {'o': {'users': ['1']}}}", "a.json",
          HEAD "'approvers': {'o': {'users': ['1']}}}"},
         "x/b.json: /approvers/o: \"o\" is defined in \"a.json\" already; rename "
         "one\n"                                                                },
 /* a group in a file that cannot be read is not missed as well */
        {{"b.json", "{", "a.json",
          HEAD "'scope': {'teams': ['@t']}, 'defaults': {'approval': {'from': "
               "['ops']}}}"},
         "b.json: line 1 column 1: this is no JSON that can be read; the parser says "
         "\"string or '}' expected\"\n"                                         },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        own_buf messages = BUF(1 << 16);
        CASE("case %zu", i);
        IS_NULL(kit_load(cases[i].files, &messages));
        EQ_TEXT(messages.data, cases[i].want);
    }
}

TEST(messages_are_sorted_by_number_and_at_most_fifty)
{
    own_buf json = BUF(1 << 20), messages = BUF(1 << 20);
    (void)buf_text(&json, HEAD "'nome': 'x', 'rules': [");
    for (int i = 0; i < 90; i++)
        (void)buf_printf(&json, "%s{'id': 'r%d', " WHY ", 'decide': '%s'%s}",
                         i ? "," : "", i, i % 3 ? "bad" : "deny",
                         i % 3 ? "" : ", 'match': {'operations': ['team.list']}");
    (void)buf_text(&json, "]}");
    const char *const files[] = {"one.json", json.data, NULL};
    IS_NULL(kit_load(files, &messages));
    size_t lines = 0;
    for (const char *at = messages.data; *at; at = strchr(at, '\n') + 1)
        lines++;
    EQ_INT(lines, 50);
    OK(text_starts(messages.data,
                   "one.json: /nome: unknown member; did you mean \"name\"?\n"
                   "one.json: /rules/1/decide: \"bad\" is no decision"));
    HAS_TEXT(messages.data, "/rules/2/decide: \"bad\" is no decision, those are allow, "
                            "hold and deny\none.json: /rules/4/decide");
    HAS_TEXT(messages.data, "one.json: /rules/73/decide");
    OK(!strstr(messages.data, "/rules/74/"));
    OK(!strstr(messages.data, "warning")); /* errors come first when room is short */
}

TEST(good_files_load_and_odd_ones_with_a_warning)
{
    accept(HEAD "'note': 'x', 'owner': 'me', 'mode': 'enforce', '$schema': './x.json'}",
           "", "");
    accept(HEAD "'rules': []}", "", "");
    accept(HEAD "'rules': [{" ID ", 'decide': 'deny', 'note': 'n'}]}", "", "");
    accept(RULE("'decide': 'deny', 'match': {}"), "", "");
    accept(RULE("'decide': 'deny', 'match': {'operations': ['apikey.*', 'secret.*']}"),
           "", "");
    accept(
        RULE("'decide': 'allow', 'match': {'operations': ['*'], 'effects': ['write']}"),
        "", "");
    accept(RULE("'decide': 'allow', 'match': {'operations': ['secret.*'], 'effects': "
                "['read']}"),
           "", "");
    accept(TERMS("'need': 5, 'expires': '7d', 'wait': '10m', 'wait_max': '600s', "
                 "'collect': '86400s', 'from': ['approvers']"),
           "", "");
    accept(TERMS("'wait': '0s', 'wait_max': '0s', 'expires': '1m', 'collect': '1m'"),
           "", "");
    accept(GROUPS "'defaults': {'approval': {'from': ['ops', 'sre'], 'need': 5}}}", "",
           "");
    accept(GROUPS
           "'defaults': {'approval': {'from': ['ops', 'approvers'], 'need': 5}}}",
           "", "");
    accept(HEAD "'defaults': {'read': 'deny', 'write': 'deny', 'destructive': 'deny', "
                "'unknown': 'deny'}}",
           "", "");
    accept(RULE("'decide': 'deny', 'match': {'operations': ['apikey.create']}"),
           "/rules/0/match/operations",
           "one.json: /rules/0/match/operations: warning: apikey.create is refused "
           "whatever a file says; this rule adds nothing\n");
    accept(RULE("'decide': 'allow', 'match': {'operations': ['secret.*']}"),
           "/rules/0/match/operations", "secret.create is covered by a pattern only");
    accept(RULE("'decide': 'hold', 'match': {'operations': ['secret.del*']}"),
           "/rules/0/match/operations", "secret.delete is covered by a pattern only");
    accept(RULE("'decide': 'hold', 'match': {'operations': ['template.*']}"),
           "/rules/0/match/operations", "template.build_status is polled");
    accept(RULE("'decide': 'hold'"), "/rules/0/match/operations", "is polled");
    accept(RULE("'decide': 'hold', 'match': {'effects': ['write']}"), "", "");
}

TEST(names_may_be_used_before_and_in_other_files_than_they_are_defined)
{
    static const char *const files[] = {
        "a.json",
        HEAD "'rules': [{" ID ", 'decide': 'hold', 'match': {'agents': ['@bots']}, "
             "'approval': {'from': ['ops'], 'need': 2}}], 'defaults': {'approval': "
             "{'expires': '2h'}}, 'sets': {'mine': ['me']}}",
        "z/b.json",
        "{'approvers': {'ops': {'users': ['ann', 'bob']}}, 'sets': {'bots': ['b*']}, "
        "'scope': {'agents': ['@mine']}, 'name': 'b', 'version': 1}",
        NULL,
    };
    struct policy *policy = kit_load(files, NULL);
    NOT_NULL(policy);
    struct arena *arena = arena_new(1 << 20);
    struct verdict verdict =
        kit_judge(policy, &(struct kit_call){"sandbox.list"}, arena);
    EQ_TEXT(kit_tell(&verdict, arena), "hold a/r");
    EQ_TEXT(kit_terms(&verdict.terms, arena),
            "ops:2 expires 7200 wait 45 max 600 collect 900");
    EQ_INT(policy->rules, 1);
    EQ_INT(policy->files, 2);
    arena_free(arena);
    kit_free(policy);
}

/* The digest of known bytes, so that it can be recomputed by others. */
TEST(the_digest_is_over_sorted_path_length_and_bytes)
{
    static const char *const none[] = {NULL};
    static const char *const ab[] = {"a.json", "{'version':1,'name':'a'}", "b.json",
                                     "{'version':1,'name':'b'}", NULL};
    static const char *const ba[] = {"b.json", "{'version':1,'name':'b'}", "a.json",
                                     "{'version':1,'name':'a'}", NULL};
    static const char *const moved[] = {"a.json", "{'version':1,'name':'a'}", "c.json",
                                        "{'version':1,'name':'b'}", NULL};
    static const char *const spaced[] = {"a.json", "{'version':1,'name':'a'} ",
                                         "b.json", "{'version':1,'name':'b'}", NULL};
    static const struct {
        const char *const *files;
        const char *digest;
    } cases[] = {
        {none,   "b2:0e5751c026e543b2"},
        {ab,     "b2:ff00f649aaeeca94"},
        {ba,     "b2:ff00f649aaeeca94"},
        {moved,  "b2:ebab232c3d7ecb7e"},
        {spaced, "b2:3aa8fe83ac49cb38"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct policy *policy = kit_load(cases[i].files, NULL);
        CASE("case %zu", i);
        NOT_NULL(policy);
        EQ_TEXT(policy->digest_text, cases[i].digest);
        kit_free(policy);
    }
}

TEST(sizes_are_bounded)
{
    static struct policy_file files[257];
    own_buf json = BUF(2 << 20), messages = BUF(1 << 16);
    for (size_t i = 0; i < COUNT(files); i++)
        files[i] = (struct policy_file){"x.json", "{}", 2};
    IS_NULL(policy_load(files, COUNT(files), &messages));
    EQ_TEXT(messages.data, "x.json: a policy has at most 256 files; join some\n");

    buf_clear(&messages);
    (void)buf_text(&json, "{\"version\": 1, \"name\": \"a\"}");
    while (json.size <= 1 << 20)
        (void)buf_char(&json, ' ');
    files[0] = (struct policy_file){"big.json", json.data, json.size};
    IS_NULL(policy_load(files, 1, &messages));
    EQ_TEXT(messages.data, "big.json: has 1048577 bytes; at most 1048576 are possible, "
                           "so split it\n");
    files[0].size--;
    buf_clear(&messages);
    struct policy *policy = policy_load(files, 1, &messages);
    NOT_NULL(policy);
    kit_free(policy);

    buf_clear(&messages);
    buf_clear(&json);
    (void)buf_text(&json, HEAD "'rules': [");
    for (int i = 0; i <= 5000; i++)
        (void)buf_printf(&json, "%s{'id': 'r%d', " WHY ", 'decide': 'deny'}",
                         i ? "," : "", i);
    (void)buf_text(&json, "]}");
    const char *const many[] = {"one.json", json.data, NULL};
    IS_NULL(kit_load(many, &messages));
    EQ_TEXT(messages.data, "one.json: /rules/5000: a policy has at most 5000 rules in "
                           "all its files\n");
}

TEST(the_starter_policy_loads_without_a_warning)
{
    own_buf bytes = BUF(1 << 16), messages = BUF(1 << 16);
    char error[FILES_ERROR];
    OK(file_read("policy/starter.json", &bytes, error));
    const struct policy_file starter = {"starter.json", bytes.data, bytes.size};
    struct policy *policy = policy_load(&starter, 1, &messages);
    EQ_TEXT(messages.data ? messages.data : "", "");
    NOT_NULL(policy);
    static const struct {
        struct kit_call call;
        const char *want;
    } cases[] = {
        {{"sandbox.list"},                       "allow starter/defaults.read"         },
        {{"template.build_status"},              "allow starter/defaults.read"         },
        {{"sandbox.create"},                     "hold starter/defaults.write"         },
        {{"sandbox.kill"},                       "hold starter/irreversible-needs-care"},
        {{"sandbox.pause", .destructive = true},
         "hold starter/irreversible-needs-care"                                        },
        {{"secret.list"},                        "deny starter/no-secret-store"        },
        {{"secret.create"},                      "deny starter/no-secret-store"        },
        {{"apikey.create"},                      "deny builtin/never"                  },
        {{"unknown"},                            "deny builtin/unknown"                },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena *arena = arena_new(1 << 20);
        struct verdict verdict = kit_judge(policy, &cases[i].call, arena);
        CASE("%s", cases[i].call.operation);
        EQ_TEXT(kit_tell(&verdict, arena), cases[i].want);
        if (verdict.decision == DECIDE_HOLD)
            EQ_TEXT(kit_terms(&verdict.terms, arena),
                    "operators:1 expires 3600 wait 45 max 600 collect 900");
        arena_free(arena);
    }
    OK(policy_in_group(policy, "operators", "admin", false));
    NOT(policy_in_group(policy, "operators", "other", true));
    kit_free(policy);
}

TEST(the_manual_lists_every_operation_and_its_treatment)
{
    own_buf manual = BUF(1 << 20);
    char error[FILES_ERROR], marked[80];
    OK(file_read("docs/POLICY.md", &manual, error));
    const char *never = strstr(manual.data, "\nNever forwarded: ");
    NOT_NULL(never);
    const char *end = strstr(never + 1, "\n\n");
    for (size_t i = 0; i < catalogue_size; i++) {
        const struct operation *operation = &catalogue[i];
        CASE("%s", operation->name);
        bool guarded = operation->treatment == TREAT_DENY;
        (void)text_format(marked, sizeof(marked), "`%s`%s", operation->name,
                          guarded ? " \xe2\x96\xb2" : "");
        HAS_TEXT(manual.data, marked);
        const char *found = strstr(never, marked);
        EQ_INT(found && found < end, operation->treatment == TREAT_NEVER);
    }
}

TEST(the_example_of_the_manual_loads_without_a_warning)
{
    own_buf manual = BUF(1 << 20), messages = BUF(1 << 16);
    char error[FILES_ERROR];
    OK(file_read("docs/POLICY.md", &manual, error));
    const char *from = strstr(manual.data, "```json\n") + strlen("```json\n");
    const struct policy_file file = {"web.json", from,
                                     (size_t)(strstr(from, "```") - from)};
    struct policy *policy = policy_load(&file, 1, &messages);
    EQ_TEXT(messages.data ? messages.data : "", "");
    NOT_NULL(policy);
    EQ_INT(policy->rules, 2);
    kit_free(policy);
}

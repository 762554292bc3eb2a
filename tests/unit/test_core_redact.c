#include "canon_kit.h"

#include "base/text.h"
#include "core/doc.h"
#include "core/redact.h"
#include "test.h"

#include <string.h>

enum { ROOM = 32 << 20, SHOWN = 1 << 20 };

static const unsigned char hash_key[REDACT_KEY] = "a key of thirty-two bytes, fixed";

/* The redacted request with every hash as H, and ' for ". */
static const char *shown(const char *line, const char *body, struct arena *arena)
{
    struct canon canon;
    own_buf out = BUF(SHOWN);
    struct writer w = WRITER(&out);
    EQ_INT(kit_canon_lenient(line, body, arena, &canon), ERR_OK);
    redact_request(&canon, hash_key, &w, NULL);
    canon_free(&canon);
    NOT(out.failed);
    own_buf plain = BUF(SHOWN);
    for (const char *at = out.data; *at; at++) {
        if (text_starts(at, "h1:")) {
            buf_char(&plain, 'H');
            at += strcspn(at, "\"") - 1;
        } else {
            buf_char(&plain, *at == '"' ? '\'' : *at);
        }
    }
    return arena_text(arena, plain.data);
}

#define CREATE "POST /v2/sandboxes"
#define BUILD "POST /v2/templates/t/builds/b"
#define HIDE(name, bytes) "{'name':'" name "','bytes':" #bytes ",'hash':'H'}"

TEST(requests_show_what_is_clear_and_only_names_of_the_rest)
{
    static const struct {
        const char *line, *body, *shown;
    } cases[] = {
  /* clang-format off */
        {"DELETE /sandboxes/abc", NULL, "{}"},
        {"POST /sandboxes/abc/pause", "{}", "{}"},
        {"POST /sandboxes/abc/pause", "{'memory':false}", "{'memory':false}"},
        {"POST /sandboxes/abc/timeout", "{'timeout':60}", "{'timeout':60}"},
        {CREATE, "{'templateID':' Base:v1 ','timeout':60,'autoResume':{'enabled':true}}",
         "{'templateID':' Base:v1 ','timeout':60,'autoResume.enabled':true}"},
        {CREATE, "{'templateID':'b','envVars':{'AWS_KEY':'s3cret','B':''}}",
         "{'templateID':'b','hidden':[" HIDE("envVars.AWS_KEY", 6) ","
         HIDE("envVars.B", 0) "]}"},
        {CREATE, "{'templateID':'b','metadata':{'owner':'Ann Other'}}",
         "{'templateID':'b','hidden':[" HIDE("metadata.owner", 9) "]}"},
        {CREATE, "{'templateID':'b','mcp':{'github':{'token':'s3cret'},'x':null}}",
         "{'templateID':'b','hidden':[" HIDE("mcp.github", 18) "," HIDE("mcp.x", 4) "]}"},
        {CREATE, "{'templateID':'b','network':{'allowOut':['a.com'],'denyOut':[],"
         "'rules':{'api.x.com':[{'transform':{'headers':{'Authorization':'Bearer s3cret'}}}]},"
         "'maskRequestHost':'h','httpsPorts':[1,2]}}",
         "{'templateID':'b','network.allowOut':['a.com'],'network.denyOut':[],"
         "'network.maskRequestHost':'h','network.httpsPorts.0':1,'network.httpsPorts.1':2,"
         "'hidden':["
         HIDE("network.rules.api.x.com.0.transform.headers.Authorization", 13) "]}"},
        {CREATE, "{'templateID':'b','network':{'egressProxy':{'address':'u:p@Proxy:1080',"
         "'username':'u','password':'s3cret'}}}",
         "{'templateID':'b','network.egressProxy.address':'proxy:1080','hidden':["
         HIDE("network.egressProxy.address", 14) ","
         HIDE("network.egressProxy.username", 1) ","
         HIDE("network.egressProxy.password", 6) "]}"},
        {CREATE, "{'templateID':'b','network':{'egressProxy':{'address':'proxy:1080'}}}",
         "{'templateID':'b','network.egressProxy.address':'proxy:1080'}"},
        {CREATE, "{'templateID':'b','network':{'egressProxy':null},'mcp':null}",
         "{'templateID':'b'}"},
        {CREATE, "{'templateID':'b','iam':{'tokens':{'t':{'audience':'a','tokenType':'j'}}},"
         "'volumeMounts':[{'name':'v','path':'/p'}]}",
         "{'templateID':'b','iam.tokens.t.audience':'a','iam.tokens.t.tokenType':'j',"
         "'volumeMounts.0.name':'v','volumeMounts.0.path':'/p'}"},
        {CREATE, "{'templateID':'b','newThing':{'a':'s3cret'},'network':{'newer':7}}",
         "{'templateID':'b','hidden':[" HIDE("newThing", 14) "," HIDE("network.newer", 1)
         "]}"},
        {BUILD, "{'fromImageRegistry':{'type':'aws','awsAccessKeyId':'AK','awsRegion':'r',"
         "'awsSecretAccessKey':'s3cret'},'fromImage':'i','startCmd':'run s3cret',"
         "'steps':[{'type':'ENV','args':['K','s3cret'],'force':true,'filesHash':'h'}]}",
         "{'fromImageRegistry.type':'aws','fromImageRegistry.awsRegion':'r','fromImage':'i',"
         "'steps.0.type':'ENV','steps.0.force':true,'steps.0.filesHash':'h','hidden':["
         HIDE("fromImageRegistry.awsAccessKeyId", 2) ","
         HIDE("fromImageRegistry.awsSecretAccessKey", 6) "," HIDE("startCmd", 10) ","
         HIDE("steps.0.args.0", 1) "," HIDE("steps.0.args.1", 6) "]}"},
        {"POST /events/webhooks", "{'name':'n','url':'https://u:s3cret@Hooks.x:8/p?s3cret',"
         "'events':['e1','e2'],'signatureSecret':'s3cret'}",
         "{'name':'n','url':'https://hooks.x:8','events':['e1','e2'],'hidden':["
         HIDE("url", 35) "," HIDE("signatureSecret", 6) "]}"},
        {"PATCH /events/webhooks/w", "{'url':'https://hooks.x/'}",
         "{'url':'https://hooks.x'}"},
        {"POST /secrets", "{'name':'n','value':'s3cret','metadata':{'k':'v'}}",
         "{'name':'n','hidden':[" HIDE("value", 6) "," HIDE("metadata.k", 1) "]}"},
        {"POST /api-keys", "{'name':'never read'}", "{}"},
  /* clang-format on */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena *arena = arena_new(ROOM);
        CASE("%s %s", cases[i].line, cases[i].body ? cases[i].body : "");
        const char *text = shown(cases[i].line, cases[i].body, arena);
        EQ_TEXT(text, cases[i].shown);
        IS_NULL(strstr(text, "s3cret"));
        arena_free(arena);
    }
}

/* Every text leaf of a body that fills every key: shown only where the table says so.
 */
static void fill(struct buf *out, const struct body_field *rows, const char *version,
                 const struct body_field *parent)
{
    bool first = true;
    for (const struct body_field *row = rows; row->path; row++) {
        const char *name = body_child_name(parent, row);
        if (!name || !body_in_version(row, version))
            continue;
        bool element = parent && parent->type == BODY_LIST;
        buf_text(out, first ? "" : ",");
        first = false;
        if (!element)
            buf_printf(out, "\"%s\":", text_same(name, "*") ? "some" : name);
        switch (row->type) {
        case BODY_OBJECT:
        case BODY_LIST:
            buf_char(out, row->type == BODY_LIST ? '[' : '{');
            fill(out, rows, version, row);
            buf_char(out, row->type == BODY_LIST ? ']' : '}');
            break;
        case BODY_TEXT:
            buf_text(out, row->clear ? "\"visible\"" : "\"CANARY\"");
            break;
        case BODY_TEXTS:
            buf_text(out, row->clear ? "[\"visible\"]" : "[\"CANARY\",\"CANARY\"]");
            break;
        case BODY_MAP:
            buf_text(out, "{\"key\":\"CANARY\"}");
            break;
        case BODY_ANY:
            buf_text(out, "{\"deep\":[\"CANARY\"]}");
            break;
        case BODY_INT:
            buf_text(out, "7");
            break;
        case BODY_BOOL:
            buf_text(out, "true");
            break;
        case BODY_REF:
            buf_text(out, "\"web/base:v1\"");
            break;
        case BODY_URL:
            buf_text(out, "\"https://u:CANARY@host.example/CANARY?CANARY\"");
            break;
        case BODY_ADDRESS:
            buf_text(out, "\"CANARY:CANARY@proxy:1080\"");
            break;
        }
    }
}

TEST(no_secret_of_any_operation_is_shown)
{
    size_t bodies = 0;
    for (size_t i = 0; i < catalogue_size; i++)
        for (const struct route *route = catalogue[i].routes; route->method; route++) {
            if (!catalogue[i].body || !route->forwarded)
                continue;
            struct arena *arena = arena_new(ROOM);
            own_buf body = BUF(SHOWN);
            buf_char(&body, '{');
            fill(&body, catalogue[i].body, route->version, NULL);
            buf_char(&body, '}');
            CASE("%s %s", route->method, route->path);
            const char *text = shown(kit_line(route, arena), body.data, arena);
            IS_NULL(strstr(text, "CANARY"));
            OK(!strstr(body.data, "CANARY") == !strstr(text, "'hidden'"));
            arena_free(arena);
            bodies++;
        }
    OK(bodies > 20);
}

TEST(hashes_tell_values_apart_and_depend_on_the_key)
{
    static const char *const values[] = {"a", "b", "", "a "};
    static const unsigned char other_key[REDACT_KEY] =
        "another key of thirty-two bytes!";
    struct arena *arena = arena_new(ROOM);
    const char *texts[COUNT(values) + 1];
    for (size_t i = 0; i <= COUNT(values); i++) {
        struct canon canon;
        own_buf out = BUF(4096);
        struct writer w = WRITER(&out);
        const char *body =
            arena_printf(arena, "{'templateID':'b','envVars':{'K':'%s'}}",
                         values[i % COUNT(values)]);
        EQ_INT(kit_canon(CREATE, body, arena, &canon), ERR_OK);
        redact_request(&canon, i < COUNT(values) ? hash_key : other_key, &w, "request");
        canon_free(&canon);
        HAS_TEXT(out.data, "\"request\":{");
        const char *hash = strstr(out.data, "\"h1:");
        NOT_NULL(hash);
        EQ_INT(strcspn(hash + 1, "\""), 25);
        texts[i] = arena_copy(arena, hash + 1, 25);
        for (size_t k = 0; k < i; k++)
            NOT(text_same(texts[i], texts[k]));
    }
    arena_free(arena);
}

TEST(what_is_shown_stays_small_and_counts_the_rest)
{
    struct arena *arena = arena_new(ROOM);
    own_buf body = BUF(8 << 20);
    buf_text(&body, "{'steps':[");
    for (int i = 0; i < 20000; i++)
        buf_printf(&body, "%s{'type':'RUN','args':['s3cret %d','x'],'force':false}",
                   i ? "," : "", i);
    buf_text(&body, "]}");
    const char *text = shown(BUILD, body.data, arena);
    OK(strlen(text) < 32 << 10);
    HAS_TEXT(text, "'more':");
    IS_NULL(strstr(text, "s3cret"));
    buf_clear(&body);
    buf_text(&body, "{'templateID':'b','network':{'allowOut':[");
    for (int i = 0; i < 100; i++)
        buf_printf(&body, "%s'10.0.0.%d'", i ? "," : "", i);
    buf_text(&body, "],'maskRequestHost':'");
    for (int i = 0; i < 400; i++)
        buf_text(&body, "\xe2\x82\xac");
    buf_text(&body, "'}}");
    text = shown(CREATE, body.data, arena);
    HAS_TEXT(text, "'more':36");
    HAS_TEXT(text, "10.0.0.63'");
    IS_NULL(strstr(text, "10.0.0.64"));
    OK(strlen(text) < 8192);
    buf_clear(&body);
    buf_text(&body, "{'templateID':'b','envVars':{'");
    for (int i = 0; i < 5000; i++)
        buf_char(&body, 'K');
    buf_text(&body, "':'v'}}");
    text = shown(CREATE, body.data, arena);
    OK(strlen(text) < 1024);
    arena_free(arena);
}

/* ---- answers ---- */

struct answer {
    const char *operation, *body, *out, *stripped; /* out NULL: as it came */
};

static void check_answer(const struct answer *answer)
{
    struct arena *arena = arena_new(ROOM);
    own_buf out = BUF(SHOWN);
    const char *stripped = NULL, *body = kit_json(answer->body, arena);
    CASE("%s %s", answer->operation, answer->body);
    EQ_INT(redact_response(operation_named(answer->operation), body, strlen(body),
                           arena, &out, &stripped),
           ERR_OK);
    EQ_TEXT(stripped, answer->stripped);
    EQ_INT(out.size, answer->out ? strlen(answer->out) : 0);
    if (answer->out)
        EQ_TEXT(out.data, kit_json(answer->out, arena));
    arena_free(arena);
}

TEST(answers_lose_their_credentials_and_nothing_else)
{
    static const struct answer cases[] = {
  /* clang-format off */
        {"sandbox.get", "{'z':1,'envdAccessToken':'t','a':[1.5,-0.1,2.0,null,true,'\\u00e9/']}",
         "{'z':1,'a':[1.5,-0.1,2.0,null,true,'\xc3\xa9/']}", "/envdAccessToken"},
        {"sandbox.get", "{'envdAccessToken':'t'}", "{}", "/envdAccessToken"},
        {"sandbox.get", "{'a':1,'envdAccessToken':null}", NULL, ""},
        {"sandbox.get", "{'a':{'envdAccessToken':'not there'}}", NULL, ""},
        {"sandbox.get", "{'EnvdAccessToken':'x','envdAccessTokens':'y'}", NULL, ""},
        {"sandbox.get", "{'a':1}", NULL, ""},
        {"sandbox.get", "[]", NULL, ""},
        {"sandbox.get", "null", NULL, ""},
        {"sandbox.get",
         "{'network':{'rules':{'h':[{'transform':{'headers':{'A':'s','B':'t'},'x':1}},{}],"
         "'i':[]},'allowOut':[]},'envdAccessToken':{'a':1}}",
         "{'network':{'rules':{'h':[{'transform':{'headers':{},'x':1}},{}],'i':[]},"
         "'allowOut':[]}}",
         "/envdAccessToken,/network/rules/*/*/transform/headers/*"},
        {"sandbox.create", "{'sandboxID':'i','envdAccessToken':'a','trafficAccessToken':'b'}",
         "{'sandboxID':'i'}", "/envdAccessToken,/trafficAccessToken"},
        {"sandbox.create", "{'sandboxID':'i','envdAccessToken':'a','trafficAccessToken':null}",
         "{'sandboxID':'i','trafficAccessToken':null}", "/envdAccessToken"},
        {"sandbox.fork", "[{'sandbox':{'sandboxID':'a','envdAccessToken':'t'}},"
         "{'error':{'code':500}},{'sandbox':{'sandboxID':'b','envdAccessToken':'u'}}]",
         "[{'sandbox':{'sandboxID':'a'}},{'error':{'code':500}},{'sandbox':{'sandboxID':'b'}}]",
         "/*/sandbox/envdAccessToken"},
        {"volume.get", "{'volumeID':'v','token':'jwt','name':'n'}",
         "{'volumeID':'v','name':'n'}", "/token"},
        {"webhook.list", "[{'id':'a','url':'https://u:p@h.x/p?q'},{'id':'b','url':'https://h.y'}]",
         "[{'id':'a','url':'https://h.x'},{'id':'b','url':'https://h.y'}]", "/*/url"},
        {"webhook.list", "[{'url':'https://h.y/'}]", NULL, ""},
        {"webhook.get", "{'id':'a','url':'not an url: s3cret'}", "{'id':'a'}", "/url"},
        {"webhook.get", "{'id':'a','url':['https://h.y']}", "{'id':'a'}", "/url"},
        {"webhook.deliveries",
         "{'data':[{'eventId':'e','attempts':[{'requestHeaders':{'s':'x'},'requestUrl':"
         "'https://h.x/s3cret','requestBody':'b','responseBody':'c','status':200}]}],"
         "'nextCursor':'n'}",
         "{'data':[{'eventId':'e','attempts':[{'requestUrl':'https://h.x','status':200}]}],"
         "'nextCursor':'n'}",
         "/data/*/attempts/*/requestHeaders,/data/*/attempts/*/requestUrl,"
         "/data/*/attempts/*/requestBody,/data/*/attempts/*/responseBody"},
        {"template.files", "{'present':true,'url':'https://s.x/put?sig=1','headers':{'a':'b'}}",
         "{'present':true,'url':'https://s.x'}", "/url,/headers"},
        {"sandbox.kill", "this is not looked at", NULL, ""},
  /* clang-format on */
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        check_answer(&cases[i]);
}

TEST(answers_that_may_hold_credentials_and_cannot_be_read_are_broken)
{
    static const char *const bodies[] = {
        "",
        "{",
        "<html>",
        "{\"envdAccessToken\":\"t\"",
        "{\"a\":1}{\"envdAccessToken\":1}",
        "{\"envdAccessToken\":\"a\",\"envdAccessToken\":\"b\"}",
        "{\"a\":\"\xff\"}",
        "{\"a\":1e999}"};
    for (size_t i = 0; i < COUNT(bodies); i++) {
        struct arena *arena = arena_new(ROOM);
        own_buf out = BUF(SHOWN);
        const char *stripped;
        CASE("%s", bodies[i]);
        EQ_INT(redact_response(operation_named("sandbox.get"), bodies[i],
                               strlen(bodies[i]), arena, &out, &stripped),
               ERR_UPSTREAM_BROKEN);
        EQ_INT(out.size, 0);
        arena_free(arena);
    }
}

TEST(an_answer_that_does_not_fit_is_an_error)
{
    struct arena *arena = arena_new(ROOM);
    own_buf out = BUF(8);
    const char *stripped;
    static const char body[] = "{\"envdAccessToken\":\"t\",\"more\":\"than eight\"}";
    EQ_INT(redact_response(operation_named("sandbox.get"), body, strlen(body), arena,
                           &out, &stripped),
           ERR_TOO_LARGE);
    arena_free(arena);
}

TEST(what_was_made_is_found_in_the_answer)
{
    static const struct {
        const char *operation, *body, *id;
    } cases[] = {
        {"sandbox.create",   "{'sandboxID':'i0abc','templateID':'t'}", "i0abc"  },
        {"sandbox.fork",
         "[{'sandbox':{'sandboxID':'a'}},{'error':{}},"
         "{'sandbox':{'sandboxID':'b'}}]",                             "a,b"    },
        {"sandbox.snapshot", "{'snapshotID':'ns/x:v1','names':[]}",    "ns/x:v1"},
        {"template.create",  "{'templateID':'t','buildID':'b'}",       "t"      },
        {"volume.create",    "{'volumeID':'v','token':'jwt'}",         "v"      },
        {"webhook.create",   "{'id':'w'}",                             "w"      },
        {"secret.create",    "{'secretID':'sec_1'}",                   "sec_1"  },
        {"sandbox.create",   "{'sandboxID':'\\u202e'}",                "\\u202e"},
        {"sandbox.create",   "{'sandboxID':7}",                        NULL     },
        {"sandbox.create",   "{'sandboxID':''}",                       NULL     },
        {"sandbox.create",   "{}",                                     NULL     },
        {"sandbox.create",   "nothing",                                NULL     },
        {"sandbox.kill",     "{'sandboxID':'x'}",                      NULL     },
        {"sandbox.connect",  "{'sandboxID':'x'}",                      NULL     },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena *arena = arena_new(ROOM);
        const char *body = kit_json(cases[i].body, arena);
        CASE("%s %s", cases[i].operation, cases[i].body);
        EQ_TEXT(redact_created(operation_named(cases[i].operation), body, strlen(body),
                               arena),
                cases[i].id);
        arena_free(arena);
    }
}

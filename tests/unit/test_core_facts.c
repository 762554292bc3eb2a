#include "canon_kit.h"

#include "base/text.h"
#include "core/facts.h"
#include "core/writer.h"
#include "test.h"

#include <string.h>

enum { ROOM = 16 << 20 };

#define CREATE "POST /v2/sandboxes"
#define CREATE_V1 "POST /sandboxes"
#define NETWORK "PUT /sandboxes/abc/network"
#define HOOK "PATCH /events/webhooks/w1"
#define BUILD "POST /v2/templates/Web%2FT%3Av1/builds/b"

struct look {
    struct arena *arena;
    struct canon canon;
    struct facts facts;
};

static struct look *look(const char *line, const char *body)
{
    struct arena *arena = arena_new(ROOM);
    struct look *look = arena_alloc(arena, sizeof(*look));
    look->arena = arena;
    EQ_INT(kit_canon_lenient(line, body, arena, &look->canon), ERR_OK);
    OK(facts_of(&look->canon, arena, &look->facts));
    return look;
}

static void drop(struct look *look)
{
    canon_free(&look->canon);
    arena_free(look->arena);
}

/* One attribute as text: "300", "true", "a b", "absent", "cannot tell", "none". */
static const char *told(const struct look *look, const char *name)
{
    const struct fact *fact = fact_named(&look->facts, name);
    const char *text = "";
    if (!fact)
        return "none";
    if (fact->state != FACT_VALUE)
        return fact->state == FACT_ABSENT ? "absent" : "cannot tell";
    switch (fact->type) {
    case FACT_TEXT:
        return fact->text;
    case FACT_INT:
        return arena_printf(look->arena, "%lld", (long long)fact->number);
    case FACT_BOOL:
        return fact->number ? "true" : "false";
    case FACT_NAMES:
    case FACT_LIST:
    case FACT_MAP:
        for (const char *const *at = fact->list; *at; at++)
            text = arena_printf(look->arena, "%s%s%s", text, *text ? " " : "", *at);
        return text;
    }
    return NULL;
}

static const char *risks(const struct look *look)
{
    const char *text = "";
    for (const char *const *risk = look->facts.risks; *risk; risk++)
        text = arena_printf(look->arena, "%s%s%s", text, *text ? " " : "", *risk);
    return text;
}

TEST(facts_come_from_the_body_or_from_what_e2b_does_without_it)
{
    static const struct {
        const char *line, *body, *name, *value;
    } cases[] = {
        {CREATE,                                "{'templateID':' Team/Code:V2 '}",                                    "template",          "team/code"                            },
        {CREATE,                                "{'templateID':' Team/Code:V2 '}",                                    "template_tag",      "v2"                                   },
        {CREATE,                                "{'templateID':'BASE'}",                                              "template",          "base"                                 },
        {CREATE,                                "{'templateID':'base'}",                                              "template_tag",      "default"                              },
        {CREATE,                                "{'templateID':'b'}",                                                 "route",             "v2"                                   },
        {CREATE_V1,                             "{'templateID':'b'}",                                                 "route",             "v1"                                   },
        {CREATE,                                "{'templateID':'b'}",                                                 "timeout_s",         "300"                                  },
        {CREATE_V1,                             "{'templateID':'b'}",                                                 "timeout_s",         "15"                                   },
        {CREATE,                                "{'templateID':'b','timeout':0}",                                     "timeout_s",         "0"                                    },
        {CREATE,                                "{'templateID':'b'}",                                                 "vcpu_s",            "600"                                  },
        {CREATE_V1,                             "{'templateID':'b','timeout':60}",                                    "vcpu_s",            "120"                                  },
        {CREATE,                                "{'templateID':'b'}",                                                 "auto_pause",        "false"                                },
        {CREATE,                                "{'templateID':'b','autoPause':true}",                                "auto_pause",        "true"                                 },
        {CREATE,                                "{'templateID':'b'}",                                                 "auto_pause_memory", "true"                                 },
        {CREATE,                                "{'templateID':'b','autoPauseMemory':false}",                         "auto_pause_memory",
         "false"                                                                                                                                                                  },
        {CREATE,                                "{'templateID':'b'}",                                                 "auto_resume",       "false"                                },
        {CREATE,                                "{'templateID':'b','autoResume':{'enabled':true}}",                   "auto_resume",
         "true"                                                                                                                                                                   },
        {CREATE,                                "{'templateID':'b'}",                                                 "secure",            "true"                                 },
        {CREATE_V1,                             "{'templateID':'b'}",                                                 "secure",            "false"                                },
        {CREATE_V1,                             "{'templateID':'b','secure':true}",                                   "secure",            "true"                                 },
        {CREATE,                                "{'templateID':'b','secure':false}",                                  "secure",            "true"                                 },
        {CREATE,                                "{'templateID':'b'}",                                                 "public_traffic",    "true"                                 },
        {CREATE,                                "{'templateID':'b','network':{'allowPublicTraffic':false}}",
         "public_traffic",                                                                                                                 "false"                                },
        {CREATE,                                "{'templateID':'b','network':{'allowOut':['A.com',' 1.1.1.1/32']}}",
         "allow_out",                                                                                                                      "a.com 1.1.1.1/32"                     },
        {CREATE,                                "{'templateID':'b'}",                                                 "allow_out",         ""                                     },
        {CREATE,                                "{'templateID':'b','network':{'denyOut':['0.0.0.0/0']}}",             "deny_out",
         "0.0.0.0/0"                                                                                                                                                              },
        {CREATE,
         "{'templateID':'b','network':{'egressProxy':{'address':'U:p@Proxy.Com:1080'}}"
         "}",                                                                                                         "egress_proxy",      "proxy.com:1080"                       },
        {CREATE,                                "{'templateID':'b','network':{'egressProxy':null}}",                  "egress_proxy",
         ""                                                                                                                                                                       },
        {CREATE,                                "{'templateID':'b','network':{'rules':{'API.x.com':[],'b.com':[]}}}",
         "rule_hosts",                                                                                                                     "api.x.com b.com"                      },
        {CREATE,                                "{'templateID':'b','envVars':{'AWS_KEY':'secret','Z':'y'}}",
         "env_names",                                                                                                                      "AWS_KEY Z"                            },
        {CREATE,                                "{'templateID':'b','metadata':{'owner':'Ann','x':''}}",               "metadata",
         "owner Ann x "                                                                                                                                                           },
        {CREATE,                                "{'templateID':'b','mcp':{'github':{'t':1},'slack':null}}",
         "mcp_servers",                                                                                                                    "github slack"                         },
        {CREATE,                                "{'templateID':'b','mcp':null}",                                      "mcp_servers",       ""                                     },
        {CREATE,
         "{'templateID':'b','iam':{'tokens':{'a':{'audience':'x','tokenType':'t'},"
         "'b':{'audience':'y','tokenType':'t'}}}}",                                                                   "iam_audiences",     "x y"                                  },
        {CREATE,
         "{'templateID':'b','volumeMounts':[{'name':'v1','path':'/a'},"
         "{'name':'v2','path':'/b'}]}",                                                                               "volumes",           "v1 v2"                                },
        {CREATE,                                "{'templateID':'b','newThing':1}",                                    "unrecognised",      "newThing"                             },
        {CREATE,                                "{'templateID':'b'}",                                                 "unrecognised",      ""                                     },
        {CREATE,                                "{'templateID':'b'}",                                                 "memory",            "none"                                 },
        {"DELETE /sandboxes/abc",               NULL,                                                                 "timeout_s",         "none"                                 },
        {"POST /v2/sandboxes/abc/connect",      NULL,                                                                 "timeout_s",         "300"                                  },
        {"POST /v2/sandboxes/abc/connect",      "{}",                                                                 "vcpu_s",            "600"                                  },
        {"POST /sandboxes/abc/connect",         "{'timeout':10}",                                                     "vcpu_s",            "20"                                   },
        {"POST /v2/sandboxes/abc/connect",      NULL,                                                                 "memory",            "true"                                 },
        {"POST /sandboxes/abc/resume",          NULL,                                                                 "timeout_s",         "15"                                   },
        {"POST /sandboxes/abc/resume",          NULL,                                                                 "auto_pause",        "false"                                },
        {"POST /sandboxes/abc/pause",           NULL,                                                                 "memory",            "true"                                 },
        {"POST /sandboxes/abc/pause",           "{'memory':false}",                                                   "memory",            "false"                                },
        {"POST /sandboxes/abc/refreshes",       NULL,                                                                 "timeout_s",         "15"                                   },
        {"POST /sandboxes/abc/refreshes",       "{'duration':99}",                                                    "timeout_s",         "99"                                   },
        {"POST /sandboxes/abc/fork",            NULL,                                                                 "count",             "1"                                    },
        {"POST /sandboxes/abc/fork",            "{'count':5,'timeout':60}",                                           "vcpu_s",            "600"                                  },
        {"POST /sandboxes/abc/fork",            "{'count':2147483647,'timeout':2147483647}",
         "vcpu_s",                                                                                                                         "9223372028264841218"                  },
        {"POST /sandboxes/abc/fork",            "{'count':-1,'timeout':60}",                                          "vcpu_s",            "0"                                    },
        {"POST /sandboxes/abc/snapshots",       "{'name':'Ns/Snap:V1'}",                                              "name",              "ns/snap"                              },
        {"POST /sandboxes/abc/snapshots",       NULL,                                                                 "name",              ""                                     },
        {NETWORK,                               "{}",                                                                 "clears",            "allow_out deny_out egress_proxy rules"},
        {NETWORK,                               "{'allowOut':[],'denyOut':['1.1.1.1'],'rules':{}}",                   "clears",
         "allow_out egress_proxy rules"                                                                                                                                           },
        {NETWORK,
         "{'allowOut':['a'],'denyOut':['b'],'egressProxy':{'address':'h:1'},"
         "'rules':{'h':[]}}",                                                                                         "clears",            ""                                     },
        {NETWORK,                               "{'egressProxy':null}",                                               "clears",
         "allow_out deny_out egress_proxy rules"                                                                                                                                  },
        {NETWORK,                               "{'allow_internet_access':false}",                                    "internet",          "false"                                },
        {"POST /v3/templates",                  "{'name':'My-Tpl:V1','tags':['A',' b ']}",                            "name",
         "my-tpl"                                                                                                                                                                 },
        {"POST /v3/templates",                  "{'name':'My-Tpl:V1','tags':['A',' b ']}",                            "tags",
         "a b v1"                                                                                                                                                                 },
        {"POST /v3/templates",                  "{'alias':'Old'}",                                                    "name",              "old"                                  },
        {"POST /v3/templates",                  "{'name':'a','alias':'b'}",                                           "name",              "cannot tell"                          },
        {"POST /v3/templates",                  "{}",                                                                 "name",              ""                                     },
        {"POST /v3/templates",                  "{}",                                                                 "cpu",               "absent"                               },
        {"POST /v3/templates",                  "{'cpuCount':4,'memoryMB':512,'minFreeDiskMb':9}",                    "cpu",
         "4"                                                                                                                                                                      },
        {"POST /v3/templates",                  "{'cpuCount':4,'memoryMB':512,'minFreeDiskMb':9}",
         "memory_mb",                                                                                                                      "512"                                  },
        {"POST /v3/templates",                  "{'cpuCount':4,'memoryMB':512,'minFreeDiskMb':9}",
         "min_free_disk_mb",                                                                                                               "9"                                    },
        {"POST /v2/templates",                  "{'alias':'X'}",                                                      "name",              "x"                                    },
        {BUILD,                                 "{}",                                                                 "template",          "web/t"                                },
        {BUILD,                                 "{'fromImage':'Ubuntu:22'}",                                          "from_image",        "Ubuntu:22"                            },
        {BUILD,                                 "{'fromTemplate':'Base:v1'}",                                         "from_template",     "base"                                 },
        {BUILD,                                 "{'fromImageRegistry':{'type':'aws'}}",                               "registry",          "aws"                                  },
        {BUILD,                                 "{}",                                                                 "registry",          ""                                     },
        {BUILD,                                 "{}",                                                                 "force",             "false"                                },
        {BUILD,                                 "{'steps':[{'type':'Run'},{'type':'ENV'}]}",                          "step_types",        "RUN ENV"                              },
        {BUILD,
         "{'steps':[{'type':'env','args':['A','1','B','2']},{'type':'RUN','args':['x']}"
         ","
         "{'type':'ENV','args':['C']}]}",                                                                             "env_names",         "A B C"                                },
        {"GET /templates/Web%2FT%3Av1",         NULL,                                                                 "template",          "web/t"                                },
        {"GET /templates/aliases/Web%2FT%3Av1", NULL,                                                                 "template",          "web/t"                                },
        {"PATCH /v2/templates/t",               "{}",                                                                 "public",            "absent"                               },
        {"PATCH /templates/t",                  "{'public':false}",                                                   "public",            "false"                                },
        {"POST /templates/tags",                "{'target':'Web/T:v1','tags':['Prod']}",                              "template",
         "web/t"                                                                                                                                                                  },
        {"POST /templates/tags",                "{'target':'Web/T:v1','tags':['Prod']}",                              "tags",
         "prod"                                                                                                                                                                   },
        {"DELETE /templates/tags",              "{'name':'T:x','tags':['a']}",                                        "template",          "t"                                    },
        {"DELETE /templates/tags",              "{'name':'T:x','tags':['a']}",                                        "tags",              "a"                                    },
        {"POST /volumes",                       "{'name':'Data'}",                                                    "name",              "Data"                                 },
        {"POST /secrets",                       "{'name':'Key','value':'v'}",                                         "name",              "key"                                  },
        {"POST /secrets/k",                     "{'value':'v','metadata':{'a':'b'}}",                                 "metadata",          "a b"                                  },
        {HOOK,                                  "{}",                                                                 "webhook_host",      ""                                     },
        {HOOK,                                  "{'url':'https://u:p@Hooks.Example.com:8443/x?y'}",                   "webhook_host",
         "hooks.example.com"                                                                                                                                                      },
        {HOOK,                                  "{}",                                                                 "enabled",           "absent"                               },
        {HOOK,                                  "{}",                                                                 "rekeys",            "false"                                },
        {HOOK,                                  "{'signatureSecret':''}",                                             "rekeys",            "true"                                 },
        {HOOK,                                  "{'events':['Sandbox.Killed']}",                                      "events",            "Sandbox.Killed"                       },
        {"POST /events/webhooks",
         "{'name':'N','url':'http://h/','events':['e'],'signatureSecret':'s'}",                                       "enabled",           "true"                                 },
        {"POST /events/webhooks",
         "{'name':'N','url':'http://h/','events':['e'],'signatureSecret':'s'}",                                       "name",
         "N"                                                                                                                                                                      },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        CASE("%s %s: %s", cases[i].line, cases[i].body ? cases[i].body : "",
             cases[i].name);
        struct look *at = look(cases[i].line, cases[i].body);
        EQ_TEXT(told(at, cases[i].name), cases[i].value);
        drop(at);
    }
}

TEST(internet_is_closed_only_when_nothing_opens_it_again)
{
    static const struct {
        const char *network, *internet; /* members of the body of an update */
    } cases[] = {
        {"",                                                                       "true" },
        {"'allow_internet_access':true",                                           "true" },
        {"'allow_internet_access':false",                                          "false"},
        {"'denyOut':['0.0.0.0/0']",                                                "false"},
        {"'denyOut':['1.1.1.1','0.0.0.0/0']",                                      "false"},
        {"'denyOut':['0.0.0.0/1','128.0.0.0/1']",                                  "true" },
        {"'denyOut':['1.1.1.1']",                                                  "true" },
        {"'allow_internet_access':true,'denyOut':['0.0.0.0/0']",                   "false"},
        {"'allow_internet_access':false,'allowOut':['1.1.1.1','a.com','*.b.com']",
         "false"                                                                          },
        {"'allow_internet_access':false,'allowOut':['10.0.0.0/8']",                "false"},
        {"'allow_internet_access':false,'allowOut':['8.0.0.0/7']",                 "true" },
        {"'allow_internet_access':false,'allowOut':['0.0.0.0/0']",                 "true" },
        {"'allow_internet_access':false,'allowOut':['x','0.0.0.0/1']",             "true" },
        {"'allow_internet_access':false,'allowOut':['::/0']",                      "true" },
        {"'allow_internet_access':false,'allowOut':['*']",                         "true" },
        {"'allow_internet_access':false,'allowOut':[' * ']",                       "true" },
        {"'denyOut':['0.0.0.0/0'],'allowOut':['0.0.0.0/0']",                       "true" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena *arena = arena_new(ROOM);
        CASE("%s", cases[i].network);
        struct look *at = look(NETWORK, arena_printf(arena, "{%s}", cases[i].network));
        EQ_TEXT(told(at, "internet"), cases[i].internet);
        drop(at);
        arena_free(arena);
    }
    struct look *at =
        look(CREATE, "{'templateID':'b','network':{'denyOut':['0.0.0.0/0']}}");
    EQ_TEXT(told(at, "internet"), "false");
    drop(at);
}

#define OPEN "opens_internet opens_ports opens_shell"
#define CLOSED "'allow_internet_access':false,'network':{'allowPublicTraffic':false}"

TEST(values_raise_the_effect_and_name_the_risks)
{
    static const struct {
        const char *line, *body, *risks;
        enum effect effect;
        bool guarded;
    } cases[] = {
        {"DELETE /sandboxes/a",          NULL,                                                              "ends_sandbox",                            EFFECT_DESTRUCTIVE, false},
        {"POST /sandboxes/a/timeout",    "{'timeout':30}",                                                  "",                                        EFFECT_WRITE,       false},
        {"POST /sandboxes/a/timeout",    "{'timeout':29}",                                                  "ends_sandbox",
         EFFECT_DESTRUCTIVE,                                                                                                                                               false},
        {"POST /sandboxes/a/timeout",    "{'timeout':0}",                                                   "ends_sandbox",
         EFFECT_DESTRUCTIVE,                                                                                                                                               false},
        {"POST /sandboxes/a/timeout",    "{'timeout':-2147483648}",                                         "ends_sandbox",
         EFFECT_DESTRUCTIVE,                                                                                                                                               false},
        {"POST /sandboxes/a/refreshes",  "{'duration':0}",                                                  "",                                        EFFECT_WRITE,       false},
        {"POST /sandboxes/a/pause",      NULL,                                                              "",                                        EFFECT_WRITE,       false},
        {"POST /sandboxes/a/pause",      "{'memory':true}",                                                 "",                                        EFFECT_WRITE,       false},
        {"POST /sandboxes/a/pause",      "{'memory':false}",                                                "drops_memory",
         EFFECT_DESTRUCTIVE,                                                                                                                                               false},
        {"POST /v2/sandboxes/a/connect", NULL,                                                              "opens_shell",                             EFFECT_WRITE,       false},
        {"POST /v2/sandboxes/a/connect", "{'memory':false}",                                                "drops_memory opens_shell",
         EFFECT_DESTRUCTIVE,                                                                                                                                               false},
        {"POST /sandboxes/a/resume",     "{'memory':false}",                                                "drops_memory opens_shell",
         EFFECT_DESTRUCTIVE,                                                                                                                                               false},
        {"POST /sandboxes/a/fork",       "{'count':1}",                                                     "opens_shell",                             EFFECT_WRITE,       false},
        {"POST /sandboxes/a/fork",       "{'count':2}",                                                     "opens_shell multiplies",
         EFFECT_WRITE,                                                                                                                                                     false},
        {CREATE,                         "{'templateID':'b'}",                                              OPEN,                                      EFFECT_WRITE,       false},
        {CREATE,                         "{'templateID':'b'," CLOSED "}",                                   "opens_shell",                             EFFECT_WRITE,       false},
        {CREATE,
         "{'templateID':'b'," CLOSED ",'autoPause':true,'autoPauseMemory':false}",
         "drops_memory opens_shell",                                                                                                                   EFFECT_WRITE,       false},
        {CREATE,                         "{'templateID':'b'," CLOSED ",'autoPauseMemory':false}",           "opens_shell",
         EFFECT_WRITE,                                                                                                                                                     false},
        {CREATE,                         "{'templateID':'b'," CLOSED ",'envVars':{'A':'b'}}",
         "opens_shell carries_secrets",                                                                                                                EFFECT_WRITE,       false},
        {CREATE,                         "{'templateID':'b'," CLOSED ",'envVars':{},'metadata':{'a':'b'}}",
         "opens_shell",                                                                                                                                EFFECT_WRITE,       false},
        {CREATE,                         "{'templateID':'b'," CLOSED ",'mcp':{'x':{}}}",
         "opens_shell carries_secrets",                                                                                                                EFFECT_WRITE,       false},
        {CREATE,
         "{'templateID':'b','allow_internet_access':false,"
         "'network':{'allowPublicTraffic':false,'egressProxy':{'address':'h:1'},"
         "'rules':{'h':[]}}}",                                                                              "opens_shell data_leaves carries_secrets", EFFECT_WRITE,       true },
        {CREATE_V1,                      "{'templateID':'b'," CLOSED "}",                                   "unauthenticated opens_shell",
         EFFECT_WRITE,                                                                                                                                                     true },
        {CREATE_V1,                      "{'templateID':'b'," CLOSED ",'secure':false}",
         "unauthenticated opens_shell",                                                                                                                EFFECT_WRITE,       true },
        {CREATE_V1,                      "{'templateID':'b'," CLOSED ",'secure':true}",                     "opens_shell",
         EFFECT_WRITE,                                                                                                                                                     false},
        {NETWORK,                        "{}",                                                              "clears_egress opens_internet",            EFFECT_DESTRUCTIVE, false},
        {NETWORK,
         "{'allow_internet_access':false,'allowOut':['a'],'denyOut':['b'],"
         "'egressProxy':{'address':'h:1'},'rules':{'h':[]}}",                                               "data_leaves carries_secrets",             EFFECT_WRITE,       true },
        {"POST /v3/templates",           "{'name':'x'}",                                                    "repoints",                                EFFECT_WRITE,       false},
        {"POST /v3/templates",           "{'name':'x','alias':'y'}",                                        "repoints",                                EFFECT_WRITE,
         false                                                                                                                                                                  },
        {"POST /v3/templates",           "{}",                                                              "",                                        EFFECT_WRITE,       false},
        {"POST /sandboxes/a/snapshots",  "{'name':'x'}",                                                    "repoints",                                EFFECT_WRITE,
         false                                                                                                                                                                  },
        {"POST /sandboxes/a/snapshots",  "{}",                                                              "",                                        EFFECT_WRITE,       false},
        {"POST /templates/tags",         "{'target':'a:b','tags':['c']}",                                   "repoints",
         EFFECT_WRITE,                                                                                                                                                     false},
        {"DELETE /templates/tags",       "{'name':'a','tags':['c']}",                                       "",                                        EFFECT_DESTRUCTIVE,
         false                                                                                                                                                                  },
        {BUILD,                          "{}",                                                              "runs_build",                              EFFECT_WRITE,       false},
        {BUILD,                          "{'steps':[{'type':'ENV','args':['A','b']}]}",
         "runs_build carries_secrets",                                                                                                                 EFFECT_WRITE,       false},
        {BUILD,                          "{'fromImageRegistry':{'type':'gcp'}}",                            "runs_build carries_secrets",
         EFFECT_WRITE,                                                                                                                                                     false},
        {"GET /templates/t/files/abc",   NULL,                                                              "upload_link",                             EFFECT_WRITE,       false},
        {"PATCH /v2/templates/t",        "{'public':true}",                                                 "publishes",                               EFFECT_WRITE,       true },
        {"PATCH /v2/templates/t",        "{'public':false}",                                                "",                                        EFFECT_WRITE,       false},
        {"PATCH /v2/templates/t",        "{}",                                                              "",                                        EFFECT_WRITE,       false},
        {"POST /events/webhooks",
         "{'name':'n','url':'https://h','events':['e'],'signatureSecret':'s'}",                             "data_leaves carries_secrets",             EFFECT_WRITE,       true },
        {HOOK,                           "{}",                                                              "",                                        EFFECT_WRITE,       false},
        {HOOK,                           "{'name':'n'}",                                                    "",                                        EFFECT_WRITE,       false},
        {HOOK,                           "{'enabled':false}",                                               "silences",                                EFFECT_WRITE,       false},
        {HOOK,                           "{'enabled':true}",                                                "data_leaves",                             EFFECT_WRITE,       true },
        {HOOK,                           "{'url':'https://h'}",                                             "data_leaves silences",                    EFFECT_WRITE,       true },
        {HOOK,                           "{'events':['e']}",                                                "data_leaves silences",                    EFFECT_WRITE,       true },
        {HOOK,                           "{'events':[]}",                                                   "data_leaves silences",                    EFFECT_WRITE,       true },
        {HOOK,                           "{'signatureSecret':'s'}",                                         "silences carries_secrets",                EFFECT_WRITE,
         false                                                                                                                                                                  },
        {"DELETE /events/webhooks/w",    NULL,                                                              "silences",                                EFFECT_DESTRUCTIVE, false},
        {"POST /secrets",                "{'name':'n','value':'v'}",                                        "carries_secrets",                         EFFECT_WRITE,
         true                                                                                                                                                                   },
        {"POST /secrets/n",              "{'value':'v'}",                                                   "carries_secrets",                         EFFECT_WRITE,       true },
        {"DELETE /secrets/n",            NULL,                                                              "",                                        EFFECT_DESTRUCTIVE, true },
        {"GET /secrets/n",               NULL,                                                              "",                                        EFFECT_READ,        false},
        {"GET /sandboxes/a",             NULL,                                                              "",                                        EFFECT_READ,        false},
        {"GET /teams",                   NULL,                                                              "",                                        EFFECT_WRITE,       false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        CASE("%s %s", cases[i].line, cases[i].body ? cases[i].body : "");
        struct look *at = look(cases[i].line, cases[i].body);
        EQ_TEXT(risks(at), cases[i].risks);
        EQ_TEXT(told(at, "risks"), cases[i].risks);
        EQ_TEXT(effect_name(at->facts.effect), effect_name(cases[i].effect));
        EQ_INT(at->facts.guarded, cases[i].guarded);
        NOT(at->facts.unrecognised);
        drop(at);
    }
}

TEST(unrecognised_fields_are_a_fact)
{
    struct look *at = look("POST /sandboxes/abc/pause", "{'newThing':1}");
    OK(at->facts.unrecognised);
    EQ_TEXT(told(at, "unrecognised"), "newThing");
    drop(at);
}

TEST(the_summary_is_one_printable_sentence)
{
    static const struct {
        const char *line, *body, *text;
    } cases[] = {
        {"DELETE /sandboxes/i0abc",       NULL,                                "kill sandbox i0abc"                 },
        {CREATE,                          "{'templateID':'Base'}",
         "create sandbox from template base for 300 s"                                                              },
        {CREATE_V1,                       "{'templateID':'b','timeout':60}",
         "create sandbox from template b for 60 s, without authentication"                                          },
        {"POST /sandboxes/i0abc/timeout", "{'timeout':3600}",
         "set the timeout of sandbox i0abc to 3600 s"                                                               },
        {"POST /sandboxes/i0abc/timeout", "{'timeout':0}",
         "set the timeout of sandbox i0abc to 0 s, which ends it"                                                   },
        {"POST /sandboxes/i0abc/pause",   NULL,                                "pause sandbox i0abc"                },
        {"POST /sandboxes/i0abc/pause",   "{'memory':false}",
         "pause sandbox i0abc, dropping its memory"                                                                 },
        {NETWORK,                         "{}",
         "replace the network configuration of sandbox abc, clearing what it omits"                                 },
        {"POST /sandboxes/abc/fork",      "{'count':3}",                       "fork sandbox abc into 3 for 15 s"   },
        {"GET /sandboxes/i0abc",          NULL,                                "get sandbox i0abc"                  },
        {"GET /v2/sandboxes",             NULL,                                "list all sandboxes"                 },
        {"POST /v3/templates",            "{}",                                "create template (none)"             },
        {"POST /v3/templates",            "{'name':'a','alias':'b'}",
         "create template (not certain)"                                                                            },
        {"PATCH /v2/templates/t",         "{}",                                "update template t: public unchanged"},
        {"POST /templates/tags",          "{'target':'a:b','tags':['x','y']}",
         "assign tags x, y to template a:b"                                                                         },
        {"POST /volumes",                 "{'name':'a\\u202e\\n\xc3\xa9'}",
         "create volume a\\u202e\\x0a\\u00e9"                                                                       },
        {"GET /api-keys",                 NULL,                                "list api keys"                      },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        CASE("%s", cases[i].line);
        struct look *at = look(cases[i].line, cases[i].body);
        EQ_TEXT(facts_summary(&at->canon, &at->facts, at->arena), cases[i].text);
        drop(at);
    }
}

TEST(the_summary_stays_short_whatever_the_name)
{
    struct arena *arena = arena_new(ROOM);
    char name[5000];
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    struct look *at = look("POST /volumes", arena_printf(arena, "{'name':'%s'}", name));
    const char *text = facts_summary(&at->canon, &at->facts, at->arena);
    EQ_INT(strlen(text), 120);
    HAS_TEXT(text, "nnn...");
    drop(at);
    arena_free(arena);
}

TEST(facts_as_json_hold_no_values_of_maps_and_stay_small)
{
    struct look *at =
        look(CREATE, "{'templateID':'b','metadata':{'owner':'s3cret'},'timeout':60,"
                     "'envVars':{'K':'s3cret'},'network':{'denyOut':['0.0.0.0/0']}}");
    own_buf out = BUF(8192), big = BUF(1 << 20);
    struct writer w = WRITER(&out), bigger = WRITER(&big);
    facts_write(&at->facts, &w, NULL);
    EQ_TEXT(out.data,
            kit_json("{'route':'v2','template':'b','template_tag':'default',"
                     "'timeout_s':60,'vcpu_s':120,'auto_pause':false,"
                     "'auto_pause_memory':true,'auto_resume':false,'secure':true,"
                     "'internet':false,'deny_out':['0.0.0.0/0'],'public_traffic':true,"
                     "'env_names':['K'],'metadata':['owner'],"
                     "'risks':['opens_ports','opens_shell','carries_secrets']}",
                     at->arena));
    drop(at);
    own_buf body = BUF(1 << 20);
    buf_text(&body, "{'templateID':'b','envVars':");
    for (int i = 0; i < 10000; i++)
        buf_printf(&body, "%c'K%d':'v'", i ? ',' : '{', i);
    buf_text(&body, "}}");
    at = look(CREATE, body.data);
    facts_write(&at->facts, &bigger, NULL);
    OK(big.size < 4096);
    HAS_TEXT(big.data, "\"9936 more\"");
    drop(at);
}

TEST(facts_of_what_is_unknown_say_so)
{
    struct arena *arena = arena_new(ROOM);
    struct canon canon;
    struct facts facts;
    EQ_INT(kit_canon("GET /nothing", NULL, arena, &canon), ERR_OPERATION_UNKNOWN);
    OK(facts_of(&canon, arena, &facts));
    EQ_TEXT(effect_name(facts.effect), "unknown");
    EQ_INT(facts.count, 0);
    IS_NULL(facts.risks[0]);
    arena_free(arena);
}

TEST(facts_tell_when_there_is_no_room)
{
    struct look *at = look(CREATE, "{'templateID':'b','envVars':{'A':'b'}}");
    struct arena *tiny = arena_new(1024);
    while (arena_alloc(tiny, 16))
        ;
    NOT(facts_of(&at->canon, tiny, &at->facts));
    arena_free(tiny);
    drop(at);
}

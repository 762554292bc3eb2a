/* tests of core/canon: bodies, and the digest over the whole form. */
#include "canon_kit.h"

#include "base/text.h"
#include "core/doc.h"
#include "test.h"

#include <string.h>

enum { ROOM = 64 << 20 };

#define CREATE "POST /v2/sandboxes"
#define CREATE_V1 "POST /sandboxes"
#define CONNECT "POST /v2/sandboxes/abc/connect"
#define CONNECT_V1 "POST /sandboxes/abc/connect"
#define PAUSE "POST /sandboxes/abc/pause"
#define TIMEOUT "POST /sandboxes/abc/timeout"
#define NETWORK "PUT /sandboxes/abc/network"
#define TEMPLATE "POST /v3/templates"
#define BUILD "POST /v2/templates/t/builds/b"
#define HOOK "POST /events/webhooks"
#define HOOKED(url) "{'name':'n','url':'" url "','events':['e'],'signatureSecret':'s'}"

TEST(canon_takes_what_the_official_clients_send)
{
    static const struct {
        const char *line, *body, *canonical;
    } cases[] = {
  /* clang-format off */
        {CREATE, "{'templateID':'base','metadata':{'b':'2','a':'1'},'envVars':{'K':'v'}}",
         "{'envVars':{'K':'v'},'metadata':{'a':'1','b':'2'},'templateID':'base'}"},
        {CREATE_V1,
         "{'templateID':'base','autoPause':false,'metadata':{},'timeout':300,"
         "'envVars':{},'secure':true,'allow_internet_access':true}",
         "{'allow_internet_access':true,'autoPause':false,'envVars':{},'metadata':{},"
         "'secure':true,'templateID':'base','timeout':300}"},
        {CREATE,
         "{'templateID':'base','mcp':{'github':{'token':'t','n':[1.5,null,true]}},"
         "'network':{'allowOut':['1.1.1.1'],'denyOut':['0.0.0.0/0'],"
         "'egressProxy':{'address':'u:p@proxy:1080','username':'u','password':'p'},"
         "'rules':{'api.example.com':[{'transform':{'headers':{'A':'b'}}}]},"
         "'allowPublicTraffic':false,'maskRequestHost':'h','httpsPorts':[8443]},"
         "'iam':{'tokens':{'t':{'audience':'a','tokenType':'jwt'}}},"
         "'autoPause':true,'autoPauseMemory':false,'autoResume':{'enabled':true},"
         "'volumeMounts':[{'name':'v','path':'/data'}]}",
         "{'autoPause':true,'autoPauseMemory':false,'autoResume':{'enabled':true},"
         "'iam':{'tokens':{'t':{'audience':'a','tokenType':'jwt'}}},"
         "'mcp':{'github':{'n':[1.5,null,true],'token':'t'}},"
         "'network':{'allowOut':['1.1.1.1'],'allowPublicTraffic':false,"
         "'denyOut':['0.0.0.0/0'],"
         "'egressProxy':{'address':'u:p@proxy:1080','password':'p','username':'u'},"
         "'httpsPorts':[8443],'maskRequestHost':'h',"
         "'rules':{'api.example.com':[{'transform':{'headers':{'A':'b'}}}]}},"
         "'templateID':'base','volumeMounts':[{'name':'v','path':'/data'}]}"},
        {CREATE, "{'templateID':'base','mcp':null,'network':{'egressProxy':null}}",
         "{'mcp':null,'network':{'egressProxy':null},'templateID':'base'}"},
        {CONNECT, "{}", "{}"},
        {CONNECT, NULL, NULL},
        {CONNECT, "{'memory':false}", "{'memory':false}"},
        {CONNECT_V1, "{'timeout':300}", "{'timeout':300}"},
        {PAUSE, NULL, NULL},
        {PAUSE, "{}", "{}"},
        {PAUSE, "{'memory':true}", "{'memory':true}"},
        {"POST /sandboxes/abc/resume", "{'timeout':15,'autoPause':true}",
         "{'autoPause':true,'timeout':15}"},
        {TIMEOUT, " { 'timeout' : 60 } ", "{'timeout':60}"},
        {TIMEOUT, "{'timeout':-1}", "{'timeout':-1}"},
        {"POST /sandboxes/abc/fork", "{'count':1}", "{'count':1}"},
        {"POST /sandboxes/abc/snapshots", "{}", "{}"},
        {"POST /sandboxes/abc/snapshots", "{'name':'ns/Snap:v1'}",
         "{'name':'ns/Snap:v1'}"},
        {"POST /sandboxes/abc/refreshes", "{'duration':60}", "{'duration':60}"},
        {NETWORK, "{}", "{}"},
        {NETWORK, "{'allowOut':[],'allow_internet_access':false}",
         "{'allowOut':[],'allow_internet_access':false}"},
        {TEMPLATE,
         "{'name':'tpl:v1','tags':['a'],'cpuCount':2,'memoryMB':512,'minFreeDiskMb':1}",
         "{'cpuCount':2,'memoryMB':512,'minFreeDiskMb':1,'name':'tpl:v1','tags':['a']}"},
        {"POST /v2/templates", "{'alias':'x','teamID':'t'}",
         "{'alias':'x','teamID':'t'}"},
        {BUILD,
         "{'force':false,'fromImage':'e2bdev/base','readyCmd':'sleep 1','startCmd':'x',"
         "'steps':[{'type':'COPY','args':['a','b','',''],'force':false,'filesHash':'h',"
         "'forceUpload':true,'resolveSymlinks':false,'gzip':true},"
         "{'type':'ENV','args':['A','b'],'force':false,'forceUpload':null}],"
         "'fromImageRegistry':{'type':'aws','awsAccessKeyId':'k',"
         "'awsSecretAccessKey':'s','awsRegion':'r'}}",
         "{'force':false,'fromImage':'e2bdev/base',"
         "'fromImageRegistry':{'awsAccessKeyId':'k','awsRegion':'r',"
         "'awsSecretAccessKey':'s','type':'aws'},'readyCmd':'sleep 1','startCmd':'x',"
         "'steps':[{'args':['a','b','',''],'filesHash':'h','force':false,"
         "'forceUpload':true,'gzip':true,'resolveSymlinks':false,'type':'COPY'},"
         "{'args':['A','b'],'force':false,'forceUpload':null,'type':'ENV'}]}"},
        {"PATCH /v2/templates/t", "{'public':true}", "{'public':true}"},
        {"DELETE /templates/tags", "{'name':'t','tags':['a','b']}",
         "{'name':'t','tags':['a','b']}"},
        {"POST /secrets", "{'name':'n','value':'v','metadata':{'a':'b'}}",
         "{'metadata':{'a':'b'},'name':'n','value':'v'}"},
        {HOOK, HOOKED("https://u:p@hooks.example.com:8443/a?b=c"),
         "{'events':['e'],'name':'n','signatureSecret':'s',"
         "'url':'https://u:p@hooks.example.com:8443/a?b=c'}"},
        {"DELETE /sandboxes/abc", NULL, NULL},
        {"POST /api-keys", "{'name':'never sent'}", NULL},
  /* clang-format on */
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena *arena = arena_new(ROOM);
        struct canon canon, again;
        CASE("%s %s", cases[i].line, cases[i].body ? cases[i].body : "");
        EQ_INT(kit_canon(cases[i].line, cases[i].body, arena, &canon), ERR_OK);
        EQ_TEXT(canon.body,
                cases[i].canonical ? kit_json(cases[i].canonical, arena) : NULL);
        EQ_INT(canon.body_size, canon.body ? strlen(canon.body) : 0);
        EQ_INT(!canon.doc, !canon.body);
        NOT_NULL(canon.unrecognised);
        IS_NULL(canon.unrecognised[0]);
        EQ_INT(kit_canon(cases[i].line, canon.body, arena, &again), ERR_OK);
        EQ_TEXT(again.body, canon.body);
        canon_free(&canon);
        canon_free(&again);
        arena_free(arena);
    }
}

TEST(canon_refuses_bodies_that_are_not_what_the_operation_takes)
{
    static const struct {
        const char *line, *body, *why;
    } cases[] = {
  /* not an object, not JSON, not one document */
        {TIMEOUT,                     "",                                                                   "timeout is missing"           },
        {TIMEOUT,                     " ",                                                                  "strict JSON"                  },
        {TIMEOUT,                     "null",                                                               "object"                       },
        {TIMEOUT,                     "[]",                                                                 "object"                       },
        {TIMEOUT,                     "60",                                                                 "object"                       },
        {TIMEOUT,                     "'x'",                                                                "object"                       },
        {TIMEOUT,                     "{'timeout':60}{}",                                                   "strict JSON"                  },
        {TIMEOUT,                     "{'timeout':60} x",                                                   "strict JSON"                  },
        {TIMEOUT,                     "{'timeout':60}\n{'timeout':0}",                                      "strict JSON"                  },
        {TIMEOUT,                     "timeout=60",                                                         "strict JSON"                  },
        {TIMEOUT,                     "{'timeout':60",                                                      "strict JSON"                  },
 /* keys that upstream would take for one another */
        {TIMEOUT,                     "{'timeout':60,'timeout':0}",                                         "duplicate"                    },
        {TIMEOUT,                     "{'timeout':60,'\\u0074imeout':0}",                                   "duplicate"                    },
        {TIMEOUT,                     "{'Timeout':0}",                                                      "another spelling"             },
        {TIMEOUT,                     "{'timeout':60,'TIMEOUT':0}",                                         "another spelling"             },
        {TIMEOUT,                     "{'tImeout':0,'timeout':60}",                                         "another spelling"             },
        {CREATE,                      "{'templateid':'x'}",                                                 "another spelling"             },
        {CREATE,                      "{'templateID':'a','TemplateID':'b'}",                                "another spelling"             },
        {CREATE,                      "{'TemplateID':'b','templateID':'a'}",                                "another spelling"             },
        {CREATE,                      "{'templateID':'a','envVar\xc5\xbf':{}}",                             "another spelling"             },
        {CREATE,                      "{'templateID':'a','metadata':{},'Metadata':{}}",                     "another spelling"             },
        {CREATE,                      "{'templateID':'a','networ\xe2\x84\xaa':{}}",                         "another spelling"             },
        {CREATE,                      "{'templateID':'a','networ\\u212a':{}}",                              "another spelling"             },
        {CREATE,
         "{'templateID':'a','\xc5\xbf"
         "ecure':false}",                                                                                   "another spelling"             },
        {CREATE,                      "{'templateID':'a','Allow_Internet_Access':true}",                    "another spelling"             },
        {CREATE,                      "{'templateID':'a','network':{'AllowOut':[]}}",                       "another spelling"             },
        {CREATE,
         "{'templateID':'a','network':{'egressProxy':{'address':'h:1','Address':"
         "'x:1'}}}",                                                                                        "another spelling"             },
        {CREATE,                      "{'templateID':'a','autoResume':{'Enabled':true}}",
         "another spelling"                                                                                                                },
        {BUILD,                       "{'steps':[{'type':'RUN','Type':'ENV'}]}",                            "another spelling"             },
        {HOOK,                        "{'name':'n','url':'https://a','URL':'https://b'}",                   "another spelling"             },
 /* keys that are not there */
        {TIMEOUT,                     "{'timeout':60,'force':true}",                                        "no field"                     },
        {TIMEOUT,                     "{'timeout ':60}",                                                    "no field"                     },
        {TIMEOUT,                     "{'timeout':60,'':1}",                                                "no field"                     },
        {TIMEOUT,                     "{'timeout':60,'timeou':1}",                                          "no field"                     },
        {TIMEOUT,                     "{'timeout':60,'timeoutt':1}",                                        "no field"                     },
        {CREATE,                      "{'templateID':'a','secure':false}",                                  "no field"                     },
        {CREATE,                      "{'templateID':'a','network.allowOut':[]}",                           "no field"                     },
        {CREATE,                      "{'templateID':'a','network':{'allow_internet_access':true}}",
         "no field"                                                                                                                        },
        {CREATE,                      "{'templateID':'a','steps':[]}",                                      "no field"                     },
        {CREATE,                      "{'templateID':'a','*':1}",                                           "no field"                     },
        {PAUSE,                       "{'timeout':1}",                                                      "no field"                     },
        {"POST /v2/templates",        "{'alias':'a','name':'b'}",                                           "no field"                     },
        {NETWORK,                     "{'allowPublicTraffic':true}",                                        "no field"                     },
        {NETWORK,                     "{'network':{}}",                                                     "no field"                     },
 /* types */
        {TIMEOUT,                     "{'timeout':'60'}",                                                   "integer"                      },
        {TIMEOUT,                     "{'timeout':60.0}",                                                   "integer"                      },
        {TIMEOUT,                     "{'timeout':6e1}",                                                    "integer"                      },
        {TIMEOUT,                     "{'timeout':null}",                                                   "integer"                      },
        {TIMEOUT,                     "{'timeout':true}",                                                   "integer"                      },
        {TIMEOUT,                     "{'timeout':[60]}",                                                   "integer"                      },
        {TIMEOUT,                     "{'timeout':-0}",                                                     "strict JSON"                  },
        {TIMEOUT,                     "{'timeout':-0.0}",                                                   "integer"                      },
        {TIMEOUT,                     "{'timeout':060}",                                                    "strict JSON"                  },
        {TIMEOUT,                     "{'timeout':0x3c}",                                                   "strict JSON"                  },
        {TIMEOUT,                     "{'timeout':2147483648}",                                             "32 bits"                      },
        {TIMEOUT,                     "{'timeout':-2147483649}",                                            "32 bits"                      },
        {TIMEOUT,                     "{'timeout':4294967296}",                                             "32 bits"                      },
        {TIMEOUT,                     "{'timeout':9007199254740992}",                                       "2^53"                         },
        {TIMEOUT,                     "{'timeout':18446744073709551616}",                                   "2^53"                         },
        {TIMEOUT,                     "{'timeout':1e400}",                                                  "round trip"                   },
        {PAUSE,                       "{'memory':'false'}",                                                 "true or false"                },
        {PAUSE,                       "{'memory':0}",                                                       "true or false"                },
        {PAUSE,                       "{'memory':null}",                                                    "true or false"                },
        {CREATE,                      "{'templateID':7}",                                                   "template reference"           },
        {CREATE,                      "{'templateID':null}",                                                "template reference"           },
        {CREATE,                      "{'templateID':''}",                                                  "template reference"           },
        {CREATE,                      "{'templateID':'a b'}",                                               "template reference"           },
        {CREATE,                      "{'templateID':'a/b/c'}",                                             "template reference"           },
        {CREATE,                      "{'templateID':'../a'}",                                              "template reference"           },
        {CREATE,                      "{'templateID':'\xe2\x84\xaainda'}",                                  "template reference"           },
        {CREATE,                      "{'templateID':'base\\t'}",                                           "template reference"           },
        {CREATE,                      "{'templateID':'base\xc2\xa0'}",                                      "template reference"           },
        {CREATE,                      "{'templateID':'a','metadata':[]}",                                   "object of strings"            },
        {CREATE,                      "{'templateID':'a','metadata':{'k':1}}",                              "object of strings"            },
        {CREATE,                      "{'templateID':'a','envVars':{'K':null}}",                            "object of strings"            },
        {CREATE,                      "{'templateID':'a','envVars':null}",                                  "object of strings"            },
        {CREATE,                      "{'templateID':'a','mcp':[]}",                                        "an object"                    },
        {CREATE,                      "{'templateID':'a','network':[]}",                                    "an object"                    },
        {CREATE,                      "{'templateID':'a','network':{'allowOut':'1.1.1.1'}}",
         "list of strings"                                                                                                                 },
        {CREATE,                      "{'templateID':'a','network':{'allowOut':[1]}}",                      "list of strings"              },
        {CREATE,                      "{'templateID':'a','network':{'allowOut':null}}",                     "list of strings"              },
        {CREATE,                      "{'templateID':'a','network':{'httpsPorts':['1']}}",                  "integer"                      },
        {CREATE,                      "{'templateID':'a','network':{'rules':{'h':{}}}}",                    "a list"                       },
        {CREATE,                      "{'templateID':'a','network':{'rules':{'h':[1]}}}",                   "an object"                    },
        {CREATE,
         "{'templateID':'a','network':{'rules':{'h':[{'transform':{'headers':{'A':1}}}]"
         "}}}",                                                                                             "object of strings"            },
        {CREATE,                      "{'templateID':'a','network':{'egressProxy':{'address':'h'}}}",
         "host:port"                                                                                                                       },
        {CREATE,                      "{'templateID':'a','network':{'egressProxy':{'address':'a@b@h:1'}}}",
         "host:port"                                                                                                                       },
        {CREATE,                      "{'templateID':'a','network':{'egressProxy':{'address':'h:0'}}}",
         "host:port"                                                                                                                       },
        {CREATE,                      "{'templateID':'a','network':{'egressProxy':{'address':'h:70000'}}}",
         "host:port"                                                                                                                       },
        {CREATE,                      "{'templateID':'a','volumeMounts':{}}",                               "a list"                       },
        {HOOK,                        HOOKED("ftp://example.com"),                                          "URL"                          },
        {HOOK,                        HOOKED("//example.com"),                                              "URL"                          },
        {HOOK,                        HOOKED("example.com"),                                                "URL"                          },
        {HOOK,                        HOOKED("https://"),                                                   "URL"                          },
        {HOOK,                        HOOKED("https:///x"),                                                 "URL"                          },
        {HOOK,                        HOOKED("https://good.com\\\\@evil.com/"),                             "URL"                          },
        {HOOK,                        HOOKED("https://a@b@evil.com/"),                                      "URL"                          },
        {HOOK,                        HOOKED("https://exa mple.com/"),                                      "URL"                          },
        {HOOK,                        HOOKED("https://ex\xc3\xa4mple.com/"),                                "URL"                          },
        {HOOK,                        HOOKED("https://example.com:http/"),                                  "URL"                          },
        {HOOK,                        HOOKED("https://[::1/"),                                              "URL"                          },
        {HOOK,                        HOOKED("javascript:alert(1)"),                                        "URL"                          },
 /* what is required */
        {CREATE,                      "{}",                                                                 "templateID is missing"        },
        {CREATE,                      "",                                                                   "templateID is missing"        },
        {CREATE,                      NULL,                                                                 "templateID is missing"        },
        {CONNECT_V1,                  "{}",                                                                 "timeout is missing"           },
        {CONNECT_V1,                  NULL,                                                                 "timeout is missing"           },
        {CREATE,                      "{'templateID':'a','autoResume':{}}",                                 "autoResume.enabled is missing"},
        {CREATE,                      "{'templateID':'a','network':{'egressProxy':{}}}",
         "address is missing"                                                                                                              },
        {CREATE,                      "{'templateID':'a','volumeMounts':[{'name':'v'}]}",                   "path is missing"              },
        {CREATE,                      "{'templateID':'a','iam':{'tokens':{'t':{'audience':'a'}}}}",
         "tokenType is missing"                                                                                                            },
        {BUILD,                       "{'steps':[{'args':[]}]}",                                            "type is missing"              },
        {BUILD,                       "{'fromImageRegistry':{'username':'u'}}",                             "type is missing"              },
        {"POST /templates/tags",      "{'target':'a:b'}",                                                   "tags is missing"              },
        {"DELETE /templates/tags",    NULL,                                                                 "name is missing"              },
        {"POST /secrets/x",           "{}",                                                                 "value is missing"             },
        {HOOK,                        "{'name':'n','events':[],'signatureSecret':'s'}",                     "url is missing"               },
        {TEMPLATE,                    NULL,                                                                 "body is missing"              },
        {NETWORK,                     NULL,                                                                 "body is missing"              },
 /* no body is due */
        {"DELETE /sandboxes/abc",     "{}",                                                                 "takes no body"                },
        {"DELETE /sandboxes/abc",     "x",                                                                  "takes no body"                },
        {"GET /v2/sandboxes",         "{}",                                                                 "takes no body"                },
        {"GET /templates/t/files/h",  "{}",                                                                 "takes no body"                },
        {"DELETE /events/webhooks/w", "{'a':1}",                                                            "takes no body"                },
 /* bytes */
        {PAUSE,                       "{'memory\\u0000':true}",                                             "strict JSON"                  },
        {CREATE,                      "{'templateID':'a\\u0000b'}",                                         "strict JSON"                  },
        {CREATE,                      "{'templateID':'a','metadata':{'k':'\\ud800'}}",                      "strict JSON"                  },
        {CREATE,                      "{'templateID':'a','metadata':{'k':'\xff'}}",                         "strict JSON"                  },
        {CREATE,                      "{'templateID':'a','metadata':{'k':'\xc0\x80'}}",                     "strict JSON"                  },
        {CREATE,                      "{'templateID':'a','metadata':{'k':'\xed\xa0\x80'}}",                 "strict JSON"                  },
        {CREATE,                      "\xef\xbb\xbf{'templateID':'a'}",                                     "strict JSON"                  },
        {CREATE,                      "{'templateID':'a',}",                                                "strict JSON"                  },
        {CREATE,                      "{'templateID':'a'/**/}",                                             "strict JSON"                  },
        {CREATE,                      "{'templateID':'a','mcp':{'s':0.10000000000000000555}}",              "round trip"                   },
        {CREATE,                      "{'templateID':'a','mcp':{'s':NaN}}",                                 "strict JSON"                  },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena *arena = arena_new(ROOM);
        struct canon canon;
        CASE("%s %s", cases[i].line, cases[i].body ? cases[i].body : "(none)");
        EQ_INT(kit_canon(cases[i].line, cases[i].body, arena, &canon),
               ERR_REQUEST_REFUSED);
        HAS_TEXT(canon.why, cases[i].why);
        IS_NULL(canon.doc);
        IS_NULL(canon.body);
        for (const char *at = canon.why; *at; at++)
            OK(*at >= ' ' && *at <= '~');
        arena_free(arena);
    }
}

/* Each known key in upper case, and with the two letters that only Go folds. */
TEST(canon_refuses_every_key_of_the_catalogue_in_another_spelling)
{
    size_t tried = 0;
    for (size_t i = 0; i < catalogue_size; i++)
        for (const struct body_field *row = catalogue[i].body; row && row->path;
             row++) {
            const struct route *route = &catalogue[i].routes[0];
            if (strchr(row->path, '.'))
                continue;
            for (int spelling = 0; spelling < 3; spelling++) {
                own_buf key = BUF(256);
                for (const char *c = row->path; *c; c++)
                    if (spelling == 0)
                        buf_char(&key, *c >= 'a' && *c <= 'z' ? (char)(*c - 32) : *c);
                    else if (spelling == 1 && (*c == 's' || *c == 'S'))
                        buf_text(&key, "\xc5\xbf");
                    else if (spelling == 2 && (*c == 'k' || *c == 'K'))
                        buf_text(&key, "\xe2\x84\xaa");
                    else
                        buf_char(&key, *c);
                if (text_same(key.data, row->path))
                    continue;
                struct arena *arena = arena_new(ROOM);
                struct canon canon;
                const char *body = arena_printf(arena, "{\"%s\":1}", key.data);
                CASE("%s %s", catalogue[i].name, key.data);
                EQ_INT(kit_canon_lenient(kit_line(route, arena), body, arena, &canon),
                       ERR_REQUEST_REFUSED);
                HAS_TEXT(canon.why, "another spelling");
                arena_free(arena);
                tried++;
            }
        }
    OK(tried > 60);
}

TEST(canon_lets_unknown_keys_through_only_where_that_is_allowed)
{
    struct arena *arena = arena_new(ROOM);
    struct canon canon, again;
    static const char body[] = "{'templateID':'a','newThing':{'x':[1.5]},"
                               "'network':{'newer':true},'mcp':{'newThing':1}}";
    EQ_INT(kit_canon(CREATE, body, arena, &canon), ERR_REQUEST_REFUSED);
    EQ_INT(kit_canon_lenient(CREATE, body, arena, &canon), ERR_OK);
    EQ_TEXT(canon.unrecognised[0], "newThing");
    EQ_TEXT(canon.unrecognised[1], "network.newer");
    IS_NULL(canon.unrecognised[2]);
    EQ_TEXT(canon.body, kit_json("{'mcp':{'newThing':1},'network':{'newer':true},"
                                 "'newThing':{'x':[1.5]},'templateID':'a'}",
                                 arena));
    EQ_INT(kit_canon_lenient(CREATE, canon.body, arena, &again), ERR_OK);
    EQ_TEXT(again.body, canon.body);
    canon_free(&canon);
    canon_free(&again);
    EQ_INT(
        kit_canon_lenient(CREATE, "{'templateID':'a','TemplateID':'b'}", arena, &canon),
        ERR_REQUEST_REFUSED);
    EQ_INT(kit_canon_lenient(CREATE, "{'templateID':'a','newThing':1,'NewThing':2}",
                             arena, &canon),
           ERR_REQUEST_REFUSED);
    EQ_INT(kit_canon_lenient(CREATE, "{'newThing':1}", arena, &canon),
           ERR_REQUEST_REFUSED);
    EQ_INT(kit_canon_lenient(TIMEOUT, "{'timeout':'60'}", arena, &canon),
           ERR_REQUEST_REFUSED);
    own_buf many = BUF(8192);
    for (int i = 0; i < 33; i++)
        buf_printf(&many, "%c'key%d':1", i ? ',' : '{', i);
    buf_char(&many, '}');
    EQ_INT(kit_canon_lenient(PAUSE, many.data, arena, &canon), ERR_REQUEST_REFUSED);
    HAS_TEXT(canon.why, "more than");
    arena_free(arena);
}

TEST(canon_holds_bodies_to_their_cap)
{
    struct arena *arena = arena_new(ROOM);
    const size_t cap = 1 << 20;
    char *body = arena_alloc(arena, cap + 2);
    for (size_t size = cap; size <= cap + 1; size++) {
        struct canon canon;
        memset(body, ' ', size);
        memcpy(body, "{\"memory\":true}", 15);
        EQ_INT(kit_canon(PAUSE, body, arena, &canon),
               size == cap ? ERR_OK : ERR_TOO_LARGE);
        canon_free(&canon);
    }
    EQ_INT(operation_named("template.build")->body_cap, 8 << 20);
    arena_free(arena);
}

TEST(canon_wants_json_where_the_type_is_said)
{
    static const struct {
        const char *type;
        bool ok;
    } cases[] = {
        {"application/json",                  true },
        {"Application/JSON",                  true },
        {"application/json; charset=utf-8",   true },
        {"application/json;charset=UTF-8",    true },
        {"application/json; charset=latin1",  false},
        {"application/json; charset=utf-16",  false},
        {"application/json-patch+json",       false},
        {"application/jsonx",                 false},
        {"application/x-www-form-urlencoded", false},
        {"multipart/form-data; boundary=x",   false},
        {"text/plain",                        false},
        {"",                                  false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena *arena = arena_new(ROOM);
        struct canon canon = {0};
        const struct header header = {"content-TYPE", cases[i].type, 12,
                                      strlen(cases[i].type)};
        const struct raw_request raw = {.method = "POST",
                                        .target = "/sandboxes/abc/pause",
                                        .version = "HTTP/1.1",
                                        .headers = &header,
                                        .header_count = 1,
                                        .body = "{}",
                                        .body_size = 2};
        CASE("%s", cases[i].type);
        EQ_INT(canon_target(&raw, arena, &canon), ERR_OK);
        EQ_INT(canon_body(&raw, false, arena, &canon),
               cases[i].ok ? ERR_OK : ERR_REQUEST_REFUSED);
        canon_free(&canon);
        arena_free(arena);
    }
}

TEST(canon_takes_a_tag_s_target_from_the_body)
{
    static const struct {
        const char *line, *body, *id;
    } cases[] = {
        {"POST /templates/tags",   "{'target':' Web/Base:V1 ','tags':['x']}",
         "web/base:v1"                                                              },
        {"DELETE /templates/tags", "{'name':'Base','tags':['x']}",            "base"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena *arena = arena_new(ROOM);
        struct canon canon;
        EQ_INT(kit_canon(cases[i].line, cases[i].body, arena, &canon), ERR_OK);
        EQ_TEXT(canon.target_id, cases[i].id);
        canon_free(&canon);
        arena_free(arena);
    }
}

TEST(canon_takes_hostile_sizes_in_bounded_time)
{
    struct arena *arena = arena_new(ROOM);
    struct canon canon;
    own_buf body = BUF(1 << 20);
    for (int i = 0; i < 50000; i++)
        buf_printf(&body, "%c'k%d':'v'", i ? ',' : '{', i);
    buf_char(&body, '}');
    EQ_INT(kit_canon_lenient(CREATE, body.data, arena, &canon), ERR_REQUEST_REFUSED);
    buf_clear(&body);
    buf_text(&body, "{'templateID':'a','envVars':");
    for (int i = 0; i < 50000; i++)
        buf_printf(&body, "%c'k%d':'v'", i ? ',' : '{', i);
    buf_text(&body, "}}");
    EQ_INT(kit_canon(CREATE, body.data, arena, &canon), ERR_OK);
    canon_free(&canon);
    buf_clear(&body);
    for (int i = 0; i < 200000; i++)
        buf_text(&body, "{'a':");
    EQ_INT(kit_canon(CREATE, body.data, arena, &canon), ERR_REQUEST_REFUSED);
    HAS_TEXT(canon.why, "deep");
    buf_clear(&body);
    buf_text(&body, "{'timeout':");
    for (int i = 0; i < 10000; i++)
        buf_char(&body, '9');
    buf_char(&body, '}');
    EQ_INT(kit_canon(TIMEOUT, body.data, arena, &canon), ERR_REQUEST_REFUSED);
    arena_free(arena);
}

TEST(the_digest_covers_everything_that_was_judged)
{
    static const struct {
        const char *agent, *environment, *line, *body;
    } calls[] = {
        {"a",  "e",  "DELETE /sandboxes/abc",       NULL              },
        {"b",  "e",  "DELETE /sandboxes/abc",       NULL              },
        {"a",  "f",  "DELETE /sandboxes/abc",       NULL              },
        {"ae", "",   "DELETE /sandboxes/abc",       NULL              },
        {"",   "ae", "DELETE /sandboxes/abc",       NULL              },
        {"a",  "e",  "GET /sandboxes/abc",          NULL              },
        {"a",  "e",  "DELETE /sandboxes/abd",       NULL              },
        {"a",  "e",  "DELETE /templates/abc",       NULL              },
        {"a",  "e",  "GET /v2/sandboxes",           NULL              },
        {"a",  "e",  "GET /sandboxes",              NULL              },
        {"a",  "e",  "GET /v2/sandboxes?limit=1",   NULL              },
        {"a",  "e",  "GET /v2/sandboxes?limit=2",   NULL              },
        {"a",  "e",  "GET /v2/sandboxes?limit=%31", NULL              },
        {"a",  "e",  "POST /sandboxes/abc/pause",   NULL              },
        {"a",  "e",  "POST /sandboxes/abc/pause",   "{}"              },
        {"a",  "e",  "POST /sandboxes/abc/pause",   "{'memory':true}" },
        {"a",  "e",  "POST /sandboxes/abc/pause",   "{'memory':false}"},
        {"a",  "e",  "POST /sandboxes/abc/timeout", "{'timeout':60}"  },
        {"a",  "e",  "POST /sandboxes/abc/timeout", "{'timeout':61}"  },
    };
    unsigned char digests[COUNT(calls)][CANON_DIGEST];
    for (size_t i = 0; i < COUNT(calls); i++) {
        struct arena *arena = arena_new(ROOM);
        struct canon canon;
        EQ_INT(kit_canon(calls[i].line, calls[i].body, arena, &canon), ERR_OK);
        canon_digest(&canon, calls[i].agent, calls[i].environment, digests[i]);
        canon_free(&canon);
        arena_free(arena);
        for (size_t k = 0; k < i; k++) {
            CASE("%zu and %zu", i, k);
            NOT(memcmp(digests[i], digests[k], CANON_DIGEST) == 0);
        }
    }
}

TEST(the_digest_is_the_same_for_every_spelling_of_one_call)
{
    static const struct {
        const char *line, *body, *other_line, *other_body;
    } pairs[] = {
        {"DELETE /sandboxes/abc",                   NULL,                              "DELETE /sandboxes/abc-6532622b", NULL},
        {"GET /v2/sandboxes?limit=1&state=running", NULL,
         "GET /v2/sandboxes?state=running&limit=1",                                                                      NULL},
        {"GET /templates/a:b",                      NULL,                              "GET /templates/a%3ab",           NULL},
        {CREATE,                                    "{'templateID':'a','timeout':60}", CREATE,
         " {\n'timeout' : 60 , 'template\\u0049D':'\\u0061' }"                                                               },
    };
    for (size_t i = 0; i < COUNT(pairs); i++) {
        struct arena *arena = arena_new(ROOM);
        struct canon one, two;
        unsigned char first[CANON_DIGEST], second[CANON_DIGEST];
        CASE("%s", pairs[i].line);
        EQ_INT(kit_canon(pairs[i].line, pairs[i].body, arena, &one), ERR_OK);
        EQ_INT(kit_canon(pairs[i].other_line, pairs[i].other_body, arena, &two),
               ERR_OK);
        canon_digest(&one, "a", "e", first);
        canon_digest(&two, "a", "e", second);
        EQ_MEM(first, second, CANON_DIGEST);
        canon_free(&one);
        canon_free(&two);
        arena_free(arena);
    }
}

/* tests of core/canon: request targets. */
#include "canon_kit.h"

#include "base/text.h"
#include "test.h"

#include <string.h>

enum { ROOM = 1 << 20 };

static enum err look(const char *method, const char *target, struct arena *arena,
                     struct canon *canon)
{
    const struct raw_request raw = {
        .method = method, .target = target, .version = "HTTP/1.1"};
    *canon = (struct canon){0};
    return canon_target(&raw, arena, canon);
}

TEST(canon_finds_operations_and_spells_their_targets_in_one_way)
{
    static const struct {
        const char *method, *target, *op, *path, *query, *id;
    } cases[] = {
        {"GET",    "/health",                                                         "health.check",          "/health",                  "",                                             ""               },
        {"GET",    "/health?",                                                        "health.check",          "/health",                  "",                                             ""               },
        {"DELETE", "/sandboxes/i0abc",                                                "sandbox.kill",          "/sandboxes/i0abc",         "",                                             "i0abc"          },
        {"DELETE", "/sandboxes/i0abc-6532622b",                                       "sandbox.kill",          "/sandboxes/i0abc",         "",
         "i0abc"                                                                                                                                                                                            },
        {"DELETE", "/sandboxes/i0abc-CliEnt9",                                        "sandbox.kill",          "/sandboxes/i0abc",         "",
         "i0abc"                                                                                                                                                                                            },
        {"POST",   "/sandboxes/i0abc-x/pause",                                        "sandbox.pause",         "/sandboxes/i0abc/pause",
         "",                                                                                                                                                                               "i0abc"          },
        {"DELETE", "/sandboxes/metrics",                                              "sandbox.kill",          "/sandboxes/metrics",       "",
         "metrics"                                                                                                                                                                                          },
        {"GET",    "/sandboxes/metrics",                                              "fleet.metrics",         "/sandboxes/metrics",       "",                                             ""               },
        {"GET",    "/sandboxes/metrics/metrics",                                      "sandbox.metrics",
         "/sandboxes/metrics/metrics",                                                                                                     "",                                             "metrics"        },
        {"GET",    "/events/sandboxes",                                               "fleet.events",          "/events/sandboxes",        "",                                             ""               },
        {"GET",    "/events/sandboxes/i0abc",                                         "sandbox.events",        "/events/sandboxes/i0abc",
         "",                                                                                                                                                                               "i0abc"          },
        {"GET",    "/templates/tags",                                                 "template.get",          "/templates/tags",          "",                                             "tags"           },
        {"DELETE", "/templates/tags",                                                 "template.untag",        "/templates/tags",          "",                                             ""               },
        {"POST",   "/templates/tags",                                                 "template.tag",          "/templates/tags",          "",                                             ""               },
        {"POST",   "/templates/abc",                                                  "template.rebuild",      "/templates/abc",           "",                                             "abc"            },
        {"GET",    "/templates/aliases/base",                                         "template.alias",        "/templates/aliases/base",
         "",                                                                                                                                                                               ""               },
        {"GET",    "/templates/aliases/tags",                                         "template.alias",        "/templates/aliases/tags",
         "",                                                                                                                                                                               ""               },
        {"GET",    "/templates/aliases",                                              "template.get",          "/templates/aliases",       "",
         "aliases"                                                                                                                                                                                          },
        {"GET",    "/templates/x/tags",                                               "template.tags",         "/templates/x/tags",        "",                                             "x"              },
        {"GET",    "/templates/team%2fMy-Tpl%3Av1",                                   "template.get",
         "/templates/team%2FMy-Tpl%3Av1",                                                                                                  "",                                             "team/my-tpl:v1" },
        {"DELETE", "/templates/ns%2Fsnap%3Adefault",                                  "template.delete",
         "/templates/ns%2Fsnap%3Adefault",                                                                                                 "",                                             "ns/snap:default"},
        {"DELETE", "/templates/BASE:v1",                                              "template.delete",       "/templates/BASE%3Av1",     "",
         "base:v1"                                                                                                                                                                                          },
        {"GET",    "/templates/%20base%20",                                           "template.get",          "/templates/%20base%20",    "",
         "base"                                                                                                                                                                                             },
        {"GET",    "/secrets/My-Key",                                                 "secret.get",            "/secrets/My-Key",          "",                                             "my-key"         },
        {"POST",   "/v2/templates/t/builds/0-9_a",                                    "template.build",
         "/v2/templates/t/builds/0-9_a",                                                                                                   "",                                             "t"              },
        {"GET",    "/v2/sandboxes?limit=5&state=running,paused",                      "sandbox.list",
         "/v2/sandboxes",                                                                                                                  "state=running,paused&limit=5",                 ""               },
        {"GET",
         "/v2/sandboxes?metadata=k%252520y%3Dv%2525261&state=running,paused&limit=5", "sandbox.list",          "/v2/sandboxes",
         "metadata=k%252520y%3Dv%2525261&state=running,paused&limit=5",                                                                                                                    ""               },
        {"GET",    "/v2/sandboxes?nextToken=",                                        "sandbox.list",          "/v2/sandboxes",
         "nextToken=",                                                                                                                                                                     ""               },
        {"GET",    "/v2/sandboxes/i0abc/logs?search=a%20b+c%C3%A9&limit=1000",
         "sandbox.logs",                                                                                       "/v2/sandboxes/i0abc/logs", "limit=1000&search=a%20b+c%C3%A9",
         "i0abc"                                                                                                                                                                                            },
        {"GET",    "/sandboxes/metrics?sandbox_ids=a,b,c",                            "fleet.metrics",
         "/sandboxes/metrics",                                                                                                             "sandbox_ids=a,b,c",                            ""               },
        {"GET",
         "/snapshots?sandboxID=i0abc&name=x&limit=1&nextToken=t==",                   "snapshot.list",
         "/snapshots",                                                                                                                     "sandboxID=i0abc&name=x&limit=1&nextToken=t==", ""               },
        {"GET",    "/templates/t/builds/b/status?logsOffset=0",                       "template.build_status",
         "/templates/t/builds/b/status",                                                                                                   "logsOffset=0",                                 "t"              },
        {"GET",    "/teams/4f2a/metrics/max?metric=concurrent_sandboxes&start=1",
         "team.metrics_max",                                                                                   "/teams/4f2a/metrics/max",
         "start=1&metric=concurrent_sandboxes",                                                                                                                                            ""               },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena *arena = arena_new(ROOM);
        struct canon canon, again;
        CASE("%s %s", cases[i].method, cases[i].target);
        EQ_INT(look(cases[i].method, cases[i].target, arena, &canon), ERR_OK);
        EQ_TEXT(canon.operation->name, cases[i].op);
        EQ_TEXT(canon.path, cases[i].path);
        EQ_TEXT(canon.query, cases[i].query);
        EQ_TEXT(canon.target_id, cases[i].id);
        const char *target = *canon.query
                                 ? arena_printf(arena, "%s?%s", canon.path, canon.query)
                                 : canon.path;
        EQ_INT(look(cases[i].method, target, arena, &again), ERR_OK);
        OK(again.route == canon.route);
        EQ_TEXT(again.path, canon.path);
        EQ_TEXT(again.query, canon.query);
        EQ_TEXT(again.target_id, canon.target_id);
        arena_free(arena);
    }
}

TEST(canon_knows_what_it_does_not_know)
{
    static const struct {
        const char *method, *target;
    } cases[] = {
        {"GET",     "/"                       },
        {"GET",     "/nothing"                },
        {"GET",     "/Sandboxes"              },
        {"GET",     "/sandboxes/abc/Metrics"  },
        {"PUT",     "/sandboxes/abc"          },
        {"delete",  "/sandboxes/abc"          },
        {"Delete",  "/sandboxes/abc"          },
        {"HEAD",    "/sandboxes/abc"          },
        {"OPTIONS", "/sandboxes"              },
        {"TRACE",   "/sandboxes"              },
        {"CONNECT", "/sandboxes"              },
        {"PATCH",   "/sandboxes/abc"          },
        {"POST",    "/v3/sandboxes"           },
        {"POST",    "/v2/sandboxes/abc/pause" },
        {"DELETE",  "/v2/sandboxes/abc"       },
        {"GET",     "/v1/sandboxes"           },
        {"GET",     "/instances"              },
        {"DELETE",  "/envs/abc"               },
        {"GET",     "/clusters/x"             },
        {"POST",    "/sandboxes/abc/pause/now"},
        {"GET",     "/a/b/c/d/e/f/g/h/i/j/k"  },
        {"GET",     "/sandboxes:abc"          },
        {"GET",     "/%3Asandboxes"           },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena *arena = arena_new(ROOM);
        struct canon canon;
        CASE("%s %s", cases[i].method, cases[i].target);
        EQ_INT(look(cases[i].method, cases[i].target, arena, &canon),
               ERR_OPERATION_UNKNOWN);
        OK(canon.operation == &operation_unknown);
        HAS_TEXT(canon.why, "no operation");
        arena_free(arena);
    }
}

TEST(canon_refuses_ambiguous_targets)
{
    static const struct {
        const char *target, *why;
    } cases[] = {
  /* forms other than origin form */
        {"",                                     "slash"           },
        {"*",                                    "slash"           },
        {"sandboxes/abc",                        "slash"           },
        {"http://api.e2b.app/sandboxes/abc",     "slash"           },
        {"api.e2b.app:443",                      "slash"           },
        {"?limit=1",                             "slash"           },
 /* segments */
        {"//sandboxes/abc",                      "empty"           },
        {"/sandboxes//abc",                      "empty"           },
        {"/sandboxes/abc/",                      "empty"           },
        {"/sandboxes/abc//",                     "empty"           },
        {"//api.e2b.app/sandboxes/abc",          "empty"           },
        {"/sandboxes/?limit=1",                  "empty"           },
        {"/./sandboxes/abc",                     "dot segment"     },
        {"/sandboxes/.",                         "dot segment"     },
        {"/sandboxes/..",                        "dot segment"     },
        {"/sandboxes/../sandboxes/abc",          "dot segment"     },
        {"/sandboxes/abc/..",                    "dot segment"     },
        {"/sandboxes/abc/.",                     "dot segment"     },
        {"/sandboxes/...",                       "dot segment"     },
        {"/sandboxes/%2e",                       "plain character" },
        {"/sandboxes/%2E%2e",                    "plain character" },
        {"/sandboxes/.%2e",                      "plain character" },
        {"/sandboxes/%2e%2e%2fsandboxes",        "plain character" },
        {"/sandboxes/..;x=1/abc",                "belong"          },
        {"/sandboxes/abc;x=1",                   "belong"          },
        {"/sandboxes;x=1/abc",                   "belong"          },
        {"/sandboxes/abc%3Bx",                   "not a sandbox id"},
        {"/templates/abc%3bx",                   "not a template"  },
 /* slashes, backslashes, NUL, controls */
        {"/sandboxes/abc%2Fpause",               "not a sandbox id"},
        {"/sandboxes%2fabc",                     "escaped slash"   },
        {"/sandboxes/abc\\pause",                "belong"          },
        {"/sandboxes/abc%5Cpause",               "escaped"         },
        {"/sandboxes/abc%5cpause",               "escaped"         },
        {"/sandboxes/abc%00",                    "escaped"         },
        {"/sandboxes/%00",                       "escaped"         },
        {"/sandboxes/abc%0a",                    "escaped"         },
        {"/sandboxes/abc%0D%0Ax",                "escaped"         },
        {"/sandboxes/abc%7f",                    "escaped"         },
        {"/sandboxes/abc%1f",                    "escaped"         },
        {"/sandboxes/abc%09",                    "escaped"         },
        {"/sandboxes/abc\x01",                   "belong"          },
        {"/sandboxes/abc\x7f",                   "belong"          },
        {"/sandboxes/abc x",                     "belong"          },
        {"/sandboxes/abc\tx",                    "belong"          },
        {"/sandboxes/abc#x",                     "belong"          },
        {"/sandboxes/abc%23x",                   "not a sandbox id"},
        {"/sandboxes/abc%3Fx",                   "not a sandbox id"},
        {"/sandboxes/\"abc",                     "belong"          },
        {"/sandboxes/<abc>",                     "belong"          },
        {"/sandboxes/{sandbox}",                 "belong"          },
        {"/sandboxes/a|b",                       "belong"          },
        {"/sandboxes/a^b",                       "belong"          },
        {"/sandboxes/[a]",                       "belong"          },
 /* encodings */
        {"/sandboxes/%61bc",                     "plain character" },
        {"/sandboxes/%6Detrics",                 "plain character" },
        {"/%73andboxes/abc",                     "plain character" },
        {"/templates/%74ags",                    "plain character" },
        {"/sandboxes/%2561bc",                   "twice"           },
        {"/templates/a%252Fb",                   "twice"           },
        {"/sandboxes/%",                         "malformed"       },
        {"/sandboxes/a%4",                       "malformed"       },
        {"/sandboxes/a%zz",                      "malformed"       },
        {"/sandboxes/a%u002e",                   "malformed"       },
        {"/sandboxes/%c0%ae",                    "escaped"         },
        {"/sandboxes/%c0%af",                    "escaped"         },
        {"/sandboxes/%e0%80%af",                 "escaped"         },
        {"/sandboxes/%C3%A9",                    "escaped"         },
        {"/sandboxes/\xc3\xa9",                  "belong"          },
        {"/templates/%E2%84%AAinda",             "escaped"         },
 /* ids */
        {"/sandboxes/abc-",                      "not a sandbox id"},
        {"/sandboxes/-abc",                      "not a sandbox id"},
        {"/sandboxes/-",                         "not a sandbox id"},
        {"/sandboxes/a-b-c",                     "not a sandbox id"},
        {"/sandboxes/abc-b_c",                   "not a sandbox id"},
        {"/sandboxes/ABC",                       "not a sandbox id"},
        {"/sandboxes/abc.d",                     "not a sandbox id"},
        {"/sandboxes/abc_d",                     "not a sandbox id"},
        {"/sandboxes/~abc",                      "not a sandbox id"},
        {"/sandboxes/abc%20",                    "not a sandbox id"},
        {"/sandboxes/abc+d",                     "not a sandbox id"},
        {"/sandboxes/abc,def",                   "not a sandbox id"},
        {"/templates/a%2Fb%2Fc",                 "not a template"  },
        {"/templates/%2Fb",                      "not a template"  },
        {"/templates/a%2F",                      "not a template"  },
        {"/templates/a%2F..",                    "not a template"  },
        {"/templates/..%2Fa",                    "not a template"  },
        {"/templates/a%3A",                      "not a template"  },
        {"/templates/a:b:c",                     "not a template"  },
        {"/templates/a%20b",                     "not a template"  },
        {"/templates/%20",                       "not a template"  },
        {"/templates/a@b",                       "not a template"  },
        {"/volumes/a%20b",                       "not an id"       },
        {"/volumes/a:b",                         "not an id"       },
        {"/secrets/a%2Fb",                       "not an id"       },
        {"/events/webhooks/a+b",                 "not an id"       },
 /* queries */
        {"/sandboxes/abc?limit=1",               "no query key"    },
        {"/sandboxes/abc?_method=DELETE",        "no query key"    },
        {"/v2/sandboxes?limit=1&limit=2",        "twice"           },
        {"/v2/sandboxes?limit=1&limit=1",        "twice"           },
        {"/v2/sandboxes?Limit=1",                "no query key"    },
        {"/v2/sandboxes?%6cimit=1",              "no query key"    },
        {"/v2/sandboxes?limit%00=1",             "no query key"    },
        {"/v2/sandboxes?limit",                  "no value"        },
        {"/v2/sandboxes?limit=1&",               "no query key"    },
        {"/v2/sandboxes?&limit=1",               "no query key"    },
        {"/v2/sandboxes?limit=1&&state=running", "no query key"    },
        {"/v2/sandboxes?=1",                     "no query key"    },
        {"/v2/sandboxes?limit=1;state=running",  "belong"          },
        {"/v2/sandboxes??limit=1",               "no query key"    },
        {"/v2/sandboxes?limit[]=1",              "belong"          },
        {"/v2/sandboxes?metadata=%00",           "malformed"       },
        {"/v2/sandboxes?metadata=%0a",           "malformed"       },
        {"/v2/sandboxes?metadata=%7F",           "malformed"       },
        {"/v2/sandboxes?metadata=%ff",           "malformed"       },
        {"/v2/sandboxes?metadata=%c0%80",        "malformed"       },
        {"/v2/sandboxes?metadata=%",             "malformed"       },
        {"/v2/sandboxes?metadata=%4",            "malformed"       },
        {"/v2/sandboxes?metadata=%gg",           "malformed"       },
        {"/v2/sandboxes?metadata=\xc3\xa9",      "belong"          },
        {"/v2/sandboxes?metadata=a b",           "belong"          },
        {"/v2/sandboxes?metadata=a#b",           "belong"          },
        {"/v2/sandboxes?metadata=a\\b",          "belong"          },
        {"/sandboxes?state=running",             "no query key"    },
        {"/health?x=1",                          "no query key"    },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena *arena = arena_new(ROOM);
        struct canon canon;
        CASE("%s", cases[i].target);
        EQ_INT(look("GET", cases[i].target, arena, &canon), ERR_REQUEST_REFUSED);
        HAS_TEXT(canon.why, cases[i].why);
        for (const char *at = canon.why; *at; at++)
            OK(*at >= ' ' && *at <= '~');
        arena_free(arena);
    }
}

/* Every way to write a dangerous byte into an id, before, inside and behind it. */
TEST(canon_lets_no_spelling_of_a_separator_through)
{
    static const char bytes[] = {'.', '/', ';', '\\', '\0', ' ', '%', '?', '#', '\n'};
    static const char *const forms[] = {"%%%02x", "%%%02X", "%%25%02x", "%%c0%%%02x",
                                        "%%u00%02x"};
    static const char *const places[] = {"/sandboxes/%sabc",  "/sandboxes/a%sc",
                                         "/sandboxes/abc%s",  "/sandboxes/%s",
                                         "/sandboxes/abc/%s", "/%s/sandboxes/abc"};
    for (size_t b = 0; b < sizeof(bytes); b++)
        for (size_t f = 0; f < COUNT(forms); f++)
            for (size_t p = 0; p < COUNT(places); p++) {
                struct arena *arena = arena_new(ROOM);
                char spelt[32], target[64];
                struct canon canon;
                unsigned code = (unsigned char)bytes[b];
                size_t at = 0;
                for (const char *in = forms[f]; *in; in++) {
                    if (strncmp(in, "%02", 3) == 0) {
                        (void)text_format(spelt + at, sizeof(spelt) - at,
                                          in[3] == 'x' ? "%02x" : "%02X", code);
                        at += 2;
                        in += 3;
                    } else {
                        spelt[at++] = *in;
                        in += strncmp(in, "%%", 2) == 0;
                    }
                }
                spelt[at] = '\0';
                const char *mark = strstr(places[p], "%s");
                (void)text_format(target, sizeof(target), "%.*s%s%s",
                                  (int)(mark - places[p]), places[p], spelt, mark + 2);
                CASE("%s", target);
                OK(look("DELETE", target, arena, &canon) != ERR_OK);
                arena_free(arena);
            }
}

TEST(canon_refuses_targets_that_are_too_long)
{
    static char target[20000];
    struct arena *arena = arena_new(ROOM);
    struct canon canon;
    memset(target, 'a', sizeof(target) - 1);
    memcpy(target, "/sandboxes/", 11);
    EQ_INT(look("GET", target, arena, &canon), ERR_REQUEST_REFUSED);
    HAS_TEXT(canon.why, "longer");
    for (size_t i = 0; i < sizeof(target) - 1; i += 2)
        memcpy(target + i, "/a", 2);
    target[8000] = '\0';
    EQ_INT(look("GET", target, arena, &canon), ERR_OPERATION_UNKNOWN);
    arena_free(arena);
}

TEST(canon_runs_out_of_memory_with_a_refusal)
{
    struct arena *arena = arena_new(64);
    struct canon canon;
    while (arena_alloc(arena, 16))
        ;
    EQ_INT(look("GET", "/v2/sandboxes?limit=1", arena, &canon), ERR_TOO_LARGE);
    EQ_INT(look("DELETE", "/sandboxes/abc", arena, &canon), ERR_TOO_LARGE);
    arena_free(arena);
}

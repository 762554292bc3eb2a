/* tests of core/canon: framing and header names, before anything else is believed. */
#include "canon_kit.h"

#include "base/text.h"
#include "test.h"

#include <string.h>

enum { ROOM = 1 << 20 };

#define HOST "Host: gw.test:8080\n"
#define KEY "e2b_0123456789abcdef0123456789abcdef01234567"
#define OTHER "e2b_ffffffffffffffffffffffffffffffffffffffff"

TEST(canon_refuses_uncertain_framing_and_ambiguous_headers)
{
    static const struct {
        const char *version, *lines, *why;
    } cases[] = {
  /* lengths */
        {NULL,       HOST "Content-Length: 5\nContent-Length: 5\n",                         "more than one"  },
        {NULL,       HOST "Content-Length: 5\ncontent-length: 6\n",                         "more than one"  },
        {NULL,       HOST "Content-Length: 5, 5\n",                                         "plain number"   },
        {NULL,       HOST "Content-Length: +5\n",                                           "plain number"   },
        {NULL,       HOST "Content-Length: -5\n",                                           "plain number"   },
        {NULL,       HOST "Content-Length: 0x5\n",                                          "plain number"   },
        {NULL,       HOST "Content-Length: 5.0\n",                                          "plain number"   },
        {NULL,       HOST "Content-Length: 1e3\n",                                          "plain number"   },
        {NULL,       HOST "Content-Length: 05\n",                                           "plain number"   },
        {NULL,       HOST "Content-Length: 5 5\n",                                          "plain number"   },
        {NULL,       HOST "Content-Length: \n",                                             "plain number"   },
        {NULL,       HOST "Content-Length: five\n",                                         "plain number"   },
        {NULL,       HOST "Content-Length: 99999999999999999999\n",                         "plain number"   },
 /* codings */
        {NULL,       HOST "Content-Length: 5\nTransfer-Encoding: chunked\n",                "both"           },
        {NULL,       HOST "Transfer-Encoding: chunked\nContent-Length: 0\n",                "both"           },
        {NULL,       HOST "Transfer-Encoding: chunked\nTransfer-Encoding: chunked\n",
         "more than one"                                                                                     },
        {NULL,       HOST "Transfer-Encoding: chunked\nTRANSFER-ENCODING: identity\n",
         "more than one"                                                                                     },
        {NULL,       HOST "Transfer-Encoding: identity\n",                                  "chunked"        },
        {NULL,       HOST "Transfer-Encoding: gzip, chunked\n",                             "chunked"        },
        {NULL,       HOST "Transfer-Encoding: chunked, identity\n",                         "chunked"        },
        {NULL,       HOST "Transfer-Encoding: chunked,\n",                                  "chunked"        },
        {NULL,       HOST "Transfer-Encoding: ,chunked\n",                                  "chunked"        },
        {NULL,       HOST "Transfer-Encoding: chunked;q=1\n",                               "chunked"        },
        {NULL,       HOST "Transfer-Encoding: xchunked\n",                                  "chunked"        },
        {NULL,       HOST "Transfer-Encoding: \"chunked\"\n",                               "chunked"        },
        {NULL,       HOST "Transfer-Encoding: \n",                                          "chunked"        },
        {NULL,       HOST "Transfer-Encoding: chunked\x0b\n",                               "control"        },
        {"HTTP/1.0", HOST "Transfer-Encoding: chunked\n",                                   "HTTP/1.0"       },
        {NULL,       HOST "Content-Encoding: gzip\n",                                       "not accepted"   },
        {NULL,       HOST "Content-Encoding: identity\nContent-Encoding: identity\n",
         "more than one"                                                                                     },
 /* names and values */
        {NULL,       HOST ": value\n",                                                      "not a token"    },
        {NULL,       HOST "Content-Length : 5\n",                                           "not a token"    },
        {NULL,       HOST " X: 5\n",                                                        "not a token"    },
        {NULL,       HOST "X Y: 5\n",                                                       "not a token"    },
        {NULL,       HOST "X\tY: 5\n",                                                      "not a token"    },
        {NULL,       HOST "X\x01: 5\n",                                                     "not a token"    },
        {NULL,       HOST "X\xc3\xa9: 5\n",                                                 "not a token"    },
        {NULL,       HOST "X(Y): 5\n",                                                      "not a token"    },
        {NULL,       HOST "X/Y: 5\n",                                                       "not a token"    },
        {NULL,       HOST "X@Y: 5\n",                                                       "not a token"    },
        {NULL,       HOST "X,Y: 5\n",                                                       "not a token"    },
        {NULL,       HOST "\"X\": 5\n",                                                     "not a token"    },
        {NULL,       HOST "X: a\rb\n",                                                      "control"        },
        {NULL,       HOST "X: a\tb\n",                                                      "control"        },
        {NULL,       HOST "X: a\x7f\n",                                                     "control"        },
        {NULL,       HOST "X: \x1b[2J\n",                                                   "control"        },
        {NULL,       HOST "User-Agent: a\x01\n",                                            "control"        },
 /* once only */
        {NULL,       HOST HOST,                                                             "more than one"  },
        {NULL,       HOST "host: other\n",                                                  "more than one"  },
        {NULL,       HOST "X-API-Key: " KEY "\nX-API-KEY: " KEY "\n",                       "more than one"  },
        {NULL,       HOST "X-API-Key: " KEY "\nx-api-key: " OTHER "\n",                     "more than one"  },
        {NULL,       HOST "Authorization: Bearer " KEY "\nauthorization: Bearer " KEY "\n",
         "more than one"                                                                                     },
        {NULL,       HOST "Content-Type: a/b\nContent-Type: a/b\n",                         "more than one"  },
        {NULL,       HOST "Idempotency-Key: a\nIdempotency-Key: a\n",                       "more than one"  },
        {NULL,       HOST "Sandgate-Skill: a\nSandgate-Skill: b\n",                         "more than one"  },
        {NULL,       HOST "Sandgate-Reason: a\nsandgate-reason: b\n",                       "more than one"  },
        {NULL,       HOST "Sandgate-Ticket: a\nSandgate-Ticket: a\n",                       "more than one"  },
        {NULL,       HOST "Sandgate-Wait: 1\nSandgate-Wait: 1\n",                           "more than one"  },
        {NULL,       HOST "Sandgate-Other: 1\nSANDGATE-OTHER: 1\n",                         "more than one"  },
        {NULL,       HOST "User-Agent: a\nUser-Agent: b\n",                                 "more than one"  },
        {NULL,       HOST "lang: js\nlang: python\n",                                       "more than one"  },
        {NULL,       HOST "Expect: 100-continue\nExpect: 100-continue\n",                   "more than one"  },
 /* Host */
        {NULL,       "",                                                                    "Host is missing"},
        {NULL,       "X: y\n",                                                              "Host is missing"},
        {NULL,       "Host: \n",                                                            "not a host"     },
        {NULL,       "Host: a b\n",                                                         "not a host"     },
        {NULL,       "Host: a,b\n",                                                         "not a host"     },
        {NULL,       "Host: user@host\n",                                                   "not a host"     },
        {NULL,       "Host: http://host/\n",                                                "not a host"     },
        {NULL,       "Host: h\xc3\xb6st\n",                                                 "not a host"     },
 /* what tunnels, upgrades or waits */
        {NULL,       HOST "Upgrade: websocket\n",                                           "not accepted"   },
        {NULL,       HOST "Upgrade: h2c\nConnection: Upgrade\n",                            "not accepted"   },
        {NULL,       HOST "X-HTTP-Method-Override: DELETE\n",                               "not accepted"   },
        {NULL,       HOST "x-http-method-override: GET\n",                                  "not accepted"   },
        {NULL,       HOST "X-HTTP-Method: DELETE\n",                                        "not accepted"   },
        {NULL,       HOST "X-Method-Override: DELETE\n",                                    "not accepted"   },
        {NULL,       HOST "Expect: 200-ok\n",                                               "100-continue"   },
        {NULL,       HOST "Expect: 100-continue, x\n",                                      "100-continue"   },
        {NULL,       HOST "Expect: \n",                                                     "100-continue"   },
 /* keys that differ */
        {NULL,       HOST "X-API-Key: " KEY "\nAuthorization: Bearer " OTHER "\n",          "differ"         },
        {NULL,       HOST "Authorization: bearer " OTHER "\nX-API-Key: " KEY "\n",          "differ"         },
        {NULL,       HOST "X-API-Key: \nAuthorization: Bearer " KEY "\n",                   "differ"         },
 /* bounds */
        {NULL,       HOST "Authorization: Bearer e2b_caf\xc3\xa9\n",                        "gateway key"    },
        {NULL,       HOST "Authorization: Bearer e2b_ 0\n",                                 "gateway key"    },
        {NULL,       HOST "Sandgate-Wait: 601\n",                                           "0 to 600"       },
        {NULL,       HOST "Sandgate-Wait: -1\n",                                            "0 to 600"       },
        {NULL,       HOST "Sandgate-Wait: 1.5\n",                                           "0 to 600"       },
        {NULL,       HOST "Sandgate-Wait: 5s\n",                                            "0 to 600"       },
        {NULL,       HOST "Sandgate-Wait: \n",                                              "0 to 600"       },
        {NULL,
         HOST "Sandgate-Skill: "
              "0123456789012345678901234567890123456789012345678901234567890123x\n",        "longer"         },
 /* versions */
        {"HTTP/2.0", HOST,                                                                  "version"        },
        {"HTTP/1.2", HOST,                                                                  "version"        },
        {"HTTP/0.9", HOST,                                                                  "version"        },
        {"http/1.1", HOST,                                                                  "version"        },
        {"",         HOST,                                                                  "version"        },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena *arena = arena_new(ROOM);
        struct canon canon;
        struct agent_headers agent;
        CASE("%s %s", cases[i].version ? cases[i].version : "", cases[i].lines);
        EQ_INT(kit_headers(cases[i].version, cases[i].lines, arena, &canon, &agent),
               ERR_REQUEST_REFUSED);
        HAS_TEXT(canon.why, cases[i].why);
        OK(canon.operation == &operation_unknown);
        for (const char *at = canon.why; *at; at++)
            OK(*at >= ' ' && *at <= '~');
        arena_free(arena);
    }
}

TEST(canon_refuses_a_nul_wherever_it_hides)
{
    static const struct header cases[] = {
        {"X",                "a\0b",    1,  3              },
        {"User-Agent",       "a\0",     10, 2              },
        {"X\0Y",             "a",       3,  1              },
        {"Content-Length\0", "1",       15, 1              },
        {"X-API-Key",        KEY "\0x", 9,  sizeof(KEY) + 1},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct header headers[] = {
            {"Host", "h", 4, 1},
            cases[i]
        };
        const struct raw_request raw = {.method = "GET",
                                        .target = "/health",
                                        .version = "HTTP/1.1",
                                        .headers = headers,
                                        .header_count = 2};
        struct arena *arena = arena_new(ROOM);
        struct canon canon;
        struct agent_headers agent;
        CASE("case %zu", i);
        EQ_INT(canon_headers(&raw, arena, &canon, &agent), ERR_REQUEST_REFUSED);
        arena_free(arena);
    }
}

TEST(canon_refuses_odd_request_lines)
{
    static const struct {
        const char *method, *target, *why;
    } cases[] = {
        {"",                      "/health",               "method"},
        {"GE T",                  "/health",               "method"},
        {"GET\x01",               "/health",               "method"},
        {"GET\r",                 "/health",               "method"},
        {"ANEXTREMELYLONGMETHOD", "/health",               "method"},
        {"GET",                   "*",                     "slash" },
        {"GET",                   "http://e2b.app/health", "slash" },
        {"CONNECT",               "e2b.app:443",           "slash" },
        {"GET",                   "health",                "slash" },
        {"GET",                   "/health#x",             "belong"},
        {"GET",                   "/he alth",              "belong"},
        {"GET",                   "/health\x80",           "belong"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct header headers[] = {
            {"Host", "h", 4, 1}
        };
        const struct raw_request raw = {.method = cases[i].method,
                                        .target = cases[i].target,
                                        .version = "HTTP/1.1",
                                        .headers = headers,
                                        .header_count = 1};
        struct arena *arena = arena_new(ROOM);
        struct canon canon;
        struct agent_headers agent;
        CASE("%s %s", cases[i].method, cases[i].target);
        EQ_INT(canon_headers(&raw, arena, &canon, &agent), ERR_REQUEST_REFUSED);
        HAS_TEXT(canon.why, cases[i].why);
        arena_free(arena);
    }
}

TEST(canon_takes_a_hundred_headers_and_not_one_more)
{
    for (size_t count = 100; count <= 101; count++) {
        struct header headers[101] = {
            {"Host", "h", 4, 1}
        };
        for (size_t i = 1; i < count; i++)
            headers[i] = (struct header){"X-Filler", "v", 8, 1};
        const struct raw_request raw = {.method = "GET",
                                        .target = "/health",
                                        .version = "HTTP/1.1",
                                        .headers = headers,
                                        .header_count = count};
        struct arena *arena = arena_new(ROOM);
        struct canon canon;
        struct agent_headers agent;
        EQ_INT(canon_headers(&raw, arena, &canon, &agent),
               count == 100 ? ERR_OK : ERR_REQUEST_REFUSED);
        arena_free(arena);
    }
}

TEST(canon_reads_what_the_sdks_send)
{
    static const char lines[] =
        "host: 127.0.0.1:8080\nconnection: keep-alive\nbrowser: unknown\n"
        "content-type: application/json\nlang: js\nlang_version: 20.20.2\n"
        "package_version: 2.51.0\npublisher: e2b\nsdk_runtime: node\nsystem: Linux\n"
        "user-agent: e2b-js-sdk/2.51.0\nx-api-key: " KEY "\naccept: */*\n"
        "accept-language: *\nsec-fetch-mode: cors\naccept-encoding: gzip, deflate\n"
        "transfer-encoding: chunked\n";
    static const char *const forwarded[] = {"browser",
                                            "unknown",
                                            "lang",
                                            "js",
                                            "lang_version",
                                            "20.20.2",
                                            "package_version",
                                            "2.51.0",
                                            "publisher",
                                            "e2b",
                                            "sdk_runtime",
                                            "node",
                                            "system",
                                            "Linux",
                                            "User-Agent",
                                            "e2b-js-sdk/2.51.0"};
    struct arena *arena = arena_new(ROOM);
    struct canon canon;
    struct agent_headers agent;
    EQ_INT(kit_headers(NULL, lines, arena, &canon, &agent), ERR_OK);
    EQ_TEXT(agent.key, KEY);
    EQ_TEXT(agent.user_agent, "e2b-js-sdk/2.51.0");
    IS_NULL(agent.skill);
    IS_NULL(agent.reason);
    EQ_INT(agent.wait_s, -1);
    OK(canon.chunked);
    EQ_INT(canon.content_length == SIZE_MAX, true);
    EQ_INT(canon.forward_count, COUNT(forwarded) / 2);
    for (size_t i = 0; i < canon.forward_count; i++) {
        EQ_TEXT(canon.forward[i].name, forwarded[2 * i]);
        EQ_TEXT(canon.forward[i].value, forwarded[2 * i + 1]);
        EQ_INT(canon.forward[i].value_size, strlen(forwarded[2 * i + 1]));
    }
    arena_free(arena);
}

TEST(canon_finds_the_key_in_either_header)
{
    static const struct {
        const char *lines, *key;
    } cases[] = {
        {"X-API-Key: " KEY "\n",                                   KEY },
        {"x-api-KEY:   " KEY "  \n",                               KEY },
        {"Authorization: Bearer " KEY "\n",                        KEY },
        {"authorization: bEaReR " KEY "\n",                        KEY },
        {"X-API-Key: " KEY "\nAuthorization: Bearer " KEY "\n",    KEY },
        {"X-API-Key: " KEY "\nAuthorization: Bearer sk_e2b_123\n", KEY },
        {"X-API-Key: " KEY "\nAuthorization: Basic abc\n",         KEY },
        {"Authorization: Bearer sk_e2b_123\n",                     NULL},
        {"Authorization: Basic " KEY "\n",                         NULL},
        {"Authorization: Bearer  " KEY "\n",                       NULL},
        {"X_API_Key: " KEY "\n",                                   NULL},
        {"X-API-Keys: " KEY "\n",                                  NULL},
        {"X-Admin-Token: " KEY "\n",                               NULL},
        {"Cookie: x-api-key=" KEY "\n",                            NULL},
        {"",                                                       NULL},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena *arena = arena_new(ROOM);
        struct canon canon;
        struct agent_headers agent;
        const char *lines = arena_printf(arena, HOST "%s", cases[i].lines);
        CASE("%s", cases[i].lines);
        EQ_INT(kit_headers(NULL, lines, arena, &canon, &agent), ERR_OK);
        EQ_TEXT(agent.key, cases[i].key);
        EQ_INT(canon.forward_count, 0);
        arena_free(arena);
    }
}

TEST(canon_bounds_and_escapes_what_the_agent_claims)
{
    static const char lines[] =
        HOST "Sandgate-Skill: pr-tests\nSandgate-Reason: caf\xc3\xa9 \xff \"quoted\"\n"
             "Sandgate-Ticket: CHG-1\nSandgate-Wait: 600\nIdempotency-Key: k1\n"
             "traceparent: 00-0123456789abcdef0123456789abcdef-0123456789abcdef-01\n"
             "User-Agent: \xe2\x80\xae\n";
    struct arena *arena = arena_new(ROOM);
    struct canon canon;
    struct agent_headers agent;
    EQ_INT(kit_headers(NULL, lines, arena, &canon, &agent), ERR_OK);
    EQ_TEXT(agent.skill, "pr-tests");
    EQ_TEXT(agent.reason, "caf\\u00e9 \\xff \"quoted\"");
    EQ_TEXT(agent.ticket, "CHG-1");
    EQ_TEXT(agent.idempotency_key, "k1");
    EQ_TEXT(agent.traceparent,
            "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01");
    EQ_TEXT(agent.user_agent, "\\u202e");
    EQ_INT(agent.wait_s, 600);
    EQ_INT(canon.forward_count, 1); /* traceparent: the other is not plain ASCII */
    EQ_TEXT(canon.forward[0].name, "traceparent");
    arena_free(arena);
}

TEST(canon_cuts_a_long_reason_between_characters)
{
    char lines[1024] = HOST "Sandgate-Reason: ";
    size_t at = strlen(lines);
    for (int i = 0; i < 239; i++)
        lines[at++] = 'r';
    memcpy(lines + at, "\xe2\x82\xac and more\n", 13);
    struct arena *arena = arena_new(ROOM);
    struct canon canon;
    struct agent_headers agent;
    EQ_INT(kit_headers(NULL, lines, arena, &canon, &agent), ERR_OK);
    EQ_INT(strlen(agent.reason), 239);
    EQ_INT(agent.reason[238], 'r');
    arena_free(arena);
}

TEST(canon_ignores_a_malformed_traceparent)
{
    static const char *const cases[] = {
        "",
        "00",
        "00-0123456789ABCDEF0123456789abcdef-0123456789abcdef-01",
        "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01x",
        "00-0123456789abcdef0123456789abcdef-0123456789abcdef",
        "00_0123456789abcdef0123456789abcdef-0123456789abcdef-01"};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena *arena = arena_new(ROOM);
        struct canon canon;
        struct agent_headers agent;
        CASE("%s", cases[i]);
        const char *lines = arena_printf(arena, HOST "traceparent: %s\n", cases[i]);
        EQ_INT(kit_headers(NULL, lines, arena, &canon, &agent), ERR_OK);
        IS_NULL(agent.traceparent);
        EQ_INT(canon.forward_count, 0);
        arena_free(arena);
    }
}

/* Names that other gateways trusted; none may change anything here. */
TEST(canon_gives_internal_looking_headers_no_meaning)
{
    static const char lines[] = HOST
        "X-Forwarded-For: 127.0.0.1\nX-Forwarded-Prefix: /admin\nX-Real-IP: ::1\n"
        "X-Sandgate-Agent: root\nX-Middleware-Subrequest: 1\nX-Internal: 1\n"
        "X-Original-URL: /admin\nX-Rewrite-URL: /admin\nX-Admin-Token: t\n"
        "X-Team-ID: t\nX-Supabase-Token: t\nX-Access-Token: t\n"
        "Sandgate-Approval: apr_1\nSandgate-State: approved\nSandgate-Record: 1\n"
        "Connection: X-API-Key, Content-Length\nTE: trailers\nTrailer: X-API-Key\n"
        "Proxy-Authorization: Basic x\nContent_Length: 7\nTransfer_Encoding: gzip\n"
        "Range: bytes=0-1\nForwarded: for=1\nVia: 1.1 x\nCookie: a=b\n"
        "Origin: http://evil\nAccess-Control-Request-Method: DELETE\n";
    struct arena *arena = arena_new(ROOM);
    struct canon canon;
    struct agent_headers agent;
    EQ_INT(kit_headers(NULL, lines, arena, &canon, &agent), ERR_OK);
    EQ_INT(canon.forward_count, 0);
    IS_NULL(agent.key);
    EQ_INT(canon.content_length == SIZE_MAX, true);
    NOT(canon.chunked);
    arena_free(arena);
}

TEST(canon_accepts_plain_framing)
{
    static const struct {
        const char *version, *lines;
        int64_t length; /* -1: none */
        bool chunked;
    } cases[] = {
        {NULL,       HOST,                                             -1, false},
        {NULL,       HOST "Content-Length: 0\n",                       0,  false},
        {NULL,       HOST "Content-Length:  42 \n",                    42, false},
        {NULL,       HOST "Transfer-Encoding: Chunked\n",              -1, true },
        {NULL,       HOST "Expect: 100-Continue\nContent-Length: 3\n", 3,  false},
        {NULL,       HOST "Content-Encoding: identity\n",              -1, false},
        {NULL,       "Host: [::1]:8080\n",                             -1, false},
        {"HTTP/1.0", "X: y\n",                                         -1, false},
        {"HTTP/1.0", HOST "Content-Length: 9\n",                       9,  false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct arena *arena = arena_new(ROOM);
        struct canon canon;
        struct agent_headers agent;
        CASE("%s", cases[i].lines);
        EQ_INT(kit_headers(cases[i].version, cases[i].lines, arena, &canon, &agent),
               ERR_OK);
        EQ_INT((int64_t)canon.content_length, cases[i].length);
        EQ_INT(canon.chunked, cases[i].chunked);
        arena_free(arena);
    }
}

#include "test_front_rig.h"

#define HOST "Host: a\r\n"
#define POST "POST /now HTTP/1.1\r\n" HOST

TEST(requests_arrive_as_they_were_sent)
{
    static const struct {
        const char *bytes, *part;
    } cases[] = {
        {"GET /now?a=%41+b&c;d HTTP/1.1\r\nHost: a\r\nX-One: 1\r\nX-One:  2 \r\n\r\n",
         "GET /now?a=%41+b&c;d HTTP/1.1|agents ip=127.0.0.1 uid=-1|Host=a|X-One=1|"
         "X-One=2 |body(0)="                                                                                },
        {"PATCH /now/%2e%2E/%00//x HTTP/1.1\r\n" HOST "\r\n",
         "PATCH /now/%2e%2E/%00//x HTTP/1.1|"                                                               },
        {"frob * HTTP/1.0\r\n\r\n",                                                     "frob * HTTP/1.0|"  },
        {"GET http://evil/now#x HTTP/1.1\r\n" HOST "\r\n",
         "GET http://evil/now#x HTTP"                                                                       },
        {POST "Content-Length: 5\r\n\r\nhello",                                         "|body(5)=hello"    },
        {POST "Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\n\r\n",
         "|body(5)=hello"                                                                                   },
        {POST "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nX-Trailer: t\r\n\r\n",
         "Transfer-Encoding=chunked|body(1)=x"                                                              },
        {"POST /later HTTP/1.1\r\n" HOST "Content-Length: 3\r\n\r\nabc",
         "|body(3)=abc"                                                                                     },
        {"DELETE /later HTTP/1.1\r\n" HOST "Content-Length: 0\r\n\r\n",                 "|body(0)="         },
        {"\r\nGET /now HTTP/1.1\r\n" HOST "\r\n",                                       "GET /now HTTP/1.1|"},
    };
    struct rig rig;
    rig_start_usual(&rig);
    for (size_t i = 0; i < COUNT(cases); i++) {
        own_buf out = BUF(RIG_BODY_MAX);
        CASE("%s", cases[i].bytes);
        EQ_INT(rig_ask(&rig, cases[i].bytes, strlen(cases[i].bytes), &out), 200);
        HAS_TEXT(out.data, cases[i].part);
        NOT(strstr(out.data, "(malformed line)"));
        NOT(strcasestr(out.data, "\r\nConnection: close") && i != 2);
    }
    rig_stop(&rig);
}

/* Each reads as two different requests to two parsers. */
TEST(heads_with_gaps_are_marked_for_refusal)
{
#define BYTES(text) text, sizeof(text) - 1
    static const struct {
        const char *what, *bytes;
        size_t size;
    } cases[] = {
        {"NUL in the target", BYTES("GET /now\0x HTTP/1.1\r\n" HOST "\r\n")                   },
        {"NUL in the method", BYTES("GET\0X /now HTTP/1.1\r\n" HOST "\r\n")                   },
        {"two spaces",        BYTES("GET  /now HTTP/1.1\r\n" HOST "\r\n")                     },
        {"NUL in a value",    BYTES("GET /now HTTP/1.1\r\n" HOST "X: a\0b\r\n\r\n")           },
        {"NUL ends a value",  BYTES("GET /now HTTP/1.1\r\n" HOST "X: a\0\r\n\r\n")            },
        {"bare LF, line",     BYTES("GET /now HTTP/1.1\n" HOST "\r\n")                        },
        {"bare LF, header",   BYTES("GET /now HTTP/1.1\r\nHost: a\nX: b\r\n\r\n")             },
        {"bare LF, last",     BYTES("GET /now HTTP/1.1\r\nHost: a\n\r\n")                     },
        {"bare LF, end",      BYTES("GET /now HTTP/1.1\r\nHost: a\r\n\n")                     },
        {"only LF",           BYTES("GET /now HTTP/1.1\nHost: a\n\n")                         },
        {"folded",            BYTES("GET /now HTTP/1.1\r\n" HOST "X: a\r\n b\r\nY: c\r\n\r\n")},
        {"folded at the end",
         BYTES("GET /now HTTP/1.1\r\n" HOST "X: a\r\n\tb\r\n\r\n")                            },
        {"empty name",        BYTES("GET /now HTTP/1.1\r\n" HOST ": v\r\nX: y\r\n\r\n")       },
        {"only a colon",      BYTES("GET /now HTTP/1.1\r\n" HOST ":\r\nX: y\r\n\r\n")         },
    };
#undef BYTES
    struct rig rig;
    rig_start_usual(&rig);
    for (size_t i = 0; i < COUNT(cases); i++) {
        own_buf out = BUF(RIG_BODY_MAX);
        CASE("%s", cases[i].what);
        EQ_INT(rig_ask(&rig, cases[i].bytes, cases[i].size, &out), 200);
        HAS_TEXT(out.data, "|(malformed line)=|");
    }
    rig_stop(&rig);
}

/* libmicrohttpd would read on until the client closes. */
TEST(bodies_without_an_end_are_marked_for_refusal)
{
    static const char *const codings[] = {"gzip",         "identity",    "chunked ",
                                          "chunked\t",    "\"chunked\"", "",
                                          "chunked, gzip"};
    struct rig rig;
    rig_start_usual(&rig);
    for (size_t i = 0; i < COUNT(codings); i++) {
        own_buf out = BUF(RIG_BODY_MAX), bytes = BUF(4096);
        CASE("%s", codings[i]);
        OK(buf_printf(&bytes,
                      "POST /refused/later HTTP/1.1\r\n" HOST
                      "Transfer-Encoding: %s\r\n\r\n0\r\n\r\n",
                      codings[i]));
        EQ_INT(rig_ask(&rig, bytes.data, bytes.size, &out), 401);
        HAS_TEXT(out.data, "|(transfer coding)=|");
    }
    rig_stop(&rig);
}

TEST(broken_requests_never_reach_an_exchange)
{
    static const struct {
        const char *bytes;
        int status;
    } cases[] = {
        {"GET /now HTTP/1.1\r\n\r\n",                         400},
        {"GET /now\r\n\r\n",                                  400},
        {"GET /now HTTP/2.0\r\n" HOST "\r\n",                 505},
        {"GET /now HTTP/1.1\r\nno colon\r\n\r\n",             400},
        {"GET /a b HTTP/1.1\r\n" HOST "\r\n",                 0  },
        {"GET\r\n\r\n",                                       0  },
        {POST "Content-Length: -1\r\n\r\n",                   400},
        {POST "Content-Length: 99999999999999999999\r\n\r\n", 413},
    };
    struct rig rig;
    rig_start_usual(&rig);
    for (size_t i = 0; i < COUNT(cases); i++) {
        own_buf out = BUF(RIG_BODY_MAX);
        CASE("%s", cases[i].bytes);
        EQ_INT(rig_ask(&rig, cases[i].bytes, strlen(cases[i].bytes), &out),
               cases[i].status);
    }
    EQ_INT(rig_count(&rig_seen.begun), 0);
    rig_stop(&rig);
}

TEST(pipelined_requests_are_answered_one_by_one)
{
    static const char *const paths[] = {"/now?1", "/later?2", "/now?3", "/close?4"};
    struct rig rig;
    rig_start_usual(&rig);
    own_buf bytes = BUF(4096), got = BUF(RIG_BODY_MAX), out = BUF(RIG_BODY_MAX);
    for (size_t i = 0; i < COUNT(paths); i++)
        OK(buf_printf(&bytes,
                      "POST %s HTTP/1.1\r\n" HOST "Content-Length: 1\r\n\r\n%zu",
                      paths[i], i));
    int fd = rig_connect(&rig);
    rig_send(fd, bytes.data, bytes.size);
    for (size_t i = 0; i < COUNT(paths); i++) {
        char body[32];
        CASE("%s", paths[i]);
        EQ_INT(rig_answer(fd, true, &got, &out), 200);
        HAS_TEXT(out.data, paths[i]);
        OK(text_format(body, sizeof(body), "body(1)=%zu", i));
        HAS_TEXT(out.data, body);
    }
    HAS_TEXT(out.data, "Connection: close\r\n");
    OK(rig_closed(fd));
    (void)close(fd);
    rig_stop(&rig);
}

TEST(answers_carry_headers_and_keep_silent_where_they_must)
{
    static const struct {
        const char *method, *path;
        int status;
        const char *part;
        bool body;
    } cases[] = {
        {"GET",  "/now",   200, "\r\nContent-Type: text/plain\r\n", true },
        {"GET",  "/later", 200, "\r\nX-Two: 1\r\nX-Two: 2\r\n",     true },
        {"GET",  "/empty", 204, "HTTP/1.1 204 ",                    false},
        {"HEAD", "/now",   200, "Content-Length: ",                 false},
        {"GET",  "/file",  200, "\r\n\r\na file's bytes",           true },
        {"HEAD", "/file",  200, "Content-Length: 14\r\n",           false},
        {"GET",  "/now",   200, "\r\nDate: ",                       true },
    };
    struct rig rig;
    rig_start_usual(&rig);
    own_buf got = BUF(RIG_BODY_MAX), out = BUF(RIG_BODY_MAX);
    int fd = rig_connect(&rig); /* one connection: what is too much breaks the next */
    for (size_t i = 0; i < COUNT(cases); i++) {
        char bytes[256];
        CASE("%s %s", cases[i].method, cases[i].path);
        OK(text_format(bytes, sizeof(bytes), "%s %s HTTP/1.1\r\n" HOST "\r\n",
                       cases[i].method, cases[i].path));
        rig_say(fd, bytes);
        EQ_INT(rig_answer(fd, cases[i].body, &got, &out), cases[i].status);
        HAS_TEXT(out.data, cases[i].part);
        EQ_INT(got.size, 0);
        NOT(strstr(out.data, "Server:"));
    }
    (void)close(fd);
    rig_stop(&rig);
}

/* Either it fits, with its answer, or it is refused; never a silent end. */
TEST(large_heads_always_get_an_answer)
{
    struct rig rig;
    rig_start_usual(&rig);
    int refused = 0, marked = 0, fine = 0;
    for (size_t size = 256; size < 20000; size += 256) {
        own_buf bytes = BUF(1 << 16), out = BUF(RIG_BODY_MAX);
        CASE("%zu bytes", size);
        OK(buf_text(&bytes, "GET /later HTTP/1.1\r\n" HOST));
        while (bytes.size < size)
            OK(buf_text(&bytes,
                        "X-Filler: 0123456789012345678901234567890123456789\r\n"));
        OK(buf_text(&bytes, "\r\n"));
        int status = rig_ask(&rig, bytes.data, bytes.size, &out);
        OK(status == 200 || status == 431);
        refused += status == 431;
        marked += strstr(out.data, "(header section too large)") != NULL;
        fine += status == 200 && !strstr(out.data, "(header section too large)");
    }
    OK(fine > 15 && marked > 5 && refused > 5);
    rig_stop(&rig);
}

/* ---- bodies ---- */

static int post(const struct rig *rig, const char *path, size_t size, bool chunked,
                struct buf *out)
{
    own_buf bytes = BUF(RIG_BODY_MAX * 4);
    OK(buf_printf(&bytes, "POST %s HTTP/1.1\r\n" HOST, path));
    if (!chunked)
        OK(buf_printf(&bytes, "Content-Length: %zu\r\n\r\n", size));
    else
        OK(buf_text(&bytes, "Transfer-Encoding: chunked\r\n\r\n"));
    for (size_t at = 0; at < size;) {
        size_t piece = chunked && size - at > 7 ? 7 : size - at;
        if (chunked)
            OK(buf_printf(&bytes, "%zx\r\n", piece));
        for (size_t i = 0; i < piece; i++, at++)
            OK(buf_char(&bytes, (char)('a' + at % 26)));
        if (chunked)
            OK(buf_text(&bytes, "\r\n"));
    }
    if (chunked)
        OK(buf_text(&bytes, "0\r\n\r\n"));
    return rig_ask(rig, bytes.data, bytes.size, out);
}

TEST(bodies_are_fed_whole_or_refused)
{
    static const struct {
        const char *path;
        size_t size;
        bool chunked;
        int status;
        bool close;
    } cases[] = {
        {"/now",           100000,         false, 200, false},
        {"/later",         100000,         false, 200, false},
        {"/now",           20000,          true,  200, false},
        {"/later",         20000,          true,  200, false},
        {"/later",         RIG_BODY_MAX,   false, 200, false},
        {"/small/now",     RIG_SMALL,      false, 413, true },
        {"/small/now",     RIG_SMALL + 50, false, 413, true },
        {"/small/now",     RIG_SMALL + 50, true,  413, true },
        {"/small/later",   RIG_SMALL + 50, false, 413, true },
        {"/small/later",   RIG_SMALL + 50, true,  413, true },
        {"/small/now",     RIG_SMALL * 30, true,  0,   true },
        {"/small/later",   RIG_SMALL * 30, true,  0,   true },
        {"/refused/now",   50000,          false, 401, true },
        {"/refused/later", 50000,          false, 401, true },
        {"/refused/now",   5000,           true,  401, true },
        {"/refused/later", 5000,           true,  401, true },
        {"/refused/now",   0,              false, 401, true },
        {"/empty",         0,              false, 204, false},
        {"/empty",         10,             true,  204, true },
        {"/none",          10,             false, 0,   true },
    };
    struct rig rig;
    rig_start_usual(&rig);
    for (size_t i = 0; i < COUNT(cases); i++) {
        own_buf out = BUF(RIG_BODY_MAX * 2);
        char part[64];
        CASE("%s %zu %d", cases[i].path, cases[i].size, cases[i].chunked);
        int status = post(&rig, cases[i].path, cases[i].size, cases[i].chunked, &out);
        EQ_INT(status, cases[i].status);
        if (status)
            EQ_INT(strstr(out.data, "Connection: close") != NULL, cases[i].close);
        OK(text_format(part, sizeof(part), "body(%zu)=", cases[i].size));
        if (status == 200)
            HAS_TEXT(out.data, part);
    }
    rig_stop(&rig);
}

TEST(what_is_refused_by_its_head_is_not_asked_to_continue)
{
    static const struct {
        const char *path;
        int first;
    } cases[] = {
        {"/later",         100},
        {"/now",           100},
        {"/refused/now",   401},
        {"/refused/later", 401},
    };
    struct rig rig;
    rig_start_usual(&rig);
    for (size_t i = 0; i < COUNT(cases); i++) {
        own_buf got = BUF(RIG_BODY_MAX), out = BUF(RIG_BODY_MAX);
        char bytes[256];
        CASE("%s", cases[i].path);
        OK(text_format(bytes, sizeof(bytes),
                       "POST %s HTTP/1.1\r\n" HOST "Content-Length: 2\r\n"
                       "Expect: 100-continue\r\n\r\n",
                       cases[i].path));
        int fd = rig_connect(&rig);
        rig_say(fd, bytes);
        EQ_INT(rig_answer(fd, true, &got, &out), cases[i].first);
        if (cases[i].first == 100) {
            rig_say(fd, "ok");
            EQ_INT(rig_answer(fd, true, &got, &out), 200);
            HAS_TEXT(out.data, "body(2)=ok");
        } else {
            OK(rig_closed(fd));
        }
        (void)close(fd);
    }
    rig_stop(&rig);
}

#include "test.h"
#include "upstream/passed.h"
#include "upstream/request.h"

#include "base/text.h"

#include <string.h>

#define H(name, value)                                   \
    {                                                    \
        name, value, sizeof(name) - 1, sizeof(value) - 1 \
    }

#define TAIL "Accept: application/json\r\nAccept-Encoding: identity\r\n"
#define LIVE "Connection: keep-alive\r\n\r\n"

static struct transfer sample(const char *method, const char *path, const char *query,
                              const char *body)
{
    return (struct transfer){.base_url = "https://api.e2b.app",
                             .e2b_key = "e2b_0123",
                             .method = method,
                             .path = path,
                             .query = query,
                             .body = body,
                             .body_size = body ? strlen(body) : 0};
}

TEST(request_is_exactly_these_bytes)
{
    static const struct {
        const char *method, *path, *query, *body, *bytes;
    } cases[] = {
        {"GET",    "/sandboxes",           "",                             NULL,
         "GET /sandboxes HTTP/1.1\r\nHost: api.e2b.app\r\nX-API-Key: e2b_0123\r\n" TAIL
             LIVE                                                   },
        {"GET",    "/v2/sandboxes",        "state=running,paused&limit=5", NULL,
         "GET /v2/sandboxes?state=running,paused&limit=5 HTTP/1.1\r\n"
         "Host: api.e2b.app\r\nX-API-Key: e2b_0123\r\n" TAIL LIVE   },
        {"DELETE", "/sandboxes/abc",       NULL,                           NULL,
         "DELETE /sandboxes/abc HTTP/1.1\r\nHost: api.e2b.app\r\nX-API-Key: "
         "e2b_0123\r\n" TAIL LIVE                                   },
        {"POST",   "/sandboxes",           "",                             "{\"templateID\":\"base\"}",
         "POST /sandboxes HTTP/1.1\r\nHost: api.e2b.app\r\nX-API-Key: e2b_0123\r\n" TAIL
         "Content-Type: application/json\r\nContent-Length: 21\r\n" LIVE
         "{\"templateID\":\"base\"}"                                },
        {"POST",   "/sandboxes/abc/pause", "",                             NULL,
         "POST /sandboxes/abc/pause HTTP/1.1\r\nHost: api.e2b.app\r\n"
         "X-API-Key: e2b_0123\r\n" TAIL "Content-Length: 0\r\n" LIVE},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        CASE("%s %s", cases[i].method, cases[i].path);
        own_buf out = BUF(4096);
        const char *rest;
        size_t rest_size;
        struct transfer transfer =
            sample(cases[i].method, cases[i].path, cases[i].query, cases[i].body);
        OK(request_write(&out, &transfer, &rest, &rest_size));
        EQ_TEXT(out.data, cases[i].bytes);
        EQ_INT(rest_size, 0);
    }
}

TEST(request_takes_headers_of_the_client_but_never_ours)
{
    static const struct header headers[] = {
        H("user-agent", "e2b-js-sdk/2.51.0"),
        H("HOST", "evil"),
        H("x-api-key", "stolen"),
        H("accept", "*/*"),
        H("Accept-encoding", "gzip"),
        H("content-type", "text/plain"),
        H("Content-Length", "7"),
        H("transfer-encoding", "chunked"),
        H("connection", "X-API-Key"),
        H("lang", "js"),
    };
    struct transfer transfer = sample("POST", "/sandboxes", "", "{}");
    transfer.headers = headers;
    transfer.header_count = COUNT(headers);
    own_buf out = BUF(4096);
    const char *rest;
    size_t rest_size;
    OK(request_write(&out, &transfer, &rest, &rest_size));
    EQ_TEXT(out.data, "POST /sandboxes HTTP/1.1\r\nHost: api.e2b.app\r\n"
                      "X-API-Key: e2b_0123\r\nuser-agent: e2b-js-sdk/2.51.0\r\n"
                      "lang: js\r\n" TAIL "Content-Type: application/json\r\n"
                      "Content-Length: 2\r\n" LIVE "{}");
}

TEST(request_leaves_a_large_body_where_it_is)
{
    static char body[100000];
    memset(body, 'x', sizeof(body) - 1);
    struct transfer transfer = sample("POST", "/sandboxes", "", body);
    own_buf out = BUF(4096);
    const char *rest;
    size_t rest_size;
    OK(request_write(&out, &transfer, &rest, &rest_size));
    OK(text_ends(out.data, "Content-Length: 99999\r\n" LIVE));
    OK(rest == body);
    EQ_INT(rest_size, sizeof(body) - 1);
}

TEST(request_that_does_not_fit_is_told)
{
    struct transfer transfer = sample("GET", "/sandboxes", "", NULL);
    own_buf out = BUF(40);
    const char *rest;
    size_t rest_size;
    NOT(request_write(&out, &transfer, &rest, &rest_size));
}

static void write_with(const char *method, const char *path, const char *key,
                       const struct header *header)
{
    struct transfer transfer = sample(method, path, "", NULL);
    own_buf out = BUF(4096);
    const char *rest;
    size_t rest_size;
    transfer.e2b_key = key;
    transfer.headers = header;
    transfer.header_count = header ? 1 : 0;
    (void)request_write(&out, &transfer, &rest, &rest_size);
}

TEST(request_with_a_control_byte_is_a_bug)
{
    static const struct header split = H("a", "b\r\nX-Evil: 1"), name = H("a b", "c");
    DIES(write_with("GET", "/a\r\nHost: evil", "k", NULL));
    DIES(write_with("GET", "/a b", "k", NULL));
    DIES(write_with("GET", "http://evil/", "k", NULL));
    DIES(write_with("GET /evil", "/", "k", NULL));
    DIES(write_with("GET", "/", "k\n", NULL));
    DIES(write_with("GET", "/", "k", &split));
    DIES(write_with("GET", "/", "k", &name));
}

TEST(request_base_url_is_an_origin)
{
    static const struct {
        const char *url;
        bool good;
    } cases[] = {
        {"https://api.e2b.app",       true },
        {"http://127.0.0.1:3000",     true },
        {"https://[::1]:8443",        true },
        {"https://api.e2b.app/",      false},
        {"https://api.e2b.app/v1",    false},
        {"https://key@api.e2b.app",   false},
        {"https://api.e2b.app?x",     false},
        {"https://api.e2b.app#x",     false},
        {"https://api.e2b.app\r\nX:", false},
        {"https://a b",               false},
        {"https://",                  false},
        {"ftp://api.e2b.app",         false},
        {"file:///etc/passwd",        false},
        {"api.e2b.app",               false},
        {"",                          false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        CASE("%s", cases[i].url);
        EQ_INT(request_base_url_is_good(cases[i].url), cases[i].good);
    }
}

TEST(passed_headers_are_those_of_the_table)
{
    struct transfer transfer = {.head = BUF(4096)};
    buf_text(&transfer.head, "HTTP/1.1 200 OK\r\n"
                             "x-next-token:  abc \r\n"
                             "Location: http://evil/\r\n"
                             "Set-Cookie: a=b\r\n"
                             "Retry-After: 5\r\n"
                             "retry-after: 6\r\n"
                             "Server: x\r\n"
                             "Cache-Control: caf\xc3\xa9\r\n"
                             "RateLimit-Limit: a\tb\r\n"
                             "X-E2B-Trace-ID:\r\n"
                             "Content-Type: application/json\r\n"
                             "Content-Length: 0\r\n\r\n");
    static const struct header due[] = {
        H("x-next-token", "abc"),
        H("Retry-After", "5"),
        H("X-E2B-Trace-ID", ""),
        H("Content-Type", "application/json"),
    };
    passed_collect(&transfer);
    EQ_INT(transfer.passed_count, COUNT(due));
    for (size_t i = 0; i < COUNT(due); i++) {
        CASE("%s", due[i].name);
        EQ_TEXT(transfer.passed[i].name, due[i].name);
        EQ_TEXT(transfer.passed[i].value, due[i].value);
        EQ_INT(transfer.passed[i].name_size, due[i].name_size);
        EQ_INT(transfer.passed[i].value_size, due[i].value_size);
    }
    buf_free(&transfer.head);
}

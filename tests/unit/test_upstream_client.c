#include "test_upstream_rig.h"
#include "upstream/client.h"

#include <sys/un.h>

#define READ_SAY(text)             \
    {                              \
        {READ, NULL}, {SAY, text}, \
        {                          \
            FIN, NULL              \
        }                          \
    }
#define LINE "HTTP/1.1 200 OK\r\n"

TEST(client_calls_and_says_why_not)
{
    static const struct {
        const char *name;
        struct script script;
        int status;
        const char *body, *error;
    } cases[] = {
        {"an answer",                  {READ_SAY(OK_HI)},                                  200, "hi", ""                      },
        {"chunks",                     {READ_SAY(CHUNKED_HI)},                             200, "hi", ""                      },
        {"interim",                    {READ_SAY("HTTP/1.1 103 x\r\nA: b\r\n\r\n" OK_HI)}, 200, "hi", ""                      },
        {"a trailer",
         {READ_SAY(LINE
                   "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nA: b\r\n\r\n")},
         200,                                                                                   "hi",
         ""                                                                                                                   },
        {"an error",
         {READ_SAY("HTTP/1.1 403 x\r\nContent-Length: 2\r\n\r\nno")},
         403,                                                                                   "no",
         ""                                                                                                                   },
        {"a redirect is not followed",
         {READ_SAY("HTTP/1.1 302 x\r\nLocation: /a\r\nContent-Length: 0\r\n\r\n")},
         302,                                                                                   "",
         ""                                                                                                                   },
        {"closed",                     {{{READ, NULL}, {FIN, NULL}}},                      0,   "",   "without an answer"     },
        {"reset",                      {{{READ, NULL}, {RST, NULL}}},                      0,   "",   "broke"                 },
        {"cut headers",                {READ_SAY(LINE "Content-Le")},                      0,   "",   "cut short"             },
        {"cut body",
         {READ_SAY(LINE "Content-Length: 9\r\n\r\nhi")},
         0,                                                                                     "hi",
         "cut short"                                                                                                          },
        {"cut chunk",
         {READ_SAY(LINE "Transfer-Encoding: chunked\r\n\r\n9\r\nhi")},
         0,                                                                                     "hi",
         "cut"                                                                                                                },
        {"not HTTP",                   {READ_SAY("<html>")},                               0,   "",   "does not speak HTTP"   },
        {"too large",
         {READ_SAY(LINE "Content-Length: 17\r\n\r\n12345678901234567")},
         0,                                                                                     "",
         "larger than expected"                                                                                               },
        {"silence",                    {{{READ, NULL}, {HANG, NULL}}},                     0,   "",   "did not answer in time"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        CASE("%s", cases[i].name);
        struct server server = {.scripts = {cases[i].script}};
        server_start(&server);
        struct client_call call = {
            .url = server.url, .method = "GET", .timeout_ms = 300};
        own_buf answer = BUF(16);
        char error[256];
        EQ_INT(client_call(&call, &answer, error), cases[i].status);
        EQ_TEXT(answer.data ? answer.data : "", cases[i].body);
        HAS_TEXT(error, cases[i].error);
        OK((error[0] == '\0') == (cases[i].status != 0));
        server_stop(&server);
    }
}

TEST(client_sends_what_it_was_given)
{
    static const char *const headers[] = {"X-Test: 1", "Authorization: Bearer x", NULL};
    struct server server = {.scripts = {{READ_SAY(OK_HI)}}};
    server_start(&server);
    char url[128], error[256];
    (void)snprintf(url, sizeof(url), "%s/a/../b?c=d", server.url);
    struct client_call call = {.url = url,
                               .method = "PUT",
                               .body = "{\"a\":1}",
                               .timeout_ms = 5000,
                               .headers = headers};
    own_buf answer = BUF(100);
    EQ_INT(client_call(&call, &answer, error), 200);
    server_stop(&server);
    OK(strncmp(server.seen, "PUT /a/../b?c=d HTTP/1.1\r\n", 26) == 0);
    HAS_TEXT(server.seen, "\r\nX-Test: 1\r\n");
    HAS_TEXT(server.seen, "\r\nAuthorization: Bearer x\r\n");
    HAS_TEXT(server.seen, "\r\nContent-Type: application/json\r\n");
    HAS_TEXT(server.seen, "\r\nContent-Length: 7\r\n");
    HAS_TEXT(server.seen, "\r\n\r\n{\"a\":1}");
    NOT(strstr(server.seen, "Expect:"));
}

TEST(client_lets_no_line_break_through)
{
    static const char *const split[] = {"A: b\r\nX-Evil: 1", NULL};
    static const struct {
        const char *method, *path;
        const char *const *headers;
    } cases[] = {
        {"GET",                             "/",              split},
        {"GET / HTTP/1.1\r\nX-Evil: 1\r\n", "/",              NULL },
        {"GET",                             "/\r\nX-Evil: 1", NULL },
    };
    struct server server = {.scripts = {{READ_SAY(OK_HI)}}};
    server_start(&server);
    for (size_t i = 0; i < COUNT(cases); i++) {
        CASE("%zu", i);
        char url[128], error[256];
        (void)snprintf(url, sizeof(url), "%s%s", server.url, cases[i].path);
        struct client_call call = {
            .url = url, .method = cases[i].method, .headers = cases[i].headers};
        own_buf answer = BUF(100);
        EQ_INT(client_call(&call, &answer, error), 0);
        OK(error[0]);
    }
    server_stop(&server);
    EQ_INT(server.requests, 0);
}

struct stream {
    struct buf got;
    int calls, stop_at;
};

static bool take(void *context, const char *bytes, size_t size)
{
    struct stream *stream = context;
    (void)buf_add(&stream->got, bytes, size);
    return ++stream->calls != stream->stop_at;
}

TEST(client_streams_and_stops_when_told)
{
    struct server server = {
        .scripts = {
                    {READ_SAY(CHUNKED_HI)},
                    {{{READ, NULL},
              {SAY, LINE "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n"},
              {HANG, NULL}}},
                    }
    };
    server_start(&server);
    for (int stop_at = 0; stop_at < 2; stop_at++) {
        struct stream stream = {.got = BUF(100), .stop_at = stop_at};
        struct client_call call = {
            .url = server.url, .method = "GET", .chunk = take, .context = &stream};
        own_buf answer = BUF(100);
        char error[256];
        EQ_INT(client_call(&call, &answer, error), 200);
        EQ_TEXT(error, "");
        EQ_TEXT(stream.got.data, "hi");
        EQ_INT(answer.size, 0);
        buf_free(&stream.got);
    }
    server_stop(&server);
}

/* ---- UNIX sockets ---- */

static void *answer_once(void *context)
{
    const int *listener = context;
    char text[1024];
    int fd = accept(*listener, NULL, NULL);
    must(fd >= 0 && read(fd, text, sizeof(text)) > 0);
    must(write(fd, OK_HI, sizeof(OK_HI) - 1) > 0);
    close(fd);
    return NULL;
}

TEST(client_calls_over_a_unix_socket)
{
    char folder[] = "/tmp/sandgate-client-XXXXXX", path[64], error[256];
    must(mkdtemp(folder));
    (void)snprintf(path, sizeof(path), "%s/admin.sock", folder);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    struct client_call call = {.socket = path,
                               .url = "http://localhost/",
                               .method = "GET",
                               .timeout_ms = 5000};
    own_buf answer = BUF(100);
    EQ_INT(client_call(&call, &answer, error), 0);
    HAS_TEXT(error, path);
    HAS_TEXT(error, "is sandgated running?");

    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    must(fd >= 0 && !bind(fd, (const struct sockaddr *)&address, sizeof(address)));
    must(!listen(fd, 1));
    pthread_t thread;
    must(!pthread_create(&thread, NULL, answer_once, &fd));
    EQ_INT(client_call(&call, &answer, error), 200);
    EQ_TEXT(answer.data, "hi");
    must(!pthread_join(thread, NULL));
    close(fd);
    unlink(path);
    rmdir(folder);
}

TEST(client_explains_a_place_that_is_not_there)
{
    static const struct {
        const char *url, *error;
    } cases[] = {
        {"http://127.0.0.1:1/", "cannot connect to http://127.0.0.1:1/"},
        {"http://",             "is not an http or https URL"          },
        {"file:///etc/passwd",  "is not an http or https URL"          },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        CASE("%s", cases[i].url);
        struct client_call call = {
            .url = cases[i].url, .method = "GET", .timeout_ms = 2000};
        own_buf answer = BUF(100);
        char error[256];
        EQ_INT(client_call(&call, &answer, error), 0);
        HAS_TEXT(error, cases[i].error);
        EQ_INT(answer.size, 0);
    }
}

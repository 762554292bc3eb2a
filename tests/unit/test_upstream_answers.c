/* One transfer against each way a server can misbehave, as a read and as a write. */
#include "test_upstream_rig.h"

#define READ_SAY(text)             \
    {                              \
        {READ, NULL}, {SAY, text}, \
        {                          \
            FIN, NULL              \
        }                          \
    }
#define READ_SAY_HANG(text)        \
    {                              \
        {READ, NULL}, {SAY, text}, \
        {                          \
            HANG, NULL             \
        }                          \
    }
#define LINE "HTTP/1.1 200 OK\r\n"

static const struct {
    const char *name;
    struct script script;
    enum transfer_result result;
    int status;
    const char *body, *why;
    bool unframed;
} cases[] = {
    {"a length",                                 {READ_SAY_HANG(OK_HI)},                TRANSFER_ANSWERED, 200, "hi", "",                                       false},
    {"a length, then FIN",                       {READ_SAY(OK_HI)},                     TRANSFER_ANSWERED, 200, "hi", "",                                       false},
    {"chunks",                                   {READ_SAY_HANG(CHUNKED_HI)},           TRANSFER_ANSWERED, 200, "hi", "",                                       false},
    {"byte by byte",
     {{{READ, NULL}, {DRIP, CHUNKED_HI}, {HANG, NULL}}},
     TRANSFER_ANSWERED,                                                                                    200,
     "hi",                                                                                                            "",
     false                                                                                                                                                           },
    {"interim answers",
     {READ_SAY_HANG(
         "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nA: b\r\n\r\n" OK_HI)},
     TRANSFER_ANSWERED,                                                                                    200,
     "hi",                                                                                                            "",
     false                                                                                                                                                           },
    {"no reason",
     {READ_SAY_HANG("HTTP/1.1 404\r\nContent-Length: 0\r\n\r\n")},
     TRANSFER_ANSWERED,                                                                                    404,
     "",                                                                                                              "",
     false                                                                                                                                                           },
    {"a redirect is an answer like any other",
     {READ_SAY_HANG(
         "HTTP/1.1 307 x\r\nLocation: http://evil/\r\nContent-Length: 0\r\n\r\n")},
     TRANSFER_ANSWERED,                                                                                    307,
     "",                                                                                                              "",
     false                                                                                                                                                           },
    {"the last status there is",
     {READ_SAY_HANG("HTTP/1.1 599 x\r\nContent-Length: 0\r\n\r\n")},
     TRANSFER_ANSWERED,                                                                                    599,
     "",                                                                                                              "",
     false                                                                                                                                                           },
    {"5xx is not repeated",
     {READ_SAY_HANG("HTTP/1.1 503 x\r\nContent-Length: 2\r\n\r\nno")},
     TRANSFER_ANSWERED,                                                                                    503,
     "no",                                                                                                            "",
     false                                                                                                                                                           },
    {"204 with a body",
     {READ_SAY_HANG("HTTP/1.1 204 x\r\nContent-Length: 2\r\n\r\nhi")},
     TRANSFER_ANSWERED,                                                                                    204,
     "",                                                                                                              "",
     false                                                                                                                                                           },
    {"unframed",                                 {READ_SAY(LINE "\r\nhi")},             TRANSFER_ANSWERED, 200, "hi", "",                                       true },
    {"HTTP/1.0",
     {READ_SAY("HTTP/1.0 200 OK\r\n\r\nhi")},
     TRANSFER_ANSWERED,                                                                                    200,
     "hi",                                                                                                            "",
     true                                                                                                                                                            },
    {"a surplus",
     {READ_SAY_HANG(OK_HI "HTTP/1.1 200 OK\r\n")},
     TRANSFER_ANSWERED,                                                                                    200,
     "hi",                                                                                                            "",
     false                                                                                                                                                           },
    {"silence",                                  {{{HANG, NULL}}},                      TRANSFER_LATE,     0,   "",   "no answer in time",                      false},
    {"FIN before the answer",
     {{{READ, NULL}, {FIN, NULL}}},
     TRANSFER_LOST,                                                                                        0,
     "",                                                                                                              "the connection ended before the answer",
     false                                                                                                                                                           },
    {"RST before the answer",
     {{{READ, NULL}, {RST, NULL}}},
     TRANSFER_LOST,                                                                                        0,
     "",                                                                                                              "the connection broke",
     false                                                                                                                                                           },
    {"FIN within the headers",
     {READ_SAY(LINE "Content-Le")},
     TRANSFER_LOST,                                                                                        0,
     "",                                                                                                              "within the answer",
     false                                                                                                                                                           },
    {"RST within the body",
     {{{READ, NULL}, {SAY, LINE "Content-Length: 9\r\n\r\nhi"}, {RST, NULL}}},
     TRANSFER_LOST,                                                                                        0,
     "hi",                                                                                                            "the connection broke",
     false                                                                                                                                                           },
    {"a length too short for what was promised",
     {READ_SAY(LINE "Content-Length: 9\r\n\r\nhi")},
     TRANSFER_LOST,                                                                                        0,
     "hi",                                                                                                            "within the answer",
     false                                                                                                                                                           },
    {"a cut chunk",
     {READ_SAY(LINE "Transfer-Encoding: chunked\r\n\r\n9\r\nhi")},
     TRANSFER_LOST,                                                                                        0,
     "hi",                                                                                                            "within the answer",
     false                                                                                                                                                           },
    {"chunks without an end",
     {READ_SAY(LINE "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n")},
     TRANSFER_LOST,                                                                                        0,
     "hi",                                                                                                            "within the answer",
     false                                                                                                                                                           },
    {"two lengths",
     {READ_SAY_HANG(LINE "Content-Length: 2\r\nContent-Length: 2\r\n\r\nhi")},
     TRANSFER_LOST,                                                                                        0,
     "",                                                                                                              "two Content-Length",
     false                                                                                                                                                           },
    {"a length and chunks",
     {READ_SAY_HANG(LINE "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\nhi")},
     TRANSFER_LOST,                                                                                        0,
     "",                                                                                                              "both",
     false                                                                                                                                                           },
    {"gzip",
     {READ_SAY_HANG(LINE "Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\nhi")},
     TRANSFER_LOST,                                                                                        0,
     "",                                                                                                              "encoded",
     false                                                                                                                                                           },
    {"HTTP/0.9",
     {READ_SAY_HANG("{\"a\":1}")},
     TRANSFER_LOST,                                                                                        0,
     "",                                                                                                              "not HTTP/1",
     false                                                                                                                                                           },
    {"garbage",
     {READ_SAY_HANG("\x16\x03\x01\x02")},
     TRANSFER_LOST,                                                                                        0,
     "",                                                                                                              "not HTTP/1",
     false                                                                                                                                                           },
    {"HTTP/2",
     {READ_SAY_HANG("HTTP/2 200\r\n\r\n")},
     TRANSFER_LOST,                                                                                        0,
     "",                                                                                                              "not HTTP/1",
     false                                                                                                                                                           },
    {"switching protocols",
     {READ_SAY_HANG("HTTP/1.1 101 x\r\n\r\n")},
     TRANSFER_LOST,                                                                                        0,
     "",                                                                                                              "switches protocols",
     false                                                                                                                                                           },
    {"a flood of interim answers",
     {{{READ, NULL}, {FLOOD, "HTTP/1.1 102 Wait\r\n\r\n"}}},
     TRANSFER_LOST,                                                                                        0,
     "",                                                                                                              "too many interim",
     false                                                                                                                                                           },
    {"a flood of headers",
     {{{READ, NULL}, {SAY, LINE}, {FLOOD, "A: bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\r\n"}}},
     TRANSFER_LOST,                                                                                        0,
     "",                                                                                                              "headers are larger",
     false                                                                                                                                                           },
    {"a flood of body",
     {{{READ, NULL},
       {SAY, LINE "\r\n"},
       {FLOOD, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}}},
     TRANSFER_LOST,                                                                                        0,
     NULL,                                                                                                            "larger than allowed",
     false                                                                                                                                                           },
    {"too large by its own word",
     {READ_SAY_HANG(LINE "Content-Length: 100001\r\n\r\n")},
     TRANSFER_LOST,                                                                                        0,
     "",                                                                                                              "larger than allowed",
     false                                                                                                                                                           },
};

static void check_one(size_t i, bool read)
{
    struct server server = {.scripts = {cases[i].script}};
    struct rig rig = {
        .config = {.answer_ms = cases[i].result == TRANSFER_LATE ? 100 : 0,
                   .body_max = 100000}
    };
    CASE("%s, %s", cases[i].name, read ? "read" : "write");
    server_start(&server);
    rig_start(&rig);
    struct call call = call_make(server.url, read);
    const struct transfer *transfer = &call_run(&rig, &call)->transfer;
    EQ_INT(transfer->result, cases[i].result);
    EQ_INT(transfer->status, cases[i].status);
    EQ_INT(transfer->unframed, cases[i].unframed);
    if (cases[i].body)
        EQ_TEXT(call_answer(&call), cases[i].body);
    HAS_TEXT(transfer->why, cases[i].why);
    EQ_INT(call.sent, 1);
    OK(transfer->took_us > 0);
    for (size_t h = 0; h < transfer->passed_count; h++)
        OK(strcmp(transfer->passed[h].name, "Location") != 0);
    call_free(&call);
    rig_stop(&rig);
    server_stop(&server);
    EQ_INT(server.connections, 1);
    EQ_INT(server.requests, cases[i].result == TRANSFER_LATE ? 0 : 1);
}

TEST(upstream_takes_each_answer_for_what_it_is)
{
    for (size_t i = 0; i < COUNT(cases); i++)
        check_one(i, true);
}

TEST(upstream_delivers_a_write_once_whatever_comes_back)
{
    for (size_t i = 0; i < COUNT(cases); i++)
        check_one(i, false);
}

/* ---- before anything is sent ---- */

/* No name server needs to be asked about that. */
#define LONG_LABEL "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static void expect_unsent(struct rig *rig, const char *url, enum transfer_result result,
                          const char *why)
{
    for (int read = 0; read < 2; read++) {
        CASE("%s, %s", url, read ? "read" : "write");
        struct call call = call_make(url, read);
        call_run(rig, &call);
        EQ_INT(call.transfer.result, result);
        HAS_TEXT(call.transfer.why, why);
        EQ_INT(call.sent, 0);
        call_free(&call);
    }
}

TEST(upstream_says_when_nothing_was_sent)
{
    struct rig rig = {0};
    int port;
    char url[64];
    int fd = bind_loopback(&port, -1); /* bound, so nobody else listens there */
    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%d", port);
    rig_start(&rig);
    expect_unsent(&rig, url, TRANSFER_NOT_SENT, "127.0.0.1");
    expect_unsent(&rig, "http://" LONG_LABEL ".invalid", TRANSFER_NOT_SENT, "");
    expect_unsent(&rig, "http://127.0.0.1:1/path", TRANSFER_NOT_SENT, "malformed");
    expect_unsent(&rig, "file:///etc/passwd", TRANSFER_NOT_SENT, "malformed");
    rig_stop(&rig);
    close(fd);
}

/* A full backlog drops the SYN: the connection never comes to be. */
TEST(upstream_gives_up_connecting_in_time)
{
    struct rig rig = {.config = {.connect_ms = 150}};
    char url[64];
    int port, fd = bind_loopback(&port, 0), filler[2];
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                  .sin_port = htons((uint16_t)port)};
    for (size_t i = 0; i < COUNT(filler); i++) {
        filler[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        (void)connect(filler[i], (const struct sockaddr *)&address, sizeof(address));
    }
    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%d", port);
    rig_start(&rig);
    expect_unsent(&rig, url, TRANSFER_NOT_SENT_LATE, "");
    rig_stop(&rig);
    rig = (struct rig){.config = {.answer_ms = 150}}; /* the whole time, too, counts */
    rig_start(&rig);
    expect_unsent(&rig, url, TRANSFER_NOT_SENT_LATE, "not connected in time");
    rig_stop(&rig);
    for (size_t i = 0; i < COUNT(filler); i++)
        close(filler[i]);
    close(fd);
}

/* ---- large ---- */

TEST(upstream_carries_large_bodies_both_ways)
{
    enum { SIZE = 5000000 };
    static char said[SIZE + 128], body[SIZE + 1];
    int head = snprintf(said, sizeof(said), LINE "Content-Length: %d\r\n\r\n", SIZE);
    memset(said + head, 'a', SIZE);
    memset(body, 'b', SIZE);
    struct server server = {.scripts = {{{{READ, NULL}, {SAY, said}, {HANG, NULL}}}}};
    struct rig rig = {0};
    server_start(&server);
    rig_start(&rig);
    struct call call = call_make(server.url, false);
    call.transfer.body = body;
    call.transfer.body_size = SIZE;
    call_run(&rig, &call);
    EQ_TEXT(call.transfer.why, "");
    EQ_INT(call.transfer.result, TRANSFER_ANSWERED);
    EQ_INT(call.transfer.answer.size, SIZE);
    EQ_INT(strspn(call_answer(&call), "a"), SIZE);
    call_free(&call);
    rig_stop(&rig);
    server_stop(&server);
}

/* The server does not want the body; what it says counts, the connection does not. */
TEST(upstream_hears_an_answer_that_comes_before_the_request_is_out)
{
    enum { SIZE = 16000000 };
    static char body[SIZE + 1];
    memset(body, 'b', SIZE);
    struct server server = {
        .scripts = {{{{HEAD, NULL},
                      {SAY, "HTTP/1.1 413 x\r\nContent-Length: 2\r\n\r\nno"},
                      {STALL, NULL}}},
                    {{{READ, NULL}, {SAY, OK_HI}, {AGAIN, NULL}}}}
    };
    struct rig rig = {0};
    server_start(&server);
    rig_start(&rig);
    struct call big = call_make(server.url, false), next = call_make(server.url, true);
    big.transfer.body = body;
    big.transfer.body_size = SIZE;
    call_run(&rig, &big);
    EQ_TEXT(big.transfer.why, "");
    EQ_INT(big.transfer.result, TRANSFER_ANSWERED);
    EQ_INT(big.transfer.status, 413);
    call_run(&rig, &next);
    EQ_INT(next.transfer.status, 200);
    call_free(&big);
    call_free(&next);
    rig_stop(&rig);
    server_stop(&server);
    EQ_INT(server.connections, 2);
    EQ_INT(server.requests, 2);
}

TEST(upstream_passes_on_only_the_headers_of_its_table)
{
    struct server server = {
        .scripts = {{READ_SAY_HANG("HTTP/1.1 302 x\r\nLocation: http://evil/\r\n"
                                   "Set-Cookie: a\r\nX-Next-Token: t1\r\n"
                                   "Content-Type: application/json\r\n"
                                   "Content-Length: 0\r\n\r\n")}}};
    struct rig rig = {0};
    server_start(&server);
    rig_start(&rig);
    struct call call = call_make(server.url, true);
    call_run(&rig, &call);
    EQ_INT(call.transfer.status, 302);
    EQ_INT(call.transfer.passed_count, 2);
    EQ_TEXT(call.transfer.passed[0].name, "X-Next-Token");
    EQ_TEXT(call.transfer.passed[0].value, "t1");
    EQ_TEXT(call.transfer.passed[1].value, "application/json");
    call_free(&call);
    rig_stop(&rig);
    server_stop(&server);
}

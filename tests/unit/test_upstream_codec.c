#include "test.h"
#include "upstream/codec.h"

#include <string.h>

enum { HEAD_CAP = 2048, BODY_CAP = 1000 };

struct reading {
    struct buf head, body;
    struct codec codec;
};

static void reading_free(struct reading *reading)
{
    buf_free(&reading->head);
    buf_free(&reading->body);
}

#define own_reading __attribute__((cleanup(reading_free))) struct reading

/* Reads `bytes` in pieces; the first has `first` bytes, the others at most `piece`. */
static void read_cut(struct reading *reading, const char *bytes, size_t size,
                     size_t first, size_t piece, bool bodyless)
{
    *reading = (struct reading){.head = BUF(HEAD_CAP), .body = BUF(BODY_CAP)};
    codec_start(&reading->codec, &reading->head, &reading->body, bodyless);
    size_t next = first;
    for (size_t at = 0; at < size; at += next, next = piece) {
        if (next > size - at)
            next = size - at;
        codec_feed(&reading->codec, bytes + at, next);
    }
}

static void read_all(struct reading *reading, const char *text)
{
    read_cut(reading, text, strlen(text), strlen(text), 1, false);
}

#define OK_LINE "HTTP/1.1 200 OK\r\n"
#define CHUNKED OK_LINE "Transfer-Encoding: chunked\r\n\r\n"

/* Answers that are complete without the connection's end. */
static const struct {
    const char *bytes;
    int status;
    const char *body;
    bool reusable;
} good[] = {
    {OK_LINE "Content-Length: 2\r\n\r\nhi",                                       200, "hi",         true },
    {OK_LINE "content-LENGTH:2 \t\r\n\r\nhi",                                     200, "hi",         true },
    {OK_LINE "Content-Length: 0\r\n\r\n",                                         200, "",           true },
    {OK_LINE "Content-Length: 002\r\n\r\nhi",                                     200, "hi",         true },
    {"HTTP/1.1 201\r\nContent-Length: 0\r\n\r\n",                                 201, "",           true },
    {"HTTP/1.1 404 \r\nContent-Length: 1\r\n\r\nx",                               404, "x",          true },
    {"HTTP/1.1 500 a\tb \xc3\xa9\r\nContent-Length: 0\r\n\r\n",                   500, "",           true },
    {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi",                            200, "hi",         false},
    {OK_LINE "Connection: close\r\nContent-Length: 0\r\n\r\n",                    200, "",           false},
    {OK_LINE "Connection: a , CLOSE\r\nContent-Length: 0\r\n\r\n",                200, "",           false},
    {OK_LINE "Connection: ,closed,\r\nContent-Length: 0\r\n\r\n",                 200, "",           true },
    {OK_LINE "X-Text: caf\xe9\ttab\r\nContent-Length: 0\r\n\r\n",                 200, "",           true },
    {OK_LINE "X-Empty:\r\nContent-Length: 0\r\n\r\n",                             200, "",           true },
    {OK_LINE "Content-Encoding: identity\r\nContent-Length: 0\r\n\r\n",           200, "",           true },
    {CHUNKED "2\r\nhi\r\n0\r\n\r\n",                                              200, "hi",         true },
    {CHUNKED "1\r\nh\r\n01;a=\"b\"\r\ni\r\n0;x\r\n\r\n",                          200, "hi",         true },
    {CHUNKED "0\r\n\r\n",                                                         200, "",           true },
    {CHUNKED "A\r\n0123456789\r\n0\r\nX-Sum: 1\r\nY: 2\r\n\r\n",                  200, "0123456789",
     true                                                                                                 },
    {OK_LINE "Transfer-Encoding: Chunked\r\n\r\n0\r\n\r\n",                       200, "",           true },
    {"HTTP/1.1 204 No Content\r\n\r\n",                                           204, "",           true },
    {"HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n",                      204, "",           true },
    {"HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\n",                      204, "",           false},
    {"HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n",             204, "",           false},
    {"HTTP/1.1 304 Not Modified\r\nContent-Length: 70\r\n\r\n",                   304, "",           true },
    {"HTTP/1.1 307 Moved\r\nLocation: http://evil/\r\nContent-Length: 0\r\n\r\n", 307,
     "",                                                                                             true },
    {"HTTP/1.1 100 Continue\r\n\r\n" OK_LINE "Content-Length: 2\r\n\r\nhi",       200, "hi",
     true                                                                                                 },
    {"HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 102\r\n\r\n" OK_LINE
     "Content-Length: 0\r\n\r\n",                                            200, "",           true },
};

TEST(codec_reads_answers_however_they_are_cut)
{
    for (size_t i = 0; i < COUNT(good); i++) {
        size_t size = strlen(good[i].bytes);
        for (size_t first = 1; first <= size; first++) {
            CASE("%zu cut at %zu", i, first);
            own_reading reading;
            read_cut(&reading, good[i].bytes, size, first, first % 2 ? size : 1, false);
            EQ_TEXT(reading.codec.why, NULL);
            EQ_INT(reading.codec.state, CODEC_DONE);
            EQ_INT(reading.codec.line.status, good[i].status);
            EQ_TEXT(reading.body.data ? reading.body.data : "", good[i].body);
            EQ_INT(reading.codec.reusable, good[i].reusable);
            NOT(reading.codec.unframed);
        }
    }
}

TEST(codec_lets_nobody_use_a_connection_with_more_bytes_on_it)
{
    for (size_t i = 0; i < COUNT(good); i++) {
        CASE("%zu", i);
        own_reading reading;
        read_all(&reading, good[i].bytes);
        codec_feed(&reading.codec, "H", 1);
        EQ_INT(reading.codec.state, CODEC_DONE);
        NOT(reading.codec.reusable);
        EQ_TEXT(reading.body.data ? reading.body.data : "", good[i].body);
    }
}

static const struct {
    const char *bytes, *why;
} bad[] = {
    {"<html>",                                                               "is not HTTP/1"            },
    {"HTTP/2 200\r\n",                                                       "is not HTTP/1"            },
    {"\r\n" OK_LINE,                                                         "is not HTTP/1"            },
    {"http/1.1 200 OK\r\n",                                                  "is not HTTP/1"            },
    {"HTTP/1.2 200 OK\r\n",                                                  "status line is malformed" },
    {"HTTP/1.1  200 OK\r\n",                                                 "status line is malformed" },
    {"HTTP/1.1 20 OK\r\n",                                                   "status line is malformed" },
    {"HTTP/1.1 2000 OK\r\n",                                                 "status line is malformed" },
    {"HTTP/1.1 099 OK\r\n",                                                  "status is out of range"   },
    {"HTTP/1.1 2x0 OK\r\n",                                                  "status is not a number"   },
    {"HTTP/1.1\t200 OK\r\n",                                                 "status line is malformed" },
    {"HTTP/1.1 200 O\x01K\r\n",                                              "status line has control"  },
    {"HTTP/1.1 200 OK\n",                                                    "does not end in CR LF"    },
    {"HTTP/1.1 200 OK\r\r\n",                                                "control bytes"            },
    {"HTTP/1.1 101 Switching\r\n\r\n",                                       "switches protocols"       },
    {OK_LINE "A: b\n",                                                       "does not end in CR LF"    },
    {OK_LINE "\n",                                                           "does not end in CR LF"    },
    {OK_LINE "A: b\rc\r\n",                                                  "control bytes"            },
    {OK_LINE "A: \x7f\r\n",                                                  "control bytes"            },
    {OK_LINE "A : b\r\n",                                                    "name is not a token"      },
    {OK_LINE ": b\r\n",                                                      "name is not a token"      },
    {OK_LINE "no colon\r\n",                                                 "name is not a token"      },
    {OK_LINE "A: b\r\n folded\r\n",                                          "name is not a token"      },
    {OK_LINE " Content-Length: 2\r\n",                                       "name is not a token"      },
    {OK_LINE "Content-Length: 2\r\nContent-Length: 2\r\n",                   "two Content-Length"       },
    {OK_LINE "Content-Length: 2\r\nContent-Length: 3\r\n",                   "two Content-Length"       },
    {OK_LINE "Content-Length: 2, 2\r\n",                                     "is not a length"          },
    {OK_LINE "Content-Length: +2\r\n",                                       "is not a length"          },
    {OK_LINE "Content-Length: -2\r\n",                                       "is not a length"          },
    {OK_LINE "Content-Length: 0x2\r\n",                                      "is not a length"          },
    {OK_LINE "Content-Length:\r\n",                                          "is not a length"          },
    {OK_LINE "Content-Length: 18446744073709551618\r\n",                     "is not a length"          },
    {OK_LINE "Content-Length: 1001\r\n\r\n",                                 "larger than allowed"      },
    {OK_LINE "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n",      "both"                     },
    {OK_LINE "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n",      "both"                     },
    {OK_LINE "Transfer-Encoding: gzip, chunked\r\n",                         "not exactly chunked"      },
    {OK_LINE "Transfer-Encoding: identity\r\n",                              "not exactly chunked"      },
    {OK_LINE "Transfer-Encoding: xchunked\r\n",                              "not exactly chunked"      },
    {OK_LINE "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
     "not exactly chunked"                                                                              },
    {OK_LINE "Transfer-Encoding:\r\n",                                       "not exactly chunked"      },
    {"HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",                "chunked in HTTP/1.0"      },
    {OK_LINE "Content-Encoding: gzip\r\n",                                   "body is encoded"          },
    {CHUNKED "\r\n",                                                         "malformed chunk size"     },
    {CHUNKED ";a\r\n",                                                       "malformed chunk size"     },
    {CHUNKED "g\r\n",                                                        "malformed chunk size"     },
    {CHUNKED "-1\r\n",                                                       "malformed chunk size"     },
    {CHUNKED "0x1\r\n",                                                      "malformed chunk size"     },
    {CHUNKED "1 \r\nh",                                                      "malformed chunk size"     },
    {CHUNKED "2\nhi\r\n",                                                    "malformed chunk size"     },
    {CHUNKED "2\rhi\r\n",                                                    "malformed chunk size"     },
    {CHUNKED "0000000000000001\r\n",                                         "malformed chunk size"     },
    {CHUNKED "2;a\nhi\r\n",                                                  "malformed chunk extension"},
    {CHUNKED "2;\x01\r\nhi\r\n",                                             "malformed chunk extension"},
    {CHUNKED "2\r\nhi0\r\n\r\n",                                             "another size"             },
    {CHUNKED "2\r\nhi\n0\r\n\r\n",                                           "another size"             },
    {CHUNKED "2\r\nhi\rx",                                                   "another size"             },
    {CHUNKED "3e9\r\n",                                                      "larger than allowed"      },
    {CHUNKED "fffffffffffffff\r\n",                                          "larger than allowed"      },
    {CHUNKED "1\r\na\r\n3e8\r\n",                                            "larger than allowed"      },
    {CHUNKED "0\r\nA: b\n\r\n",                                              "malformed trailer"        },
    {CHUNKED "0\r\nA: b\r\r\n",                                              "malformed trailer"        },
    {CHUNKED "0\r\n\n",                                                      "malformed trailer"        },
};

TEST(codec_breaks_what_could_be_read_in_two_ways)
{
    for (size_t i = 0; i < COUNT(bad); i++) {
        size_t size = strlen(bad[i].bytes);
        for (size_t first = 1; first <= size; first++) {
            CASE("%zu cut at %zu: %s", i, first, bad[i].bytes);
            own_reading reading;
            read_cut(&reading, bad[i].bytes, size, first, 1, false);
            EQ_INT(reading.codec.state, CODEC_BROKEN);
            HAS_TEXT(reading.codec.why, bad[i].why);
            NOT(reading.codec.reusable);
        }
    }
}

TEST(codec_refuses_a_zero_byte_anywhere)
{
    static const char text[] = CHUNKED "1;a\r\nx\r\n0\r\nA: b\r\n\r\n";
    size_t body_at = (size_t)(strstr(text, "\r\nx\r\n") + 2 - text);
    for (size_t i = 0; i < sizeof(text) - 1; i++) {
        char copy[sizeof(text)];
        memcpy(copy, text, sizeof(text));
        copy[i] = '\0';
        CASE("at %zu", i);
        own_reading reading;
        read_cut(&reading, copy, sizeof(text) - 1, sizeof(text) - 1, 1, false);
        EQ_INT(reading.codec.state, i == body_at ? CODEC_DONE : CODEC_BROKEN);
    }
}

TEST(codec_tells_how_an_answer_ended_early)
{
    static const struct {
        const char *bytes, *why; /* NULL: done, unframed */
    } cases[] = {
        {"",                                         "before the answer"},
        {"HTT",                                      "within the answer"},
        {OK_LINE "Content-Le",                       "within the answer"},
        {OK_LINE,                                    "within the answer"},
        {OK_LINE "Content-Length: 3\r\n\r\nhi",      "within the answer"},
        {CHUNKED "2\r\nhi",                          "within the answer"},
        {CHUNKED "2\r\nhi\r\n",                      "within the answer"},
        {CHUNKED "2\r\nhi\r\n0\r\n",                 "within the answer"},
        {CHUNKED "0\r\nA: b\r\n",                    "within the answer"},
        {"HTTP/1.1 100 Continue\r\n\r\n",            "within the answer"},
        {OK_LINE "\r\n",                             NULL               },
        {OK_LINE "Connection: keep-alive\r\n\r\nhi", NULL               },
        {"HTTP/1.0 200 OK\r\n\r\nhi",                NULL               },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        CASE("%zu", i);
        own_reading reading;
        read_all(&reading, cases[i].bytes);
        NOT(codec_finished(&reading.codec));
        codec_end(&reading.codec);
        OK(codec_finished(&reading.codec));
        NOT(reading.codec.reusable);
        EQ_INT(reading.codec.unframed, !cases[i].why);
        if (cases[i].why)
            HAS_TEXT(reading.codec.why, cases[i].why);
    }
}

TEST(codec_takes_no_body_after_head)
{
    static const char text[] = OK_LINE "Content-Length: 12\r\n\r\n";
    own_reading reading;
    read_cut(&reading, text, sizeof(text) - 1, 3, 1, true);
    EQ_INT(reading.codec.state, CODEC_DONE);
    EQ_INT(reading.body.size, 0);
    OK(reading.codec.reusable);
}

static void feed_many(struct reading *reading, const char *text, int times)
{
    for (int i = 0; i < times; i++)
        codec_feed(&reading->codec, text, strlen(text));
}

TEST(codec_is_bounded_in_all_that_can_go_on_for_ever)
{
    static const struct {
        const char *start, *again;
        int times; /* that still pass */
        const char *why;
    } cases[] = {
        {"",              "HTTP/1.1 102 Wait\r\n\r\n", 16,    "too many interim"   },
        {OK_LINE,         "A: b\r\n",                  338,   "headers are larger" },
        {OK_LINE "A:",    "bbbbbbbbbb",                202,   "headers are larger" },
        {CHUNKED "1;",    "eeeeeeee",                  8192,  "chunk extension"    },
        {CHUNKED "0\r\n", "A: bcd\r\n",                10922, "malformed trailer"  },
        {CHUNKED,         "1\r\nx\r\n",                1000,  "larger than allowed"},
        {OK_LINE "\r\n",  "x",                         1000,  "larger than allowed"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        CASE("%zu", i);
        own_reading reading;
        read_all(&reading, cases[i].start);
        feed_many(&reading, cases[i].again, cases[i].times);
        EQ_TEXT(reading.codec.why, NULL);
        feed_many(&reading, cases[i].again, 1);
        EQ_INT(reading.codec.state, CODEC_BROKEN);
        HAS_TEXT(reading.codec.why, cases[i].why);
        OK(reading.head.size <= HEAD_CAP && reading.body.size <= BODY_CAP);
    }
}

TEST(codec_forgets_the_headers_of_interim_answers)
{
    own_reading reading;
    read_all(&reading, "HTTP/1.1 103 Early\r\nContent-Length: 9\r\nA: b\r\n\r\n" OK_LINE
                       "Content-Length: 1\r\n\r\nx");
    EQ_INT(reading.codec.state, CODEC_DONE);
    EQ_TEXT(reading.head.data, OK_LINE "Content-Length: 1\r\n\r\n");
}

TEST(codec_does_not_believe_a_length_before_it_is_there)
{
    struct buf head = BUF(HEAD_CAP), body = BUF(100 << 20);
    struct codec codec;
    static const char text[] = OK_LINE "Content-Length: 100000000\r\n\r\n";
    codec_start(&codec, &head, &body, false);
    codec_feed(&codec, text, sizeof(text) - 1);
    EQ_INT(codec.state, CODEC_LENGTH);
    OK(body.room <= 128 * 1024);
    buf_free(&head);
    buf_free(&body);
}

/* Several transfers: who shares a connection, who waits, what is sent again. */
#include "test_upstream_rig.h"

#define SERVE                       \
    {                               \
        {READ, NULL}, {SAY, OK_HI}, \
        {                           \
            AGAIN, NULL             \
        }                           \
    }
#define SERVE_ONCE(end)                           \
    {                                             \
        {READ, NULL}, {SAY, OK_HI}, {READ, NULL}, \
        {                                         \
            end, NULL                             \
        }                                         \
    }

static void expect_hi(struct rig *rig, const char *url, bool read)
{
    struct call call = call_make(url, read);
    call_run(rig, &call);
    EQ_TEXT(call.transfer.why, "");
    EQ_INT(call.transfer.result, TRANSFER_ANSWERED);
    EQ_TEXT(call_answer(&call), "hi");
    EQ_INT(call.sent, 1);
    call_free(&call);
}

TEST(pool_lets_reads_share_and_gives_each_write_a_fresh_connection)
{
    static const struct {
        const char *order; /* r: read, w: write */
        int connections;
    } cases[] = {
        {"rrrr", 1},
        {"wwww", 4},
        {"rw",   2},
        {"wr",   1},
        {"wrrw", 2},
        {"rwrw", 3},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        CASE("%s", cases[i].order);
        struct server server = {.scripts = {{SERVE}}};
        struct rig rig = {0};
        server_start(&server);
        rig_start(&rig);
        for (const char *c = cases[i].order; *c; c++)
            expect_hi(&rig, server.url, *c == 'r');
        rig_stop(&rig);
        server_stop(&server);
        EQ_INT(server.connections, cases[i].connections);
        EQ_INT(server.requests, strlen(cases[i].order));
    }
}

TEST(pool_keeps_no_connection_that_its_answer_has_spoilt)
{
    static const char *const answers[] = {
        "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nhi",
        "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi",
        OK_HI "x",
        OK_HI "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil",
    };
    for (size_t i = 0; i < COUNT(answers); i++) {
        CASE("%s", answers[i]);
        struct server server = {
            .scripts = {{{{READ, NULL}, {SAY, answers[i]}, {HANG, NULL}}}, {SERVE}}
        };
        struct rig rig = {0};
        server_start(&server);
        rig_start(&rig);
        expect_hi(&rig, server.url, true);
        expect_hi(&rig, server.url, true);
        rig_stop(&rig);
        server_stop(&server);
        EQ_INT(server.connections, 2);
    }
}

/* ---- sent again ---- */

TEST(pool_sends_a_read_again_once_when_its_old_connection_died)
{
    static const struct {
        struct script first;
        int requests;
    } cases[] = {
        {{SERVE_ONCE(FIN)},                           3},
        {{SERVE_ONCE(RST)},                           3},
        {{{{READ, NULL}, {SAY, OK_HI}, {FIN, NULL}}}, 2},
        {{{{READ, NULL}, {SAY, OK_HI}, {RST, NULL}}}, 2},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        CASE("%zu", i);
        struct server server = {
            .scripts = {cases[i].first, {SERVE}}
        };
        struct rig rig = {0};
        server_start(&server);
        rig_start(&rig);
        expect_hi(&rig, server.url, true);
        expect_hi(&rig, server.url, true);
        rig_stop(&rig);
        server_stop(&server);
        EQ_INT(server.connections, 2);
        EQ_INT(server.requests, cases[i].requests);
    }
}

TEST(pool_sends_nothing_again_that_should_not_be)
{
    static const struct {
        const char *name;
        struct script scripts[2];
        bool second_reads;
        int requests, connections;
    } cases[] = {
        {"a read whose second connection dies too",
         {{SERVE_ONCE(FIN)}, {{{READ, NULL}, {FIN, NULL}}}},
         true,                                                                                                 3,
         2                                                                                                         },
        {"a read that had a byte of its answer",
         {{{{READ, NULL}, {SAY, OK_HI}, {READ, NULL}, {SAY, "H"}, {FIN, NULL}}}},
         true,                                                                                                 2,
         1                                                                                                         },
        {"a read that had garbage for an answer",
         {{{{READ, NULL}, {SAY, OK_HI}, {READ, NULL}, {SAY, "x"}, {HANG, NULL}}}},
         true,                                                                                                 2,
         1                                                                                                         },
        {"a write",                                 {{SERVE_ONCE(FIN)}, {{{READ, NULL}, {RST, NULL}}}}, false, 2, 2},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        CASE("%s", cases[i].name);
        struct server server = {
            .scripts = {cases[i].scripts[0], cases[i].scripts[1]}
        };
        struct rig rig = {0};
        server_start(&server);
        rig_start(&rig);
        expect_hi(&rig, server.url, true);
        struct call call = call_make(server.url, cases[i].second_reads);
        call_run(&rig, &call);
        EQ_INT(call.transfer.result, TRANSFER_LOST);
        EQ_INT(call.sent, 1);
        call_free(&call);
        rig_stop(&rig);
        server_stop(&server);
        EQ_INT(server.requests, cases[i].requests);
        EQ_INT(server.connections, cases[i].connections);
    }
}

TEST(pool_does_not_send_again_when_time_is_up)
{
    struct server server = {
        .scripts = {{{{READ, NULL}, {SAY, OK_HI}, {READ, NULL}, {HANG, NULL}}}}};
    struct rig rig = {.config = {.answer_ms = 150}};
    server_start(&server);
    rig_start(&rig);
    expect_hi(&rig, server.url, true);
    struct call call = call_make(server.url, true);
    call_run(&rig, &call);
    EQ_INT(call.transfer.result, TRANSFER_LATE);
    call_free(&call);
    rig_stop(&rig);
    server_stop(&server);
    EQ_INT(server.requests, 2);
    EQ_INT(server.connections, 1);
}

/* ---- idle ---- */

TEST(pool_closes_what_was_idle_too_long)
{
    struct server server = {.scripts = {{SERVE}}};
    struct rig rig = {.config = {.idle_ms = 30}};
    server_start(&server);
    rig_start(&rig);
    expect_hi(&rig, server.url, true);
    server_await(&server, &server.hangups, 1);
    expect_hi(&rig, server.url, true);
    rig_stop(&rig);
    server_stop(&server);
    EQ_INT(server.connections, 2);
}

#define UNASKED "HTTP/1.1 408 Timeout\r\nContent-Length: 0\r\n\r\n"

static const struct script unasked = {
    {{READ, NULL}, {SAY, OK_HI}, {PROMPT, NULL}, {SAY, UNASKED}, {HANG, NULL}}
};

TEST(pool_drops_a_connection_that_speaks_unasked)
{
    struct server server = {
        .scripts = {unasked, {SERVE}}
    };
    struct rig rig = {0};
    server_start(&server);
    rig_start(&rig);
    expect_hi(&rig, server.url, true);
    server_prompt(&server);
    server_await(&server, &server.hangups, 1);
    expect_hi(&rig, server.url, true);
    rig_stop(&rig);
    server_stop(&server);
    EQ_INT(server.connections, 2);
}

struct race {
    struct server *server;
    struct call *call;
};

/* The loop has had no chance to see what came when the next transfer begins. */
static void start_behind_its_back(struct rig *rig, void *what)
{
    struct race *race = what;
    server_prompt(race->server);
    server_await(race->server, &race->server->said, 2);
    call_start(rig, race->call);
}

TEST(pool_never_takes_what_was_there_before_for_an_answer)
{
    struct server server = {
        .scripts = {unasked, {SERVE}}
    };
    struct rig rig = {0};
    server_start(&server);
    rig_start(&rig);
    expect_hi(&rig, server.url, true);
    struct call call = call_make(server.url, true);
    call.rig = &rig;
    call.transfer.done = call_done;
    must(!sem_init(&call.finished, 0, 0));
    rig_do(&rig, start_behind_its_back, &(struct race){&server, &call});
    call_wait(&call);
    EQ_INT(call.transfer.status, 200);
    call_free(&call);
    rig_stop(&rig);
    server_stop(&server);
    EQ_INT(server.connections, 2);
}

/* ---- many ---- */

enum { MANY = 64 };

TEST(pool_runs_many_at_once_within_its_limit)
{
    static struct call calls[MANY];
    struct server server = {.scripts = {{SERVE}}};
    struct rig rig = {.config = {.connections_max = 8}};
    server_start(&server);
    rig_start(&rig);
    for (size_t i = 0; i < MANY; i++) {
        calls[i] = call_make(server.url, i % 2);
        call_begin(&rig, &calls[i]);
    }
    for (size_t i = 0; i < MANY; i++) {
        call_wait(&calls[i]);
        CASE("call %zu", i);
        EQ_TEXT(calls[i].transfer.why, "");
        EQ_INT(calls[i].transfer.result, TRANSFER_ANSWERED);
        EQ_TEXT(call_answer(&calls[i]), "hi");
        EQ_INT(calls[i].done, 1);
        call_free(&calls[i]);
    }
    rig_stop(&rig);
    server_stop(&server);
    EQ_INT(server.requests, MANY);
    OK(server.connections >= MANY / 2);
    OK(server.open_most <= 8 + 8); /* the server hears late of what was closed */
}

TEST(pool_lets_those_who_wait_go_in_order)
{
    struct call calls[6];
    struct server server = {.scripts = {{SERVE}}};
    struct rig rig = {.config = {.connections_max = 1}};
    server_start(&server);
    rig_start(&rig);
    for (size_t i = 0; i < COUNT(calls); i++) {
        calls[i] = call_make(server.url, i % 3);
        call_begin(&rig, &calls[i]);
    }
    for (size_t i = 0; i < COUNT(calls); i++) {
        call_wait(&calls[i]);
        EQ_INT(calls[i].transfer.result, TRANSFER_ANSWERED);
        EQ_INT(calls[i].place, calls[0].place + (int)i);
        call_free(&calls[i]);
    }
    rig_stop(&rig);
    server_stop(&server);
    EQ_INT(server.connections, 2);
}

TEST(pool_fails_all_who_wait_for_an_origin_that_is_not_there)
{
    struct call calls[6];
    struct rig rig = {.config = {.connections_max = 1}};
    int port, fd = bind_loopback(&port, -1);
    char url[64];
    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%d", port);
    rig_start(&rig);
    for (size_t i = 0; i < COUNT(calls); i++) {
        calls[i] = call_make(url, i % 2);
        call_begin(&rig, &calls[i]);
    }
    for (size_t i = 0; i < COUNT(calls); i++) {
        call_wait(&calls[i]);
        EQ_INT(calls[i].transfer.result, TRANSFER_NOT_SENT);
        call_free(&calls[i]);
    }
    rig_stop(&rig);
    close(fd);
}

TEST(pool_counts_waiting_as_time)
{
    struct server server = {.scripts = {{{{READ, NULL}, {HANG, NULL}}}}};
    struct rig rig = {
        .config = {.connections_max = 1, .answer_ms = 150}
    };
    struct call first = call_make(server.url, false), second;
    server_start(&server);
    rig_start(&rig);
    first = call_make(server.url, false);
    second = call_make(server.url, false);
    call_begin(&rig, &first);
    call_begin(&rig, &second);
    call_wait(&first);
    call_wait(&second);
    EQ_INT(first.transfer.result, TRANSFER_LATE);
    EQ_INT(first.sent, 1);
    OK(second.transfer.result == TRANSFER_NOT_SENT_LATE || second.sent == 1);
    call_free(&first);
    call_free(&second);
    rig_stop(&rig);
    server_stop(&server);
}

/* ---- no longer wanted ---- */

TEST(upstream_abort_ends_a_read_wherever_it_is)
{
    struct server server = {
        .scripts = {{{{READ, NULL}, {HANG, NULL}}}, {SERVE}}
    };
    struct rig rig = {.config = {.connections_max = 1}};
    server_start(&server);
    rig_start(&rig);
    struct call running = call_make(server.url, true), waiting = running,
                last = running, bad = call_make("nonsense", true);
    call_begin(&rig, &running);
    server_await(&server, &server.requests, 1);
    call_begin(&rig, &waiting);
    call_begin(&rig, &last);
    rig_do(&rig, call_abort, &waiting);
    rig_do(&rig, call_abort, &running);
    call_wait(&last); /* has the place of the one that ran */
    EQ_INT(last.transfer.result, TRANSFER_ANSWERED);
    EQ_INT(running.done + waiting.done, 0);
    EQ_INT(server_get(&server, &server.requests), 2);
    server_await(&server, &server.hangups, 1);
    call_run(&rig, &bad);
    EQ_INT(bad.transfer.result, TRANSFER_NOT_SENT);
    call_free(&running);
    call_free(&waiting);
    call_free(&last);
    call_free(&bad);
    rig_stop(&rig);
    server_stop(&server);
}

static void start_and_abort(struct rig *rig, void *what)
{
    call_start(rig, what);
    call_abort(rig, what);
}

TEST(upstream_abort_right_after_the_start_is_silent)
{
    struct server server = {.scripts = {{SERVE}}};
    struct rig rig = {0};
    server_start(&server);
    rig_start(&rig);
    expect_hi(&rig, server.url, true);
    const char *const urls[] = {server.url, "nonsense", "http://127.0.0.1:1"};
    for (size_t i = 0; i < COUNT(urls); i++) {
        struct call call = call_make(urls[i], true);
        call.rig = &rig;
        call.transfer.done = call_done;
        must(!sem_init(&call.finished, 0, 0));
        rig_do(&rig, start_and_abort, &call);
        expect_hi(&rig, server.url, true);
        EQ_INT(call.done, 0);
        call_free(&call);
    }
    rig_stop(&rig);
    server_stop(&server);
}

/* ---- one buffer for many ---- */

TEST(upstream_uses_the_buffers_of_a_transfer_again)
{
    struct server server = {
        .scripts = {{{{READ, NULL}, {SAY, CHUNKED_HI}, {READ, NULL}, {FIN, NULL}}},
                    {{{READ, NULL}, {FIN, NULL}}}}
    };
    struct rig rig = {0};
    server_start(&server);
    rig_start(&rig);
    struct call call = call_make(server.url, true);
    call_run(&rig, &call);
    EQ_TEXT(call_answer(&call), "hi");
    const char *memory = call.transfer.answer.data;
    call.done = call.sent = 0;
    call_run(&rig, &call);
    EQ_INT(call.transfer.result, TRANSFER_LOST);
    EQ_INT(call.transfer.status, 0);
    EQ_TEXT(call_answer(&call), "");
    OK(call.transfer.answer.data == memory);
    call_free(&call);
    rig_stop(&rig);
    server_stop(&server);
}

#include "test_front_rig.h"

#include <sys/resource.h>

#define HOST "Host: a\r\n"
#define HELD "GET /hold HTTP/1.1\r\n" HOST "\r\n"

enum { MANY = 200 };

static const struct listener usual = {.kind = LISTEN_AGENTS, .connections_max = 1000};

static void hold(const struct rig *rig, int fds[static MANY])
{
    for (int i = 0; i < MANY; i++) {
        fds[i] = rig_connect(rig);
        rig_say(fds[i], HELD);
    }
    OK(rig_reaches(&rig_seen.begun, MANY));
}

static void close_all(const int fds[static MANY])
{
    for (int i = 0; i < MANY; i++)
        (void)close(fds[i]);
}

TEST(held_requests_are_answered_when_released)
{
    struct rig rig;
    int fds[MANY];
    rig_start_usual(&rig);
    hold(&rig, fds);
    own_buf out = BUF(RIG_BODY_MAX);
    EQ_INT(rig_ask(&rig, "GET /later HTTP/1.1\r\n" HOST "\r\n", 32, &out), 200);
    OK(rig_reaches(&rig_seen.live, MANY));
    rig_do(&rig, rig_release_all);
    for (int i = 0; i < MANY; i++) {
        own_buf got = BUF(RIG_BODY_MAX);
        EQ_INT(rig_answer(fds[i], true, &got, &out), 200);
    }
    EQ_INT(rig_count(&rig_seen.gone), 0);
    close_all(fds);
    rig_stop(&rig);
}

static void reset(int fd)
{
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    (void)close(fd);
}

TEST(clients_that_leave_are_told_once_and_freed)
{
    struct rig rig;
    int fds[MANY];
    rig_start_usual(&rig);
    hold(&rig, fds);
    for (int i = 0; i < MANY; i++)
        if (i % 3 == 0)
            reset(fds[i]);
        else if (i % 3 == 1)
            (void)close(fds[i]);
        else
            (void)shutdown(fds[i], SHUT_WR);
    OK(rig_reaches(&rig_seen.gone, MANY));
    OK(rig_reaches(&rig_seen.live, 0));
    for (int i = 2; i < MANY; i += 3) {
        OK(rig_closed(fds[i]));
        (void)close(fds[i]);
    }
    rig_stop(&rig);
}

TEST(a_client_that_left_with_bytes_unread_is_noticed_too)
{
    struct rig rig;
    rig_start_usual(&rig);
    int fd = rig_connect(&rig);
    rig_say(fd, HELD);
    OK(rig_reaches(&rig_seen.begun, 1));
    rig_say(fd, HELD); /* pipelined behind the held one */
    (void)close(fd);
    OK(rig_reaches(&rig_seen.gone, 1));
    OK(rig_reaches(&rig_seen.live, 0));
    EQ_INT(rig_count(&rig_seen.begun), 1);
    rig_stop(&rig);
}

/* The last byte and the end in one segment: it had left before it was held. */
TEST(a_client_that_only_sends_and_leaves_is_not_waited_for)
{
    struct rig rig;
    rig_start_usual(&rig);
    for (int i = 0; i < 50; i++) {
        int fd = rig_connect(&rig);
        rig_say(fd, HELD);
        (void)close(fd);
        OK(rig_reaches(&rig_seen.live, 0));
    }
    rig_stop(&rig);
}

TEST(a_file_that_nobody_waits_for_is_closed)
{
    struct rig rig;
    rig_start_usual(&rig);
    int before = dup(0);
    for (int i = 0; i < 20; i++) {
        int fd = rig_connect(&rig);
        rig_say(fd, "GET /file/hold HTTP/1.1\r\n" HOST "\r\n");
        OK(rig_reaches(&rig_seen.begun, i + 1));
        (void)close(fd);
        OK(rig_reaches(&rig_seen.live, 0));
    }
    rig_stop(&rig);
    (void)close(before);
    int after = dup(0);
    (void)close(after);
    OK(after <= before);
}

/* ---- deadlines ---- */

enum { HEAD_MS = 150, BODY_MS = 300, IDLE_MS = 450, SLACK_MS = 1500 };

/* Sends the start, then one byte of `drip` every 20 ms, until it is cut. */
static int64_t lasted(const struct rig *rig, const char *start, const char *drip)
{
    int64_t began = clock_mono_ms();
    int fd = rig_connect(rig);
    rig_say(fd, start);
    for (const char *at = drip; clock_mono_ms() < began + RIG_PATIENCE_MS;) {
        struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
        char bytes[4096];
        if (poll(&poll_fd, 1, 20) == 1 && recv(fd, bytes, sizeof(bytes), 0) <= 0)
            break;
        if (*at)
            rig_send(fd, at++, 1);
    }
    (void)close(fd);
    return clock_mono_ms() - began;
}

TEST(deadlines_are_absolute)
{
    static const char dots[] =
        "........................................................";
    static const struct {
        const char *what, *start, *drip;
        int64_t least;
    } cases[] = {
        {"silence",        "",                                                           "",   HEAD_MS},
        {"dripped line",   "GET /",                                                      dots, HEAD_MS},
        {"dripped header", "GET /now HTTP/1.1\r\nX: ",                                   dots, HEAD_MS},
        {"dripped body",   "POST /now HTTP/1.1\r\n" HOST "Content-Length: 1000\r\n\r\n",
         dots,                                                                                 BODY_MS},
        {"silent body",
         "POST /now HTTP/1.1\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n",             "",
         BODY_MS                                                                                      },
        {"idle",           "GET /now HTTP/1.1\r\n" HOST "\r\n",                          "",   IDLE_MS},
        {"idle, dripping", "GET /now HTTP/1.1\r\n" HOST "\r\n",                          dots, IDLE_MS},
        {"second head",
         "GET /later HTTP/1.1\r\n" HOST "\r\nGET /now HTTP/1.1\r\nX: ",                  dots, HEAD_MS},
    };
    struct rig rig;
    rig_start(&rig, "127.0.0.1:0",
              (struct front_config){
                  .head_ms = HEAD_MS, .body_ms = BODY_MS, .idle_ms = IDLE_MS},
              usual);
    for (size_t i = 0; i < COUNT(cases); i++) {
        CASE("%s", cases[i].what);
        int64_t ms = lasted(&rig, cases[i].start, cases[i].drip);
        OK(ms >= cases[i].least);
        OK(ms < cases[i].least + SLACK_MS);
    }
    rig_stop(&rig);
}

TEST(what_is_held_has_no_deadline_here)
{
    struct rig rig;
    own_buf got = BUF(RIG_BODY_MAX), out = BUF(RIG_BODY_MAX);
    rig_start(&rig, "127.0.0.1:0",
              (struct front_config){.head_ms = 20, .body_ms = 40, .idle_ms = 30},
              usual);
    int fd = rig_connect(&rig);
    rig_say(fd, HELD);
    OK(rig_reaches(&rig_seen.begun, 1));
    (void)poll(NULL, 0, 300);
    rig_do(&rig, rig_release_all);
    EQ_INT(rig_answer(fd, true, &got, &out), 200);
    OK(rig_closed(fd)); /* idle */
    (void)close(fd);
    rig_stop(&rig);
}

/* ---- too many ---- */

TEST(who_is_over_the_cap_waits_for_a_place)
{
    struct rig rig;
    own_buf got = BUF(RIG_BODY_MAX), out = BUF(RIG_BODY_MAX);
    struct listener two = {.kind = LISTEN_AGENTS, .connections_max = 2};
    rig_start(&rig, "127.0.0.1:0", (struct front_config){0}, two);
    int fds[3];
    for (int i = 0; i < 3; i++) {
        fds[i] = rig_connect(&rig); /* the third by the kernel's backlog */
        rig_say(fds[i], HELD);
    }
    OK(rig_reaches(&rig_seen.begun, 2));
    (void)poll(NULL, 0, 50);
    EQ_INT(rig_count(&rig_seen.begun), 2);
    (void)close(fds[0]);
    OK(rig_reaches(&rig_seen.begun, 3));
    rig_do(&rig, rig_release_all);
    EQ_INT(rig_answer(fds[2], true, &got, &out), 200);
    (void)close(fds[1]);
    (void)close(fds[2]);
    rig_stop(&rig);
}

TEST(without_descriptors_it_pauses_and_recovers)
{
    struct rig rig;
    struct rlimit old, low;
    own_buf out = BUF(RIG_BODY_MAX), got = BUF(RIG_BODY_MAX);
    rig_start_usual(&rig);
    int fd = rig_connect(&rig);
    rig_say(fd, "GET /later HTTP/1.1\r\n" HOST "\r\n");
    EQ_INT(rig_answer(fd, true, &got, &out), 200);
    int waiting = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address;
    socklen_t size = sizeof(address);
    OK(getsockname(rig.fd, (struct sockaddr *)(void *)&address, &size) == 0);
    OK(getrlimit(RLIMIT_NOFILE, &old) == 0);
    low = old;
    low.rlim_cur = (rlim_t)waiting + 1;
    OK(setrlimit(RLIMIT_NOFILE, &low) == 0);
    bool connected = connect(waiting, (struct sockaddr *)(void *)&address, size) == 0;
    rig_say(waiting, "GET /now?waited HTTP/1.1\r\n" HOST "\r\n");
    (void)poll(NULL, 0, 250);
    uint64_t turns = loop_turns(rig.worker.loop);
    (void)poll(NULL, 0, 250);
    turns = loop_turns(rig.worker.loop) - turns;
    rig_say(fd, "GET /later HTTP/1.1\r\n" HOST "\r\n"); /* who is in goes on */
    int meanwhile = rig_answer(fd, true, &got, &out);
    OK(setrlimit(RLIMIT_NOFILE, &old) == 0);
    OK(connected);
    OK(turns < 20); /* it does not spin */
    EQ_INT(meanwhile, 200);
    EQ_INT(rig_answer(waiting, true, &got, &out), 200);
    HAS_TEXT(out.data, "/now?waited");
    (void)close(waiting);
    (void)close(fd);
    rig_stop(&rig);
}

/* ---- the end ---- */

TEST(quiescing_closes_the_idle_and_finishes_the_rest)
{
    struct rig rig;
    own_buf got = BUF(RIG_BODY_MAX), out = BUF(RIG_BODY_MAX);
    rig_start_usual(&rig);
    int idle = rig_connect(&rig), held = rig_connect(&rig);
    rig_say(idle, "GET /now HTTP/1.1\r\n" HOST "\r\n");
    EQ_INT(rig_answer(idle, true, &got, &out), 200);
    NOT(strstr(out.data, "Connection: close"));
    rig_say(held, HELD);
    OK(rig_reaches(&rig_seen.begun, 2));
    rig_do(&rig, rig_quiesce);
    OK(rig_closed(idle));
    int late = rig_connect(&rig); /* stays in the backlog */
    rig_say(late, HELD);
    rig_do(&rig, rig_release_all);
    EQ_INT(rig_answer(held, true, &got, &out), 200);
    HAS_TEXT(out.data, "Connection: close");
    OK(rig_closed(held));
    EQ_INT(rig_count(&rig_seen.begun), 2);
    EQ_INT(rig_count(&rig_seen.gone), 0);
    rig_stop(&rig);
    (void)close(idle);
    (void)close(held);
    (void)close(late);
}

TEST(freeing_with_a_held_request_is_a_bug)
{
    struct rig rig;
    rig_start_usual(&rig);
    int fd = rig_connect(&rig);
    rig_say(fd, HELD);
    OK(rig_reaches(&rig_seen.begun, 1));
    DIES(front_free(rig.front));
    (void)close(fd);
    rig_stop(&rig);
}

TEST(connections_that_are_amidst_a_request_are_freed_at_the_end)
{
    static const char *const halves[] = {"", "GET /no", "GET /now HTTP/1.1\r\nX: y",
                                         "POST /now HTTP/1.1\r\n" HOST
                                         "Content-Length: 9\r\n\r\nhalf"};
    struct rig rig;
    int fds[COUNT(halves)];
    rig_start_usual(&rig);
    for (size_t i = 0; i < COUNT(halves); i++) {
        fds[i] = rig_connect(&rig);
        rig_say(fds[i], halves[i]);
    }
    OK(rig_reaches(&rig_seen.live, 1));
    rig_stop(&rig);
    for (size_t i = 0; i < COUNT(halves); i++)
        (void)close(fds[i]);
}

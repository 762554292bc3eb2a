/* A front on a thread of its own, before an exchange that the request's path scripts,
 * and a client that speaks raw bytes.  Included once by each test_front_*.c. */
#ifndef TESTS_TEST_FRONT_RIG_H
#define TESTS_TEST_FRONT_RIG_H

#include "base/buf.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "front/front.h"
#include "test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define RIG __attribute__((unused)) static

enum { RIG_BODY_MAX = 1 << 20, RIG_SMALL = 100, RIG_PATIENCE_MS = 5000 };

/* ---- the scripted exchange ---- */

enum act {
    ACT_AT_ONCE, /* answered within exchange_begin */
    ACT_LATER,   /* in a later round of the loop */
    ACT_HOLD,    /* when released, or when the client has left */
    ACT_NONE,    /* there is no memory for it */
};

static const struct script {
    const char *path;
    enum act act;
    size_t body_max;
    int status;
    bool close, file;
} scripts[] = {
    {"/now",           ACT_AT_ONCE, RIG_BODY_MAX, 200, false, false},
    {"/later",         ACT_LATER,   RIG_BODY_MAX, 200, false, false},
    {"/hold",          ACT_HOLD,    RIG_BODY_MAX, 200, false, false},
    {"/none",          ACT_NONE,    0,            0,   false, false},
    {"/small/now",     ACT_AT_ONCE, RIG_SMALL,    413, true,  false},
    {"/small/later",   ACT_LATER,   RIG_SMALL,    413, true,  false},
    {"/refused/now",   ACT_AT_ONCE, 0,            401, true,  false},
    {"/refused/later", ACT_LATER,   0,            401, true,  false},
    {"/empty",         ACT_AT_ONCE, 0,            204, false, false},
    {"/file",          ACT_LATER,   0,            200, false, true },
    {"/file/hold",     ACT_HOLD,    0,            200, false, true },
    {"/close",         ACT_LATER,   RIG_BODY_MAX, 200, true,  false},
};

struct exchange {
    const struct script *script;
    struct worker *worker;
    struct incoming in;
    struct buf body, text;
    struct outgoing out;
    struct header headers[3];
    struct task task;
    struct timer timer;
    struct exchange *next, **place; /* held */
    bool begun, answered, gone;
};

static struct {
    int live, begun, gone, double_gone; /* atomic: exchanges */
    struct exchange *held;              /* the loop's own */
} rig_seen;

RIG int rig_count(const int *counter)
{
    return __atomic_load_n(counter, __ATOMIC_ACQUIRE);
}

static void rig_add(int *counter, int more)
{
    (void)__atomic_add_fetch(counter, more, __ATOMIC_ACQ_REL);
}

static const struct script *script_for(const char *target)
{
    size_t size = strcspn(target, "?");
    for (size_t i = 0; i < COUNT(scripts); i++)
        if (strlen(scripts[i].path) == size
            && strncmp(scripts[i].path, target, size) == 0)
            return &scripts[i];
    return &scripts[0];
}

/* The reply tells what arrived. */
static void describe(struct exchange *x)
{
    static const char *const listeners[] = {"agents", "people", "metrics", "admin"};
    const struct raw_request *raw = &x->in.raw;
    x->text = BUF(RIG_BODY_MAX * 2);
    (void)buf_printf(&x->text, "%s %s %s|%s ip=%s uid=%lld|", raw->method, raw->target,
                     raw->version, listeners[x->in.listener], x->in.ip,
                     (long long)x->in.uid);
    for (size_t i = 0; i < raw->header_count; i++)
        (void)buf_printf(&x->text, "%.*s=%.*s|", (int)raw->headers[i].name_size,
                         raw->headers[i].name, (int)raw->headers[i].value_size,
                         raw->headers[i].value);
}

struct exchange *exchange_new(struct worker *worker, const struct incoming *incoming)
{
    const struct script *script = script_for(incoming->raw.target);
    struct exchange *x = script->act == ACT_NONE ? NULL : memory_new(sizeof(*x));
    if (!x)
        return NULL;
    x->script = script;
    x->worker = worker;
    x->in = *incoming;
    x->body = BUF(script->body_max);
    x->out.fd = -1;
    describe(x);
    rig_add(&rig_seen.live, 1);
    return x;
}

size_t exchange_body_max(const struct exchange *x)
{
    return x->script->body_max;
}

bool exchange_body(struct exchange *x, const char *bytes, size_t size)
{
    must(!x->begun);
    return buf_add(&x->body, bytes, size);
}

static int rig_file(const char *text)
{
    char path[] = "/tmp/front-XXXXXX";
    int fd = mkstemp(path);
    must(fd >= 0);
    (void)unlink(path);
    must(write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    return fd;
}

static void answer(struct exchange *x)
{
    must(x->begun && !x->answered);
    x->answered = true;
    (void)buf_printf(&x->text, "body(%zu)=%s", x->body.size,
                     x->body.data ? x->body.data : "");
    /* Neither is followed by a NUL, as the real ones may not be. */
    x->headers[0] = (struct header){"Content-Type:", "text/plain!", 12, 10};
    x->headers[1] = (struct header){"X-Two", "1", 5, 1};
    x->headers[2] = (struct header){"X-Two", "2", 5, 1};
    x->out.status = x->script->status;
    x->out.headers = x->headers;
    x->out.header_count = COUNT(x->headers);
    x->out.body = x->text.data;
    x->out.body_size = x->script->status == 204 ? 0 : x->text.size;
    x->out.close = x->script->close;
    if (x->script->file) {
        x->out.fd = rig_file("a file's bytes");
        x->out.fd_size = strlen("a file's bytes");
    }
    x->in.answered(x, x->in.context);
}

static void release_one(struct exchange *x)
{
    *x->place = x->next;
    if (x->next)
        x->next->place = x->place;
    answer(x);
}

static void answer_task(struct task *task)
{
    answer(container_of(task, struct exchange, task));
}

void exchange_begin(struct exchange *x)
{
    must(!x->begun);
    x->begun = true;
    rig_add(&rig_seen.begun, 1);
    if (x->script->act == ACT_AT_ONCE) {
        answer(x);
    } else if (x->script->act == ACT_LATER) {
        x->task.run = answer_task;
        loop_post(x->worker->loop, &x->task);
    } else {
        x->next = rig_seen.held;
        x->place = &rig_seen.held;
        if (x->next)
            x->next->place = &x->next;
        rig_seen.held = x;
    }
}

void exchange_gone(struct exchange *x)
{
    rig_add(x->gone ? &rig_seen.double_gone : &rig_seen.gone, 1);
    x->gone = true;
    if (x->script->act == ACT_HOLD && !x->answered)
        release_one(x);
}

const struct outgoing *exchange_outgoing(const struct exchange *x)
{
    return &x->out;
}

void exchange_free(struct exchange *x)
{
    if (!x)
        return;
    must(!x->begun || x->answered);
    buf_free(&x->body);
    buf_free(&x->text);
    memory_free(x);
    rig_add(&rig_seen.live, -1);
}

/* ---- the front ---- */

struct rig {
    struct worker worker;
    struct front *front;
    int fd;
    char address[128];
    struct task task;
    int done; /* atomic: the task has run */
};

RIG void rig_start(struct rig *rig, const char *address, struct front_config config,
                   struct listener listener)
{
    char error[FRONT_ERROR];
    (void)signal(SIGPIPE, SIG_IGN);
    memset(rig, 0, sizeof(*rig));
    memset(&rig_seen, 0, sizeof(rig_seen));
    rig->fd = front_listen(address, error);
    OK(rig->fd >= 0);
    front_address(rig->fd, rig->address);
    rig->worker.loop = loop_new();
    listener.fd = rig->fd;
    rig->front = front_new(&rig->worker, &config, &listener, 1);
    NOT_NULL(rig->front);
    worker_start(&rig->worker);
}

RIG void rig_start_usual(struct rig *rig)
{
    rig_start(rig, "127.0.0.1:0", (struct front_config){0},
              (struct listener){.kind = LISTEN_AGENTS, .connections_max = 1000});
}

/* Runs something on the loop's thread and waits for it. */
RIG void rig_do(struct rig *rig, void (*run)(struct task *task))
{
    __atomic_store_n(&rig->done, 0, __ATOMIC_RELEASE);
    rig->task.run = run;
    loop_post(rig->worker.loop, &rig->task);
    while (!__atomic_load_n(&rig->done, __ATOMIC_ACQUIRE))
        (void)poll(NULL, 0, 1);
}

RIG void rig_done(struct task *task)
{
    __atomic_store_n(&container_of(task, struct rig, task)->done, 1, __ATOMIC_RELEASE);
}

RIG void rig_release_all(struct task *task)
{
    while (rig_seen.held)
        release_one(rig_seen.held);
    rig_done(task);
}

RIG void rig_quiesce(struct task *task)
{
    front_quiesce(container_of(task, struct rig, task)->front);
    rig_done(task);
}

/* Until the counter is there, or patience ends. */
RIG bool rig_reaches(const int *counter, int value)
{
    for (int64_t end = clock_mono_ms() + RIG_PATIENCE_MS; clock_mono_ms() < end;) {
        if (rig_count(counter) == value)
            return true;
        (void)poll(NULL, 0, 1);
    }
    return false;
}

RIG void rig_stop(struct rig *rig)
{
    rig_do(rig, rig_release_all);
    worker_stop(&rig->worker);
    front_free(rig->front);
    loop_free(rig->worker.loop);
    (void)close(rig->fd);
    EQ_INT(rig_count(&rig_seen.live), 0);
    EQ_INT(rig_count(&rig_seen.double_gone), 0);
}

/* ---- the client ---- */

RIG int rig_connect(const struct rig *rig)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET};
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    bool is_local = rig->address[0] == '/';
    const void *address = is_local ? (const void *)&local : (const void *)&v4;
    const char *colon = strrchr(rig->address, ':');
    int64_t port = 0;
    if (is_local) {
        (void)text_copy(local.sun_path, sizeof(local.sun_path), rig->address);
    } else {
        OK(text_int(colon + 1, 1, 65535, &port));
        v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        v4.sin_port = htons((uint16_t)port);
    }
    int fd = socket(is_local ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    OK(fd >= 0);
    OK(connect(fd, address, is_local ? sizeof(local) : sizeof(v4)) == 0);
    return fd;
}

RIG void rig_send(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t sent = send(fd, bytes, size, MSG_NOSIGNAL);
        if (sent <= 0)
            return; /* refused and closed: the answer is what counts */
        bytes += sent;
        size -= (size_t)sent;
    }
}

RIG void rig_say(int fd, const char *text)
{
    rig_send(fd, text, strlen(text));
}

/* More bytes, or false at the end or when patience ends. */
static bool more(int fd, struct buf *got)
{
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    char piece[4096];
    if (poll(&poll_fd, 1, RIG_PATIENCE_MS) != 1)
        return false;
    ssize_t size = recv(fd, piece, sizeof(piece), 0);
    return size > 0 && buf_add(got, piece, (size_t)size);
}

static int64_t content_length(const char *head)
{
    int64_t length = 0;
    char digits[24] = "";
    const char *at = strcasestr(head, "\r\nContent-Length: ");
    if (at)
        (void)text_format(digits, sizeof(digits), "%.*s", (int)strcspn(at + 18, "\r"),
                          at + 18);
    return at && text_int(digits, 0, INT32_MAX, &length) ? length : 0;
}

/* The next answer moves from `got` to `answer`; its status, or 0 when the connection
 * ended before it was complete. */
RIG int rig_answer(int fd, bool with_body, struct buf *got, struct buf *out)
{
    const char *end = NULL;
    int64_t status = 0;
    char digits[4];
    while (!got->data || !(end = strstr(got->data, "\r\n\r\n")))
        if (!more(fd, got))
            return 0;
    size_t size = (size_t)(end - got->data) + 4;
    size += with_body ? (size_t)content_length(got->data) : 0;
    while (got->size < size)
        if (!more(fd, got))
            return 0;
    buf_clear(out);
    OK(buf_add(out, got->data, size));
    memmove(got->data, got->data + size, got->size - size + 1); /* and the NUL */
    got->size -= size;
    OK(text_starts(out->data, "HTTP/1.1 "));
    (void)text_format(digits, sizeof(digits), "%.3s", out->data + 9);
    OK(text_int(digits, 100, 599, &status));
    return (int)status;
}

/* Nothing more comes, and the connection is closed. */
RIG bool rig_closed(int fd)
{
    own_buf rest = BUF(1 << 20);
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    while (more(fd, &rest)) {
    }
    char byte;
    return poll(&poll_fd, 1, 0) == 1 && recv(fd, &byte, 1, 0) <= 0;
}

/* One request on a connection of its own; `out` is its answer, whole. */
RIG int rig_ask(const struct rig *rig, const char *bytes, size_t size, struct buf *out)
{
    own_buf got = BUF(RIG_BODY_MAX * 4);
    int fd = rig_connect(rig);
    rig_send(fd, bytes, size);
    int status = rig_answer(fd, true, &got, out);
    (void)close(fd);
    return status;
}

#endif

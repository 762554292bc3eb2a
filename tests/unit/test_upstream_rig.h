/* What the tests of upstream share: a server on loopback that misbehaves as told, and a
 * loop on a thread of its own with calls that can be waited for.
 *
 * A server has one script for each connection, in the order of their coming; the last
 * one is for all that come later. */
#ifndef TESTS_UPSTREAM_RIG_H
#define TESTS_UPSTREAM_RIG_H

#include "test.h"
#include "upstream/upstream.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- the server ---- */

enum act {
    FIN,    /* closes, in order: also the end of each script */
    RST,    /* closes with a reset */
    READ,   /* a whole request */
    HEAD,   /* a request's head, its body stays unread */
    SAY,    /* `text` */
    DRIP,   /* `text` byte by byte */
    FLOOD,  /* `text` until nobody listens */
    HANG,   /* until the other side closes */
    STALL,  /* reads nothing more, until the test ends */
    PROMPT, /* until the test says server_prompt */
    AGAIN,  /* the script from its start */
};

struct step {
    enum act act;
    const char *text;
};

enum { SCRIPTS = 4, STEPS = 8, PEERS = 512, SEEN = 8192 };

struct script {
    struct step steps[STEPS];
};

struct server {
    struct script scripts[SCRIPTS];
    size_t script_count;
    int fd, port, stop, prompt;
    pthread_t thread, peers[PEERS];
    size_t peer_count;
    pthread_mutex_t lock;
    int connections, requests, said, hangups, open, open_most; /* by `lock` */
    char seen[SEEN];                                           /* the last request */
    char url[64];
};

struct peer {
    struct server *server;
    int fd;
    size_t number;
};

static inline void server_count(struct server *server, int *counter, int by)
{
    pthread_mutex_lock(&server->lock);
    *counter += by;
    if (server->open > server->open_most)
        server->open_most = server->open;
    pthread_mutex_unlock(&server->lock);
}

static inline int server_get(struct server *server, const int *counter)
{
    pthread_mutex_lock(&server->lock);
    int value = *counter;
    pthread_mutex_unlock(&server->lock);
    return value;
}

/* 0 at the end of the connection, or of the test. */
static inline size_t peer_read(const struct peer *peer, char *bytes, size_t room)
{
    struct pollfd wait[] = {
        {peer->fd,           POLLIN, 0},
        {peer->server->stop, POLLIN, 0}
    };
    while (poll(wait, 2, -1) < 0)
        continue;
    ssize_t got = wait[0].revents ? read(peer->fd, bytes, room) : 0;
    return got > 0 ? (size_t)got : 0;
}

static inline size_t body_due(const char *text)
{
    const char *length = strstr(text, "Content-Length: ");
    return length ? strtoul(length + 16, NULL, 10) : 0;
}

/* The head goes to `seen`, the body into the void. */
static inline bool read_request(const struct peer *peer, bool with_body)
{
    char text[SEEN], more[SEEN], *end;
    size_t size = 0;
    do {
        size_t got = peer_read(peer, text + size, sizeof(text) - 1 - size);
        if (got == 0)
            return false;
        size += got;
        text[size] = '\0';
    } while (!(end = strstr(text, "\r\n\r\n")));
    size_t body = size - (size_t)(end + 4 - text);
    while (with_body && body < body_due(text)) {
        size_t got = peer_read(peer, more, sizeof(more));
        if (got == 0)
            return false;
        body += got;
    }
    pthread_mutex_lock(&peer->server->lock);
    memcpy(peer->server->seen, text, size + 1);
    peer->server->requests++;
    pthread_mutex_unlock(&peer->server->lock);
    return true;
}

static inline void server_prompt(struct server *server)
{
    must(!eventfd_write(server->prompt, 1));
}

static inline bool await_prompt(const struct peer *peer)
{
    eventfd_t one;
    struct pollfd wait[] = {
        {peer->server->prompt, POLLIN, 0},
        {peer->server->stop,   POLLIN, 0}
    };
    while (poll(wait, 2, -1) < 0)
        continue;
    return wait[0].revents && !eventfd_read(peer->server->prompt, &one);
}

static inline bool say(const struct peer *peer, const char *text, size_t piece)
{
    size_t size = strlen(text), next;
    for (size_t at = 0; at < size; at += next) {
        next = piece && piece < size - at ? piece : size - at;
        ssize_t sent = send(peer->fd, text + at, next, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        next = (size_t)sent;
    }
    server_count(peer->server, &peer->server->said, 1);
    return true;
}

static inline void hang(const struct peer *peer)
{
    char text[SEEN];
    while (peer_read(peer, text, sizeof(text)))
        continue;
}

static inline void reset(const struct peer *peer)
{
    struct linger now = {.l_onoff = 1};
    must(!setsockopt(peer->fd, SOL_SOCKET, SO_LINGER, &now, sizeof(now)));
}

/* False: the script ends here. */
static inline bool play(const struct peer *peer, const struct step *step)
{
    switch (step->act) {
    case READ:
    case HEAD:
        return read_request(peer, step->act == READ);
    case SAY:
        return say(peer, step->text, 0);
    case DRIP:
        return say(peer, step->text, 1);
    case FLOOD:
        while (say(peer, step->text, 0))
            continue;
        return false;
    case HANG:
        hang(peer);
        return true;
    case STALL:
        return poll(&(struct pollfd){peer->server->stop, POLLIN, 0}, 1, -1) < 0;
    case PROMPT:
        return await_prompt(peer);
    case RST:
        reset(peer);
        return false;
    case FIN:
    case AGAIN:
        break;
    }
    return false;
}

static inline void *peer_run(void *context)
{
    struct peer *peer = context;
    struct server *server = peer->server;
    size_t which =
        peer->number < server->script_count ? peer->number : server->script_count - 1;
    const struct step *first = server->scripts[which].steps, *step = first;
    int one = 1;
    (void)setsockopt(peer->fd, IPPROTO_TCP, 1 /* TCP_NODELAY */, &one, sizeof(one));
    while (play(peer, step))
        step = step[1].act == AGAIN ? first : step + 1;
    server_count(server, &server->open, -1);
    server_count(server, &server->hangups, 1);
    close(peer->fd);
    free(peer);
    return NULL;
}

static inline void *server_run(void *context)
{
    struct server *server = context;
    for (;;) {
        int fd = accept(server->fd, NULL, NULL);
        if (fd < 0)
            return NULL;
        must(server->peer_count < PEERS);
        struct peer *peer = malloc(sizeof(*peer));
        must(peer);
        *peer = (struct peer){server, fd, server->peer_count};
        server_count(server, &server->connections, 1);
        server_count(server, &server->open, 1);
        must(!pthread_create(&server->peers[server->peer_count++], NULL, peer_run,
                             peer));
    }
}

/* A bound port on loopback, listening if `backlog` >= 0. */
static inline int bind_loopback(int *port, int backlog)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    must(fd >= 0 && !bind(fd, (const struct sockaddr *)&address, size));
    must(!getsockname(fd, (struct sockaddr *)&address, &size));
    must(backlog < 0 || !listen(fd, backlog));
    *port = ntohs(address.sin_port);
    return fd;
}

/* `scripts` are set by the caller. */
static inline void server_start(struct server *server)
{
    server->fd = bind_loopback(&server->port, 256);
    server->stop = eventfd(0, EFD_CLOEXEC);
    server->prompt = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
    must(server->stop >= 0 && server->prompt >= 0
         && !pthread_mutex_init(&server->lock, NULL));
    (void)snprintf(server->url, sizeof(server->url), "http://127.0.0.1:%d",
                   server->port);
    while (server->script_count < SCRIPTS
           && server->scripts[server->script_count].steps[0].act != FIN)
        server->script_count++;
    if (server->script_count == 0)
        server->script_count = 1; /* hangs up at once */
    must(!pthread_create(&server->thread, NULL, server_run, server));
}

static inline void server_stop(struct server *server)
{
    must(!eventfd_write(server->stop, 1));
    (void)shutdown(server->fd, SHUT_RDWR);
    must(!pthread_join(server->thread, NULL));
    for (size_t i = 0; i < server->peer_count; i++)
        must(!pthread_join(server->peers[i], NULL));
    close(server->fd);
    close(server->stop);
    close(server->prompt);
    pthread_mutex_destroy(&server->lock);
}

/* Waits until a count is reached: an event of the other thread, not a duration. */
static inline void server_await(struct server *server, const int *counter, int value)
{
    for (int i = 0; i < 5000 && server_get(server, counter) < value; i++)
        (void)poll(NULL, 0, 1);
    EQ_INT(server_get(server, counter), value);
}

/* ---- the loop ---- */

struct rig {
    struct upstream_config config;
    struct loop *loop;
    struct upstream *upstream;
    pthread_t thread;
    bool calling; /* the loop is inside upstream_start or _abort */
};

struct order {
    struct task task;
    void (*run)(struct rig *rig, void *what);
    struct rig *rig;
    void *what;
    sem_t done;
};

static inline void *rig_run(void *context)
{
    const struct rig *rig = context;
    loop_run(rig->loop);
    return NULL;
}

static inline void carry_out(struct task *task)
{
    struct order *order = container_of(task, struct order, task);
    order->run(order->rig, order->what);
    must(!sem_post(&order->done));
}

/* Runs it on the loop, and waits. */
static inline void rig_do(struct rig *rig, void (*run)(struct rig *, void *),
                          void *what)
{
    struct order order = {.task.run = carry_out, .run = run, .rig = rig, .what = what};
    must(!sem_init(&order.done, 0, 0));
    loop_post(rig->loop, &order.task);
    while (sem_wait(&order.done))
        continue;
    sem_destroy(&order.done);
}

/* What is zero in `config` is generous. */
static inline void rig_start(struct rig *rig)
{
    struct upstream_config *config = &rig->config;
    (void)signal(SIGPIPE, SIG_IGN);
    config->connect_ms = config->connect_ms ? config->connect_ms : 10000;
    config->answer_ms = config->answer_ms ? config->answer_ms : 20000;
    config->idle_ms = config->idle_ms ? config->idle_ms : 20000;
    config->connections_max = config->connections_max ? config->connections_max : 64;
    config->header_max = config->header_max ? config->header_max : 64 * 1024;
    config->body_max = config->body_max ? config->body_max : 16 * 1024 * 1024;
    rig->loop = loop_new();
    rig->upstream = upstream_new(rig->loop, config);
    must(!pthread_create(&rig->thread, NULL, rig_run, rig));
}

static inline void free_upstream(struct rig *rig, void *what)
{
    (void)what;
    EQ_INT(upstream_in_flight(rig->upstream), 0);
    upstream_free(rig->upstream);
}

static inline void rig_stop(struct rig *rig)
{
    rig_do(rig, free_upstream, NULL);
    loop_stop(rig->loop);
    must(!pthread_join(rig->thread, NULL));
    loop_free(rig->loop);
}

/* ---- calls ---- */

struct call {
    struct transfer transfer;
    struct rig *rig;
    int sent, done, place; /* place: among those that are done */
    sem_t finished;
};

static int finished_calls;

static inline void call_sent(struct transfer *transfer)
{
    struct call *call = container_of(transfer, struct call, transfer);
    call->sent++;
    must(call->done == 0);
}

static inline void call_done(struct transfer *transfer)
{
    struct call *call = container_of(transfer, struct call, transfer);
    must(!call->rig->calling && call->done == 0);
    call->done++;
    call->place = __atomic_add_fetch(&finished_calls, 1, __ATOMIC_RELAXED);
    must(!sem_post(&call->finished));
}

static inline void call_start(struct rig *rig, void *what)
{
    struct call *call = what;
    rig->calling = true;
    upstream_start(rig->upstream, &call->transfer);
    rig->calling = false;
}

static inline void call_abort(struct rig *rig, void *what)
{
    struct call *call = what;
    rig->calling = true;
    upstream_abort(rig->upstream, &call->transfer);
    rig->calling = false;
}

/* A GET that may use the pool, or a POST; the rest may be changed before it begins. */
static inline struct call call_make(const char *url, bool read)
{
    return (struct call){
        .transfer = {.base_url = url,
                     .e2b_key = "e2b_key",
                     .method = read ? "GET" : "POST",
                     .path = "/sandboxes",
                     .query = "",
                     .body = read ? NULL : "{}",
                     .body_size = read ? 0 : 2,
                     .read = read}
    };
}

static inline void call_begin(struct rig *rig, struct call *call)
{
    call->rig = rig;
    call->transfer.sent = call_sent;
    call->transfer.done = call_done;
    must(!sem_init(&call->finished, 0, 0));
    rig_do(rig, call_start, call);
}

static inline void call_wait(struct call *call)
{
    while (sem_wait(&call->finished))
        continue;
}

static inline void call_free(struct call *call)
{
    buf_free(&call->transfer.answer);
    buf_free(&call->transfer.head);
    sem_destroy(&call->finished);
}

/* Runs one to its end; the caller frees. */
static inline struct call *call_run(struct rig *rig, struct call *call)
{
    call_begin(rig, call);
    call_wait(call);
    return call;
}

static inline const char *call_answer(const struct call *call)
{
    return call->transfer.answer.data ? call->transfer.answer.data : "";
}

#define OK_HI "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"
#define CHUNKED_HI \
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"

#endif

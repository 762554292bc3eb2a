/* Listening sockets: how many may come in, and what happens when no descriptor is left.
 *
 * Several workers wait on the same socket; the kernel wakes one of them.  Whoever is
 * full stops listening: others take the connection, or it waits in the backlog. */
#include "front/clients.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/must.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>

enum { BURST = 16, PAUSE_MS = 100, HELD_A_MICRO = 64 };

/* How many small daemons, by who comes in. */
static const struct {
    size_t least, most;
} micros_for[] = {
    [LISTEN_AGENTS] = {16, 256},
    [LISTEN_PEOPLE] = {4,  16 },
    [LISTEN_METRICS] = {2,  4  },
    [LISTEN_ADMIN] = {2,  4  },
};

/* Accepted sockets inherit these. A dead peer is noticed after a minute. */
static const struct {
    int level, name, value;
} socket_options[] = {
    {SOL_SOCKET,  SO_KEEPALIVE,     1    },
    {IPPROTO_TCP, TCP_NODELAY,      1    },
    {IPPROTO_TCP, TCP_KEEPIDLE,     30   },
    {IPPROTO_TCP, TCP_KEEPINTVL,    10   },
    {IPPROTO_TCP, TCP_KEEPCNT,      3    },
    {IPPROTO_TCP, TCP_USER_TIMEOUT, 60000},
};

static struct loop *loop_of(const struct gate *gate)
{
    return gate->front->worker->loop;
}

static void pause_a_moment(struct gate *gate, const char *what)
{
    if (!gate->starved)
        log_warn("listen", "%s: %s; trying again every %d ms", what,
                 strerrordesc_np(errno), PAUSE_MS);
    gate->starved = true;
    timer_set(loop_of(gate), &gate->pause, clock_mono_ms() + PAUSE_MS);
    gate_update(gate);
}

static void pause_over(struct timer *timer)
{
    gate_update(container_of(timer, struct gate, pause));
}

/* EPOLLEXCLUSIVE cannot be changed, only added and removed. */
void gate_update(struct gate *gate)
{
    bool open = !gate->front->quiescing && !gate->pause.slot
                && gate->clients < gate->listener.connections_max;
    if (open == gate->open)
        return;
    gate->open = open;
    if (!open)
        loop_unwatch(loop_of(gate), &gate->watch);
    else if (!loop_watch(loop_of(gate), &gate->watch, EPOLLIN | EPOLLEXCLUSIVE)) {
        gate->open = false;
        pause_a_moment(gate, "watching");
    }
}

/* The client gave up in the meantime, or the network did. */
static bool only_this_one(int error)
{
    return error == ECONNABORTED || error == EINTR || error == EPROTO || error == EPERM;
}

static bool accept_one(struct gate *gate)
{
    struct arrival arrival = {.size = sizeof(arrival.address)};
    arrival.fd = accept4(gate->listener.fd, (struct sockaddr *)(void *)&arrival.address,
                         &arrival.size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (arrival.fd >= 0) {
        gate->starved = false;
        client_admit(gate, &arrival);
    } else if (errno == EAGAIN) {
        return false;
    } else if (!only_this_one(errno)) {
        pause_a_moment(gate, "accepting");
    }
    return true;
}

static void arrivals(struct watch *watch, uint32_t events)
{
    (void)events;
    struct gate *gate = container_of(watch, struct gate, watch);
    for (int i = 0; i < BURST && gate->open && accept_one(gate); i++)
        gate_update(gate);
}

static size_t micros_of(const struct gate *gate)
{
    size_t least = micros_for[gate->listener.kind].least;
    size_t most = micros_for[gate->listener.kind].most;
    size_t count = gate->listener.connections_max / HELD_A_MICRO;
    if (gate->front->config.daemons)
        return gate->front->config.daemons;
    return count < least ? least : count > most ? most : count;
}

bool gate_init(struct gate *gate, struct front *front, const struct listener *listener)
{
    gate->front = front;
    gate->listener = *listener;
    gate->watch = (struct watch){.ready = arrivals, .fd = listener->fd};
    gate->pause.fire = pause_over;
    for (size_t i = 0; i < COUNT(socket_options); i++) /* a UNIX socket has few */
        (void)setsockopt(listener->fd, socket_options[i].level, socket_options[i].name,
                         &socket_options[i].value, sizeof(int));
    size_t count = micros_of(gate);
    gate->micros = memory_new(count * sizeof(*gate->micros));
    if (!gate->micros)
        return false;
    for (; gate->micro_count < count; gate->micro_count++)
        if (!micro_start(&gate->micros[gate->micro_count], gate))
            return false;
    gate_update(gate);
    return true;
}

void gate_free(struct gate *gate)
{
    gate_update(gate);
    timer_clear(loop_of(gate), &gate->pause);
    for (size_t i = 0; i < gate->micro_count; i++)
        micro_stop(&gate->micros[i]);
    memory_free(gate->micros);
}

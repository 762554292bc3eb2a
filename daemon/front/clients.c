/* Connections: who it is, when its time is over, and when it has left.
 *
 * Deadlines are absolute, so that dripping bytes gains nothing:
 *   head    from the accept, or from the request line on a connection that was idle:
 *           nobody tells when its first byte came
 *   body    from where the head's deadline started
 *   answer  idle_ms, and a second more for every 64 KiB; what is left of it is how long
 *           the connection may idle afterwards
 * The timer may fire early and then looks again: a busy connection moves it rarely.
 *
 * libmicrohttpd does not look at suspended connections, hence the watch of our own.  A
 * client that closes only its sending half counts as gone, too: a held call is then
 * cancelled rather than run for nobody. */
#include "front/clients.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/must.h"
#include "base/text.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

struct front *client_front(const struct client *client)
{
    return client->micro->gate->front;
}

static struct loop *loop_of(const struct client *client)
{
    return client_front(client)->worker->loop;
}

/* ---- time ---- */

void client_due(struct client *client, int64_t due_ms)
{
    client->due_ms = due_ms;
    if (due_ms != FRONT_NEVER_MS
        && (!client->timer.slot || client->timer.due_ms > due_ms))
        timer_set(loop_of(client), &client->timer, due_ms);
}

static void time_over(struct timer *timer)
{
    struct client *client = container_of(timer, struct client, timer);
    if (client->due_ms == FRONT_NEVER_MS)
        return;
    if (client->due_ms > clock_mono_ms()) {
        timer_set(loop_of(client), timer, client->due_ms);
        return;
    }
    log_debug("client", "ip=%s too slow, phase=%d", client->ip, (int)client->phase);
    client->due_ms = FRONT_NEVER_MS;
    (void)shutdown(client->watch.fd, SHUT_RDWR); /* libmicrohttpd sees it and closes */
}

/* ---- who ---- */

static void name_v6(struct client *client, const struct in6_addr *address)
{
    if (IN6_IS_ADDR_V4MAPPED(address)) /* one principal, one spelling */
        (void)inet_ntop(AF_INET, &address->s6_addr[12], client->ip, sizeof(client->ip));
    else
        (void)inet_ntop(AF_INET6, address, client->ip, sizeof(client->ip));
}

static void name_peer(struct client *client, const struct arrival *arrival)
{
    const void *address = &arrival->address;
    struct ucred peer;
    socklen_t size = sizeof(peer);
    client->uid = -1;
    if (arrival->address.ss_family == AF_INET)
        (void)inet_ntop(AF_INET, &((const struct sockaddr_in *)address)->sin_addr,
                        client->ip, sizeof(client->ip));
    else if (arrival->address.ss_family == AF_INET6)
        name_v6(client, &((const struct sockaddr_in6 *)address)->sin6_addr);
    else if (getsockopt(arrival->fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0)
        client->uid = peer.uid;
}

/* ---- coming and going ---- */

static void peer_left(struct watch *watch, uint32_t events)
{
    (void)events;
    struct client *client = container_of(watch, struct client, watch);
    if (client_front(client)->quiescing)
        return; /* we have closed its reading half ourselves */
    client->left = true;
    request_peer_left(client);
}

static struct micro *least_loaded(const struct gate *gate)
{
    struct micro *best = gate->micros;
    for (size_t i = 1; i < gate->micro_count; i++)
        if (gate->micros[i].load < best->load)
            best = &gate->micros[i];
    return best;
}

static struct client *client_new(struct gate *gate, const struct arrival *arrival)
{
    struct front *front = gate->front;
    struct client *client = memory_new(sizeof(*client));
    if (!client)
        return NULL;
    client->micro = least_loaded(gate);
    client->micro->load++;
    client->watch = (struct watch){.ready = peer_left, .fd = arrival->fd};
    client->timer.fire = time_over;
    client->target = BUF(front->config.memory);
    client->began_ms = clock_mono_ms();
    name_peer(client, arrival);
    client->next = front->clients;
    client->place = &front->clients;
    if (client->next)
        client->next->place = &client->next;
    front->clients = client;
    gate->clients++;
    return client;
}

static void client_free(struct client *client)
{
    struct gate *gate = client->micro->gate;
    must(!client->x && !client->suspended);
    loop_unwatch(loop_of(client), &client->watch);
    timer_clear(loop_of(client), &client->timer);
    *client->place = client->next;
    if (client->next)
        client->next->place = client->place;
    client->micro->load--;
    gate->clients--;
    buf_free(&client->target);
    memory_free(client);
    gate_update(gate);
}

void client_notify(void *cls, struct MHD_Connection *connection, void **context,
                   enum MHD_ConnectionNotificationCode code)
{
    struct front *front = cls;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        must(front->arriving);
        front->arriving->connection = connection;
        *context = front->arriving;
        front->arriving = NULL;
    } else if (*context) {
        client_free(*context); /* its descriptor is still open */
        *context = NULL;
    }
}

/* libmicrohttpd owns the descriptor from the attempt on, even if that fails. */
void client_admit(struct gate *gate, const struct arrival *arrival)
{
    struct front *front = gate->front;
    struct client *client = client_new(gate, arrival);
    if (!client) {
        (void)close(arrival->fd);
        return;
    }
    front->arriving = client;
    enum MHD_Result added = MHD_add_connection(
        client->micro->daemon, arrival->fd,
        (const struct sockaddr *)(const void *)&arrival->address, arrival->size);
    if (added != MHD_YES) {
        if (front->arriving)
            client_free(front->arriving);
        front->arriving = NULL;
        return;
    }
    client_due(client, client->began_ms + front->config.head_ms);
    if (!loop_watch(front->worker->loop, &client->watch, EPOLLRDHUP | EPOLLET))
        (void)shutdown(arrival->fd, SHUT_RDWR);
    micro_touch(client->micro);
}

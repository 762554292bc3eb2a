/* clients: connections and the request that each is at.
 *
 * A client is made when its connection is accepted and goes when libmicrohttpd closes
 * it; its request's state is embedded, because there is one at a time. */
#ifndef FRONT_CLIENTS_H
#define FRONT_CLIENTS_H

#include "front/gates.h"

#include <sys/socket.h>

enum { FRONT_NEVER_MS = -1, FRONT_IP = 46 };

/* A request's life; walked only forward, and back to IDLE. */
enum phase {
    IDLE,     /* nothing, or an unfinished request line */
    HEAD,     /* the request line is there */
    BODY,     /* the exchange is being fed */
    AWAY,     /* the exchange is at work, the connection suspended */
    ANSWERED, /* what is left of a refused body is drained, then the answer goes out */
    SENDING,
};

struct client {
    struct watch watch; /* sees the peer leave while libmicrohttpd does not look */
    struct timer timer; /* never later than due_ms */
    int64_t due_ms;
    struct client *next, **place;
    struct micro *micro;
    struct MHD_Connection *connection;
    char ip[FRONT_IP];
    int64_t uid;
    bool left;   /* the peer, or its sending half */
    bool served; /* had a request line before */

    enum phase phase;
    int64_t began_ms; /* accepted, or the request line came */
    struct buf target;
    const char *target_at; /* where libmicrohttpd has it */
    struct exchange *x;
    size_t body_max, drained;
    bool suspended, told, close; /* told: the exchange, that the peer left */
};

struct arrival {
    int fd;
    struct sockaddr_storage address;
    socklen_t size;
};

void client_admit(struct gate *gate, const struct arrival *arrival);
struct front *client_front(const struct client *client);
void client_due(struct client *client, int64_t due_ms); /* FRONT_NEVER_MS: no more */

/* The request's head but for its target. `expects`: a body follows. */
bool head_read(struct client *client, struct raw_request *raw, bool *expects);
void request_peer_left(struct client *client);
enum MHD_Result answer_send(struct client *client);

/* ---- what libmicrohttpd calls; the first parameter is the front ---- */
void client_notify(void *cls, struct MHD_Connection *connection, void **context,
                   enum MHD_ConnectionNotificationCode code);
void *request_line(void *cls, const char *uri, struct MHD_Connection *connection);
enum MHD_Result request_step(void *cls, struct MHD_Connection *connection,
                             const char *url, const char *method, const char *version,
                             const char *upload, size_t *upload_size, void **context);
void request_over(void *cls, struct MHD_Connection *connection, void **context,
                  enum MHD_RequestTerminationCode code);

#endif

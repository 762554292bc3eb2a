/* wire: bytes to and from one origin, over TCP or TLS; the only file that knows how
 * libcurl makes connections.
 *
 * libcurl resolves, connects, does TLS and verifies; then it only carries bytes
 * (CONNECT_ONLY), so nothing is parsed, retried or redirected behind our back.  Each
 * wire is alone in its CURLM, which makes sending O(1), and stays in it: leaving would
 * close the connection.  The program must ignore SIGPIPE. */
#ifndef UPSTREAM_WIRE_H
#define UPSTREAM_WIRE_H

#include "base/loop.h"

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>

/* What the wires of a loop share: resolved names and TLS sessions. */
struct dialer {
    struct loop *loop;
    CURLSH *share;
    int64_t connect_ms;
    const char *ca_file, *ca_folder;
};

void dialer_open(struct dialer *dialer, struct loop *loop, int64_t connect_ms,
                 const char *ca_file);
void dialer_close(struct dialer *dialer); /* after its wires */

enum wire_event {
    WIRE_UP,     /* connected and verified */
    WIRE_FAILED, /* did not connect; `error` says why, `late` whether time ran out */
    WIRE_READY,  /* readable, or closed, or writable if that was asked for */
};

enum wire_result { WIRE_MOVED, WIRE_WAIT, WIRE_ENDED, WIRE_BROKEN };

enum {
    WIRE_SOCKETS = 4, /* two address families, the resolver, and one to spare */
    WIRE_READ = 64 * 1024,
};

struct wire {
    void (*event)(struct wire *wire, enum wire_event event); /* may close the wire */
    struct dialer *dialer;
    CURL *easy;
    CURLM *multi;
    struct wire_socket {
        struct watch watch;
        struct wire *wire; /* NULL: free */
    } sockets[WIRE_SOCKETS];
    struct timer timer; /* libcurl's, while it connects */
    bool up, late, wants_write;
    char error[CURL_ERROR_SIZE];
};

/* Begins to connect; the outcome is an event, never inside this call.  False: no
 * memory, and nothing is left to close.  `base_url` may go after the call. */
bool wire_open(struct wire *wire, struct dialer *dialer, const char *base_url,
               void (*event)(struct wire *wire, enum wire_event event));
void wire_close(struct wire *wire);

/* After WIRE_WAIT the same bytes must be offered again.  Read with room for WIRE_READ:
 * a TLS record that stays half read would wake nobody. */
enum wire_result wire_send(struct wire *wire, const char *bytes, size_t size,
                           size_t *sent);
enum wire_result wire_recv(struct wire *wire, char *bytes, size_t room, size_t *got);

/* Readability is always watched. */
bool wire_want_write(struct wire *wire, bool want);

#endif

/* upstream: one HTTP exchange with E2B, on the loop that asked for it.
 *
 * libcurl connects (DNS, TLS, verification) and carries bytes; the HTTP/1.1 codec is
 * our own and strict, so nothing is re-sent behind our back: a non-read goes out once,
 * on a connection that no request has used before; a read may use a pooled one and goes
 * out again, once, only if that one died before the first byte of an answer.  No
 * redirects, no proxies from the environment, no decoding.  One `struct upstream` a
 * loop; all calls on the loop's thread.  The program must ignore SIGPIPE. */
#ifndef UPSTREAM_UPSTREAM_H
#define UPSTREAM_UPSTREAM_H

#include "base/buf.h"
#include "base/loop.h"
#include "core/canon.h"

struct upstream;

struct upstream_config {
    int64_t connect_ms;          /* 5000 */
    int64_t answer_ms;           /* 90000: longer than E2B's own 70-85 s */
    int64_t idle_ms;             /* 20000: how long a pooled connection is trusted */
    size_t connections_max;      /* per origin and loop; more wait in order */
    size_t header_max, body_max; /* 64 KiB, 16 MiB */
    const char *ca_file;         /* NULL: the system's; read for each connection */
};

struct upstream *upstream_new(struct loop *loop, const struct upstream_config *config);
void upstream_free(struct upstream *upstream); /* nothing may be in flight */

enum transfer_result {
    TRANSFER_ANSWERED,      /* a complete answer; well framed unless `unframed` */
    TRANSFER_NOT_SENT,      /* not one byte of the request left: unreachable */
    TRANSFER_NOT_SENT_LATE, /* the same, because time ran out */
    TRANSFER_LOST,          /* something left and no usable answer came */
    TRANSFER_LATE,          /* the same, because time ran out */
};

enum { TRANSFER_HEADERS = 16 };

/* Embedded, zeroed, by its owner, who keeps every pointed-to text until `done`. */
struct transfer {
    const char *base_url; /* "https://api.e2b.app" or with a port; no path */
    const char *e2b_key;  /* sent as X-API-Key */
    const char *method, *path, *query, *body; /* canonical; body NULL: none is due */
    size_t body_size;
    const struct header *headers; /* allow-listed and validated by core/canon */
    size_t header_count;
    bool read; /* may use the pool */
    /* `sent`: the first byte is about to leave, maybe within upstream_start; or NULL.
     * `done`: exactly once, never within a call of the owner's. */
    void (*sent)(struct transfer *transfer), (*done)(struct transfer *transfer);

    enum transfer_result result;
    int status;
    struct header passed[TRANSFER_HEADERS]; /* may go back (headers.def); end in NUL */
    size_t passed_count;
    struct buf answer; /* whole body; the owner frees it, or keeps it for the next */
    struct buf head;   /* keeps what `passed` points to; likewise */
    bool unframed;     /* ended by close: a write's answer cannot be trusted */
    int64_t took_us;
    char why[128]; /* for the operator's log: no secrets */

    struct upstream *upstream; /* private from here on */
    struct origin *origin;
    struct connection *connection;
    struct link queued;
    struct timer deadline;
    int64_t began_us;
    bool announced;
};

void upstream_start(struct upstream *upstream, struct transfer *transfer);

/* The owner lost interest: `done` is not called any more.  Only for reads. */
void upstream_abort(struct upstream *upstream, struct transfer *transfer);

size_t upstream_in_flight(const struct upstream *upstream);

#endif

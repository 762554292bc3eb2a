/* client: one blocking HTTP call, for the command line.  Not for the daemon. */
#ifndef UPSTREAM_CLIENT_H
#define UPSTREAM_CLIENT_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct client_call {
    const char *socket;         /* UNIX socket path, or NULL for TCP */
    const char *url;            /* "http://localhost/api/v1/status" */
    const char *method, *body;  /* body NULL: none */
    int64_t timeout_ms;         /* for all of it; 0: for ever */
    const char *const *headers; /* "Name: value", NULL-terminated, or NULL */
    /* Streams the answer when set (export, watch); return false to stop. */
    bool (*chunk)(void *context, const char *bytes, size_t size);
    void *context;
};

/* Status, or 0 when no whole answer came; then `error` says why, for a person. */
int client_call(const struct client_call *call, struct buf *answer,
                char error[static 256]);

#endif

/* serve: Sandgate's own endpoints, as a table of rows and handlers.
 *
 * A handler parses by table, acts on the database of its lane and returns the reply; it
 * cannot forget to answer, or answer twice.  What has to happen only after COMMIT
 * (waking a parked agent, starting an approved call) it announces in the call; the
 * exchange layer publishes the announcements once they are durable. */
#ifndef SERVE_SERVE_H
#define SERVE_SERVE_H

#include "serve/call.h"

enum audience { FOR_AGENTS, FOR_PEOPLE, FOR_METRICS };
enum serve_lane { SERVE_FRONT, SERVE_READER, SERVE_STORE };

struct endpoint {
    const char *method, *path; /* "/api/v1/approvals/{id}" */
    enum audience audience;
    enum serve_lane lane;
    const char *roles; /* any of, comma separated; "" anybody who may connect */
    struct reply (*handle)(struct call *call, struct db *db);
    enum err (*probe)(struct call *call, struct probe *probe); /* fills what is asked */
};

/* ERR_NOT_FOUND or ERR_METHOD when there is no such row. Fills endpoint and args. */
enum err serve_route(enum audience audience, const char *method, const char *target,
                     struct call *call);

/* Who is it, and may it?  On the handler's lane, before the handler. */
enum err serve_authorise(struct call *call, struct db *db);

#endif

/* api: calls of the people API over the daemon's admin socket.
 *
 * Failures are told on stderr with what to do next, and come back as an exit_code. */
#ifndef CLI_API_H
#define CLI_API_H

#include "cli/command.h"
#include "cli/json.h"

enum { API_WHY = 256, API_PATH = 512 };

struct answer {
    int status; /* 0: no answer; `why` says why */
    char why[API_WHY];
    struct buf body;
    struct doc *doc; /* NULL when it is no JSON */
    const struct node *root;
};

void answer_free(struct answer *answer);
#define own_answer __attribute__((cleanup(answer_free))) struct answer

/* Asks and parses, tells nothing. `body` is JSON or NULL. */
void api_try(struct call *call, const char *method, const char *path, const char *body,
             struct answer *answer);

/* Tells why an answer is none, or an error. */
int api_failed(struct call *call, const struct answer *answer);

/* Both: DONE only on 200. */
int api_get(struct call *call, const char *path, struct answer *answer);
int api_post(struct call *call, const char *path, const char *body,
             struct answer *answer);

/* "/api/v1/" + collection [+ "/" + id + tail]; NULL, told, when the id is not one. */
const char *api_path(struct call *call, const char *collection, const char *id,
                     const char *tail);

/* Appends "?key=value" or "&key=value", escaped; nothing when the value is NULL. */
void query_add(struct buf *path, const char *key, const char *value);

/* Where the daemon is and how long it may take, by flags and configuration; once,
 * before any other.  Told when not DONE. */
int api_place(struct call *call);
int api_place_at(struct call *call, const char *socket, const char *config);

/* Streams the answer of a GET into the file; told when not DONE. */
int api_download(struct call *call, const char *path, FILE *file);

#endif

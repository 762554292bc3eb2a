#include "cli/api.h"

#include "base/must.h"
#include "base/text.h"
#include "cli/settings.h"
#include "cli/talk.h"
#include "cli/when.h"
#include "upstream/client.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum { ANSWER_MAX = 32 << 20, DEPTH = 32, TIMEOUT_MS = 30000, URL = 2048 };

void answer_free(struct answer *answer)
{
    doc_free(answer->doc);
    buf_wipe(&answer->body); /* it may have been a fresh key */
    *answer = (struct answer){.status = 0};
}

int api_place_at(struct call *call, const char *socket, const char *config)
{
    call->socket = socket;
    call->config = config;
    return flag_span(call, "timeout", TIMEOUT_MS, &call->timeout_ms);
}

int api_place(struct call *call)
{
    struct settings settings;
    int code = settings_given(call, &settings);
    return code ? code : api_place_at(call, settings.socket, settings.file);
}

/* ---- failures in words ---- */

struct outcome {
    enum err err;
    int code;
    bool named;       /* the command's first argument is what it is about */
    const char *next; /* what to do; behind a blank at its end comes the argument */
};

static const struct outcome outcomes[] = {
    {ERR_NOT_FOUND,            NOT_FOUND, true,  NULL                                     },
    {ERR_FORBIDDEN,            NO_RIGHTS, false, "who may do what: sandgate people ls"    },
    {ERR_BAD_KEY,              NO_RIGHTS, false, NULL                                     },
    {ERR_BAD_FIELD,            USAGE,     false, NULL                                     },
    {ERR_APPROVAL_MOVED,       FAILED,    true,  "look again: sandgate approvals show "   },
    {ERR_BAD_POLICY,           INVALID,   false, "look closer: sandgate policy check DIR" },
    {ERR_UPSTREAM_KEY,         FAILED,    false, "is it E2B's key, and --url its address?"},
    {ERR_STORE,                TRY_AGAIN, false, "is the disk full? see the daemon's log" },
    {ERR_OVERLOADED,           TRY_AGAIN, false, NULL                                     },
    {ERR_SHUTTING_DOWN,        TRY_AGAIN, false, NULL                                     },
    {ERR_UPSTREAM_UNREACHABLE, TRY_AGAIN, false, NULL                                     },
    {ERR_UPSTREAM_TIMEOUT,     TRY_AGAIN, false, NULL                                     },
};

static const struct outcome *outcome_of(const struct answer *answer)
{
    static const struct outcome other = {.code = FAILED};
    enum err err = err_named(path_text(answer->root, "error_code"));
    for (size_t i = 0; i < COUNT(outcomes); i++)
        if (outcomes[i].err == err)
            return &outcomes[i];
    return &other;
}

static int told_by_daemon(struct call *call, const struct answer *answer)
{
    const char *message = path_text(answer->root, "message");
    const char *about = call->arg_count ? safe(call, call->args[0]) : "";
    const struct outcome *outcome = outcome_of(answer);
    bool named = outcome->named && *about;
    if (!*message)
        return fail(call, FAILED, "the daemon answered %d", answer->status);
    (void)fail(call, outcome->code, "%s%s%s", named ? about : "", named ? ": " : "",
               safe(call, message));
    if (outcome->next)
        hint(call, "%s%s", outcome->next, text_ends(outcome->next, " ") ? about : "");
    return outcome->code;
}

static int unreachable(struct call *call, const char *why)
{
    bool denied = access(call->socket, R_OK | W_OK) != 0 && errno == EACCES;
    (void)fail(call, TRY_AGAIN, "cannot reach the daemon at %s: %s", call->socket,
               denied ? "permission denied" : why);
    if (denied)
        hint(call, "join the group that owns the socket, or use sudo");
    else
        hint(call, "is it running? sandgated --config %s", call->config);
    return denied ? NO_RIGHTS : TRY_AGAIN;
}

int api_failed(struct call *call, const struct answer *answer)
{
    if (answer->status == 0)
        return unreachable(call, answer->why);
    if (answer->status == 200)
        return fail(call, FAILED, "the daemon's answer is no JSON");
    return told_by_daemon(call, answer);
}

/* ---- calls ---- */

/* "cannot connect to PATH (reason): ..." says twice what `unreachable` says better. */
static void shorten(char why[static API_WHY])
{
    const char *from = strchr(why, '('), *to = strstr(why, "):");
    if (text_starts(why, "cannot connect") && from && to) {
        const size_t size = (size_t)(to - from - 1);
        memmove(why, from + 1, size);
        why[size] = '\0';
    }
}

void api_try(struct call *call, const char *method, const char *path, const char *body,
             struct answer *answer)
{
    char url[URL];
    struct doc_error where;
    const struct client_call http = {.socket = call->socket,
                                     .url = url,
                                     .method = method,
                                     .body = body,
                                     .timeout_ms = call->timeout_ms};
    *answer = (struct answer){.body = BUF(ANSWER_MAX)};
    must(text_format(url, sizeof(url), "http://localhost%s", path));
    answer->status = client_call(&http, &answer->body, answer->why);
    shorten(answer->why);
    if (answer->status && answer->body.size)
        answer->doc =
            doc_parse(answer->body.data, answer->body.size, DEPTH, true, &where);
    answer->root = answer->doc ? doc_root(answer->doc) : NULL;
}

int api_get(struct call *call, const char *path, struct answer *answer)
{
    api_try(call, "GET", path, NULL, answer);
    return answer->status == 200 && answer->root ? DONE : api_failed(call, answer);
}

int api_post(struct call *call, const char *path, const char *body,
             struct answer *answer)
{
    api_try(call, "POST", path, body, answer);
    return answer->status == 200 && answer->root ? DONE : api_failed(call, answer);
}

/* ---- paths ---- */

static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                            "0123456789-._";

const char *api_path(struct call *call, const char *collection, const char *id,
                     const char *tail)
{
    if (strspn(id, plain) == strlen(id) && *id && strlen(id) < API_PATH / 4)
        return words(call, "/api/v1/%s/%s%s", collection, id, tail);
    (void)fail(call, USAGE, "%s: ids and names are of a-z 0-9 - _ .", safe(call, id));
    return NULL;
}

void query_add(struct buf *path, const char *key, const char *value)
{
    if (!value)
        return;
    buf_printf(path, "%c%s=", strchr(path->data, '?') ? '&' : '?', key);
    for (const unsigned char *at = (const unsigned char *)value; *at; at++)
        if (strchr(plain, *at))
            buf_char(path, (char)*at);
        else
            buf_printf(path, "%%%02X", *at);
}

/* ---- downloads ---- */

static bool keep(void *context, const char *bytes, size_t size)
{
    return fwrite(bytes, 1, size, context) == size;
}

/* The chunks of an error answer went into the file, too. */
static int refused_download(struct call *call, int status, FILE *file)
{
    char bytes[4096];
    struct doc_error where;
    rewind(file);
    size_t size = fread(bytes, 1, sizeof(bytes), file);
    struct answer answer = {.status = status,
                            .doc = doc_parse(bytes, size, DEPTH, false, &where)};
    answer.root = answer.doc ? doc_root(answer.doc) : NULL;
    int code = told_by_daemon(call, &answer);
    answer_free(&answer);
    return code;
}

int api_download(struct call *call, const char *path, FILE *file)
{
    char url[URL], why[API_WHY];
    const struct client_call http = {
        .socket = call->socket,
        .url = url,
        .method = "GET",
        .timeout_ms = flag_on(call, "timeout") ? call->timeout_ms : 0,
        .chunk = keep,
        .context = file};
    own_buf none = BUF(1);
    must(text_format(url, sizeof(url), "http://localhost%s", path));
    int status = client_call(&http, &none, why);
    shorten(why);
    if (status == 0)
        return unreachable(call, why);
    if (status != 200)
        return refused_download(call, status, file);
    if (fflush(file) != 0 || ferror(file))
        return fail(call, FAILED, "the export cannot be written: is the disk full?");
    return DONE;
}

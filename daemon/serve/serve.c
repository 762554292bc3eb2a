#include "serve/serve.h"

#include "base/must.h"
#include "base/text.h"
#include "serve/handlers.h"

#include <string.h>
#include <unistd.h>

#define ANY_ROLE "viewer,approver,auditor,policy-admin,admin"
#define MAY_AUDIT "auditor,admin"
#define MAY_VOTE "approver"
#define ADMIN "admin"
#define EVERYBODY ""

static const struct endpoint endpoints[] = {
  /* agents: their own affairs only */
    {"GET",    "/sandgate/v1/whoami",              FOR_AGENTS,  SERVE_FRONT,  EVERYBODY,            agent_whoami,
     NULL                                                                                                                                     },
    {"GET",    "/sandgate/v1/approvals/{id}",      FOR_AGENTS,  SERVE_READER, EVERYBODY,
     agent_approval,                                                                                                  NULL                    },
    {"DELETE", "/sandgate/v1/approvals/{id}",      FOR_AGENTS,  SERVE_STORE,  EVERYBODY,
     agent_cancel,                                                                                                    NULL                    },
 /* people */
    {"GET",    "/api/v1/status",                   FOR_PEOPLE,  SERVE_READER, ANY_ROLE,             status_show,      NULL                    },
    {"GET",    "/api/v1/whoami",                   FOR_PEOPLE,  SERVE_READER, ANY_ROLE,             people_whoami,    NULL                    },
    {"GET",    "/api/v1/approvals",                FOR_PEOPLE,  SERVE_READER, ANY_ROLE,             approvals_index,
     NULL                                                                                                                                     },
    {"GET",    "/api/v1/approvals/{id}",           FOR_PEOPLE,  SERVE_READER, ANY_ROLE,
     approvals_show,                                                                                                  NULL                    },
    {"POST",   "/api/v1/approvals/{id}/approve",   FOR_PEOPLE,  SERVE_STORE,  MAY_VOTE,
     approvals_approve,                                                                                               NULL                    },
    {"POST",   "/api/v1/approvals/{id}/decline",   FOR_PEOPLE,  SERVE_STORE,  MAY_VOTE,
     approvals_decline,                                                                                               NULL                    },
    {"POST",   "/api/v1/approvals/{id}/settle",    FOR_PEOPLE,  SERVE_STORE,  MAY_VOTE,
     approvals_settle_unknown,                                                                                        NULL                    },
    {"GET",    "/api/v1/audit",                    FOR_PEOPLE,  SERVE_READER, MAY_AUDIT,            audit_index,      NULL                    },
    {"GET",    "/api/v1/audit/head",               FOR_PEOPLE,  SERVE_READER, MAY_AUDIT,            audit_head,
     NULL                                                                                                                                     },
    {"GET",    "/api/v1/audit/export",             FOR_PEOPLE,  SERVE_READER, MAY_AUDIT,            audit_export,
     NULL                                                                                                                                     },
    {"POST",   "/api/v1/audit/checkpoint",         FOR_PEOPLE,  SERVE_STORE,  MAY_AUDIT,
     audit_checkpoint,                                                                                                NULL                    },
    {"GET",    "/api/v1/audit/{index}",            FOR_PEOPLE,  SERVE_READER, MAY_AUDIT,            audit_show,
     NULL                                                                                                                                     },
    {"GET",    "/api/v1/agents",                   FOR_PEOPLE,  SERVE_READER, ANY_ROLE,             agents_index,     NULL                    },
    {"POST",   "/api/v1/agents",                   FOR_PEOPLE,  SERVE_STORE,  ADMIN,                agents_add,       NULL                    },
    {"POST",   "/api/v1/agents/{name}/disable",    FOR_PEOPLE,  SERVE_STORE,  ADMIN,
     agents_disable,                                                                                                  NULL                    },
    {"GET",    "/api/v1/keys",                     FOR_PEOPLE,  SERVE_READER, ANY_ROLE,             keys_index,       NULL                    },
    {"POST",   "/api/v1/keys",                     FOR_PEOPLE,  SERVE_STORE,  ADMIN,                keys_add,         NULL                    },
    {"POST",   "/api/v1/keys/{id}/rotate",         FOR_PEOPLE,  SERVE_STORE,  ADMIN,                keys_rotate,
     NULL                                                                                                                                     },
    {"POST",   "/api/v1/keys/{id}/revoke",         FOR_PEOPLE,  SERVE_STORE,  ADMIN,                keys_revoke,
     NULL                                                                                                                                     },
    {"GET",    "/api/v1/environments",             FOR_PEOPLE,  SERVE_READER, ANY_ROLE,
     environments_index,                                                                                              NULL                    },
    {"POST",   "/api/v1/environments",             FOR_PEOPLE,  SERVE_STORE,  ADMIN,                environments_add,
     environments_probe_new                                                                                                                   },
    {"POST",   "/api/v1/environments/{name}/key",  FOR_PEOPLE,  SERVE_STORE,  ADMIN,
     environments_key,                                                                                                environments_probe_new  },
    {"POST",   "/api/v1/environments/{name}/test", FOR_PEOPLE,  SERVE_READER, ADMIN,
     environments_test,                                                                                               environments_probe_known},
    {"GET",    "/api/v1/people",                   FOR_PEOPLE,  SERVE_READER, ANY_ROLE,             people_index,     NULL                    },
    {"POST",   "/api/v1/people",                   FOR_PEOPLE,  SERVE_STORE,  ADMIN,                people_put,       NULL                    },
    {"POST",   "/api/v1/policy/reload",            FOR_PEOPLE,  SERVE_STORE,  "policy-admin,admin",
     policy_reload,                                                                                                   NULL                    },
 /* metrics */
    {"GET",    "/live",                            FOR_METRICS, SERVE_FRONT,  EVERYBODY,            live,             NULL                    },
    {"GET",    "/ready",                           FOR_METRICS, SERVE_FRONT,  EVERYBODY,            ready,            NULL                    },
    {"GET",    "/metrics",                         FOR_METRICS, SERVE_READER, EVERYBODY,            metrics,          NULL                    },
};

/* ---- routing ---- */

/* Does `path` (of `size`) fit the row?  Parameters take one non-empty segment of
 * unreserved characters: ids and names need no escapes. */
static bool fits(const struct endpoint *row, const char *path, size_t size,
                 struct call *call)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789-._";
    const char *pattern = row->path, *end = path + size;
    size_t args = 0;
    while (*pattern) {
        if (*pattern != '{') {
            if (path == end || *path++ != *pattern++)
                return false;
            continue;
        }
        size_t run = 0;
        while (path + run < end && strchr(plain, path[run]))
            run++;
        if (run == 0 || args == CALL_ARGS)
            return false;
        call->args[args] = arena_copy(call->arena, path, run);
        if (!call->args[args++])
            return false;
        path += run;
        pattern = strchr(pattern, '}') + 1;
    }
    return path == end;
}

enum err serve_route(enum audience audience, const char *method, const char *target,
                     struct call *call)
{
    const char *question = strchr(target, '?');
    size_t size = question ? (size_t)(question - target) : strlen(target);
    enum err err = ERR_NOT_FOUND;
    for (size_t i = 0; i < COUNT(endpoints); i++) {
        const struct endpoint *row = &endpoints[i];
        if (row->audience != audience || !fits(row, target, size, call))
            continue;
        err = ERR_METHOD;
        if (!text_same(row->method, method))
            continue;
        call->endpoint = row;
        call->query = question ? question + 1 : "";
        return ERR_OK;
    }
    return err;
}

/* ---- who ---- */

/* Is one of the comma separated `wanted` among the person's roles? */
static bool has_any(const struct person *person, const char *wanted)
{
    char role[NAME];
    for (const char *at = wanted; *at;) {
        size_t size = strcspn(at, ",");
        (void)text_format(role, sizeof(role), "%.*s", (int)size, at);
        if (person_has_role(person, role))
            return true;
        at += size + (at[size] == ',');
    }
    return *wanted == '\0';
}

enum err serve_authorise(struct call *call, struct db *db)
{
    if (call->endpoint->audience != FOR_PEOPLE)
        return ERR_OK;
    if (call->uid < 0)
        return ERR_FORBIDDEN;
    enum err err = person_by_uid(db, call->uid, &call->person);
    if (err && err != ERR_NOT_FOUND)
        return err;
    if (err) { /* nobody is registered for this user: only the machine itself may go on
                */
        if (call->uid != 0 && call->uid != (int64_t)geteuid())
            return ERR_FORBIDDEN;
        call->person = (struct person){
            .name = "machine", .roles = "admin,auditor", .uid = call->uid};
    }
    if (call->person.disabled || !has_any(&call->person, call->endpoint->roles))
        return ERR_FORBIDDEN;
    return ERR_OK;
}

/* ---- replies ---- */

struct reply reply_error(enum err err, const char *detail)
{
    return (struct reply){.err = err, .detail = detail, .fd = -1};
}

struct reply reply_start(struct writer *w, struct buf *body)
{
    *body = BUF(REPLY_MAX);
    *w = WRITER(body);
    write_open(w, NULL, '{');
    return (struct reply){.fd = -1};
}

struct reply reply_end(struct writer *w, struct buf *body)
{
    write_close(w, '}');
    if (body->failed) {
        buf_free(body);
        return reply_error(ERR_INTERNAL, "the answer is too large; ask for less");
    }
    return (struct reply){.fd = -1, .body = *body};
}

/* ---- calls ---- */

static const char *unescape(struct arena *arena, const char *text, size_t size)
{
    const char *end = text + size;
    char *out = arena_alloc(arena, size + 1), *to = out;
    for (const char *at = text; out && at < end; to++) {
        bool escaped = text_unpercent(at, end, to);
        if (!escaped)
            *to = (char)(*at == '+' ? ' ' : *at);
        at += escaped ? 3 : 1;
    }
    return out;
}

const char *call_query(const struct call *call, const char *key)
{
    size_t key_size = strlen(key);
    for (const char *at = call->query; *at;) {
        size_t size = strcspn(at, "&");
        if (size > key_size && at[key_size] == '=' && memcmp(at, key, key_size) == 0)
            return unescape(call->arena, at + key_size + 1, size - key_size - 1);
        at += size + (at[size] == '&');
    }
    return NULL;
}

void call_announce(struct call *call, const char *approval, enum approval_state state,
                   int64_t version, bool run)
{
    must(call->announcements < ANNOUNCEMENTS);
    struct announcement *next = &call->announced[call->announcements++];
    *next = (struct announcement){.state = state, .version = version, .run = run};
    must(text_copy(next->approval, sizeof(next->approval), approval));
}

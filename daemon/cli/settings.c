#include "cli/settings.h"

#include "base/buf.h"
#include "base/files.h"
#include "base/must.h"
#include "cli/json.h"
#include "cli/talk.h"
#include "core/doc.h"

#include <errno.h>
#include <unistd.h>

enum { FILE_MAX_BYTES = 64 << 10, DEPTH = 4 };

static const char default_file[] = "/etc/sandgate/sandgate.json";

/* The daemon's own defaults (daemon/config.def, which is above this layer). */
static const struct {
    const char *path, *otherwise;
    size_t offset;
} rows[] = {
#define ROW(path, member, otherwise)                       \
    {                                                      \
        path, otherwise, offsetof(struct settings, member) \
    }
    ROW("agents.listen", agents_listen, "127.0.0.1:8080"),
    ROW("metrics.listen", metrics_listen, "127.0.0.1:9464"),
    ROW("admin.socket", socket, "/run/sandgate/admin.sock"),
    ROW("data", data, "/var/lib/sandgate"),
    ROW("state_file", state_file, "/var/lib/sandgate-log-state"),
    ROW("policy", policy, "/etc/sandgate/policy.d"),
    ROW("credentials.master_key", master_key, "/etc/sandgate/master-key"),
    ROW("credentials.audit_key", audit_key, "/etc/sandgate/audit-key"),
#undef ROW
};

static void set(struct call *call, struct settings *settings, size_t row,
                const char *text)
{
    *(const char **)(void *)((char *)settings + rows[row].offset) =
        words(call, "%s", text);
}

int settings_read(struct call *call, const char *file, struct settings *settings,
                  bool *there)
{
    char error[FILES_ERROR];
    struct doc_error where;
    own_buf bytes = BUF(FILE_MAX_BYTES);
    settings->file = file;
    for (size_t i = 0; i < COUNT(rows); i++)
        set(call, settings, i, rows[i].otherwise);
    *there = access(file, F_OK) == 0 || errno != ENOENT;
    if (!*there)
        return DONE;
    if (!file_read(file, &bytes, error))
        return fail(call, INVALID, "%s", error);
    own_doc *doc = doc_parse(bytes.data, bytes.size, DEPTH, false, &where);
    if (!doc)
        return fail(call, INVALID, "%s: line %d column %d: %s", file, where.line,
                    where.column, safe(call, where.text));
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct node *node = node_path(doc_root(doc), rows[i].path);
        const char *text = node ? node_text(node) : NULL;
        if (node && !text)
            return fail(call, INVALID, "%s: %s: is not text", file, rows[i].path);
        if (text)
            set(call, settings, i, text);
    }
    return DONE;
}

int settings_given(struct call *call, struct settings *settings)
{
    bool there;
    const char *file = flag_text(call, "config"), *socket = flag_text(call, "socket");
    int code = settings_read(call, file ? file : default_file, settings, &there);
    if (!code && file && !there)
        code = fail(call, INVALID, "%s: no such file", file);
    if (socket)
        settings->socket = socket;
    return code;
}

/* The part of a set-up that is files. */
#include "base/embedded.h"
#include "base/files.h"
#include "base/must.h"
#include "base/text.h"
#include "cli/init.h"
#include "cli/talk.h"
#include "core/keys.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PATH = 4096,
    KEY_BYTES = 32,
    CONFIG_CAP = 16 << 10,
    POLICY_CAP = 256 << 10,
    HINT_MAX = 120,           /* approvals.hint in daemon/config.def */
    CONNECTIONS = 12000,      /* limits.agent_connections there */
    SPARE_DESCRIPTORS = 1000, /* beyond the connections, says the daemon */
    MODE_OWN = 0700,
    MODE_OPEN = 0755,
    MODE_SECRET = 0600,
    MODE_READ = 0644,
};

static int write_file(struct call *call, const char *path, const struct buf *bytes,
                      unsigned mode)
{
    char error[FILES_ERROR];
    if (bytes->failed)
        return fail(call, FAILED, "%s: too large to be written", path);
    return file_replace(path, bytes->data, bytes->size, mode, error)
               ? DONE
               : fail(call, FAILED, "%s", error);
}

static int make_folder(struct call *call, const char *path, unsigned mode)
{
    char error[FILES_ERROR];
    return folder_make(path, mode, error) ? DONE : fail(call, FAILED, "%s", error);
}

static int make_folder_of(struct call *call, const struct plan *plan, const char *path)
{
    const char *slash = strrchr(path, '/');
    return !slash || slash == path
               ? DONE
               : make_folder(call, words(call, "%.*s", (int)(slash - path), path),
                             plan->dir ? MODE_OWN : MODE_OPEN);
}

static bool is_there(const struct plan *plan, const char *path)
{
    (void)plan;
    return access(path, F_OK) == 0;
}

/* ---- configuration ---- */

/* The machine's name as one plain word; it goes into the log for good. */
static void host_name(char out[static 61])
{
    char name[61] = "";
    (void)gethostname(name, sizeof(name) - 1);
    size_t size = 0;
    for (const char *at = name; *at; at++) {
        char c = *at;
        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        if (strchr("abcdefghijklmnopqrstuvwxyz0123456789-.", c))
            out[size++] = c;
    }
    out[size] = '\0';
    if (size == 0)
        (void)text_copy(out, 61, "localhost");
}

/* Where descriptors are scarce the daemon would refuse to start with its default. */
static void add_limits(struct buf *out)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0
        || limit.rlim_max >= CONNECTIONS + SPARE_DESCRIPTORS
        || limit.rlim_max <= SPARE_DESCRIPTORS + 16)
        return;
    buf_printf(out, ",\n  \"limits\": {\"agent_connections\": %llu}",
               (unsigned long long)limit.rlim_max - SPARE_DESCRIPTORS);
}

static void add_hint(struct call *call, const struct plan *plan, struct buf *out)
{
    const char *line =
        words(call, "sandgate --config %s approvals approve", plan->where.file);
    if (plan->dir && strlen(line) <= HINT_MAX)
        buf_printf(out, ",\n  \"approvals\": {\"hint\": \"%s\"}", line);
}

static int write_config(struct call *call, const struct plan *plan, const char *path)
{
    char host[61];
    own_buf out = BUF(CONFIG_CAP);
    const struct settings *where = &plan->where;
    host_name(host);
    buf_printf(&out,
               "{\n"
               "  \"agents\": {\"listen\": \"%s\"},\n"
               "  \"metrics\": {\"listen\": \"%s\"},\n"
               "  \"admin\": {\"socket\": \"%s\"},\n"
               "  \"data\": \"%s\",\n"
               "  \"state_file\": \"%s\",\n"
               "  \"policy\": \"%s\",\n"
               "  \"credentials\": {\n"
               "    \"master_key\": \"%s\",\n"
               "    \"audit_key\": \"%s\"\n"
               "  },\n"
               "  \"log\": {\"origin\": \"sandgate.%s/log\", \"gateway\": \"%s\"}",
               where->agents_listen, where->metrics_listen, where->socket, where->data,
               where->state_file, where->policy, where->master_key, where->audit_key,
               host, host);
    add_hint(call, plan, &out);
    add_limits(&out);
    buf_text(&out, "\n}\n");
    int code = make_folder_of(call, plan, path);
    return code ? code : write_file(call, path, &out, MODE_READ);
}

/* ---- keys ---- */

/* A daemon that answers has its keys, maybe from elsewhere (systemd credentials). */
static bool has_key(const struct plan *plan, const char *path)
{
    return plan->alive || is_there(plan, path);
}

/* A database without its keys cannot be helped by new ones, only harmed. */
static int write_key(struct call *call, const struct plan *plan, const char *path)
{
    unsigned char key[KEY_BYTES];
    char hex[2 * KEY_BYTES + 1];
    const char *database = words(call, "%s/sandgate.db", plan->where.data);
    if (is_there(plan, database)) {
        (void)fail(call, INVALID, "%s is missing, and %s was made with it", path,
                   database);
        hint(call, "put the key back where it was, then repeat this");
        return INVALID;
    }
    int code = make_folder_of(call, plan, path);
    if (code)
        return code;
    struct buf out = BUF(sizeof(hex) + 1);
    keys_random(key, sizeof(key));
    text_hex(key, sizeof(key), hex);
    (void)buf_printf(&out, "%s\n", hex);
    code = write_file(call, path, &out, MODE_SECRET);
    keys_wipe(key, sizeof(key));
    keys_wipe(hex, sizeof(hex));
    buf_wipe(&out);
    return code;
}

/* ---- policy ---- */

static bool found_one(void *context, const char *relative, const char *full)
{
    (void)relative, (void)full;
    *(bool *)context = true;
    return false;
}

static bool has_policy(const struct plan *plan, const char *folder)
{
    char error[FILES_ERROR];
    bool found = false;
    if (!is_there(plan, folder))
        return false;
    /* what cannot be read is there, too: it is the daemon that will complain */
    return !folder_walk(folder, ".json", found_one, &found, error) || found;
}

/* The group that approves consists of the first person. */
static int write_starter(struct call *call, const struct plan *plan, const char *folder)
{
    static const char users[] = "\"users\": [\"admin\"]";
    own_buf out = BUF(POLICY_CAP);
    must(embedded_policy_count > 0);
    const char *text = (const char *)embedded_policy[0].data;
    const char *at = strstr(text, users);
    must(at);
    buf_add(&out, text, (size_t)(at - text));
    buf_printf(&out, "\"users\": [\"%s\"]", plan->admin);
    buf_text(&out, at + sizeof(users) - 1);
    int code = make_folder(call, folder, MODE_OPEN);
    return code ? code
                : write_file(call, words(call, "%s/00-starter.json", folder), &out,
                             MODE_READ);
}

static bool has_folder_of(const struct plan *plan, const char *path)
{
    const char *slash = strrchr(path, '/');
    char folder[PATH];
    return !slash
           || (text_format(folder, sizeof(folder), "%.*s/", (int)(slash - path), path)
               && is_there(plan, folder));
}

static int make_data(struct call *call, const struct plan *plan, const char *path)
{
    int code = make_folder_of(call, plan, path);
    return code ? code : make_folder(call, path, MODE_OWN);
}

/* ---- all of them ---- */

static const struct {
    const char *what;
    size_t place; /* of its path in struct settings */
    bool (*present)(const struct plan *plan, const char *path);
    int (*make)(struct call *call, const struct plan *plan, const char *path);
} parts[] = {
#define PART(what, member, present, make)                      \
    {                                                          \
        what, offsetof(struct settings, member), present, make \
    }
    PART("configuration", file, is_there, write_config),
    PART("key that seals the E2B keys", master_key, has_key, write_key),
    PART("key that signs the log", audit_key, has_key, write_key),
    PART("starter policy", policy, has_policy, write_starter),
    PART("folder of the database", data, is_there, make_data),
    PART("folder of the socket", socket, has_folder_of, make_folder_of),
#undef PART
};

int init_files(struct call *call, struct plan *plan)
{
    int code = DONE;
    for (size_t i = 0; i < COUNT(parts) && !code; i++) {
        const char *path =
            *(const char *const *)(void *)((char *)&plan->where + parts[i].place);
        bool there = parts[i].present(plan, path);
        if (!there && !plan->dry)
            code = parts[i].make(call, plan, path);
        if (!code)
            init_tell(call,
                      there       ? "is there"
                      : plan->dry ? "would do"
                                  : "done",
                      path, parts[i].what);
    }
    return code;
}

/* policy: checking files here, and telling the daemon to read its own again. */
#include "core/policy.h"

#include "base/files.h"
#include "base/must.h"
#include "base/text.h"
#include "cli/api.h"
#include "cli/groups.h"
#include "cli/talk.h"

#include <string.h>

enum {
    FILES = 256,
    FILE_CAP = 1 << 20,
    MESSAGES_CAP = 256 << 10,
    LINE_CAP = 512 << 10
};

struct folder {
    struct call *call;
    struct policy_file files[FILES];
    size_t count;
    char error[FILES_ERROR];
};

static bool take_file(void *context, const char *relative, const char *full)
{
    struct folder *folder = context;
    own_buf bytes = BUF(FILE_CAP);
    if (folder->count == FILES) {
        (void)text_format(folder->error, FILES_ERROR, "more than %d policy files",
                          FILES);
        return false;
    }
    if (!file_read(full, &bytes, folder->error))
        return false;
    struct policy_file *file = &folder->files[folder->count++];
    file->path = words(folder->call, "%s", relative);
    file->size = bytes.size;
    file->bytes =
        arena_copy(folder->call->arena, bytes.data ? bytes.data : "", bytes.size);
    must(file->bytes);
    return true;
}

static int read_folder(struct call *call, struct folder *folder)
{
    char error[FILES_ERROR];
    bool walked = folder_walk(call->args[0], ".json", take_file, folder, error);
    if (walked && !folder->error[0])
        return DONE;
    return fail(call, walked ? INVALID : FAILED, "%s",
                safe(call, folder->error[0] ? folder->error : error));
}

static void put_verdict(struct call *call, const struct policy *policy,
                        const struct buf *messages)
{
    own_buf line = BUF(LINE_CAP);
    struct writer w = WRITER(&line);
    write_open(&w, NULL, '{');
    write_bool(&w, "valid", policy != NULL);
    write_text(&w, "digest", policy ? policy->digest_text : NULL);
    write_text(&w, "messages", messages->data ? messages->data : "");
    write_close(&w, '}');
    put(call, "%s\n", line.data);
}

int policy_check(struct call *call)
{
    static struct folder folder;
    own_buf messages = BUF(MESSAGES_CAP);
    folder = (struct folder){.call = call};
    int code = read_folder(call, &folder);
    if (code)
        return code;
    struct policy *policy = policy_load(folder.files, folder.count, &messages);
    if (flag_on(call, "json"))
        put_verdict(call, policy, &messages);
    else
        put(call, "%s",
            messages.data ? messages.data : ""); /* printable, by its maker */
    if (!policy)
        return fail(call, INVALID, "%s would not load", call->args[0]);
    if (!flag_on(call, "json"))
        say(call, "%s would load: %zu files, %zu rules, %s", call->args[0],
            policy->files, policy->rules, policy->digest_text);
    policy->shared.free(&policy->shared);
    return DONE;
}

int policy_reload(struct call *call)
{
    own_answer answer = {.status = 0};
    api_try(call, "POST", "/api/v1/policy/reload", "{}", &answer);
    bool judged = answer.root && node_member(answer.root, "active");
    if (!judged)
        return api_failed(call, &answer);
    if (flag_on(call, "json"))
        put_json(call, answer.root);
    else
        for (const char *at = path_text(answer.root, "messages"); *at;) {
            size_t size = strcspn(at, "\n");
            put(call, "%s\n", safe(call, words(call, "%.*s", (int)size, at)));
            at += size + (at[size] == '\n');
        }
    if (answer.status != 200)
        return fail(call, INVALID,
                    "the policy on disk does not load; the one before "
                    "stays in force");
    if (!flag_on(call, "json"))
        say(call, "in force: %s", safe(call, path_text(answer.root, "digest")));
    return DONE;
}

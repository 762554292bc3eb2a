#include "serve/policies.h"

#include "base/clock.h"
#include "base/files.h"
#include "base/memory.h"
#include "base/must.h"
#include "base/text.h"
#include "core/writer.h"
#include "store/log.h"

#include <string.h>
#include <unistd.h>

enum { FILES_MAX = 256, FILE_BYTES = 1 << 20, PATH = 4096 };

struct snapshot policy_snapshot;

static struct {
    int64_t since_ms, refused_ms; /* atomic */
    char folder[PATH];            /* set once at start */
} active;

void policies_folder(const char *folder)
{
    must(text_copy(active.folder, sizeof(active.folder), folder));
}

const char *policies_folder_path(void)
{
    return active.folder;
}

/* ---- reading ---- */

struct reading {
    struct policy_file files[FILES_MAX];
    struct buf bytes[FILES_MAX], paths[FILES_MAX];
    size_t count;
    struct buf *messages;
};

static bool read_one(void *context, const char *relative, const char *full)
{
    struct reading *reading = context;
    char error[FILES_ERROR];
    if (text_ends(relative, ".schema.json"))
        return true;
    if (reading->count == FILES_MAX) {
        buf_printf(reading->messages, "%s: more than %d policy files\n", relative,
                   FILES_MAX);
        return false;
    }
    size_t at = reading->count++;
    reading->bytes[at] = BUF(FILE_BYTES);
    reading->paths[at] = BUF(PATH);
    if (!buf_text(&reading->paths[at], relative)
        || !file_read(full, &reading->bytes[at], error)) {
        buf_printf(reading->messages, "%s\n", error);
        return false;
    }
    reading->files[at] = (struct policy_file){.path = reading->paths[at].data,
                                              .bytes = reading->bytes[at].data,
                                              .size = reading->bytes[at].size};
    return true;
}

struct policy *policies_read(const char *folder, struct buf *messages)
{
    char error[FILES_ERROR] = "";
    struct policy *policy = NULL;
    struct reading *reading = memory_new(sizeof(*reading));
    if (!reading)
        return NULL;
    reading->messages = messages;
    if (access(folder, F_OK) != 0
        || folder_walk(folder, ".json", read_one, reading, error))
        policy = policy_load(reading->files, reading->count, messages);
    else if (*error)
        buf_printf(messages, "%s\n", error);
    for (size_t i = 0; i < reading->count; i++) {
        buf_free(&reading->bytes[i]);
        buf_free(&reading->paths[i]);
    }
    memory_free(reading);
    return policy;
}

/* ---- replacing ---- */

enum err policies_record(struct db *db, const struct policy *fresh,
                         const char *messages, const char *by)
{
    own_buf detail = BUF(16384);
    struct writer w = WRITER(&detail);
    struct policies_state old;
    policies_state(&old);
    write_open(&w, NULL, '{');
    write_text(&w, "was", *old.digest ? old.digest : NULL);
    if (fresh) {
        write_text(&w, "digest", fresh->digest_text);
        write_int(&w, "files", (int64_t)fresh->files);
        write_int(&w, "rules", (int64_t)fresh->rules);
    } else {
        char cut[4096];
        (void)text_copy(cut, sizeof(cut), messages);
        write_text(&w, "messages", cut);
    }
    write_close(&w, '}');
    struct receipt receipt;
    struct record record = {.type = RECORD_SYS,
                            .event = fresh ? "policy.activated" : "policy.rejected",
                            .actor.person = by,
                            .detail = detail.failed ? NULL : detail.data};
    return log_append(db, &record, &receipt);
}

void policies_activate(struct policy *fresh)
{
    __atomic_store_n(&active.since_ms, clock_wall_ms(), __ATOMIC_RELAXED);
    __atomic_store_n(&active.refused_ms, 0, __ATOMIC_RELAXED);
    snapshot_swap(&policy_snapshot, &fresh->shared);
}

void policies_refused(int64_t now_ms)
{
    __atomic_store_n(&active.refused_ms, now_ms, __ATOMIC_RELAXED);
}

void policies_state(struct policies_state *state)
{
    struct shared *held = snapshot_take(&policy_snapshot);
    const struct policy *policy = (const struct policy *)held;
    *state = (struct policies_state){
        .since_ms = __atomic_load_n(&active.since_ms, __ATOMIC_RELAXED),
        .refused_ms = __atomic_load_n(&active.refused_ms, __ATOMIC_RELAXED)};
    if (policy) {
        state->files = policy->files;
        state->rules = policy->rules;
        (void)text_copy(state->digest, sizeof(state->digest), policy->digest_text);
    }
    snapshot_drop(held);
}

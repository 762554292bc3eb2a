#include "core/policy.h"

#include "base/must.h"
#include "base/text.h"
#include "core/keys.h"
#include "core/policy_load.h"

#include <stdlib.h>
#include <string.h>

enum {
    SET_MAX = 128 << 20,
    SCRATCH_MAX = 64 << 20,
    DEPTH_MAX = 16,
    LENGTH = 8,
    SHOWN = 8
};

/* ---- memory ---- */

void *load_alloc(struct load *load, size_t size)
{
    void *memory = arena_alloc(load->arena, size);
    load->starved |= !memory;
    return memory;
}

const char *load_text(struct load *load, const char *text)
{
    const char *copy = arena_text(load->arena, text);
    load->starved |= !copy;
    return copy ? copy : "";
}

/* ---- files ---- */

static int by_path(const void *a, const void *b)
{
    const struct policy_file *left = a, *right = b;
    return strcmp(left->path, right->path);
}

/* What holds where a file says nothing. */
static const struct part silent_part = {
    .name = "",
    .scope.effects = EFFECTS_ALL,
    .fallbacks = {[EFFECT_READ].decision = DECIDE_ALLOW,
                  [EFFECT_WRITE].decision = DECIDE_HOLD,
                  [EFFECT_DESTRUCTIVE].decision = DECIDE_HOLD,
                  [EFFECT_UNKNOWN].decision = DECIDE_DENY},
};

/* Sorted, so that the order in which they were found changes nothing. */
static bool take_files(struct load *load, const struct policy_file *files, size_t count)
{
    struct policy_file *sorted = load_alloc(load, (count + 1) * sizeof(*sorted));
    load->parts = load_alloc(load, (count + 1) * sizeof(*load->parts));
    if (!sorted || !load->parts)
        return false;
    for (size_t i = 0; i < count; i++) {
        sorted[i] = files[i];
        sorted[i].path = load_text(load, files[i].path); /* groups keep it */
        load->parts[i] = silent_part;
        load->parts[i].index = i;
        load->parts[i].terms = builtin_terms;
    }
    qsort(sorted, count, sizeof(*sorted), by_path);
    load->files = sorted;
    load->part_count = count;
    return true;
}

/* Whatever the author wrote there is not JSON: no pointer leads to it. */
static void syntax_error(struct reader *r, const struct doc_error *error)
{
    char said[QUOTE];
    (void)text_format(r->place, sizeof(r->place), "line %d column %d", error->line,
                      error->column);
    complain(r, "this is no JSON that can be read; the parser says %s",
             quote(said, error->text));
}

static struct doc *parse(struct reader *r, const struct policy_file *file)
{
    struct doc_error error = {0};
    if (file->size > POLICY_FILE_BYTES) {
        complain(r, "has %zu bytes; at most %d are possible, so split it", file->size,
                 POLICY_FILE_BYTES);
        return NULL;
    }
    const char *bytes = file->bytes ? file->bytes : "";
    struct doc *doc = doc_parse(bytes, file->size, DEPTH_MAX, true, &error);
    if (!doc)
        syntax_error(r, &error);
    return doc;
}

/* A file is parsed once for each pass, so that only one tree is there at a time. */
static void pass(struct load *load, void (*read)(struct reader *, const struct node *))
{
    for (size_t i = 0; i < load->part_count; i++) {
        struct part *part = &load->parts[i];
        struct reader r = {.load = load, .part = part, .file = load->files[i].path};
        if (part->unreadable)
            continue;
        own_doc *doc = parse(&r, &load->files[i]);
        if (doc)
            read(&r, doc_root(doc));
        part->unreadable = !doc;
        load->incomplete |= !doc;
    }
}

static void too_many(struct load *load, const struct policy_file *extra)
{
    struct reader r = {.load = load, .file = extra->path};
    complain(&r, "a policy has at most %d files; join some", POLICY_FILES);
}

/* ---- the digest ---- */

/* Sorted by path, of each: path and NUL, length as eight bytes with the high one first,
 * bytes. */
static bool digest(const struct load *load, struct policy *policy)
{
    size_t size = 0;
    for (size_t i = 0; i < load->part_count; i++)
        size += strlen(load->files[i].path) + 1 + LENGTH + load->files[i].size;
    own_buf all = BUF(size);
    for (size_t i = 0; i < load->part_count; i++) {
        const struct policy_file *file = &load->files[i];
        buf_add(&all, file->path, strlen(file->path) + 1);
        for (int shift = 8 * (LENGTH - 1); shift >= 0; shift -= 8)
            buf_char(&all, (char)(unsigned char)((uint64_t)file->size >> shift));
        buf_add(&all, file->bytes, file->size);
    }
    char hex[2 * SHOWN + 1];
    keys_digest(all.data ? all.data : "", all.size, policy->digest);
    text_hex(policy->digest, SHOWN, hex);
    return text_format(policy->digest_text, sizeof(policy->digest_text), "b2:%s", hex)
           && !all.failed;
}

/* ---- loading ---- */

static void set_free(struct shared *shared)
{
    arena_free(container_of(shared, struct policy, shared)->set->arena);
}

static struct policy *compile(struct load *load)
{
    struct policy_set *set = load_compile(load);
    struct policy *policy = load_alloc(load, sizeof(*policy));
    if (!set || !policy)
        return NULL;
    *policy = (struct policy){
        .shared = {.readers = 1, .free = set_free},
        .files = load->part_count,
        .rules = load->rule_count,
        .set = set
    };
    load->starved |= !digest(load, policy);
    return load->starved ? NULL : policy;
}

static struct policy *load_all(struct load *load, const struct policy_file *files,
                               size_t count)
{
    if (count > POLICY_FILES) {
        too_many(load, &files[POLICY_FILES]);
        return NULL;
    }
    if (!take_files(load, files, count))
        return NULL;
    pass(load, part_read_names);
    pass(load, part_read_rules);
    return load->messages->failed || load->starved ? NULL : compile(load);
}

struct policy *policy_load(const struct policy_file *files, size_t count,
                           struct buf *messages)
{
    struct policy *policy = NULL;
    struct load load = {.arena = arena_new(SET_MAX), .scratch = arena_new(SCRATCH_MAX)};
    if (load.scratch)
        load.messages = arena_alloc(load.scratch, sizeof(*load.messages));
    if (load.arena && load.messages) {
        policy = load_all(&load, files, count);
        messages_print(load.messages, messages);
    }
    if (!policy && (!load.messages || !load.messages->failed))
        (void)buf_text(messages, "policy: out of memory; nothing was loaded\n");
    if (!policy)
        arena_free(load.arena);
    arena_free(load.scratch);
    return policy;
}

bool policy_in_group(const struct policy *policy, const char *group, const char *user,
                     bool has_approver_role)
{
    if (text_same(group, "approvers"))
        return has_approver_role;
    for (const struct group *at = policy->set->groups; at; at = at->next)
        if (text_same(at->name, group))
            return sorted_has(at->users, at->count, user);
    return false;
}

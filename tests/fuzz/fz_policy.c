/* A policy file, a NUL, and a call: loads or refuses with a message, judges the same
 * twice, and never lets run what is built in as refused or what nobody understood.
 *
 * The call: operation, effect, guarded, unrecognised, a byte each; then agent, skill,
 * team and environment, each ended by a NUL or by the end. */
#include "base/must.h"
#include "base/text.h"
#include "core/doc.h"
#include "core/policy.h"
#include "core/writer.h"

#include <stdint.h>
#include <string.h>

enum { MESSAGES = 1 << 16, ROOM = 1 << 20, WHO = 4 };

static struct policy *load(const char *bytes, size_t size, struct buf *messages)
{
    const struct policy_file file = {"fuzz.json", bytes, size};
    struct policy *policy = policy_load(&file, 1, messages);
    must(policy || messages->size > 0);
    for (size_t i = 0; i < messages->size; i++)
        must(messages->data[i] == '\n'
             || (messages->data[i] >= ' ' && messages->data[i] <= '~'));
    return policy;
}

static unsigned byte(const char **at, const char *end)
{
    return *at < end ? (unsigned char)*(*at)++ : 0;
}

static void call_of(const char *at, const char *end, struct facts *facts,
                    struct caller *caller, struct arena *arena)
{
    const char *who[WHO];
    size_t index = byte(&at, end) % (catalogue_size + 1);
    facts->operation = index < catalogue_size ? &catalogue[index] : &operation_unknown;
    facts->effect = (enum effect)(byte(&at, end) % 5);
    if (facts->effect < facts->operation->effect && facts->effect != EFFECT_READ)
        facts->effect = facts->operation->effect;
    facts->guarded = byte(&at, end) % 2 || facts->operation->treatment == TREAT_DENY;
    facts->unrecognised = byte(&at, end) % 2;
    for (size_t i = 0; i < WHO; i++) {
        size_t size = at < end ? strnlen(at, (size_t)(end - at)) : 0;
        who[i] = arena_copy(arena, at, size);
        must(who[i]);
        at += at + size < end ? size + 1 : size;
    }
    *caller = (struct caller){who[0], who[1], who[2], who[3]};
}

static void check(const struct verdict *verdict, const struct facts *facts)
{
    const struct operation *operation = facts->operation;
    must(verdict->because && verdict->because[0] && verdict->why);
    must(!verdict->failed || verdict->decision == DECIDE_DENY);
    must((verdict->terms.requirement_count > 0) == (verdict->decision == DECIDE_HOLD));
    if (facts->effect >= EFFECT_UNKNOWN || operation->treatment == TREAT_NEVER)
        must(verdict->decision == DECIDE_DENY);
    if (facts->unrecognised)
        must(verdict->decision != DECIDE_ALLOW);
    for (const char *const *at = verdict->because; at[0] && at[1]; at++)
        must(strcmp(at[0], at[1]) < 0);
}

static void write(const struct verdict *verdict, struct buf *out)
{
    struct writer w = WRITER(out);
    verdict_write(verdict, &w, NULL);
    must(!out->failed);
}

/* An approval reads back what it was held under. */
static void check_terms(const struct verdict *verdict, const struct buf *text,
                        struct arena *arena)
{
    struct doc_error error;
    struct verdict back = *verdict;
    own_buf again = BUF(ROOM);
    own_doc *doc = doc_parse(text->data, text->size, 16, false, &error);
    must(doc);
    bool held = terms_read(doc_root(doc), arena, &back.terms);
    must(held == (verdict->decision == DECIDE_HOLD));
    write(&back, &again);
    must(text_same(again.data, text->data));
}

static void judge(const struct policy *one, const struct policy *two, const char *at,
                  const char *end)
{
    static struct facts facts; /* large */
    struct caller caller;
    struct verdict first, second;
    struct arena *arena = arena_new(ROOM);
    must(arena);
    own_buf text = BUF(ROOM), again = BUF(ROOM);
    call_of(at, end, &facts, &caller, arena);
    policy_judge(one, &caller, &facts, arena, &first);
    policy_judge(two, &caller, &facts, arena, &second);
    check(&first, &facts);
    write(&first, &text);
    write(&second, &again);
    must(text_same(text.data, again.data));
    check_terms(&first, &text, arena);
    arena_free(arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data, *end = bytes + size;
    size_t json = size ? strnlen(bytes, size) : 0;
    const char *call = bytes + json + (json < size);
    own_buf messages = BUF(MESSAGES), again = BUF(MESSAGES);
    struct policy *one = load(bytes, json, &messages);
    struct policy *two = load(bytes, json, &again);
    must(!one == !two && messages.size == again.size);
    must(messages.size == 0 || text_same(messages.data, again.data));
    if (one) {
        must(text_same(one->digest_text, two->digest_text));
        judge(one, two, call, end);
        snapshot_drop(&one->shared);
        snapshot_drop(&two->shared);
    }
    return 0;
}

/* A body: refused, or of one canonical spelling that reads as the same tree, has no two
 * keys that upstream would take for one another, gives facts and hides its secrets.
 * Input: one byte that picks the operation, one for leniency, the body. */
#include "base/arena.h"
#include "base/must.h"
#include "base/text.h"
#include "core/canon.h"
#include "core/doc.h"
#include "core/facts.h"
#include "core/redact.h"

#include <stdint.h>
#include <string.h>
#include <strings.h>

enum { ROOM = 8 << 20, BODY = 64 << 10 };

static const char *const lines[] = {
    "POST /v2/sandboxes",
    "POST /sandboxes",
    "POST /v2/sandboxes/abc/connect",
    "POST /sandboxes/abc/timeout",
    "PUT /sandboxes/abc/network",
    "POST /v3/templates",
    "POST /v2/templates/t/builds/b",
    "DELETE /templates/tags",
    "POST /events/webhooks",
    "PATCH /events/webhooks/w",
    "POST /secrets",
    "DELETE /sandboxes/abc",
};

/* Objects with known keys may not hold two that differ in case alone. */
static void check_keys(const struct canon *canon, const struct body_field *parent,
                       const struct node *object)
{
    const char *key, *other;
    const struct node *value, *ignored;
    for (size_t i = 0; node_each(object, i, &key, &value); i++) {
        const struct body_field *row =
            body_child(canon->operation->body, canon->route->version, parent, key);
        bool free_keys = row && text_same(body_child_name(parent, row), "*");
        for (size_t k = 0; !free_keys && k < i; k++)
            must(node_each(object, k, &other, &ignored) && strcasecmp(key, other) != 0);
        if (row && node_kind(value) == NODE_OBJECT && row->type == BODY_OBJECT)
            check_keys(canon, row, value);
    }
}

static void check_again(const struct raw_request *raw, bool lenient,
                        const struct canon *canon, struct arena *arena)
{
    struct canon again = {0};
    struct raw_request same = *raw;
    unsigned char first[CANON_DIGEST], second[CANON_DIGEST];
    same.body = canon->body;
    same.body_size = canon->body_size;
    must(canon_target(&same, arena, &again) == ERR_OK);
    must(canon_body(&same, lenient, arena, &again) == ERR_OK);
    must(again.body_size == canon->body_size);
    must(memcmp(again.body, canon->body, canon->body_size) == 0);
    canon_digest(canon, "a", "e", first);
    canon_digest(&again, "a", "e", second);
    must(memcmp(first, second, CANON_DIGEST) == 0);
    canon_free(&again);
}

static void check_shown(const struct canon *canon, struct arena *arena)
{
    static const unsigned char key[REDACT_KEY];
    struct facts facts;
    struct doc_error error;
    own_buf out = BUF(1 << 20);
    struct writer w = WRITER(&out);
    must(facts_of(canon, arena, &facts));
    must(facts.effect >= canon->operation->effect);
    const char *sentence = facts_summary(canon, &facts, arena);
    must(sentence && strlen(sentence) <= 120);
    write_open(&w, NULL, '{');
    redact_request(canon, key, &w, "request");
    facts_write(&facts, &w, "facts");
    write_close(&w, '}');
    must(!out.failed);
    own_doc *doc = doc_parse(out.data, out.size, 8, true, &error);
    must(doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || size > BODY)
        return 0;
    struct arena *arena = arena_new(ROOM);
    const char *line = lines[data[0] % COUNT(lines)], *space = strchr(line, ' ');
    bool lenient = data[1] & 1;
    struct canon canon = {0};
    const struct raw_request raw = {.method =
                                        arena_copy(arena, line, (size_t)(space - line)),
                                    .target = space + 1,
                                    .version = "HTTP/1.1",
                                    .body = (const char *)data + 2,
                                    .body_size = size - 2};
    must(canon_target(&raw, arena, &canon) == ERR_OK);
    enum err err = canon_body(&raw, lenient, arena, &canon);
    must((err == ERR_REQUEST_REFUSED) == !!*canon.why);
    must(err == ERR_OK || (!canon.doc && !canon.body));
    if (!err && canon.body) {
        check_keys(&canon, NULL, doc_root(canon.doc));
        check_again(&raw, lenient, &canon, arena);
        check_shown(&canon, arena);
    }
    canon_free(&canon);
    arena_free(arena);
    return 0;
}

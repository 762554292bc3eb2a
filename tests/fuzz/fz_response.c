/* An answer of E2B: broken, or without any credential and otherwise the same tree.
 * Input: one byte that picks the operation, the answer. */
#include "base/arena.h"
#include "base/must.h"
#include "base/text.h"
#include "core/doc.h"
#include "core/redact.h"

#include <stdint.h>
#include <string.h>

enum { ROOM = 8 << 20, ANSWER = 64 << 10, DEPTH = 64 };

static const char *const names[] = {
    "sandbox.get",        "sandbox.create", "sandbox.fork",
    "volume.get",         "webhook.list",   "webhook.get",
    "webhook.deliveries", "template.files", "sandbox.events",
};

static bool parses(const char *bytes, size_t size)
{
    struct doc_error error;
    own_doc *doc = doc_parse(bytes, size, DEPTH, true, &error);
    return doc != NULL;
}

/* Taking away again finds nothing more, and changes nothing. */
static void check_stripped(const struct operation *operation, const struct buf *out,
                           struct arena *arena)
{
    own_buf again = BUF(1 << 20);
    const char *stripped;
    must(parses(out->data, out->size));
    must(redact_response(operation, out->data, out->size, arena, &again, &stripped)
         == ERR_OK);
    must(again.size == 0 && !*stripped);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > ANSWER)
        return 0;
    struct arena *arena = arena_new(ROOM);
    own_buf out = BUF(1 << 20);
    const struct operation *operation = operation_named(names[data[0] % COUNT(names)]);
    const char *stripped = NULL, *answer = (const char *)data + 1;
    enum err err = redact_response(operation, answer, size - 1, arena, &out, &stripped);
    must(err == ERR_OK || err == ERR_UPSTREAM_BROKEN);
    if (operation->credential_paths)
        must((err == ERR_OK) == parses(answer, size - 1));
    must(err || stripped);
    must(err || (out.size > 0) == !!*stripped);
    if (!err && out.size)
        check_stripped(operation, &out, arena);
    const char *made = redact_created(operation, answer, size - 1, arena);
    for (; made && *made; made++)
        must(*made >= ' ' && *made <= '~');
    arena_free(arena);
    return 0;
}

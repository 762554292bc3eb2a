/* E2B's side of a call: what is sent, and what its answer means. */
#include "base/must.h"
#include "base/text.h"
#include "core/doc.h"
#include "exchange/inside.h"

#include <string.h>

enum { HEADERS_MAX = 16 << 10, ANSWER_DEPTH = 64, REDACTED_MAX = 17 << 20 };

/* ---- headers as text, for a sealed call or a stored answer ---- */

const char *headers_pack(struct exchange *x, const struct header *headers, size_t count)
{
    own_buf text = BUF(HEADERS_MAX);
    for (size_t i = 0; i < count; i++) {
        buf_add(&text, headers[i].name, headers[i].name_size);
        buf_text(&text, ": ");
        buf_add(&text, headers[i].value, headers[i].value_size);
        buf_char(&text, '\n');
    }
    return text.failed ? NULL
                       : arena_copy(x->arena, text.data ? text.data : "", text.size);
}

static size_t headers_unpack(struct exchange *x, const char *text,
                             const struct header **out)
{
    size_t count = 0, lines = 0;
    for (const char *at = text; *at; at++)
        lines += *at == '\n';
    struct header *headers = arena_alloc(x->arena, (lines + 1) * sizeof(*headers));
    for (const char *at = text; headers && *at;) {
        const char *colon = strstr(at, ": "), *end = strchr(at, '\n');
        if (!colon || !end || colon > end)
            break;
        headers[count++] = (struct header){.name = at,
                                           .name_size = (size_t)(colon - at),
                                           .value = colon + 2,
                                           .value_size = (size_t)(end - colon - 2)};
        at = end + 1;
    }
    *out = headers;
    return headers ? count : 0;
}

bool call_of(struct exchange *x, struct sealed_call *call)
{
    const struct canon *canon = &x->canon;
    *call = (struct sealed_call){
        .method = canon->route->method,
        .path = canon->path,
        .query = canon->query,
        .body = canon->body,
        .body_size = canon->body_size,
        .headers = headers_pack(x, canon->forward, canon->forward_count)};
    return call->headers != NULL;
}

/* ---- judging the answer ---- */

/* Half a JSON document is no answer. Empty and non-JSON bodies are E2B's business. */
static bool believable(const struct transfer *transfer)
{
    struct doc_error error;
    const struct buf *answer = &transfer->answer;
    if (transfer->unframed)
        return false;
    for (size_t i = 0; i < transfer->passed_count; i++) {
        const struct header *header = &transfer->passed[i];
        if (strncasecmp(header->name, "content-type", header->name_size) == 0
            && strncasecmp(header->value, "application/json", 16) != 0)
            return true;
    }
    if (answer->size == 0)
        return true;
    own_doc *doc = doc_parse(answer->data, answer->size, ANSWER_DEPTH, true, &error);
    return doc != NULL;
}

static bool strips(const struct exchange *x)
{
    return x->verdict.credentials == CREDENTIALS_STRIP;
}

static void redact_answer(struct exchange *x)
{
    const struct buf *answer = &x->transfer.answer;
    x->answer_body = answer->data ? answer->data : "";
    x->answer_size = answer->size;
    bool success = x->transfer.status >= 200 && x->transfer.status < 300;
    if (success && x->facts.effect != EFFECT_READ)
        x->created = redact_created(x->canon.operation, x->answer_body, x->answer_size,
                                    x->arena);
    if (!success || !strips(x) || answer->size == 0)
        return;
    x->redacted = BUF(REDACTED_MAX);
    enum err err = redact_response(x->canon.operation, x->answer_body, x->answer_size,
                                   x->arena, &x->redacted, &x->stripped);
    exchange_fail(x, err, "the answer may hold credentials and could not be read");
    if (err)
        x->answer_size = 0;
    else if (x->redacted.size) {
        x->answer_body = x->redacted.data;
        x->answer_size = x->redacted.size;
    }
}

/* E2B must not tell an agent the key that it was asked with: same length, no key. */
static void blot(struct buf *bytes, const char *key)
{
    size_t size = strlen(key);
    char *at = bytes->data, *end = at ? at + bytes->size : NULL;
    while (at && size && (at = memmem(at, (size_t)(end - at), key, size))) {
        memset(at, '*', size);
        at += size;
    }
}

static void judge_answered(struct exchange *x)
{
    blot(&x->transfer.answer, x->target->e2b_key);
    blot(&x->transfer.head, x->target->e2b_key);
    const struct transfer *transfer = &x->transfer;
    bool read = x->facts.effect == EFFECT_READ;
    if (!read && !believable(transfer)) {
        x->outcome = RUN_UNKNOWN;
        exchange_fail(x, ERR_OUTCOME_UNKNOWN, *x->run ? x->run : NULL);
        return;
    }
    x->outcome = transfer->status < 300 ? RUN_OK : RUN_FAILED;
    if (transfer->status >= 300
        && transfer->status < 400) /* a redirect is never followed */
        exchange_fail(x, ERR_UPSTREAM_BROKEN, "it answered with a redirect");
    else
        redact_answer(x);
}

static void judge_transfer(struct exchange *x)
{
    bool read = x->facts.effect == EFFECT_READ;
    switch (x->transfer.result) {
    case TRANSFER_ANSWERED:
        judge_answered(x);
        return;
    case TRANSFER_NOT_SENT:
        x->outcome = RUN_NOT_SENT;
        exchange_fail(x, ERR_UPSTREAM_UNREACHABLE, NULL);
        return;
    case TRANSFER_NOT_SENT_LATE:
        x->outcome = RUN_NOT_SENT;
        exchange_fail(x, ERR_UPSTREAM_TIMEOUT, "nothing was sent");
        return;
    case TRANSFER_LOST:
        x->outcome = read ? RUN_FAILED : RUN_UNKNOWN;
        exchange_fail(x, read ? ERR_UPSTREAM_BROKEN : ERR_OUTCOME_UNKNOWN, x->run);
        return;
    case TRANSFER_LATE:
        x->outcome = read ? RUN_FAILED : RUN_UNKNOWN;
        exchange_fail(x, read ? ERR_UPSTREAM_TIMEOUT : ERR_OUTCOME_UNKNOWN, x->run);
        return;
    }
}

/* ---- sending ---- */

static void transferred(struct transfer *transfer)
{
    struct exchange *x = container_of(transfer, struct exchange, transfer);
    judge_transfer(x);
    engine_resume(x, ERR_OK);
}

enum err transfer_begin(struct exchange *x, const struct sealed_call *call, bool read)
{
    struct transfer *transfer = &x->transfer;
    *transfer = (struct transfer){.base_url = x->target->base_url,
                                  .e2b_key = x->target->e2b_key,
                                  .method = call->method,
                                  .path = call->path,
                                  .query = call->query,
                                  .body = call->body,
                                  .body_size = call->body_size,
                                  .read = read,
                                  .done = transferred};
    transfer->header_count = headers_unpack(x, call->headers, &transfer->headers);
    upstream_start(x->worker->upstream, transfer);
    return ERR_OK;
}

void record_outcome(const struct exchange *x, struct record *record)
{
    record->result.outcome = run_outcome_name(x->outcome);
    record->result.status = x->transfer.status;
    record->result.bytes = (int64_t)x->transfer.answer.size;
    record->result.us = x->transfer.took_us;
    record->result.stripped = x->stripped && *x->stripped ? x->stripped : NULL;
    if (x->created && *x->created) {
        record->result.created_kind =
            target_kind_name(x->canon.operation->creates_kind);
        record->result.created_id = x->created;
    }
    if (x->err)
        record->result.err = err_code(x->err);
}

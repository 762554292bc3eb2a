/* What waits sealed: the call, and E2B's answer.  Both under a key of the approval's
 * own, which is sealed under the master key and shredded by deleting that box. */
#include "base/log.h"
#include "base/text.h"
#include "store/approval_rows.h"
#include "store/secrets.h"

#include <string.h>

enum { PACK_MAX = APPROVAL_BOX, CONTEXT = ID_TEXT + 16 };

/* A box says what it is: a call does not open as an answer, nor as another's. */
static const char *context_of(const char *id, const char *what,
                              char out[static CONTEXT])
{
    must(text_format(out, CONTEXT, "%s %s", id, what));
    return out;
}

/* ---- packing: texts with their NUL, a mark, then the rest is the body ---- */

static void pack(struct buf *out, const char *const *texts, size_t count, bool mark,
                 struct bytes body)
{
    for (size_t i = 0; i < count; i++)
        buf_add(out, texts[i] ? texts[i] : "", (texts[i] ? strlen(texts[i]) : 0) + 1);
    buf_char(out, mark ? '1' : '0');
    buf_add(out, body.data ? body.data : "", body.size);
}

struct unpacked {
    const char *texts[4];
    bool mark;
    struct bytes body;
};

static bool unpack(const char *at, size_t size, size_t count, struct unpacked *out)
{
    for (size_t i = 0; i < count; i++) {
        const char *end = memchr(at, '\0', size);
        if (!end)
            return false;
        out->texts[i] = at;
        size -= (size_t)(end - at) + 1;
        at = end + 1;
    }
    if (!size)
        return false;
    out->mark = *at == '1';
    out->body = (struct bytes){at + 1, size - 1};
    return true;
}

/* ---- boxes ---- */

static enum err seal(const unsigned char *key, const char *id, const char *what,
                     struct buf *plain, struct buf *box)
{
    char context[CONTEXT];
    bool sealed =
        !plain->failed
        && keys_seal(key, context_of(id, what, context), plain->data, plain->size, box);
    buf_wipe(plain);
    return sealed ? ERR_OK : ERR_STORE;
}

/* Into the arena, as text: the bytes and a NUL. */
static bool open_box(const unsigned char *key, const char *id, const char *what,
                     struct bytes box, struct arena *arena, struct bytes *out)
{
    char context[CONTEXT];
    struct buf plain = BUF(PACK_MAX);
    bool opened =
        box.data
        && keys_open(key, context_of(id, what, context), box.data, box.size, &plain);
    *out = (struct bytes){opened ? arena_copy(arena, plain.data, plain.size) : NULL,
                          plain.size};
    buf_wipe(&plain);
    return out->data != NULL;
}

static bool open_key(const char *id, struct bytes box,
                     unsigned char key[static SEAL_KEY])
{
    char context[CONTEXT];
    struct buf plain = BUF(SEAL_KEY);
    bool opened =
        box.data
        && keys_open(secret_key(SECRET_APPROVAL), context_of(id, "key", context),
                     box.data, box.size, &plain)
        && plain.size == SEAL_KEY;
    if (opened)
        memcpy(key, plain.data, SEAL_KEY);
    buf_wipe(&plain);
    return opened;
}

/* ---- the call ---- */

enum err approval_seal_call(const char *id, const struct sealed_call *call,
                            struct buf *key_box, struct buf *call_box)
{
    unsigned char key[SEAL_KEY];
    char context[CONTEXT];
    const char *const texts[] = {call->method, call->path, call->query, call->headers};
    struct buf plain = BUF(PACK_MAX);
    keys_random(key, sizeof(key));
    pack(&plain, texts, COUNT(texts), call->body != NULL,
         (struct bytes){call->body, call->body_size});
    enum err err = seal(key, id, "call", &plain, call_box);
    if (!err
        && !keys_seal(secret_key(SECRET_APPROVAL), context_of(id, "key", context), key,
                      sizeof(key), key_box))
        err = ERR_STORE;
    keys_wipe(key, sizeof(key));
    return err;
}

static bool unpack_call(struct bytes packed, struct sealed_call *call)
{
    struct unpacked all;
    if (!unpack(packed.data, packed.size, 4, &all))
        return false;
    *call = (struct sealed_call){.method = all.texts[0],
                                 .path = all.texts[1],
                                 .query = all.texts[2],
                                 .headers = all.texts[3],
                                 .body = all.mark ? all.body.data : NULL,
                                 .body_size = all.mark ? all.body.size : 0};
    return true;
}

static bool digest_holds(const struct approval *approval,
                         const struct sealed_call *call)
{
    unsigned char digest[CANON_DIGEST];
    const struct canon canon = {.operation = operation_named(approval->operation),
                                .path = call->path,
                                .query = call->query,
                                .body = call->body,
                                .body_size = call->body_size};
    if (!canon.operation)
        return false;
    canon_digest(&canon, approval->agent, approval->environment, digest);
    return keys_same(digest, approval->digest, CANON_DIGEST);
}

enum err approval_open_call(struct db *db, const struct approval *approval,
                            struct arena *arena, struct sealed_call *call)
{
    unsigned char key[SEAL_KEY];
    struct bytes key_box, box, packed = {NULL, 0};
    db_start(db, SQL_APPROVAL_CALL, IN(P(approval->id)));
    bool opened = db_next(db, SQL_APPROVAL_CALL, OUT(LENT(&key_box), LENT(&box)))
                  && open_key(approval->id, key_box, key)
                  && open_box(key, approval->id, "call", box, arena, &packed);
    enum err err = db_end(db, SQL_APPROVAL_CALL);
    keys_wipe(key, sizeof(key));
    if (err)
        return err;
    if (opened && unpack_call(packed, call) && digest_holds(approval, call))
        return ERR_OK;
    log_error("approval", "id=%s what is sealed is not what was held; it will not run",
              approval->id);
    return ERR_INTERNAL;
}

/* ---- the answer ---- */

enum err approval_seal_answer(struct db *db, const char *id,
                              const struct answer *answer, struct buf *box)
{
    unsigned char key[SEAL_KEY];
    struct bytes key_box, unused;
    const char *const texts[] = {answer->headers, answer->error_code};
    struct buf plain = BUF(PACK_MAX);
    db_start(db, SQL_APPROVAL_CALL, IN(P(id)));
    bool opened = db_next(db, SQL_APPROVAL_CALL, OUT(LENT(&key_box), LENT(&unused)))
                  && open_key(id, key_box, key);
    enum err err = db_end(db, SQL_APPROVAL_CALL);
    if (!err && !opened)
        err = ERR_INTERNAL;
    if (!err) {
        pack(&plain, texts, COUNT(texts), answer->error_code != NULL,
             (struct bytes){answer->body, answer->body_size});
        err = seal(key, id, "answer", &plain, box);
    }
    keys_wipe(key, sizeof(key));
    return err;
}

/* No answer was kept, or its key is gone: then nobody can say what it was. */
static const struct answer not_known = {
    .status = 504, .headers = "", .body = "", .error_code = "outcome_unknown"};

static enum err read_answer(struct db *db, const char *id, struct arena *arena,
                            struct answer *answer)
{
    int status = 0;
    unsigned char key[SEAL_KEY];
    struct unpacked all;
    struct bytes key_box, box, packed = {NULL, 0};
    db_start(db, SQL_APPROVAL_ANSWER, IN(P(id)));
    bool found =
        db_next(db, SQL_APPROVAL_ANSWER, OUT(LENT(&key_box), LENT(&box), O(&status)));
    bool kept = found && box.data != NULL;
    bool opened = kept && open_key(id, key_box, key)
                  && open_box(key, id, "answer", box, arena, &packed)
                  && unpack(packed.data, packed.size, 2, &all);
    enum err err = db_end(db, SQL_APPROVAL_ANSWER);
    keys_wipe(key, sizeof(key));
    *answer = not_known;
    if (err || !found || !kept)
        return err ? err : found ? ERR_OK : ERR_NOT_FOUND;
    if (!opened)
        return ERR_INTERNAL;
    *answer = (struct answer){.status = status,
                              .headers = all.texts[0],
                              .error_code = all.mark ? all.texts[1] : NULL,
                              .body = all.body.data,
                              .body_size = all.body.size};
    return ERR_OK;
}

enum err approvals_answer(struct db *db, const char *id, bool collect, int64_t now_ms,
                          struct arena *arena, struct answer *answer)
{
    (void)now_ms;
    enum err err = read_answer(db, id, arena, answer);
    return err || !collect ? err : db_run(db, SQL_APPROVAL_COLLECT, IN(P(id)), NULL);
}

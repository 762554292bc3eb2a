/* The stored answer, or the error in E2B's shape. */
#include "base/text.h"
#include "core/writer.h"
#include "exchange/inside.h"

#include <string.h>

enum { MESSAGE = 1024, BODY_MAX = 8192 };

static void add_header(struct exchange *x, const char *name, const char *value)
{
    if (!value || !*value || x->out.header_count == REPLY_HEADERS)
        return;
    x->out_headers[x->out.header_count++] =
        (struct header){.name = name,
                        .name_size = strlen(name),
                        .value = value,
                        .value_size = strlen(value)};
}

static void add_receipt(struct exchange *x)
{
    char text[80];
    if (!x->recorded)
        return;
    receipt_text(&x->receipt, text);
    add_header(x, "Sandgate-Record", arena_text(x->arena, text));
}

static void add_approval(struct exchange *x)
{
    if (!x->approval.id || !(x->marks & HELD)) /* else it was rolled back */
        return;
    add_header(x, "Sandgate-Approval", x->approval.id);
    add_header(x, "Sandgate-State", approval_state_name(x->approval.state));
}

/* ---- errors ---- */

static const char *pending_message(struct exchange *x)
{
    const struct approval *approval = &x->approval;
    const char *what = approval->summary ? approval->summary : approval->operation;
    if (approval->state == APPROVAL_PENDING)
        return arena_printf(
            x->arena,
            "Held for approval %s: %s. Not executed. To approve: %s %s; "
            "repeat the same call to collect the result.",
            approval->id, what, world.approve_hint, approval->id);
    return arena_printf(
        x->arena,
        "Approved as %s: %s. It is being executed; repeat the same call to "
        "collect the result.",
        approval->id, what);
}

static const char *message(struct exchange *x)
{
    if (x->err == ERR_APPROVAL_PENDING && x->approval.id)
        return pending_message(x);
    if (x->err == ERR_POLICY_DENIED)
        return arena_printf(x->arena, "Denied by policy %s", x->why);
    if (!*x->why)
        return err_text(x->err);
    return arena_printf(x->arena, "%s: %s", err_text(x->err), x->why);
}

/* Where E2B's 403 and 404 are answers ("exists", "free"), ours is neither. */
static int status_of(const struct exchange *x)
{
    int status = err_status(x->err);
    bool reads_as_answer = status == 403 || status == 404;
    return x->canon.operation->answers_by_status && reads_as_answer ? 451 : status;
}

static void respond_error(struct exchange *x)
{
    struct writer w = WRITER(&x->out_body);
    const char *text = message(x);
    x->out_body = BUF(BODY_MAX);
    write_open(&w, NULL, '{');
    write_int(&w, "code", status_of(x));
    write_text(&w, "error_code", err_code(x->err));
    write_text(&w, "message", text ? text : err_text(x->err));
    write_close(&w, '}');
    x->out.status = status_of(x);
    x->out.body = x->out_body.data;
    x->out.body_size = x->out_body.size;
    add_header(x, "Content-Type", "application/json");
    if (x->out.status == 503)
        add_header(x, "Retry-After", "2");
}

/* ---- E2B's answers ---- */

static void respond_transfer(struct exchange *x)
{
    const struct transfer *transfer = &x->transfer;
    x->out.status = transfer->status;
    x->out.body = x->answer_body;
    x->out.body_size = x->answer_size;
    for (size_t i = 0; i < transfer->passed_count; i++)
        if (x->out.header_count < REPLY_HEADERS - 4)
            x->out_headers[x->out.header_count++] = transfer->passed[i];
    add_header(x, "Sandgate-Stripped", x->stripped);
}

/* "name: value\n" lines; cut in place, they are the arena's. */
static void respond_stored(struct exchange *x)
{
    const struct answer *stored = &x->stored;
    x->out.status = stored->status;
    x->out.body = stored->body ? stored->body : "";
    x->out.body_size = stored->body_size;
    for (const char *at = stored->headers ? stored->headers : ""; *at;) {
        const char *colon = strstr(at, ": "), *end = strchr(at, '\n');
        if (!colon || !end || colon > end || x->out.header_count >= REPLY_HEADERS - 4)
            break;
        x->out_headers[x->out.header_count++] =
            (struct header){.name = at,
                            .name_size = (size_t)(colon - at),
                            .value = colon + 2,
                            .value_size = (size_t)(end - colon - 2)};
        at = end + 1;
    }
}

/* It was sent, and its outcome could not be written down: never "try again". */
static void admit_unknown(struct exchange *x)
{
    bool sent = (x->marks & BEGUN) && x->outcome != RUN_NOT_SENT;
    if (!sent || (x->marks & SETTLED))
        return;
    x->err = ERR_OUTCOME_UNKNOWN;
    x->recorded = false;
    (void)text_copy(x->why, sizeof(x->why), x->run);
}

enum err respond(struct exchange *x, struct db *db)
{
    (void)db;
    admit_unknown(x);
    if (x->err)
        respond_error(x);
    else if (x->verdict.decision == DECIDE_HOLD)
        respond_stored(x);
    else
        respond_transfer(x);
    add_approval(x);
    add_receipt(x);
    x->out.headers = x->out_headers;
    return ERR_OK;
}

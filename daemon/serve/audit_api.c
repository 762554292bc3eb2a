/* Reading the log: list, one record, head, export. */
#include "base/must.h"
#include "base/text.h"
#include "serve/handlers.h"

#include <fcntl.h>
#include <unistd.h>

enum { AUDIT_DEFAULT = 50, AUDIT_MAX = 1000 };

static bool write_record(void *context, uint64_t index, const char *leaf, size_t size)
{
    struct writer *w = context;
    write_open(w, NULL, '{');
    write_int(w, "index", (int64_t)index);
    buf_text(w->out, ",\"record\":");
    buf_add(w->out, leaf, size);
    write_close(w, '}');
    return !w->out->failed;
}

static bool number(const struct call *call, const char *key, int64_t max, int64_t *out)
{
    const char *text = call_query(call, key);
    return !text || text_int(text, 0, max, out);
}

struct reply audit_index(struct call *call, struct db *db)
{
    struct buf body;
    struct writer w;
    int64_t limit = AUDIT_DEFAULT, before = INT64_MAX, since = 0, until = 0;
    if (!number(call, "limit", AUDIT_MAX, &limit)
        || !number(call, "before", INT64_MAX, &before)
        || !number(call, "since_us", INT64_MAX, &since)
        || !number(call, "until_us", INT64_MAX, &until))
        return reply_error(ERR_BAD_FIELD,
                           "limit, before, since_us and until_us are numbers");
    const struct log_filter filter = {.agent = call_query(call, "agent"),
                                      .operation = call_query(call, "operation"),
                                      .approval = call_query(call, "approval"),
                                      .verdict = call_query(call, "verdict"),
                                      .target = call_query(call, "target"),
                                      .person = call_query(call, "person"),
                                      .kind = call_query(call, "kind"),
                                      .since_us = since,
                                      .until_us = until,
                                      .before = (uint64_t)before,
                                      .limit = (size_t)limit};
    (void)reply_start(&w, &body);
    write_int(&w, "size", (int64_t)log_size(db));
    write_open(&w, "records", '[');
    enum err err = log_search(db, &filter, write_record, &w);
    write_close(&w, ']');
    if (!err)
        return reply_end(&w, &body);
    buf_free(&body);
    return reply_error(err, NULL);
}

struct reply audit_show(struct call *call, struct db *db)
{
    struct buf body;
    struct writer w;
    int64_t index = 0;
    if (!text_int(call->args[0], 0, INT64_MAX, &index))
        return reply_error(ERR_BAD_FIELD, "a record is named by its index");
    if ((uint64_t)index >= log_size(db))
        return reply_error(ERR_NOT_FOUND, "the log is shorter");
    (void)reply_start(&w, &body);
    write_open(&w, "records", '[');
    enum err err =
        log_range(db, (uint64_t)index, (uint64_t)index + 1, write_record, &w);
    write_close(&w, ']');
    if (!err)
        return reply_end(&w, &body);
    buf_free(&body);
    return reply_error(err, NULL);
}

struct reply audit_head(struct call *call, struct db *db)
{
    (void)call;
    struct buf body;
    struct writer w;
    own_buf note = BUF(4096);
    enum err err = log_latest_checkpoint(db, &note);
    if (err && err != ERR_NOT_FOUND)
        return reply_error(err, NULL);
    (void)reply_start(&w, &body);
    write_int(&w, "size", (int64_t)log_size(db));
    write_text(&w, "vkey", log_vkey());
    write_text(&w, "checkpoint", err ? NULL : note.data);
    return reply_end(&w, &body);
}

/* Signs a checkpoint now, so that an export that follows is covered to its end. */
struct reply audit_checkpoint(struct call *call, struct db *db)
{
    log_checkpoint_now(db);
    return audit_head(call, db);
}

/* ---- export: through an unlinked file, so that its size does not matter ---- */

static bool to_file(void *context, const char *bytes, size_t size)
{
    const int *fd = context;
    while (size) {
        ssize_t n = write(*fd, bytes, size);
        if (n <= 0)
            return false;
        bytes += n;
        size -= (size_t)n;
    }
    return true;
}

struct reply audit_export(struct call *call, struct db *db)
{
    int64_t first = 0, end = INT64_MAX;
    if (!number(call, "first", INT64_MAX, &first)
        || !number(call, "end", INT64_MAX, &end))
        return reply_error(ERR_BAD_FIELD, "first and end are record indexes");
    int fd = open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0)
        return reply_error(ERR_STORE, "no room for the export in /tmp");
    uint64_t last = end == INT64_MAX ? UINT64_MAX : (uint64_t)end;
    enum err err = log_export(db, (uint64_t)first, last, to_file, &fd);
    off_t size = lseek(fd, 0, SEEK_CUR);
    if (err || size < 0 || lseek(fd, 0, SEEK_SET) != 0) {
        (void)close(fd);
        return reply_error(err ? err : ERR_INTERNAL, NULL);
    }
    return (struct reply){
        .fd = fd, .fd_size = (uint64_t)size, .type = "application/jsonl"};
}

#include "store/db.h"

#include "base/log.h"
#include "base/text.h"

#include <errno.h>
#include <string.h>

enum { SEEK, SCAN };

const struct statement db_statements[SQL_COUNT] = {
#define SQL(name, plan, text) {text, plan},
#include "store/statements.def"
#undef SQL
};

/* ---- values ---- */

struct param param_int(int64_t number)
{
    return (struct param){.kind = PARAM_INT, .number = number};
}

struct param param_unsigned(uint64_t number)
{
    return param_int(number > INT64_MAX ? INT64_MAX : (int64_t)number);
}

struct param param_text(const char *text)
{
    return (struct param){
        PARAM_TEXT, 0, {text, text ? strlen(text) : 0}
    };
}

struct param param_bytes(struct bytes bytes)
{
    return (struct param){PARAM_BYTES, 0, bytes};
}

struct column column_int64(int64_t *out)
{
    return (struct column){AS_INT64, out, 0, NULL};
}

struct column column_uint64(uint64_t *out)
{
    return (struct column){AS_INT64, out, 0, NULL}; /* CHECKs keep them positive */
}

struct column column_int(int *out)
{
    return (struct column){AS_INT, out, 0, NULL};
}

struct column column_bool(bool *out)
{
    return (struct column){AS_BOOL, out, 0, NULL};
}

/* ---- failures ---- */

/* What has no row leaves the disk in a state that nobody knows.  SHMSIZE is about the
 * index of the WAL, which holds no data. */
static const struct {
    int code;
    enum failure failure;
    enum err err;
} judgements[] = {
    {SQLITE_CONSTRAINT_PRIMARYKEY, FAILURE_NONE,    ERR_CONFLICT },
    {SQLITE_CONSTRAINT_UNIQUE,     FAILURE_NONE,    ERR_CONFLICT },
    {SQLITE_CONSTRAINT_ROWID,      FAILURE_NONE,    ERR_CONFLICT },
    {SQLITE_CONSTRAINT_FOREIGNKEY, FAILURE_NONE,    ERR_NOT_FOUND},
    {SQLITE_CONSTRAINT,            FAILURE_NONE,    ERR_INTERNAL },
    {SQLITE_FULL,                  FAILURE_PASSING, ERR_STORE    },
    {SQLITE_IOERR_SHMSIZE,         FAILURE_PASSING, ERR_STORE    },
    {SQLITE_NOMEM,                 FAILURE_PASSING, ERR_STORE    },
    {SQLITE_BUSY,                  FAILURE_PASSING, ERR_STORE    },
    {SQLITE_LOCKED,                FAILURE_PASSING, ERR_STORE    },
};

static int last_errno(sqlite3_file *file)
{
    int reason = 0;
    if (file && file->pMethods)
        (void)file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &reason);
    return reason;
}

/* SQLite says FULL for ENOSPC only.  Quotas and size limits come as failed writes, of
 * which nothing was committed; a failed fsync is another matter. */
static bool no_room(const struct db *db, int code)
{
    sqlite3_file *wal = NULL, *file = NULL;
    if (code != SQLITE_IOERR_WRITE)
        return false;
    (void)sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_JOURNAL_POINTER, &wal);
    (void)sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_FILE_POINTER, &file);
    const int reasons[] = {last_errno(wal), last_errno(file)};
    for (size_t i = 0; i < COUNT(reasons); i++)
        if (reasons[i] == EFBIG || reasons[i] == EDQUOT || reasons[i] == ENOSPC)
            return true;
    return false;
}

enum err db_judge(struct db *db, int code)
{
    if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE)
        return ERR_OK;
    enum failure failure = no_room(db, code) ? FAILURE_PASSING : FAILURE_FATAL;
    enum err err = ERR_STORE;
    for (size_t i = 0; i < COUNT(judgements); i++)
        if (judgements[i].code == code || judgements[i].code == (code & 0xff)) {
            failure = judgements[i].failure;
            err = judgements[i].err;
            break;
        }
    if (failure > db->failure)
        db->failure = failure;
    if (err == ERR_STORE || err == ERR_INTERNAL)
        log_error("store", "sqlite=%d %s", code, sqlite3_errmsg(db->handle));
    return err;
}

/* ---- binding and reading ---- */

static int bind_one(sqlite3_stmt *statement, int at, const struct param *param)
{
    switch (param->kind) {
    case PARAM_INT:
        return sqlite3_bind_int64(statement, at, param->number);
    case PARAM_TEXT:
        return sqlite3_bind_text(statement, at, param->bytes.data,
                                 (int)param->bytes.size, SQLITE_STATIC);
    case PARAM_BYTES:
        return sqlite3_bind_blob(statement, at, param->bytes.data,
                                 (int)param->bytes.size, SQLITE_STATIC);
    }
    return SQLITE_MISUSE;
}

static void bind(sqlite3_stmt *statement, struct params in)
{
    must(
        !sqlite3_stmt_busy(statement)); /* who reads its rows must not start it again */
    must(sqlite3_bind_parameter_count(statement) == (int)in.count);
    for (size_t i = 0; i < in.count; i++)
        must(bind_one(statement, (int)i + 1, &in.list[i]) == SQLITE_OK);
}

static struct bytes column_bytes(sqlite3_stmt *statement, int at)
{
    const void *data = sqlite3_column_blob(statement, at); /* texts too: UTF-8 */
    return (struct bytes){data, (size_t)sqlite3_column_bytes(statement, at)};
}

static enum err read_bytes(struct bytes bytes, const struct column *column)
{
    if (column->kind == AS_LENT) {
        *(struct bytes *)column->out = bytes;
        return ERR_OK;
    }
    if (column->kind == AS_KEPT) {
        char *copy =
            arena_copy(column->arena, bytes.data ? bytes.data : "", bytes.size);
        *(const char **)column->out = copy;
        return copy ? ERR_OK : ERR_TOO_LARGE;
    }
    bool text = column->kind == AS_ROOM;
    if (text ? bytes.size >= column->size : bytes.size != column->size)
        return ERR_INTERNAL;
    if (bytes.size)
        memcpy(column->out, bytes.data, bytes.size);
    if (text)
        ((char *)column->out)[bytes.size] = '\0';
    return ERR_OK;
}

static enum err read_one(sqlite3_stmt *statement, int at, const struct column *column)
{
    switch (column->kind) {
    case AS_INT64:
        *(int64_t *)column->out = sqlite3_column_int64(statement, at);
        return ERR_OK;
    case AS_INT:
        *(int *)column->out = sqlite3_column_int(statement, at);
        return ERR_OK;
    case AS_BOOL:
        *(bool *)column->out = sqlite3_column_int(statement, at) != 0;
        return ERR_OK;
    case AS_ROOM:
    case AS_EXACT:
    case AS_LENT:
    case AS_KEPT:
        break;
    }
    return read_bytes(column_bytes(statement, at), column);
}

/* ---- running ---- */

static enum err step_to_end(struct db *db, sqlite3_stmt *statement)
{
    int code;
    do
        code = sqlite3_step(statement);
    while (code == SQLITE_ROW); /* what it returns is of no interest */
    enum err err = code == SQLITE_DONE
                       ? ERR_OK
                       : db_judge(db, sqlite3_extended_errcode(db->handle));
    (void)sqlite3_reset(statement); /* says again what step said */
    return err;
}

enum err db_control(struct db *db, enum sql sql)
{
    bind(db->statements[sql], NOTHING);
    return step_to_end(db, db->statements[sql]);
}

static enum err save(struct db *db, sqlite3_stmt *statement)
{
    if (!db->in_job || db->saved || sqlite3_stmt_readonly(statement))
        return ERR_OK;
    enum err err = db_control(db, SQL_SAVE);
    db->saved = !err;
    return err;
}

void db_start(struct db *db, enum sql sql, struct params in)
{
    bind(db->statements[sql], in);
    db->row_err = save(db, db->statements[sql]);
}

bool db_next(struct db *db, enum sql sql, struct columns out)
{
    sqlite3_stmt *statement = db->statements[sql];
    if (db->row_err)
        return false;
    int code = sqlite3_step(statement);
    if (code != SQLITE_ROW) {
        if (code != SQLITE_DONE)
            db->row_err = db_judge(db, sqlite3_extended_errcode(db->handle));
        return false;
    }
    must(sqlite3_column_count(statement) == (int)out.count);
    for (size_t i = 0; i < out.count && !db->row_err; i++)
        db->row_err = read_one(statement, (int)i, &out.list[i]);
    return !db->row_err;
}

enum err db_end(struct db *db, enum sql sql)
{
    enum err err = db->row_err;
    (void)sqlite3_reset(db->statements[sql]); /* says again what step said */
    db->row_err = ERR_OK;
    return err;
}

enum err db_one(struct db *db, enum sql sql, struct params in, struct columns out)
{
    db_start(db, sql, in);
    bool found = db_next(db, sql, out);
    enum err err = db_end(db, sql);
    return err ? err : found ? ERR_OK : ERR_NOT_FOUND;
}

enum err db_run(struct db *db, enum sql sql, struct params in, int *changed)
{
    sqlite3_stmt *statement = db->statements[sql];
    bind(statement, in);
    enum err err = save(db, statement);
    if (!err)
        err = step_to_end(db, statement);
    if (!err && changed)
        *changed = sqlite3_changes(db->handle);
    return err;
}

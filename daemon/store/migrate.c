/* Migrations: numbered, embedded, each in one transaction; PRAGMA user_version counts.
 */
#include "base/buf.h"
#include "base/embedded.h"
#include "base/log.h"
#include "base/text.h"
#include "store/db.h"
#include "store/store.h"

#include <string.h>
#include <sysexits.h>

enum { APPLICATION = 0x53474154, SQL_MAX = 1 << 20 }; /* "SGAT" */

static bool ask(sqlite3 *handle, const char *text, int64_t *number)
{
    sqlite3_stmt *statement = NULL;
    bool ok = sqlite3_prepare_v2(handle, text, -1, &statement, NULL) == SQLITE_OK
              && sqlite3_step(statement) == SQLITE_ROW;
    if (ok)
        *number = sqlite3_column_int64(statement, 0);
    (void)sqlite3_finalize(statement);
    return ok;
}

/* "0007_name.sql" is 7; they come sorted, so the last one is the newest. */
static int64_t number_of(const struct embedded_file *file)
{
    int64_t number = 0;
    for (const char *at = file->name; *at >= '0' && *at <= '9'; at++)
        number = number * 10 + (*at - '0');
    must(number > 0);
    return number;
}

/* The file runs as it is, inside one transaction that also moves the number. */
static bool apply(sqlite3 *handle, const struct embedded_file *file)
{
    own_buf text = BUF(SQL_MAX);
    buf_text(&text, "SAVEPOINT migration;\n");
    buf_add(&text, file->data, file->size);
    buf_printf(&text,
               "\nPRAGMA application_id=%d;\nPRAGMA user_version=%lld;\n"
               "RELEASE migration;",
               APPLICATION, (long long)number_of(file));
    must(!text.failed);
    if (sqlite3_exec(handle, text.data, NULL, NULL, NULL) == SQLITE_OK)
        return true;
    return false;
}

static bool refuse(char *error, int *exit_code, const char *why)
{
    *exit_code = EX_DATAERR;
    (void)text_copy(error, STORE_ERROR, why);
    return false;
}

static bool ours(sqlite3 *handle, int64_t version)
{
    int64_t application = 0, tables = 0;
    return ask(handle, "PRAGMA application_id", &application)
           && ask(handle, "SELECT count(*) FROM sqlite_schema", &tables)
           && (application == APPLICATION || (version == 0 && tables == 0));
}

bool db_migrate(sqlite3 *handle, int *exit_code, char *error)
{
    int64_t version = 0, newest = 0;
    for (size_t i = 0; i < embedded_migrations_count; i++)
        newest = number_of(&embedded_migrations[i]);
    if (!ask(handle, "PRAGMA user_version", &version) || !ours(handle, version))
        return refuse(error, exit_code, "sandgate.db is not a database of Sandgate");
    if (version > newest)
        return refuse(error, exit_code,
                      "sandgate.db was written by a newer Sandgate; install that one");
    for (size_t i = 0; i < embedded_migrations_count; i++) {
        const struct embedded_file *file = &embedded_migrations[i];
        if (number_of(file) <= version)
            continue;
        if (!apply(handle, file)) {
            (void)text_format(error, STORE_ERROR, "%s: %s", file->name,
                              sqlite3_errmsg(handle));
            (void)sqlite3_exec(handle, "ROLLBACK", NULL, NULL, NULL);
            return false;
        }
        log_info("store", "schema=%lld %s", (long long)number_of(file), file->name);
    }
    return true;
}

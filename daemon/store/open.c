/* Opening a connection: what is asked of SQLite is read back, or nothing starts. */
#include "base/files.h"
#include "base/log.h"
#include "base/text.h"
#include "store/db.h"
#include "store/store.h"

#include <stdlib.h>
#include <sysexits.h>

enum { BUSY_MS = 2000, SAFE_VERSION = 3044006 };

struct pragma {
    const char *set, *ask, *want;
};

static const struct pragma writer_pragmas[] = {
    {"PRAGMA page_size=8192",       "PRAGMA page_size",          "8192"  },
    {"PRAGMA journal_mode=WAL",     "PRAGMA journal_mode",       "wal"   },
    {"PRAGMA synchronous=FULL",     "PRAGMA synchronous",        "2"     },
    {"PRAGMA wal_autocheckpoint=0", "PRAGMA wal_autocheckpoint", "0"     },
    {"PRAGMA mmap_size=0",          "PRAGMA mmap_size",          "0"     },
    {"PRAGMA cell_size_check=ON",   "PRAGMA cell_size_check",    "1"     },
    {"PRAGMA trusted_schema=OFF",   "PRAGMA trusted_schema",     "0"     },
    {"PRAGMA foreign_keys=ON",      "PRAGMA foreign_keys",       "1"     },
    {"PRAGMA secure_delete=ON",     "PRAGMA secure_delete",      "1"     },
    {"PRAGMA temp_store=MEMORY",    "PRAGMA temp_store",         "2"     },
    {"PRAGMA cache_size=-32000",    "PRAGMA cache_size",         "-32000"},
};

static const struct pragma reader_pragmas[] = {
    {"PRAGMA query_only=ON",        "PRAGMA query_only",         "1"    },
    {"PRAGMA wal_autocheckpoint=0", "PRAGMA wal_autocheckpoint", "0"    },
    {"PRAGMA mmap_size=0",          "PRAGMA mmap_size",          "0"    },
    {"PRAGMA cell_size_check=ON",   "PRAGMA cell_size_check",    "1"    },
    {"PRAGMA trusted_schema=OFF",   "PRAGMA trusted_schema",     "0"    },
    {"PRAGMA temp_store=MEMORY",    "PRAGMA temp_store",         "2"    },
    {"PRAGMA cache_size=-8000",     "PRAGMA cache_size",         "-8000"},
};

static bool fail(char *error, sqlite3 *handle, const char *what)
{
    (void)text_format(error, STORE_ERROR, "%s: %s", what,
                      handle ? sqlite3_errmsg(handle) : "out of memory");
    return false;
}

/* Is the answer's first value `want`? */
static bool answers(sqlite3 *handle, const char *ask, const char *want)
{
    sqlite3_stmt *statement = NULL;
    bool same = sqlite3_prepare_v2(handle, ask, -1, &statement, NULL) == SQLITE_OK
                && sqlite3_step(statement) == SQLITE_ROW
                && text_same((const char *)sqlite3_column_text(statement, 0), want);
    (void)sqlite3_finalize(statement);
    return same;
}

static bool set_pragmas(sqlite3 *handle, const struct pragma *pragmas, size_t count,
                        char *error)
{
    for (size_t i = 0; i < count; i++) {
        const struct pragma *pragma = &pragmas[i];
        if (sqlite3_exec(handle, pragma->set, NULL, NULL, NULL) != SQLITE_OK)
            return fail(error, handle, pragma->set);
        if (!answers(handle, pragma->ask, pragma->want)) {
            (void)text_format(error, STORE_ERROR, "%s: SQLite does not hold to it",
                              pragma->set);
            return false;
        }
    }
    return true;
}

static bool defend(sqlite3 *handle)
{
    int on = 0;
    return sqlite3_db_config(handle, SQLITE_DBCONFIG_DEFENSIVE, 1, &on) == SQLITE_OK
           && on == 1 && sqlite3_extended_result_codes(handle, 1) == SQLITE_OK
           && sqlite3_busy_timeout(handle, BUSY_MS) == SQLITE_OK;
}

static bool prepare(struct db *db, char *error)
{
    for (size_t i = 0; i < SQL_COUNT; i++)
        if (sqlite3_prepare_v3(db->handle, db_statements[i].text, -1,
                               SQLITE_PREPARE_PERSISTENT, &db->statements[i], NULL)
            != SQLITE_OK)
            return fail(error, db->handle, db_statements[i].text);
    return true;
}

static bool open_handle(struct db *db, const char *path, int flags, char *error)
{
    flags |= SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
    if (sqlite3_open_v2(path, &db->handle, flags, NULL) == SQLITE_OK
        && defend(db->handle))
        return true;
    return fail(error, db->handle, path);
}

static int count_pages(void *context, sqlite3 *handle, const char *name, int pages)
{
    (void)handle;
    (void)name;
    ((struct db *)context)->wal_pages = pages;
    return SQLITE_OK;
}

bool db_open_writer(struct db *db, const char *path, int *exit_code, char *error)
{
    *exit_code = EX_IOERR;
    if (sqlite3_libversion_number() < SAFE_VERSION)
        log_warn("store",
                 "sqlite=%s before 3.44.6 may lose commits when two connections "
                 "checkpoint; let no other program open %s",
                 sqlite3_libversion(), path);
    if (!open_handle(db, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, error)
        || !set_pragmas(db->handle, writer_pragmas, COUNT(writer_pragmas), error))
        return false;
    if (!db_migrate(db->handle, exit_code, error))
        return false;
    (void)sqlite3_wal_hook(db->handle, count_pages, db);
    return prepare(db, error);
}

bool db_open_reader(struct db *db, const char *path, char *error)
{
    int quiet = 0;
    if (!open_handle(db, path, SQLITE_OPEN_READONLY, error))
        return false;
    if (sqlite3_db_config(db->handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, &quiet)
            != SQLITE_OK
        || !quiet)
        return fail(error, db->handle, path);
    return set_pragmas(db->handle, reader_pragmas, COUNT(reader_pragmas), error)
           && prepare(db, error);
}

void db_close(struct db *db)
{
    for (int i = 0; i < SQL_COUNT; i++)
        (void)sqlite3_finalize(db->statements[i]);
    must(sqlite3_close(db->handle)
         == SQLITE_OK); /* busy: somebody forgot a statement */
    *db = (struct db){0};
}

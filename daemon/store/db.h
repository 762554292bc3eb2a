/* db: one SQLite connection and its prepared statements (statements.def).
 *
 * Private to store/.  A connection belongs to one thread.  Statements have names, are
 * prepared once, and are bound and read by C type:
 *
 *     err = db_run(db, SQL_KEY_REVOKE, IN(P(id), P(now_ms)), &changed);
 *     err = db_one(db, SQL_HEAD, NOTHING, OUT(O(&size), EXACT(root, HASH)));
 *     db_start(db, SQL_AGENTS, NOTHING);
 *     while (db_next(db, SQL_AGENTS, OUT(ROOM(row.name), O(&row.disabled))))
 *         ...
 *     err = db_end(db, SQL_AGENTS);
 *
 * ERR_CONFLICT: a row with that key is there.  ERR_NOT_FOUND: no row, or one that it
 * refers to is missing.  ERR_TOO_LARGE: the arena is full.  All else is ERR_STORE, and
 * `failure` tells whoever runs the transaction how bad it is. */
#ifndef STORE_DB_H
#define STORE_DB_H

#include "core/err.h"
#include "store/db_values.h"

#include <sqlite3.h>

enum sql {
#define SQL(name, plan, text) SQL_##name,
#include "store/statements.def"
#undef SQL
    SQL_COUNT
};

struct statement {
    const char *text;
    bool scans; /* walks through a whole table, on purpose */
};

extern const struct statement db_statements[SQL_COUNT];

enum failure {
    FAILURE_NONE,
    FAILURE_PASSING, /* full disk, no memory, locked by others: undo, try later */
    FAILURE_FATAL,   /* nobody knows what is on disk */
};

struct batch;

struct db {
    sqlite3 *handle;
    sqlite3_stmt *statements[SQL_COUNT];
    struct batch *batch;  /* the writer's; NULL on readers */
    enum failure failure; /* the worst since it was cleared */
    enum err row_err;     /* of the rows being read */
    bool in_job, saved;   /* a job's first change sets its savepoint: reads cost none */
    bool registry_changed; /* the keyring is built anew before COMMIT */
    int wal_pages;         /* after the last commit */
};

enum err db_run(struct db *db, enum sql sql, struct params in, int *changed);
enum err db_one(struct db *db, enum sql sql, struct params in, struct columns out);

void db_start(struct db *db, enum sql sql, struct params in);
bool db_next(struct db *db, enum sql sql, struct columns out);
enum err db_end(struct db *db, enum sql sql);

/* BEGIN, COMMIT and their like: sets no savepoint first. */
enum err db_control(struct db *db, enum sql sql);

/* Takes note of what SQLite said. */
enum err db_judge(struct db *db, int code);

/* ---- opening: `error` has STORE_ERROR bytes and says why not ---- */

bool db_open_writer(struct db *db, const char *path, int *exit_code, char *error);
bool db_open_reader(struct db *db, const char *path, char *error);
bool db_migrate(sqlite3 *handle, int *exit_code, char *error);
void db_close(struct db *db);

#endif

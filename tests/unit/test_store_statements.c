#include "test_store_rig.h"

#include "base/embedded.h"

static struct db db;

static void open_db(void)
{
    int code;
    rig_init(NULL);
    OK(folder_make(rig.folder, 0700, rig.error));
    OK(db_open_writer(&db, rig.db, &code, rig.error));
}

static void close_db(void)
{
    db_close(&db);
    rig_remove();
}

/* ---- plans ---- */

static bool walks(enum sql sql)
{
    own_buf text = BUF(8192);
    sqlite3_stmt *statement = NULL;
    bool scans = false;
    buf_printf(&text, "EXPLAIN QUERY PLAN %s", db_statements[sql].text);
    must(sqlite3_prepare_v2(db.handle, text.data, -1, &statement, NULL) == SQLITE_OK);
    while (sqlite3_step(statement) == SQLITE_ROW) {
        const char *step = (const char *)sqlite3_column_text(statement, 3);
        if (text_starts(step, "SCAN") && !text_same(step, "SCAN CONSTANT ROW")
            && !strstr(step, "SCAN (subquery"))
            scans = true;
    }
    (void)sqlite3_finalize(statement);
    return scans;
}

TEST(statements_walk_through_tables_only_where_they_say_so)
{
    open_db();
    for (int i = SQL_UNDO + 1; i < SQL_COUNT; i++) {
        CASE("%s", db_statements[i].text);
        EQ_INT(walks((enum sql)i), db_statements[i].scans);
    }
    close_db();
}

/* ---- values ---- */

TEST(values_go_through_sqlite_unchanged)
{
    int64_t version = 0;
    char name[NAME];
    struct bytes seen;
    const unsigned char bytes[32] = {1, 0, 2};
    unsigned char back[32], seal[64] = {0, 1};
    open_db();
    EQ_INT(db_run(&db, SQL_HEAD_SET,
                  IN(P(UINT64_C(5)), BLOB(bytes, 32), P(4), BLOB(seal, 64), P(1)),
                  NULL),
           ERR_OK);
    EQ_INT(db_one(&db, SQL_HEAD_SIZE, NOTHING, OUT(O(&version))), ERR_OK);
    EQ_INT(version, 5);
    uint64_t size, boot;
    EQ_INT(db_one(&db, SQL_HEAD, NOTHING,
                  OUT(O(&size), EXACT(back, 32), O(&boot), EXACT(seal, 64))),
           ERR_OK);
    EQ_MEM(back, bytes, 32);
    EQ_INT(boot, 4);
    EQ_INT(
        db_run(&db, SQL_PERSON_PUT, IN(P("ines"), P("approver"), P(-1), P(true)), NULL),
        ERR_OK);
    db_start(&db, SQL_PEOPLE, NOTHING);
    bool disabled = false;
    int64_t uid = 0;
    OK(db_next(&db, SQL_PEOPLE, OUT(ROOM(name), LENT(&seen), O(&uid), O(&disabled))));
    EQ_TEXT(name, "ines");
    EQ_INT(seen.size, 8);
    EQ_INT(uid, -1);
    OK(disabled);
    EQ_INT(db_end(&db, SQL_PEOPLE), ERR_OK);
    close_db();
}

TEST(rows_that_do_not_fit_are_errors_not_cuts)
{
    char small[3];
    unsigned char wrong[31];
    struct bytes any;
    int64_t uid;
    bool disabled;
    uint64_t size, boot;
    open_db();
    EQ_INT(
        db_run(&db, SQL_PERSON_PUT, IN(P("ines"), P("viewer"), P(5), P(false)), NULL),
        ERR_OK);
    EQ_INT(db_one(&db, SQL_PERSON, IN(P("ines")),
                  OUT(ROOM(small), LENT(&any), O(&uid), O(&disabled))),
           ERR_INTERNAL);
    const unsigned char bytes[64] = {0};
    EQ_INT(db_run(&db, SQL_HEAD_SET,
                  IN(P(5), BLOB(bytes, 32), P(0), BLOB(bytes, 64), P(1)), NULL),
           ERR_OK);
    EQ_INT(db_one(&db, SQL_HEAD, NOTHING,
                  OUT(O(&size), EXACT(wrong, 31), O(&boot), LENT(&any))),
           ERR_INTERNAL);
    close_db();
}

TEST(constraints_are_told_apart)
{
    open_db();
    const struct params agent = IN(P("a1"), P(""), P(""), P(1));
    EQ_INT(db_run(&db, SQL_AGENT_ADD, agent, NULL), ERR_OK);
    EQ_INT(db_run(&db, SQL_AGENT_ADD, agent, NULL), ERR_CONFLICT);
    const unsigned char hash[32] = {0};
    EQ_INT(db_run(&db, SQL_KEY_ADD,
                  IN(P("12345678"), BLOB(hash, 32), P("a1"), P("nowhere"), P(""), P(""),
                     P(1), P(0)),
                  NULL),
           ERR_NOT_FOUND);
    EQ_INT(db.failure, FAILURE_NONE);
    close_db();
}

/* ---- schema ---- */

TEST(records_and_tiles_cannot_be_changed_by_statements)
{
    open_db();
    EQ_INT(db_run(&db, SQL_ENTRY_ADD, IN(P(0), BLOB("{}", 2)), NULL), ERR_OK);
    NOT(sqlite3_exec(db.handle, "UPDATE entry SET leaf = x'7b7d'", 0, 0, 0)
        == SQLITE_OK);
    NOT(sqlite3_exec(db.handle, "DELETE FROM entry", 0, 0, 0) == SQLITE_OK);
    NOT(sqlite3_exec(db.handle,
                     "PRAGMA writable_schema=ON;"
                     "DELETE FROM sqlite_schema",
                     0, 0, 0)
        == SQLITE_OK);
    close_db();
}

TEST(a_database_is_made_once_and_opened_again)
{
    int code;
    open_db();
    EQ_INT(embedded_migrations_count >= 1, 1);
    db_close(&db);
    EQ_INT(rig_ask("PRAGMA user_version"), (int64_t)embedded_migrations_count);
    OK(db_open_writer(&db, rig.db, &code, rig.error));
    close_db();
}

TEST(a_newer_schema_and_a_foreign_file_are_refused_untouched)
{
    static const struct {
        const char *sql, *says;
    } cases[] = {
        {"PRAGMA user_version=99",                         "newer"                     },
        {"PRAGMA application_id=1",                        "not a database of Sandgate"},
        {"PRAGMA application_id=0; PRAGMA user_version=0",
         "not a database of Sandgate"                                                  },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        int code = 0;
        CASE("%s", cases[i].sql);
        open_db();
        db_close(&db);
        rig_sql(cases[i].sql);
        int64_t before = rig_ask("PRAGMA user_version");
        NOT(db_open_writer(&db, rig.db, &code, rig.error));
        HAS_TEXT(rig.error, cases[i].says);
        EQ_INT(code, 65);
        db_close(&db);
        EQ_INT(rig_ask("PRAGMA user_version"), before);
        rig_remove();
    }
}

TEST(a_reader_cannot_write)
{
    struct db reader = {0};
    open_db();
    OK(db_open_reader(&reader, rig.db, rig.error));
    NOT(db_run(&reader, SQL_ENTRY_ADD, IN(P(0), BLOB("{}", 2)), NULL) == ERR_OK);
    db_close(&reader);
    close_db();
}

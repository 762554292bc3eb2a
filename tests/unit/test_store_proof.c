/* What a start refuses, and with which exit code. */
#include "test_store_rig.h"

static enum err append_600(struct db *db, void *context)
{
    enum err err = ERR_OK;
    (void)context;
    for (int i = 0; i < 600 && !err; i++)
        err = rig_append(db, NULL);
    return err;
}

/* A log of 603 records and a stop, of which only the first two are under a checkpoint:
 * what a crash leaves. */
static void crashed_store(void)
{
    char copy[2 * RIG_PATH];
    rig_open();
    EQ_INT(rig_write(append_600, NULL), ERR_OK);
    (void)text_format(copy, sizeof(copy), "cp -r %s %s/copy && cp %s %s/state.copy",
                      rig.folder, rig.top, rig.state, rig.top);
    must(system(copy) == 0); // NOLINT
    rig_stop();
    (void)text_format(copy, sizeof(copy),
                      "rm -rf %s && mv %s/copy %s && mv %s/state.copy %s", rig.folder,
                      rig.top, rig.folder, rig.top, rig.state);
    must(system(copy) == 0); // NOLINT
}

#define UNLOCKED                                            \
    "DROP TRIGGER entry_stays; DROP TRIGGER entry_remains;" \
    "DROP TRIGGER tile_stays; DROP TRIGGER tile_remains;"

TEST(a_start_refuses_a_log_that_was_changed_behind_its_back)
{
    static const struct {
        const char *what, *sql;
        int exit_code;
        const char *says;
    } cases[] = {
        {"nothing",                             "SELECT 1",                                              0,  ""        },
        {"a record in a full tile",
         UNLOCKED "UPDATE entry SET leaf = CAST(replace(CAST(leaf AS TEXT),'a1','a2')"
                  " AS BLOB) WHERE seq = 300",                                                           65, "TAMPERED"},
        {"a record in the last tile",
         UNLOCKED "UPDATE entry SET leaf = CAST(replace(CAST(leaf AS TEXT),'a1','a2')"
                  " AS BLOB) WHERE seq = 590",                                                           65, "TAMPERED"},
        {"a record and its tile",
         UNLOCKED "UPDATE entry SET leaf = x'7b7d' WHERE seq = 300;"
                  "UPDATE tile SET data = zeroblob(8192) WHERE level = 0 AND idx = 1",                   65, "TAMPERED"},
        {"a record in the middle is gone",      UNLOCKED "DELETE FROM entry WHERE seq = 400",
         65,                                                                                                 "TAMPERED"},
        {"the last record is gone",             UNLOCKED "DELETE FROM entry WHERE seq = 601",            65,
         "TAMPERED"                                                                                                    },
        {"the last record and the head's size",
         UNLOCKED "DELETE FROM entry WHERE seq = 601; UPDATE head SET size = 601",                       65,
         "TAMPERED"                                                                                                    },
        {"one record too many",                 "INSERT INTO entry VALUES (602, x'7b7d')",               65,
         "TAMPERED"                                                                                                    },
        {"two records swapped",
         UNLOCKED
         "UPDATE entry SET seq = -1 WHERE seq = 20 AND 0;"
         "CREATE TEMP TABLE t AS SELECT seq, leaf FROM entry WHERE seq IN (20, 21);"
         "UPDATE entry SET leaf = (SELECT leaf FROM t WHERE t.seq = 41 - entry.seq)"
         " WHERE seq IN (20, 21)",                                                                       65, "TAMPERED"},
        {"a tile is gone",                      UNLOCKED "DELETE FROM tile WHERE level = 0 AND idx = 0", 65,
         "TAMPERED"                                                                                                    },
        {"the seal",                            "UPDATE head SET seal = zeroblob(64)",                   65, "TAMPERED"},
        {"the root",                            "UPDATE head SET root = zeroblob(32)",                   65, "TAMPERED"},
        {"the seal's record",                   "UPDATE head SET boot_seq = 0",                          65, "TAMPERED"},
        {"the checkpoint",                      "UPDATE checkpoint SET note = replace(note, '2', '3')",  65,
         "TAMPERED"                                                                                                    },
        {"everything but the schema",
         UNLOCKED "DELETE FROM entry; DELETE FROM tile; DELETE FROM head;"
                  "DELETE FROM checkpoint",                                                              2,  "ROLLBACK"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        CASE("%s", cases[i].what);
        crashed_store();
        rig_sql(cases[i].sql);
        bool started = rig_start();
        EQ_INT(started, cases[i].exit_code == 0);
        if (!started) {
            EQ_INT(rig.exit_code, cases[i].exit_code);
            HAS_TEXT(rig.error, cases[i].says);
            rig_remove();
        } else {
            EQ_INT(rig_verify(0, UINT64_MAX, NULL), AUDIT_VERIFIED);
            rig_close();
        }
    }
}

static void shell(const char *format)
{
    char command[3 * RIG_PATH];
    (void)text_format(command, sizeof(command), format, rig.top);
    must(system(command) == 0); // NOLINT
}

TEST(an_old_copy_of_the_database_is_a_rollback)
{
    rig_open();
    rig_stop();
    shell("cd %s && cp -r data old");
    OK(rig_start());
    EQ_INT(rig_write(rig_append, NULL), ERR_OK);
    rig_stop();
    shell("cd %s && rm -rf data && mv old data");
    NOT(rig_start());
    EQ_INT(rig.exit_code, 2);
    HAS_TEXT(rig.error, "ROLLBACK");
    rig_remove();
}

TEST(another_history_of_the_same_size_is_a_rollback)
{
    rig_open();
    EQ_INT(rig_write(rig_append, NULL), ERR_OK);
    rig_stop();
    shell("cd %s && mv state kept && rm -rf data");
    OK(rig_start());
    EQ_INT(rig_write(rig_append, NULL), ERR_OK);
    EQ_INT(rig_write(rig_append, NULL), ERR_OK);
    rig_stop();
    shell("cd %s && mv kept state");
    NOT(rig_start());
    EQ_INT(rig.exit_code, 2);
    HAS_TEXT(rig.error, "ROLLBACK");
    rig_remove();
}

TEST(an_empty_folder_with_an_old_state_file_is_a_rollback)
{
    rig_open();
    rig_stop();
    shell("cd %s && rm -rf data");
    NOT(rig_start());
    EQ_INT(rig.exit_code, 2);
    rig_remove();
}

TEST(a_lost_state_file_is_written_anew)
{
    rig_open();
    rig_stop();
    shell("cd %s && rm state");
    OK(rig_start());
    EQ_INT(access(rig.state, F_OK), 0);
    rig_close();
}

TEST(a_state_file_that_cannot_be_read_is_no_reason_to_forget_it)
{
    static const char *const contents[] = {
        "", "{}", "garbage",
        "{\"origin\":\"sandgate.test/log\",\"size\":2,\"root\":\"00\"}",
        "{\"origin\":\"sandgate.other/log\",\"size\":2,\"root\":"
        "\"0000000000000000000000000000000000000000000000000000000000000000\"}"};
    rig_open();
    rig_stop();
    for (size_t i = 0; i < COUNT(contents); i++) {
        CASE("%s", contents[i]);
        OK(file_replace(rig.state, contents[i], strlen(contents[i]), 0600, rig.error));
        NOT(rig_start());
        EQ_INT(rig.exit_code, 65);
    }
    rig_remove();
}

TEST(another_log_key_does_not_go_on_with_the_log)
{
    rig_open();
    rig_stop();
    memset(rig.seed, 1, sizeof(rig.seed));
    NOT(rig_start());
    EQ_INT(rig.exit_code, 65);
    HAS_TEXT(rig.error, "checkpoint");
    rig_remove();
}

TEST(a_folder_that_cannot_be_made_and_a_state_file_that_cannot_be_written_are_told)
{
    rig_init(NULL);
    (void)text_copy(rig.folder, RIG_PATH, "/proc/nowhere/data");
    NOT(rig_start());
    EQ_INT(rig.exit_code, 74);
    rig_remove();
    rig_init(NULL);
    (void)text_copy(rig.state, RIG_PATH, "/proc/nowhere/state");
    NOT(rig_start());
    EQ_INT(rig.exit_code, 74);
    HAS_TEXT(rig.error, "state file");
    rig_remove();
}

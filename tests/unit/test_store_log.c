#include "test_store_rig.h"

#include "core/doc.h"

/* ---- what is written ---- */

struct seen {
    uint64_t indexes[64];
    char texts[64][512];
    size_t count, most;
};

static bool see(void *context, uint64_t index, const char *leaf, size_t size)
{
    struct seen *seen = context;
    must(seen->count < COUNT(seen->indexes));
    (void)text_format(seen->texts[seen->count], sizeof(seen->texts[0]), "%.*s",
                      (int)size, leaf);
    seen->indexes[seen->count++] = index;
    return seen->count != seen->most;
}

static enum err see_all(struct db *db, void *context)
{
    return log_range(db, 0, log_size(db), see, context);
}

TEST(a_first_start_writes_genesis_and_start_and_a_second_one_only_start)
{
    struct seen seen = {0};
    rig_open();
    char first_boot[17];
    (void)text_copy(first_boot, sizeof(first_boot), store_boot());
    EQ_INT(rig_read(see_all, &seen), ERR_OK);
    EQ_INT(seen.count, 2);
    HAS_TEXT(seen.texts[0], "\"ev\":\"genesis\"");
    HAS_TEXT(seen.texts[0], "\"origin\":\"sandgate.test/log\"");
    HAS_TEXT(seen.texts[0], log_vkey());
    HAS_TEXT(seen.texts[1], "\"ev\":\"start\"");
    HAS_TEXT(seen.texts[1], "\"seal_key\":\"");
    HAS_TEXT(seen.texts[1], store_boot());
    rig_stop();
    OK(rig_start());
    NOT(text_same(first_boot, store_boot()));
    seen.count = 0;
    EQ_INT(rig_read(see_all, &seen), ERR_OK);
    EQ_INT(seen.count, 4);
    HAS_TEXT(seen.texts[2], "\"ev\":\"stop\"");
    HAS_TEXT(seen.texts[3], "\"ev\":\"start\"");
    HAS_TEXT(seen.texts[3], "\"size\":3");
    rig_close();
}

TEST(a_receipt_names_index_leaf_and_checkpoint)
{
    struct receipt receipt = {0};
    char text[80];
    unsigned char hash[HASH];
    struct seen seen = {0};
    rig_open();
    EQ_INT(rig_write(rig_append, &receipt), ERR_OK);
    EQ_INT(receipt.index, 2);
    EQ_INT(receipt.checkpoint, 2);
    EQ_INT(strlen(receipt.id), 32);
    EQ_INT(rig_read(see_all, &seen), ERR_OK);
    tlog_leaf(seen.texts[2], strlen(seen.texts[2]), hash);
    EQ_MEM(receipt.leaf, hash, HASH);
    HAS_TEXT(seen.texts[2], receipt.id);
    receipt = (struct receipt){
        .index = 7, .leaf = {0xab, 0xcd},
             .checkpoint = 5
    };
    receipt_text(&receipt, text);
    EQ_TEXT(text, "7:abcd000000000000:5");
    rig_close();
}

static enum err append_ready(struct db *db, void *context)
{
    static const char leaf[] = "{\"v\":1,\"t\":\"call\"}";
    unsigned char hash[HASH];
    tlog_leaf(leaf, sizeof(leaf) - 1, hash);
    return log_append_leaf(db, leaf, sizeof(leaf) - 1, hash, context);
}

TEST(a_leaf_hashed_elsewhere_is_stored_as_it_is)
{
    struct receipt receipt = {0};
    struct seen seen = {0};
    rig_open();
    EQ_INT(rig_write(append_ready, &receipt), ERR_OK);
    EQ_INT(rig_read(see_all, &seen), ERR_OK);
    EQ_TEXT(seen.texts[receipt.index], "{\"v\":1,\"t\":\"call\"}");
    rig_close();
}

/* ---- what is found ---- */

static enum err write_mixed(struct db *db, void *context)
{
    (void)context;
    static const struct {
        enum record_type type;
        const char *agent, *operation, *approval, *verdict, *target, *person, *reason;
    } rows[] = {
        {RECORD_CALL, "a1",   "sandbox.list", NULL,    "allow", NULL,  NULL,   "x" },
        {RECORD_CALL, "a1",   "sandbox.kill", "apr_1", "hold",  "sb1", NULL,
         "say \"agent\":\"a2\""                                                    },
        {RECORD_VOTE, NULL,   "sandbox.kill", "apr_1", NULL,    "sb1", "ines", NULL},
        {RECORD_CALL, "a2",   "sandbox.kill", "apr_2", "deny",  "sb2", NULL,   "a1"},
        {RECORD_CALL, "a\"2", "sandbox.list", NULL,    "allow", NULL,  NULL,   NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct receipt receipt;
        struct record record = {
            .type = rows[i].type,
            .phase = PHASE_EVENT,
            .wall_us = 1000000 * (int64_t)(i + 1),
            .actor = {.agent = rows[i].agent,        .person = rows[i].person},
            .call = {.operation = rows[i].operation,
                      .target_kind = TARGET_SANDBOX,
                      .target_id = rows[i].target},
            .decision = {.verdict = rows[i].verdict},
            .approval = {.id = rows[i].approval                            },
            .reason = rows[i].reason
        };
        enum err err = log_append(db, &record, &receipt);
        if (err)
            return err;
    }
    return ERR_OK;
}

struct question {
    struct log_filter filter;
    struct seen seen;
};

static enum err search(struct db *db, void *context)
{
    struct question *question = context;
    return log_search(db, &question->filter, see, &question->seen);
}

TEST(a_search_compares_members_and_walks_backwards)
{
    static const struct {
        struct log_filter filter;
        const char *found; /* indexes behind the first two records */
    } cases[] = {
        {{.agent = "a1", .before = UINT64_MAX, .limit = 9},                       "3 2"    },
        {{.agent = "a2", .before = UINT64_MAX, .limit = 9},                       "5"      },
        {{.agent = "a\"2", .before = UINT64_MAX, .limit = 9},                     "6"      },
        {{.operation = "sandbox.kill", .before = UINT64_MAX, .limit = 9},         "5 4 3"  },
        {{.operation = "sandbox.kill", .before = UINT64_MAX, .limit = 2},         "5 4"    },
        {{.operation = "sandbox.kill", .before = 5, .limit = 9},                  "4 3"    },
        {{.approval = "apr_1", .before = UINT64_MAX, .limit = 9},                 "4 3"    },
        {{.verdict = "deny", .before = UINT64_MAX, .limit = 9},                   "5"      },
        {{.target = "sb1", .before = UINT64_MAX, .limit = 9},                     "4 3"    },
        {{.person = "ines", .before = UINT64_MAX, .limit = 9},                    "4"      },
        {{.kind = "vote", .before = UINT64_MAX, .limit = 9},                      "4"      },
        {{.kind = "genesis", .before = UINT64_MAX, .limit = 9},                   "0"      },
        {{.agent = "a1", .verdict = "hold", .before = UINT64_MAX, .limit = 9},    "3"      },
        {{.agent = "", .kind = "call", .before = UINT64_MAX, .limit = 9},         "6 5 3 2"},
        {{.until_us = 3000000, .kind = "call", .before = UINT64_MAX, .limit = 9},
         "3 2"                                                                             },
        {{.since_us = 4000000, .agent = "a1", .before = UINT64_MAX, .limit = 9},  ""       },
        {{.agent = "nobody", .before = UINT64_MAX, .limit = 9},                   ""       },
        {{.agent = "a1", .before = UINT64_MAX, .limit = 0},                       ""       },
    };
    rig_open();
    EQ_INT(rig_write(write_mixed, NULL), ERR_OK);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct question question = {.filter = cases[i].filter};
        own_buf found = BUF(256);
        CASE("row %zu", i);
        EQ_INT(rig_read(search, &question), ERR_OK);
        for (size_t n = 0; n < question.seen.count; n++)
            buf_printf(&found, "%s%d", n ? " " : "", (int)question.seen.indexes[n]);
        EQ_TEXT(found.data ? found.data : "", cases[i].found);
    }
    rig_close();
}

static enum err range_2_to_5(struct db *db, void *context)
{
    return log_range(db, 2, 5, see, context);
}

TEST(a_range_is_in_order_and_stops_when_told)
{
    struct seen seen = {0};
    rig_open();
    EQ_INT(rig_write(write_mixed, NULL), ERR_OK);
    EQ_INT(rig_read(range_2_to_5, &seen), ERR_OK);
    EQ_INT(seen.count, 3);
    EQ_INT(seen.indexes[0], 2);
    EQ_INT(seen.indexes[2], 4);
    seen = (struct seen){.most = 2};
    EQ_INT(rig_read(range_2_to_5, &seen), ERR_OK);
    EQ_INT(seen.count, 2);
    rig_close();
}

/* ---- checkpoints and exports ---- */

static enum err latest(struct db *db, void *context)
{
    return log_latest_checkpoint(db, context);
}

static enum err sign_now(struct db *db, void *context)
{
    log_checkpoint_now(db);
    return context ? log_latest_checkpoint(db, context) : ERR_OK;
}

static enum err sign_and_fail(struct db *db, void *context)
{
    (void)context;
    log_checkpoint_now(db);
    return ERR_FORBIDDEN;
}

static enum err append_many(struct db *db, void *context)
{
    for (int64_t left = *(const int64_t *)context; left > 0; left--) {
        enum err err = rig_append(db, NULL);
        if (err)
            return err;
    }
    return ERR_OK;
}

TEST(a_checkpoint_covers_what_was_durable_before_it)
{
    struct store_counts counts;
    own_buf note = BUF(4096);
    char want[64];
    rig_open();
    EQ_INT(rig_write(append_many, (int64_t[]){5}), ERR_OK);
    EQ_INT(rig_write(sign_and_fail, NULL), ERR_FORBIDDEN);
    store_counts(&counts);
    EQ_INT(counts.checkpoint_size, 2);
    EQ_INT(rig_write(sign_now, &note), ERR_OK);
    store_counts(&counts);
    EQ_INT(counts.checkpoint_size, 7);
    (void)text_format(want, sizeof(want), "sandgate.test/log\n%d\n", 7);
    OK(text_starts(note.data, want));
    buf_clear(&note);
    EQ_INT(rig_read(latest, &note), ERR_OK);
    OK(text_starts(note.data, want));
    rig_close();
}

TEST(checkpoints_are_signed_by_themselves_when_the_log_grew)
{
    struct store_counts counts = {0};
    rig_init(NULL);
    rig.checkpoint_ms = 20;
    OK(rig_start());
    EQ_INT(rig_write(rig_append, NULL), ERR_OK);
    for (int i = 0; i < 200 && counts.checkpoint_size < 3; i++) {
        (void)usleep(10000);
        store_counts(&counts);
    }
    EQ_INT(counts.checkpoint_size, 3);
    uint64_t batches = counts.batches;
    (void)usleep(100000); /* and not when it did not */
    store_counts(&counts);
    EQ_INT(counts.batches, batches);
    rig_close();
}

TEST(exports_of_any_range_verify)
{
    /* the sealed tail needs the start record with the seal's key, which is number 1 */
    static const struct {
        uint64_t first, end;
        int64_t records;
        enum audit_verdict verdict;
    } cases[] = {
        {0,    UINT64_MAX, 2202, AUDIT_VERIFIED    },
        {1,    UINT64_MAX, 2201, AUDIT_VERIFIED    },
        {0,    100000,     2002, AUDIT_VERIFIED    },
        {0,    1,          1,    AUDIT_VERIFIED    },
        {0,    256,        256,  AUDIT_VERIFIED    },
        {1,    257,        256,  AUDIT_VERIFIED    },
        {255,  512,        257,  AUDIT_VERIFIED    },
        {513,  1999,       1486, AUDIT_VERIFIED    },
        {2001, 2002,       1,    AUDIT_VERIFIED    },
        {1800, UINT64_MAX, 402,  AUDIT_UNVERIFIABLE},
        {2201, UINT64_MAX, 1,    AUDIT_UNVERIFIABLE},
    };
    rig_open();
    for (int64_t i = 0; i < 20; i++) {
        EQ_INT(rig_write(append_many, (int64_t[]){100}), ERR_OK);
        if (i % 7 == 0)
            EQ_INT(rig_write(sign_now, NULL), ERR_OK);
    }
    EQ_INT(rig_write(sign_now, NULL), ERR_OK);
    EQ_INT(rig_write(append_many, (int64_t[]){200}), ERR_OK);
    for (size_t i = 0; i < COUNT(cases); i++) {
        uint64_t records = 0;
        CASE("[%llu, %llu)", (unsigned long long)cases[i].first,
             (unsigned long long)cases[i].end);
        EQ_INT(rig_verify(cases[i].first, cases[i].end, &records), cases[i].verdict);
        EQ_INT(records, cases[i].records);
    }
    struct rig_range beyond = {5000, UINT64_MAX, {.text = BUF(1 << 20)}};
    EQ_INT(rig_read(rig_export, &beyond), ERR_NOT_FOUND);
    rig_close();
}

TEST(the_log_goes_on_where_it_ended_at_every_width_of_the_tree)
{
    static const int64_t steps[] = {1, 250, 3, 1, 255, 1, 512, 0, 65536, 7};
    rig_init(NULL);
    for (size_t i = 0; i < COUNT(steps); i++) {
        CASE("step %zu", i);
        OK(rig_start());
        int64_t left = steps[i];
        EQ_INT(rig_write(append_many, &left), ERR_OK);
        EQ_INT(rig_verify(0, UINT64_MAX, NULL), AUDIT_VERIFIED);
        rig_stop();
    }
    rig_remove();
}

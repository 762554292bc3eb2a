#include "test_store_held.h"

static const unsigned char digest[CANON_DIGEST] = {5};

static struct run run_of(const char *id, const char *approval)
{
    return (struct run){.id = id,
                        .approval = approval,
                        .agent = "a1",
                        .environment = "production",
                        .operation = "sandbox.kill",
                        .target_id = "sb1",
                        .digest = digest,
                        .intent_id = "0123456789abcdef0123456789abcdef",
                        .started_ms = t0};
}

static enum err begin(struct db *db, void *context)
{
    return runs_begin(db, context);
}

static enum err settle_ok(struct db *db, void *context)
{
    return runs_settle(db, context, RUN_OK, 204, t0 + 1);
}

struct found {
    struct buf text;
    size_t count;
};

static bool keep(void *context, uint64_t index, const char *leaf, size_t size)
{
    struct found *found = context;
    (void)index;
    found->count++;
    buf_clear(&found->text);
    return buf_add(&found->text, leaf, size);
}

static enum err all_outcomes(struct db *db, void *context)
{
    const struct log_filter filter = {
        .operation = "sandbox.kill", .before = UINT64_MAX, .limit = 100};
    return log_search(db, &filter, keep, context);
}

TEST(a_run_is_settled_once)
{
    struct run run = run_of("run_1", "");
    rig_open();
    EQ_INT(rig_write(begin, &run), ERR_OK);
    EQ_INT(rig_write(begin, &run), ERR_CONFLICT);
    EQ_INT(rig_write(settle_ok, (char[]){"run_1"}), ERR_OK);
    EQ_INT(rig_write(settle_ok, (char[]){"run_1"}), ERR_NOT_FOUND);
    EQ_INT(rig_write(settle_ok, (char[]){"run_2"}), ERR_NOT_FOUND);
    rig_stop();
    EQ_INT(rig_ask("SELECT count(*) FROM run WHERE id = 'run_1' AND outcome = 'ok'"
                   " AND status = 204"),
           1);
    rig_remove();
}

TEST(a_run_that_a_stop_cut_off_is_unknown_and_the_log_says_so_once)
{
    struct found found = {.text = BUF(65536)};
    struct run run = run_of("run_1", "");
    rig_open();
    EQ_INT(rig_write(begin, &run), ERR_OK);
    rig_stop();
    OK(rig_start());
    EQ_INT(rig_read(all_outcomes, &found), ERR_OK);
    EQ_INT(found.count, 1);
    HAS_TEXT(found.text.data, "\"ph\":\"outcome\"");
    HAS_TEXT(found.text.data, "\"ref\":\"0123456789abcdef0123456789abcdef\"");
    HAS_TEXT(found.text.data, "\"run\":\"run_1\"");
    HAS_TEXT(found.text.data, "\"outcome\":\"unknown\"");
    HAS_TEXT(found.text.data, "\"err\":\"recovered\"");
    EQ_INT(rig_write(settle_ok, (char[]){"run_1"}), ERR_NOT_FOUND);
    rig_stop();
    OK(rig_start());
    found.count = 0;
    EQ_INT(rig_read(all_outcomes, &found), ERR_OK);
    EQ_INT(found.count, 1);
    buf_free(&found.text);
    rig_close();
}

TEST(its_approval_becomes_unknown_with_it)
{
    struct arena *arena = arena_new(1 << 20);
    struct found found = {.text = BUF(65536)};
    struct run run = run_of("run_1", "apr_1");
    rig_open();
    struct approval held = held_approval("apr_1");
    create(&held);
    held = held_approval("apr_2");
    create(&held);
    EQ_INT(move("apr_1", 1, EVENT_QUORUM, t0), ERR_OK);
    EQ_INT(move("apr_2", 1, EVENT_QUORUM, t0), ERR_OK);
    EQ_INT(claim_it("apr_1", 2, t0), ERR_OK);
    EQ_INT(claim_it("apr_2", 2, t0), ERR_OK); /* executing without any run */
    EQ_INT(rig_write(begin, &run), ERR_OK);
    rig_stop();
    OK(rig_start());
    EQ_INT(look("apr_1", arena).state, APPROVAL_UNKNOWN);
    EQ_INT(look("apr_2", arena).state, APPROVAL_UNKNOWN);
    EQ_INT(rig_read(all_outcomes, &found), ERR_OK);
    EQ_INT(found.count, 2);
    HAS_TEXT(found.text.data, "\"appr\":{\"id\":\"apr_1\",\"state\":\"unknown\"");
    EQ_INT(claim_it("apr_1", 4, t0), ERR_APPROVAL_MOVED);
    arena_free(arena);
    buf_free(&found.text);
    rig_close();
}

TEST(outcomes_have_names)
{
    EQ_TEXT(run_outcome_name(RUN_OK), "ok");
    EQ_TEXT(run_outcome_name(RUN_FAILED), "failed");
    EQ_TEXT(run_outcome_name(RUN_UNKNOWN), "unknown");
    EQ_TEXT(run_outcome_name(RUN_NOT_SENT), "not_sent");
}

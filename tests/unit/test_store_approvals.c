#include "test_store_held.h"

/* ---- columns ---- */

TEST(an_approval_comes_back_as_it_was_held)
{
    struct arena *arena = arena_new(1 << 20);
    rig_open();
    struct approval held = held_approval("apr_1");
    held.idempotency_key = "idem";
    held.trace = "tr";
    held.waiter = "w.1";
    create(&held);
    struct approval found = look("apr_1", arena);
    const struct {
        const char *got, *want;
    } texts[] = {
        {found.id,              held.id             },
        {found.agent,           held.agent          },
        {found.key_id,          held.key_id         },
        {found.team,            held.team           },
        {found.environment,     held.environment    },
        {found.skill,           held.skill          },
        {found.owner,           held.owner          },
        {found.minted_by,       held.minted_by      },
        {found.operation,       held.operation      },
        {found.effect,          held.effect         },
        {found.target_kind,     held.target_kind    },
        {found.target_id,       held.target_id      },
        {found.summary,         held.summary        },
        {found.shown,           held.shown          },
        {found.reason,          held.reason         },
        {found.ticket,          held.ticket         },
        {found.idempotency_key, held.idempotency_key},
        {found.trace,           held.trace          },
        {found.verdict,         held.verdict        },
        {found.policy,          held.policy         },
        {found.waiter,          held.waiter         },
        {found.hold_id,         held.hold_id        },
        {found.decided_by,      ""                  },
        {found.decided_reason,  ""                  },
        {found.run,             ""                  },
    };
    for (size_t i = 0; i < COUNT(texts); i++)
        EQ_TEXT(texts[i].got, texts[i].want);
    const struct {
        int64_t got, want;
    } numbers[] = {
        {found.state,               APPROVAL_PENDING    },
        {found.version,             1                   },
        {found.run_when_absent,     1                   },
        {found.created_ms,          held.created_ms     },
        {found.expires_ms,          held.expires_ms     },
        {found.expires_mono_ms,     held.expires_mono_ms},
        {found.collect_s,           600                 },
        {found.decided_ms,          0                   },
        {found.finished_ms,         0                   },
        {found.collected,           0                   },
        {found.status,              0                   },
        {(int64_t)found.hold_index, 2                   },
    };
    for (size_t i = 0; i < COUNT(numbers); i++) {
        CASE("number %zu", i);
        EQ_INT(numbers[i].got, numbers[i].want);
    }
    EQ_MEM(found.digest, held.digest, CANON_DIGEST);
    rig_stop();
    OK(rig_start());
    EQ_INT(look("apr_1", arena).expires_mono_ms, 0); /* another boot's clock */
    arena_free(arena);
    rig_close();
}

/* ---- the way through ---- */

TEST(an_approved_call_is_claimed_once_and_its_answer_is_kept)
{
    struct arena *arena = arena_new(1 << 20);
    struct held_job job = {.id = "apr_1",
                           .version = 2,
                           .run = "run_7",
                           .now_ms = t0 + 2000,
                           .arena = arena};
    struct approval held;
    rig_open();
    held = held_approval("apr_1");
    create(&held);
    EQ_INT(claim_it("apr_1", 1, t0 + 500), ERR_APPROVAL_MOVED); /* nobody approved */
    EQ_INT(move("apr_1", 1, EVENT_QUORUM, t0 + 1000), ERR_OK);
    struct approval found = look("apr_1", arena);
    EQ_INT(found.state, APPROVAL_APPROVED);
    EQ_INT(found.version, 2);
    EQ_TEXT(found.decided_by, "ines");
    EQ_TEXT(found.decided_reason, "fine");
    EQ_INT(found.decided_ms, t0 + 1000);
    EQ_INT(rig_write(do_claim, &job), ERR_OK);
    EQ_TEXT(job.opened.method, "DELETE");
    EQ_TEXT(job.opened.path, "/sandboxes/sb1");
    EQ_TEXT(job.opened.query, "");
    EQ_TEXT(job.opened.headers, kill_call.headers);
    IS_NULL(job.opened.body);
    EQ_INT(claim_it("apr_1", 2, t0 + 2000), ERR_APPROVAL_MOVED);
    EQ_INT(claim_it("apr_1", 3, t0 + 2000), ERR_APPROVAL_MOVED);
    EQ_INT(settle_it("apr_1", EVENT_DONE, t0 + 3000), ERR_OK);
    EQ_INT(settle_it("apr_1", EVENT_LOSS, t0 + 3000), ERR_APPROVAL_MOVED);
    found = look("apr_1", arena);
    EQ_INT(found.state, APPROVAL_EXECUTED);
    EQ_TEXT(found.run, "run_7");
    EQ_INT(found.status, 204);
    EQ_INT(found.finished_ms, t0 + 3000);
    EQ_INT(rig_write(do_answer, &job), ERR_OK);
    EQ_INT(job.answer.status, 204);
    EQ_TEXT(job.answer.headers, "x-a: b\n");
    EQ_TEXT(job.answer.body, "gone");
    EQ_INT(job.answer.body_size, 4);
    IS_NULL(job.answer.error_code);
    NOT(look("apr_1", arena).collected);
    job.collect = true;
    EQ_INT(rig_write(do_answer, &job), ERR_OK);
    OK(look("apr_1", arena).collected);
    arena_free(arena);
    rig_close();
}

TEST(a_body_and_an_answer_of_our_own_pass_unchanged)
{
    static const char body[] = "{\"a\":\"\0\x7f\"}";
    static const struct answer answer = {
        .status = 503, .headers = "", .body = "", .error_code = "upstream_unreachable"};
    const struct sealed_call call = {.method = "POST",
                                     .path = "/sandboxes",
                                     .query = "x=1",
                                     .body = body,
                                     .body_size = sizeof(body) - 1,
                                     .headers = ""};
    unsigned char digest[CANON_DIGEST];
    struct arena *arena = arena_new(1 << 20);
    rig_open();
    struct approval held = held_approval("apr_1");
    held_digest("a1", "sandbox.create", &call, digest);
    held.operation = "sandbox.create";
    held.digest = digest;
    struct held_job job = {.id = "apr_1",
                           .approval = &held,
                           .call = &call,
                           .version = 2,
                           .run = "run_1",
                           .now_ms = t0 + 1000,
                           .event = EVENT_FAIL,
                           .given = &answer,
                           .arena = arena};
    EQ_INT(rig_write(do_create, &job), ERR_OK);
    EQ_INT(move("apr_1", 1, EVENT_QUORUM, t0 + 1000), ERR_OK);
    EQ_INT(rig_write(do_claim, &job), ERR_OK);
    EQ_INT(job.opened.body_size, sizeof(body) - 1);
    EQ_MEM(job.opened.body, body, sizeof(body) - 1);
    EQ_TEXT(job.opened.query, "x=1");
    EQ_INT(rig_write(do_settle, &job), ERR_OK);
    EQ_INT(rig_read(do_answer, &job), ERR_OK);
    EQ_INT(job.answer.status, 503);
    EQ_TEXT(job.answer.error_code, "upstream_unreachable");
    EQ_INT(look("apr_1", arena).state, APPROVAL_FAILED);
    arena_free(arena);
    rig_close();
}

TEST(an_unknown_outcome_has_no_answer_and_a_person_settles_it)
{
    struct arena *arena = arena_new(1 << 20);
    struct held_job job = {
        .id = "apr_1", .event = EVENT_LOSS, .now_ms = t0 + 3000, .arena = arena};
    rig_open();
    struct approval held = held_approval("apr_1");
    create(&held);
    EQ_INT(move("apr_1", 1, EVENT_QUORUM, t0 + 1000), ERR_OK);
    EQ_INT(claim_it("apr_1", 2, t0 + 2000), ERR_OK);
    EQ_INT(rig_write(do_settle, &job), ERR_OK);
    EQ_INT(look("apr_1", arena).state, APPROVAL_UNKNOWN);
    EQ_INT(rig_read(do_answer, &job), ERR_OK);
    EQ_TEXT(job.answer.error_code, "outcome_unknown");
    EQ_INT(job.answer.status, 504);
    EQ_INT(claim_it("apr_1", 4, t0 + 4000), ERR_APPROVAL_MOVED); /* never sent again */
    EQ_INT(move("apr_1", 4, EVENT_SETTLE_DONE, t0 + 9000), ERR_OK);
    EQ_INT(look("apr_1", arena).state, APPROVAL_EXECUTED);
    EQ_TEXT(look("apr_1", arena).decided_by, "ines");
    arena_free(arena);
    rig_close();
}

/* ---- every move that there is not ---- */

TEST(only_the_moves_of_the_table_happen_and_each_shreds_what_it_should)
{
    static const struct {
        enum approval_event event;
        bool from_pending, from_approved, shreds;
    } cases[] = {
        {EVENT_QUORUM,        true,  false, false},
        {EVENT_DECLINE,       true,  true,  true },
        {EVENT_EXPIRE,        true,  true,  true },
        {EVENT_CANCEL,        true,  true,  true },
        {EVENT_SUPERSEDE,     true,  true,  true },
        {EVENT_TIGHTEN,       false, true,  false},
        {EVENT_CLAIM,         false, true,  false},
        {EVENT_DONE,          false, false, false},
        {EVENT_FAIL,          false, false, false},
        {EVENT_LOSS,          false, false, false},
        {EVENT_SETTLE_DONE,   false, false, false},
        {EVENT_SETTLE_FAILED, false, false, false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        enum approval_event event = cases[i].event;
        CASE("event %d", (int)event);
        rig_open();
        struct approval held = held_approval("apr_1");
        create(&held);
        held = held_approval("apr_2");
        create(&held);
        EQ_INT(move("apr_2", 1, EVENT_QUORUM, t0), ERR_OK);
        EQ_INT(move("apr_1", 1, event, t0) == ERR_OK, cases[i].from_pending);
        EQ_INT(move("apr_2", 2, event, t0) == ERR_OK, cases[i].from_approved);
        rig_stop();
        int64_t shredded =
            rig_ask("SELECT count(*) FROM approval WHERE call_key IS NULL"
                    " AND call IS NULL");
        int64_t moved = cases[i].from_pending + cases[i].from_approved;
        EQ_INT(shredded, cases[i].shreds ? moved : 0);
        rig_remove();
    }
}

TEST(who_has_an_old_version_changes_nothing)
{
    struct arena *arena = arena_new(1 << 20);
    rig_open();
    struct approval held = held_approval("apr_1");
    create(&held);
    EQ_INT(move("apr_1", 0, EVENT_DECLINE, t0), ERR_APPROVAL_MOVED);
    EQ_INT(move("apr_1", 2, EVENT_DECLINE, t0), ERR_APPROVAL_MOVED);
    EQ_INT(move("apr_9", 1, EVENT_DECLINE, t0), ERR_NOT_FOUND);
    EQ_INT(move("apr_1", 1, EVENT_QUORUM, t0), ERR_OK);
    EQ_INT(move("apr_1", 1, EVENT_DECLINE, t0), ERR_APPROVAL_MOVED);
    EQ_INT(look("apr_1", arena).state, APPROVAL_APPROVED);
    EQ_INT(move("apr_1", 2, EVENT_TIGHTEN, t0), ERR_OK);
    EQ_TEXT(look("apr_1", arena).decided_by, "");
    EQ_INT(claim_it("apr_1", 2, t0), ERR_APPROVAL_MOVED);
    arena_free(arena);
    rig_close();
}

TEST(of_many_that_move_the_same_version_one_wins)
{
    enum { MANY = 16 };
    struct rig_job jobs[MANY] = {0};
    struct held_job moves[MANY];
    size_t won = 0;
    rig_open();
    struct approval held = held_approval("apr_1");
    create(&held);
    for (size_t i = 0; i < MANY; i++) {
        moves[i] = (struct held_job){.id = "apr_1",
                                     .version = 1,
                                     .event = i % 2 ? EVENT_QUORUM : EVENT_DECLINE,
                                     .now_ms = t0};
        rig_send(&jobs[i], store_write, do_move, &moves[i]);
    }
    for (size_t i = 0; i < MANY; i++) {
        enum err err = rig_await(&jobs[i]);
        won += err == ERR_OK;
        OK(err == ERR_OK || err == ERR_APPROVAL_MOVED);
    }
    EQ_INT(won, 1);
    rig_close();
}

/* ---- what was sealed ---- */

TEST(sealed_bytes_that_were_changed_do_not_run)
{
    static const char *const changes[] = {
        "UPDATE approval SET call = zeroblob(length(call)) WHERE id = 'apr_1'",
        "UPDATE approval SET call = (SELECT call FROM approval WHERE id = 'apr_2')"
        " WHERE id = 'apr_1'",
        "UPDATE approval SET (call_key, call) = (SELECT call_key, call FROM approval"
        " WHERE id = 'apr_2') WHERE id = 'apr_1'",
        "UPDATE approval SET digest = zeroblob(32) WHERE id = 'apr_1'",
        "UPDATE approval SET agent = 'a2' WHERE id = 'apr_1'",
        "UPDATE approval SET environment = 'staging' WHERE id = 'apr_1'",
        "UPDATE approval SET operation = 'sandbox.pause' WHERE id = 'apr_1'",
        "UPDATE approval SET operation = 'no.such' WHERE id = 'apr_1'",
        "UPDATE approval SET call = NULL WHERE id = 'apr_1'",
    };
    for (size_t i = 0; i < COUNT(changes); i++) {
        CASE("%s", changes[i]);
        rig_open();
        struct approval held = held_approval("apr_1");
        create(&held);
        held = held_approval("apr_2");
        create(&held);
        EQ_INT(move("apr_1", 1, EVENT_QUORUM, t0), ERR_OK);
        rig_stop();
        rig_sql(changes[i]);
        OK(rig_start());
        EQ_INT(claim_it("apr_1", 2, t0), ERR_INTERNAL);
        struct arena *arena = arena_new(1 << 20);
        EQ_INT(look("apr_1", arena).state, APPROVAL_APPROVED);
        arena_free(arena);
        rig_close();
    }
}

TEST(bodies_do_not_stand_in_the_database_in_clear)
{
    const struct sealed_call call = {
        .method = "POST",
        .path = "/sandboxes/sb1",
        .query = "",
        .body = "{\"envVars\":{\"TOKEN\":\"very-secret-value\"}}",
        .body_size = 41,
        .headers = ""};
    rig_open();
    struct approval held = held_approval("apr_1");
    struct held_job job = {.approval = &held, .call = &call};
    EQ_INT(rig_write(do_create, &job), ERR_OK);
    rig_stop();
    own_buf bytes = BUF(64 << 20);
    OK(file_read(rig.db, &bytes, rig.error));
    NOT_NULL(memmem(bytes.data, bytes.size, "fleet-hygiene", 13));
    IS_NULL(memmem(bytes.data, bytes.size, "very-secret-value", 17));
    rig_remove();
}

/* ---- votes ---- */

struct votes {
    struct arena *arena;
    struct vote list[APPROVAL_VOTES];
    size_t count;
};

static enum err get_votes(struct db *db, void *context)
{
    struct votes *votes = context;
    return approvals_votes(db, "apr_1", votes->arena, votes->list, &votes->count);
}

static enum err cast(const char *person, const char *choice, int64_t version,
                     int64_t at_ms)
{
    struct held_job job = {
        .id = "apr_1",
        .version = version,
        .vote = {.person = person, .choice = choice, .at_ms = at_ms}
    };
    return rig_write(do_vote, &job);
}

TEST(a_person_has_one_vote_while_votes_are_open)
{
    struct votes votes = {.arena = arena_new(1 << 20)};
    rig_open();
    struct approval held = held_approval("apr_1");
    create(&held);
    EQ_INT(cast("ines", "approve", 1, t0), ERR_OK);
    EQ_INT(cast("tomasz", "approve", 1, t0 + 1), ERR_OK);
    EQ_INT(cast("ines", "decline", 1, t0 + 2), ERR_OK);
    EQ_INT(cast("eve", "approve", 2, t0 + 3), ERR_APPROVAL_MOVED);
    EQ_INT(cast("eve", "approve", 1, t0 + 60000), ERR_APPROVAL_MOVED); /* too late */
    EQ_INT(rig_read(get_votes, &votes), ERR_OK);
    EQ_INT(votes.count, 2);
    EQ_TEXT(votes.list[0].person, "tomasz");
    EQ_TEXT(votes.list[1].person, "ines");
    EQ_TEXT(votes.list[1].choice, "decline");
    EQ_TEXT(votes.list[1].reason, "");
    EQ_INT(votes.list[1].at_ms, t0 + 2);
    EQ_INT(move("apr_1", 1, EVENT_QUORUM, t0 + 4), ERR_OK);
    EQ_INT(cast("ines", "approve", 2, t0 + 5), ERR_APPROVAL_MOVED);
    EQ_INT(move("apr_1", 2, EVENT_TIGHTEN, t0 + 6), ERR_OK);
    EQ_INT(cast("ines", "approve", 3, t0 + 7), ERR_OK);
    EQ_INT(rig_read(get_votes, &votes), ERR_OK);
    EQ_INT(votes.count, 2); /* earlier votes count for the new terms as well */
    arena_free(votes.arena);
    rig_close();
}

TEST(the_number_of_voters_is_bounded)
{
    rig_open();
    struct approval held = held_approval("apr_1");
    create(&held);
    for (int i = 0; i < APPROVAL_VOTES; i++) {
        char person[16];
        (void)text_format(person, sizeof(person), "person%d", i);
        EQ_INT(cast(person, "approve", 1, t0), ERR_OK);
    }
    EQ_INT(cast("one-more", "approve", 1, t0), ERR_OVERLOADED);
    EQ_INT(cast("person0", "decline", 1, t0), ERR_OK);
    rig_close();
}

/* ---- lists ---- */

struct list {
    struct approval_filter filter;
    struct arena *arena;
    struct buf ids;
};

static bool add_id(void *context, const struct approval *approval)
{
    struct list *list = context;
    return buf_printf(&list->ids, "%s ", approval->id);
}

static enum err do_list(struct db *db, void *context)
{
    struct list *list = context;
    return approvals_list(db, &list->filter, list->arena, add_id, list);
}

static enum err do_count(struct db *db, void *context)
{
    return approvals_count(db, context);
}

TEST(lists_are_newest_first_and_filtered)
{
    static const struct {
        struct approval_filter filter;
        const char *ids;
    } cases[] = {
        {{.limit = 9},                                      "apr_4 apr_3 apr_2 apr_1 "},
        {{.limit = 2},                                      "apr_4 apr_3 "            },
        {{.state = "open", .limit = 9},                     "apr_4 apr_3 apr_1 "      },
        {{.state = "declined", .limit = 9},                 "apr_2 "                  },
        {{.state = "pending", .limit = 9},                  "apr_4 apr_1 "            },
        {{.state = "pending", .agent = "a2", .limit = 9},   "apr_4 "                  },
        {{.agent = "a2", .limit = 9},                       "apr_4 "                  },
        {{.environment = "production", .limit = 9},         "apr_4 apr_3 apr_2 apr_1 "},
        {{.state = "open", .environment = "x", .limit = 9}, ""                        },
    };
    rig_open();
    static const char *const ids[] = {"apr_1", "apr_2", "apr_3", "apr_4"};
    for (size_t i = 0; i < COUNT(ids); i++) {
        struct approval held = held_approval(ids[i]);
        held.agent = i == 3 ? "a2" : "a1";
        create(&held);
    }
    EQ_INT(move("apr_2", 1, EVENT_DECLINE, t0), ERR_OK);
    EQ_INT(move("apr_3", 1, EVENT_QUORUM, t0), ERR_OK);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct list list = {
            .filter = cases[i].filter, .arena = arena_new(1 << 20), .ids = BUF(256)};
        CASE("row %zu", i);
        EQ_INT(rig_read(do_list, &list), ERR_OK);
        EQ_TEXT(list.ids.data ? list.ids.data : "", cases[i].ids);
        arena_free(list.arena);
        buf_free(&list.ids);
    }
    struct approval_counts counts = {0};
    EQ_INT(rig_read(do_count, &counts), ERR_OK);
    EQ_INT(counts.pending, 2);
    EQ_INT(counts.approved, 1);
    EQ_INT(counts.executing + counts.unknown, 0);
    rig_close();
}

TEST(an_arena_that_is_too_small_is_told)
{
    static char much[65536];
    struct list list = {
        .filter = {.limit = 9}, .arena = arena_new(32768), .ids = BUF(256)};
    memset(much, 'x', sizeof(much) - 1);
    rig_open();
    struct approval held = held_approval("apr_1");
    held.shown = much;
    create(&held);
    EQ_INT(rig_read(do_list, &list), ERR_TOO_LARGE);
    arena_free(list.arena);
    buf_free(&list.ids);
    rig_close();
}

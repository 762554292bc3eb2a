/* Deadlines by both clocks, and how a repeated call meets what is there. */
#include "test_store_held.h"

struct sweep {
    int64_t now_ms, next_ms;
    struct buf ids;
};

static enum err note_expired(void *context, struct db *db,
                             const struct approval *approval)
{
    struct sweep *sweep = context;
    struct receipt receipt;
    must(approval->state == APPROVAL_EXPIRED);
    buf_printf(&sweep->ids, "%s:%lld ", approval->id, (long long)approval->version);
    return rig_note(db, "expired", &receipt);
}

static enum err do_sweep(struct db *db, void *context)
{
    struct sweep *sweep = context;
    struct arena *arena = arena_new(1 << 20);
    enum err err = approvals_expire(db, sweep->now_ms, arena, note_expired, sweep,
                                    &sweep->next_ms);
    arena_free(arena);
    return err;
}

static void sweep_finds(int64_t now_ms, const char *ids, int64_t next_ms)
{
    struct sweep sweep = {.now_ms = now_ms, .ids = BUF(4096)};
    EQ_INT(rig_write(do_sweep, &sweep), ERR_OK);
    EQ_TEXT(sweep.ids.data ? sweep.ids.data : "", ids);
    EQ_INT(sweep.next_ms, next_ms);
    buf_free(&sweep.ids);
}

static void hold_until(const char *id, int64_t expires_ms, int64_t mono_in_ms)
{
    struct approval held = held_approval(id);
    held.expires_ms = expires_ms;
    held.expires_mono_ms = clock_mono_ms() + mono_in_ms;
    create(&held);
}

TEST(what_is_due_expires_and_the_next_deadline_is_told)
{
    rig_open();
    sweep_finds(t0, "", 0);
    hold_until("apr_1", t0 + 1000, 1000000000);
    hold_until("apr_2", t0 + 2000, 1000000000);
    sweep_finds(t0 + 999, "", t0 + 1000);
    sweep_finds(t0 + 1000, "apr_1:2 ", t0 + 2000);
    EQ_INT(move("apr_2", 1, EVENT_QUORUM, t0 + 1500), ERR_OK);
    /* approved in time: now its agent has 600 s from then on to come for it */
    sweep_finds(t0 + 2000, "", t0 + 1500 + 600000);
    sweep_finds(t0 + 1500 + 600000, "apr_2:3 ", 0);
    rig_close();
}

TEST(just_before_the_deadline_works_and_just_after_is_refused)
{
    static const struct {
        int64_t wall_in_ms, mono_in_ms; /* deadlines from now */
        int64_t after_ms;               /* wall time that passed */
        bool in_time;
    } cases[] = {
        {60000, 60000, 59999,                true },
        {60000, 60000, 60000,                false},
        {60000, 60000, 60001,                false},
        {60000, -1,    0,                    false}, /* monotonic time is up */
        {60000, -1,    -3600000,             false}, /* and a wall clock set back does not help */
        {60000, 60000, -86400000,            true },
        {60000, 60000, INT64_C(31536000000), false},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t now_ms = t0 + cases[i].after_ms;
        enum err want = cases[i].in_time ? ERR_OK : ERR_APPROVAL_MOVED;
        CASE("row %zu", i);
        rig_open();
        hold_until("apr_1", t0 + cases[i].wall_in_ms, cases[i].mono_in_ms);
        struct held_job vote = {
            .id = "apr_1",
            .version = 1,
            .vote = {.person = "ines", .choice = "approve", .at_ms = now_ms}
        };
        EQ_INT(rig_write(do_vote, &vote), want);
        EQ_INT(move("apr_1", 1, EVENT_QUORUM, now_ms), want);
        rig_close();
    }
}

TEST(an_approval_that_nobody_came_for_in_time_is_not_claimed)
{
    rig_open();
    hold_until("apr_1", t0 + 60000, 60000);
    hold_until("apr_2", t0 + 60000, 60000);
    EQ_INT(move("apr_1", 1, EVENT_QUORUM, t0), ERR_OK);
    EQ_INT(move("apr_2", 1, EVENT_QUORUM, t0), ERR_OK);
    EQ_INT(claim_it("apr_1", 2, t0 + 599999), ERR_OK); /* past expires_ms: approved */
    EQ_INT(claim_it("apr_2", 2, t0 + 600000), ERR_APPROVAL_MOVED);
    rig_close();
}

TEST(the_monotonic_clock_of_another_boot_does_not_count)
{
    rig_open();
    hold_until("apr_1", t0 + 60000, -1);
    rig_stop();
    OK(rig_start());
    sweep_finds(t0, "", t0 + 60000);
    EQ_INT(move("apr_1", 1, EVENT_QUORUM, t0 + 59999), ERR_OK);
    rig_close();
}

TEST(tighter_terms_do_not_prolong_the_votes_deadline)
{
    rig_open();
    hold_until("apr_1", t0 + 60000, 1000000000);
    EQ_INT(move("apr_1", 1, EVENT_QUORUM, t0), ERR_OK);
    EQ_INT(move("apr_1", 2, EVENT_TIGHTEN, t0 + 30000), ERR_OK);
    sweep_finds(t0 + 59999, "", t0 + 60000);
    EQ_INT(move("apr_1", 3, EVENT_QUORUM, t0 + 60000), ERR_APPROVAL_MOVED);
    sweep_finds(t0 + 60000, "apr_1:4 ", 0);
    rig_close();
}

/* ---- meeting ---- */

struct meeting {
    struct attach_query query;
    struct arena *arena;
    enum attach how;
    struct approval found;
};

static enum err do_attach(struct db *db, void *context)
{
    struct meeting *meeting = context;
    return approvals_attach(db, &meeting->query, meeting->arena, &meeting->how,
                            &meeting->found);
}

static enum attach attach(struct meeting *meeting, int64_t now_ms)
{
    static unsigned char digest[CANON_DIGEST];
    held_digest("a1", "sandbox.kill", &kill_call, digest);
    struct attach_query *query = &meeting->query;
    query->agent = query->agent ? query->agent : "a1";
    query->environment = "production";
    query->operation = query->operation ? query->operation : "sandbox.kill";
    query->skill = query->skill ? query->skill : "fleet-hygiene";
    query->digest = query->digest ? query->digest : digest;
    query->waiter = query->waiter ? query->waiter : "";
    query->now_ms = now_ms;
    query->cooldown_ms = 5000;
    meeting->arena = meeting->arena ? meeting->arena : arena_new(1 << 20);
    EQ_INT(rig_write(do_attach, meeting), ERR_OK);
    return meeting->how;
}

enum waiter { NOBODY, SOMEBODY, GHOST /* of another boot */ };

/* Brings a fresh approval into the state. */
static void bring(const char *id, enum approval_state state, enum waiter waiter,
                  const char *key)
{
    char text[64];
    struct approval held = held_approval(id);
    held.idempotency_key = key;
    (void)text_format(text, sizeof(text), "%s.1",
                      waiter == GHOST ? "0000000000000000" : store_boot());
    held.waiter = waiter == NOBODY ? "" : text;
    create(&held);
    static const enum approval_event direct[APPROVAL_STATES] = {
        [APPROVAL_DECLINED] = EVENT_DECLINE,
        [APPROVAL_EXPIRED] = EVENT_EXPIRE,
        [APPROVAL_CANCELLED] = EVENT_CANCEL,
        [APPROVAL_SUPERSEDED] = EVENT_SUPERSEDE,
    };
    static const enum approval_event ends[APPROVAL_STATES] = {
        [APPROVAL_EXECUTED] = EVENT_DONE,
        [APPROVAL_FAILED] = EVENT_FAIL,
        [APPROVAL_UNKNOWN] = EVENT_LOSS,
    };
    if (state == APPROVAL_PENDING)
        return;
    if (direct[state]) {
        EQ_INT(move(id, 1, direct[state], t0), ERR_OK);
        return;
    }
    EQ_INT(move(id, 1, EVENT_QUORUM, t0), ERR_OK);
    if (state != APPROVAL_APPROVED)
        EQ_INT(claim_it(id, 2, t0), ERR_OK);
    if (ends[state])
        EQ_INT(settle_it(id, ends[state], t0), ERR_OK);
}

TEST(a_repeated_call_joins_what_nobody_waits_for_and_collects_once)
{
    static const struct {
        enum approval_state state;
        enum waiter waiter;
        int64_t after_ms;
        enum attach how;
    } cases[] = {
        {APPROVAL_PENDING,    NOBODY,   1000,   ATTACH_JOIN   },
        {APPROVAL_PENDING,    GHOST,    1000,   ATTACH_JOIN   },
        {APPROVAL_PENDING,    SOMEBODY, 1000,   ATTACH_NEW    },
        {APPROVAL_PENDING,    NOBODY,   60000,  ATTACH_NEW    }, /* overdue */
        {APPROVAL_APPROVED,   NOBODY,   1000,   ATTACH_JOIN   },
        {APPROVAL_APPROVED,   SOMEBODY, 1000,   ATTACH_NEW    },
        {APPROVAL_APPROVED,   NOBODY,   600000, ATTACH_NEW    },
        {APPROVAL_EXECUTING,  NOBODY,   1000,   ATTACH_JOIN   },
        {APPROVAL_EXECUTING,  GHOST,    1000,   ATTACH_JOIN   },
        {APPROVAL_EXECUTING,  SOMEBODY, 1000,   ATTACH_NEW    },
        {APPROVAL_EXECUTED,   NOBODY,   1000,   ATTACH_COLLECT},
        {APPROVAL_EXECUTED,   GHOST,    1000,   ATTACH_COLLECT},
        {APPROVAL_EXECUTED,   SOMEBODY, 1000,   ATTACH_NEW    }, /* it is theirs */
        {APPROVAL_EXECUTED,   NOBODY,   600000, ATTACH_COLLECT},
        {APPROVAL_EXECUTED,   NOBODY,   600001, ATTACH_NEW    },
        {APPROVAL_FAILED,     NOBODY,   1000,   ATTACH_COLLECT},
        {APPROVAL_UNKNOWN,    NOBODY,   1000,   ATTACH_COLLECT},
        {APPROVAL_DECLINED,   NOBODY,   4999,   ATTACH_COOLING},
        {APPROVAL_DECLINED,   SOMEBODY, 4999,   ATTACH_COOLING},
        {APPROVAL_DECLINED,   NOBODY,   5000,   ATTACH_NEW    },
        {APPROVAL_EXPIRED,    NOBODY,   1,      ATTACH_NEW    },
        {APPROVAL_CANCELLED,  NOBODY,   1,      ATTACH_NEW    },
        {APPROVAL_SUPERSEDED, NOBODY,   1,      ATTACH_NEW    },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char mine[64];
        CASE("row %zu: %s", i, approval_state_name(cases[i].state));
        rig_open();
        (void)text_format(mine, sizeof(mine), "%s.77", store_boot());
        struct meeting meeting = {.query = {.waiter = mine}};
        bring("apr_1", cases[i].state, cases[i].waiter, "");
        EQ_INT(attach(&meeting, t0 + cases[i].after_ms), cases[i].how);
        if (cases[i].how != ATTACH_NEW) {
            EQ_TEXT(meeting.found.id, "apr_1");
            EQ_INT(meeting.found.state, cases[i].state);
        }
        if (cases[i].how == ATTACH_JOIN) {
            EQ_TEXT(look("apr_1", meeting.arena).waiter, mine);
            EQ_INT(attach(&meeting, t0 + cases[i].after_ms), ATTACH_NEW); /* taken */
        }
        arena_free(meeting.arena);
        rig_close();
    }
}

TEST(another_agent_operation_or_body_is_another_call)
{
    unsigned char other[CANON_DIGEST] = {1};
    struct meeting meetings[] = {{.query = {.agent = "a2"}},
                                 {.query = {.operation = "sandbox.pause"}},
                                 {.query = {.digest = other}}};
    rig_open();
    bring("apr_1", APPROVAL_PENDING, NOBODY, "");
    for (size_t i = 0; i < COUNT(meetings); i++) {
        CASE("row %zu", i);
        EQ_INT(attach(&meetings[i], t0), ATTACH_NEW);
        arena_free(meetings[i].arena);
    }
    rig_close();
}

TEST(a_collected_answer_is_not_collected_again)
{
    struct meeting meeting = {0};
    rig_open();
    bring("apr_1", APPROVAL_EXECUTED, NOBODY, "");
    EQ_INT(attach(&meeting, t0 + 1), ATTACH_COLLECT);
    struct held_job job = {.id = "apr_1", .collect = true, .arena = meeting.arena};
    EQ_INT(rig_write(do_answer, &job), ERR_OK);
    EQ_INT(attach(&meeting, t0 + 1), ATTACH_NEW);
    arena_free(meeting.arena);
    rig_close();
}

TEST(the_newest_of_several_equal_calls_is_met_first)
{
    struct meeting meeting = {0};
    rig_open();
    bring("apr_1", APPROVAL_PENDING, NOBODY, "");
    bring("apr_2", APPROVAL_EXECUTED, NOBODY, "");
    bring("apr_3", APPROVAL_PENDING, SOMEBODY, "");
    EQ_INT(attach(&meeting, t0 + 1), ATTACH_COLLECT);
    EQ_TEXT(meeting.found.id, "apr_2");
    arena_free(meeting.arena);
    rig_close();
}

TEST(an_idempotency_key_makes_the_match_explicit)
{
    static const struct {
        enum approval_state state;
        enum waiter waiter;
        int64_t after_ms;
        enum attach how;
    } cases[] = {
        {APPROVAL_PENDING,   SOMEBODY, 1,                  ATTACH_JOIN   },
        {APPROVAL_EXECUTING, SOMEBODY, 1,                  ATTACH_JOIN   },
        {APPROVAL_EXECUTED,  SOMEBODY, 1,                  ATTACH_COLLECT},
        {APPROVAL_EXECUTED,  NOBODY,   INT64_C(999999999), ATTACH_COLLECT},
        {APPROVAL_DECLINED,  NOBODY,   INT64_C(999999999), ATTACH_COLLECT},
        {APPROVAL_EXPIRED,   NOBODY,   1,                  ATTACH_COLLECT},
    };
    unsigned char other[CANON_DIGEST] = {1};
    for (size_t i = 0; i < COUNT(cases); i++) {
        CASE("row %zu", i);
        rig_open();
        bring("apr_1", cases[i].state, cases[i].waiter, "key-1");
        struct meeting meeting = {.query = {.idempotency_key = "key-1"}};
        EQ_INT(attach(&meeting, t0 + cases[i].after_ms), cases[i].how);
        struct held_job job = {.id = "apr_1", .collect = true, .arena = meeting.arena};
        if (cases[i].how == ATTACH_COLLECT) { /* replayed as often as asked */
            EQ_INT(rig_write(do_answer, &job), ERR_OK);
            EQ_INT(attach(&meeting, t0 + cases[i].after_ms), ATTACH_COLLECT);
        }
        struct meeting elsewhere[] = {
            {.query = {.idempotency_key = "key-1", .digest = other}},
            {.query = {.idempotency_key = "key-1", .operation = "sandbox.pause"}},
            {.query = {.idempotency_key = "key-2"}},
            {.query = {.idempotency_key = "key-1", .agent = "a2"}}};
        /* a fresh key is no way round a "no" */
        bool cools = cases[i].state == APPROVAL_DECLINED;
        const enum attach want[] = {ATTACH_MISMATCH, ATTACH_MISMATCH,
                                    cools ? ATTACH_COOLING : ATTACH_NEW, ATTACH_NEW};
        for (size_t n = 0; n < COUNT(elsewhere); n++) {
            EQ_INT(attach(&elsewhere[n], t0 + 1), want[n]);
            arena_free(elsewhere[n].arena);
        }
        arena_free(meeting.arena);
        rig_close();
    }
}

static enum err leave_as_other(struct db *db, void *context)
{
    (void)context;
    return approvals_leave(db, "apr_1", "somebody else");
}

static enum err leave_as_waiter(struct db *db, void *context)
{
    return approvals_leave(db, "apr_1", context);
}

TEST(only_the_waiter_gives_up_its_place)
{
    char waiter[64];
    struct meeting meeting = {0};
    rig_open();
    (void)text_format(waiter, sizeof(waiter), "%s.1", store_boot());
    bring("apr_1", APPROVAL_PENDING, SOMEBODY, "");
    EQ_INT(rig_write(leave_as_other, NULL), ERR_OK);
    EQ_INT(attach(&meeting, t0), ATTACH_NEW);
    EQ_INT(rig_write(leave_as_waiter, waiter), ERR_OK);
    EQ_INT(attach(&meeting, t0), ATTACH_JOIN);
    arena_free(meeting.arena);
    rig_close();
}

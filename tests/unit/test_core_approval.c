#include "core/approval.h"

#include "test.h"

#include <string.h>

/* The whole matrix: a row a state, a column an event, "-" where there is no way. */
TEST(approvals_move_by_this_matrix_and_no_other_way)
{
    static const char *const events[APPROVAL_EVENTS] = {
        "quorum", "decline", "expire", "cancel", "supersede",   "tighten",
        "claim",  "done",    "fail",   "loss",   "settle_done", "settle_failed"};
    static const char *const rows[APPROVAL_STATES][1 + APPROVAL_EVENTS] = {
        {"pending",    "approved", "declined", "expired", "cancelled", "superseded", "-",
         "-",                                                                                        "-",        "-",      "-", "-",        "-"},
        {"approved",   "-",        "declined", "expired", "cancelled", "superseded", "pending",
         "executing",                                                                                "-",        "-",      "-", "-",        "-"},
        {"executing",  "-",        "-",        "-",       "-",         "-",          "-",       "-", "executed", "failed",
         "unknown",                                                                                                             "-",        "-"},
        {"executed",   "-",        "-",        "-",       "-",         "-",          "-",       "-", "-",        "-",      "-", "-",        "-"},
        {"failed",     "-",        "-",        "-",       "-",         "-",          "-",       "-", "-",        "-",      "-", "-",        "-"},
        {"unknown",    "-",        "-",        "-",       "-",         "-",          "-",       "-", "-",        "-",      "-", "executed",
         "failed"                                                                                                                              },
        {"declined",   "-",        "-",        "-",       "-",         "-",          "-",       "-", "-",        "-",      "-", "-",        "-"},
        {"expired",    "-",        "-",        "-",       "-",         "-",          "-",       "-", "-",        "-",      "-", "-",        "-"},
        {"cancelled",  "-",        "-",        "-",       "-",         "-",          "-",       "-", "-",        "-",      "-", "-",        "-"},
        {"superseded", "-",        "-",        "-",       "-",         "-",          "-",       "-", "-",        "-",      "-", "-",        "-"},
    };
    for (unsigned from = 0; from < APPROVAL_STATES; from++) {
        EQ_TEXT(approval_state_name((enum approval_state)from), rows[from][0]);
        for (unsigned event = 0; event < APPROVAL_EVENTS; event++) {
            enum approval_state next = APPROVAL_STATES;
            EQ_TEXT(approval_event_name((enum approval_event)event), events[event]);
            CASE("%s, %s", rows[from][0], events[event]);
            bool moves = approval_next((enum approval_state)from,
                                       (enum approval_event)event, &next);
            EQ_TEXT(moves ? approval_state_name(next) : "-", rows[from][1 + event]);
            EQ_INT(moves, next != APPROVAL_STATES); /* written on success only */
        }
    }
}

/* Whatever happens, a call that was claimed once is never claimed again. */
TEST(no_way_leads_from_executing_back_to_executing)
{
    bool reached[APPROVAL_STATES] = {false};
    enum approval_state next;
    bool more = true;
    for (unsigned event = 0; event < APPROVAL_EVENTS; event++)
        if (approval_next(APPROVAL_EXECUTING, (enum approval_event)event, &next))
            reached[next] = true;
    while (more) {
        more = false;
        for (unsigned from = 0; from < APPROVAL_STATES; from++)
            for (unsigned event = 0; event < APPROVAL_EVENTS && reached[from]; event++)
                if (approval_next((enum approval_state)from, (enum approval_event)event,
                                  &next)
                    && !reached[next])
                    more = reached[next] = true;
    }
    NOT(reached[APPROVAL_EXECUTING]);
    NOT(reached[APPROVAL_APPROVED]);
    NOT(reached[APPROVAL_PENDING]);
}

TEST(final_states_have_no_way_out_and_open_ones_do)
{
    for (unsigned from = 0; from < APPROVAL_STATES; from++) {
        enum approval_state next;
        unsigned ways = 0;
        for (unsigned event = 0; event < APPROVAL_EVENTS; event++)
            ways += approval_next((enum approval_state)from, (enum approval_event)event,
                                  &next);
        CASE("%s", approval_state_name((enum approval_state)from));
        EQ_INT(approval_final((enum approval_state)from), ways == 0);
        EQ_INT(approval_open((enum approval_state)from),
               from == APPROVAL_PENDING || from == APPROVAL_APPROVED
                   || from == APPROVAL_EXECUTING);
    }
}

TEST(states_are_found_by_their_names)
{
    static const char *const bad[] = {"", "Pending", "pending ", "open", NULL};
    for (unsigned from = 0; from < APPROVAL_STATES; from++) {
        enum approval_state found = APPROVAL_STATES;
        OK(approval_state_named(approval_state_name((enum approval_state)from),
                                &found));
        EQ_INT(found, from);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        enum approval_state found = APPROVAL_STATES;
        NOT(approval_state_named(bad[i], &found));
        EQ_INT(found, APPROVAL_STATES);
    }
    DIES(approval_state_name(APPROVAL_STATES));
    DIES(approval_event_name(APPROVAL_EVENTS));
}

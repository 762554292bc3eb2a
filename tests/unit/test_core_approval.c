#include "core/approval.h"

#include "test.h"

#include <string.h>

static enum approval_state state_at(unsigned i)
{
    return (enum approval_state)i;
}

static enum approval_event event_at(unsigned i)
{
    return (enum approval_event)i;
}

/* The whole matrix: a row a state, a column an event, a letter the state it leads to.
 */
TEST(approvals_move_by_this_matrix_and_no_other_way)
{
    static const struct {
        const char *name, *letter;
        /* quorum decline expire cancel supersede tighten
         * claim done fail loss settle_done settle_failed */
        const char *leads_to;
    } rows[APPROVAL_STATES] = {
        {"pending",    "p", "adecs. .... .."},
        {"approved",   "a", ".decsp x... .."},
        {"executing",  "x", "...... .Xfu .."},
        {"executed",   "X", "...... .... .."},
        {"failed",     "f", "...... .... .."},
        {"unknown",    "u", "...... .... Xf"},
        {"declined",   "d", "...... .... .."},
        {"expired",    "e", "...... .... .."},
        {"cancelled",  "c", "...... .... .."},
        {"superseded", "s", "...... .... .."},
    };
    static const unsigned columns[APPROVAL_EVENTS] = {0, 1, 2, 3,  4,  5,
                                                      7, 8, 9, 10, 12, 13};
    for (unsigned from = 0; from < APPROVAL_STATES; from++) {
        EQ_TEXT(approval_state_name(state_at(from)), rows[from].name);
        for (unsigned event = 0; event < APPROVAL_EVENTS; event++) {
            enum approval_state next = APPROVAL_STATES;
            CASE("%s, event %u", rows[from].name, event);
            bool moves = approval_next(state_at(from), event_at(event), &next);
            EQ_INT(moves ? *rows[next].letter : '.',
                   rows[from].leads_to[columns[event]]);
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
        if (approval_next(APPROVAL_EXECUTING, event_at(event), &next))
            reached[next] = true;
    while (more) {
        more = false;
        for (unsigned from = 0; from < APPROVAL_STATES; from++)
            for (unsigned event = 0; event < APPROVAL_EVENTS && reached[from]; event++)
                if (approval_next(state_at(from), event_at(event), &next)
                    && !reached[next])
                    more = reached[next] = true;
    }
    NOT(reached[APPROVAL_EXECUTING]);
    NOT(reached[APPROVAL_APPROVED]);
    NOT(reached[APPROVAL_PENDING]);
}

TEST(open_states_come_first_and_ended_ones_have_no_way_out)
{
    for (unsigned from = 0; from < APPROVAL_STATES; from++) {
        enum approval_state next;
        unsigned ways = 0;
        for (unsigned event = 0; event < APPROVAL_EVENTS; event++)
            ways += approval_next(state_at(from), event_at(event), &next);
        CASE("%s", approval_state_name(state_at(from)));
        EQ_INT(approval_open(state_at(from)), from == APPROVAL_PENDING
                                                  || from == APPROVAL_APPROVED
                                                  || from == APPROVAL_EXECUTING);
        EQ_INT(ways > 0, approval_open(state_at(from)) || from == APPROVAL_UNKNOWN);
    }
}

TEST(states_are_found_by_their_names)
{
    static const char *const bad[] = {"", "Pending", "pending ", "open", NULL};
    for (unsigned from = 0; from < APPROVAL_STATES; from++) {
        enum approval_state found = APPROVAL_STATES;
        OK(approval_state_named(approval_state_name(state_at(from)), &found));
        EQ_INT(found, from);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        enum approval_state found = APPROVAL_STATES;
        NOT(approval_state_named(bad[i], &found));
        EQ_INT(found, APPROVAL_STATES);
    }
    DIES(approval_state_name(APPROVAL_STATES));
    DIES(approval_open(APPROVAL_STATES));
}

#include "core/approval.h"

#include "base/must.h"
#include "base/text.h"

#include <stddef.h>

static const struct {
    const char *name;
    bool open, final;
} states[APPROVAL_STATES] = {
    [APPROVAL_PENDING] = {"pending",    true,  false},
    [APPROVAL_APPROVED] = {"approved",   true,  false},
    [APPROVAL_EXECUTING] = {"executing",  true,  false},
    [APPROVAL_EXECUTED] = {"executed",   false, true },
    [APPROVAL_FAILED] = {"failed",     false, true },
    [APPROVAL_UNKNOWN] = {"unknown",    false, false},
    [APPROVAL_DECLINED] = {"declined",   false, true },
    [APPROVAL_EXPIRED] = {"expired",    false, true },
    [APPROVAL_CANCELLED] = {"cancelled",  false, true },
    [APPROVAL_SUPERSEDED] = {"superseded", false, true },
};

static const char *const events[APPROVAL_EVENTS] = {
    [EVENT_QUORUM] = "quorum",
    [EVENT_DECLINE] = "decline",
    [EVENT_EXPIRE] = "expire",
    [EVENT_CANCEL] = "cancel",
    [EVENT_SUPERSEDE] = "supersede",
    [EVENT_TIGHTEN] = "tighten",
    [EVENT_CLAIM] = "claim",
    [EVENT_DONE] = "done",
    [EVENT_FAIL] = "fail",
    [EVENT_LOSS] = "loss",
    [EVENT_SETTLE_DONE] = "settle_done",
    [EVENT_SETTLE_FAILED] = "settle_failed",
};

/* Up to the claim everybody with a say can still end it; from the claim on only what
 * E2B answered counts.  What is not here does not exist. */
static const struct {
    enum approval_state from;
    enum approval_event event;
    enum approval_state to;
} moves[] = {
    {APPROVAL_PENDING,   EVENT_QUORUM,        APPROVAL_APPROVED  },
    {APPROVAL_PENDING,   EVENT_DECLINE,       APPROVAL_DECLINED  },
    {APPROVAL_PENDING,   EVENT_EXPIRE,        APPROVAL_EXPIRED   },
    {APPROVAL_PENDING,   EVENT_CANCEL,        APPROVAL_CANCELLED },
    {APPROVAL_PENDING,   EVENT_SUPERSEDE,     APPROVAL_SUPERSEDED},

    {APPROVAL_APPROVED,  EVENT_CLAIM,         APPROVAL_EXECUTING },
    {APPROVAL_APPROVED,  EVENT_TIGHTEN,       APPROVAL_PENDING   },
    {APPROVAL_APPROVED,  EVENT_DECLINE,       APPROVAL_DECLINED  },
    {APPROVAL_APPROVED,  EVENT_EXPIRE,        APPROVAL_EXPIRED   },
    {APPROVAL_APPROVED,  EVENT_CANCEL,        APPROVAL_CANCELLED },
    {APPROVAL_APPROVED,  EVENT_SUPERSEDE,     APPROVAL_SUPERSEDED},

    {APPROVAL_EXECUTING, EVENT_DONE,          APPROVAL_EXECUTED  },
    {APPROVAL_EXECUTING, EVENT_FAIL,          APPROVAL_FAILED    },
    {APPROVAL_EXECUTING, EVENT_LOSS,          APPROVAL_UNKNOWN   },

    {APPROVAL_UNKNOWN,   EVENT_SETTLE_DONE,   APPROVAL_EXECUTED  },
    {APPROVAL_UNKNOWN,   EVENT_SETTLE_FAILED, APPROVAL_FAILED    },
};

bool approval_next(enum approval_state state, enum approval_event event,
                   enum approval_state *next)
{
    for (size_t i = 0; i < COUNT(moves); i++) {
        if (moves[i].from != state || moves[i].event != event)
            continue;
        *next = moves[i].to;
        return true;
    }
    return false;
}

bool approval_open(enum approval_state state)
{
    must((unsigned)state < APPROVAL_STATES);
    return states[state].open;
}

bool approval_final(enum approval_state state)
{
    must((unsigned)state < APPROVAL_STATES);
    return states[state].final;
}

const char *approval_state_name(enum approval_state state)
{
    must((unsigned)state < APPROVAL_STATES);
    return states[state].name;
}

bool approval_state_named(const char *name, enum approval_state *state)
{
    for (unsigned i = 0; i < COUNT(states); i++) {
        if (!text_same(states[i].name, name))
            continue;
        *state = (enum approval_state)i;
        return true;
    }
    return false;
}

const char *approval_event_name(enum approval_event event)
{
    must((unsigned)event < APPROVAL_EVENTS);
    return events[event];
}

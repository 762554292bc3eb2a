#include "core/approval.h"

#include "base/must.h"
#include "base/text.h"

#include <stddef.h>

static const char *const names[APPROVAL_STATES] = {
    [APPROVAL_PENDING] = "pending",     [APPROVAL_APPROVED] = "approved",
    [APPROVAL_EXECUTING] = "executing", [APPROVAL_EXECUTED] = "executed",
    [APPROVAL_FAILED] = "failed",       [APPROVAL_UNKNOWN] = "unknown",
    [APPROVAL_DECLINED] = "declined",   [APPROVAL_EXPIRED] = "expired",
    [APPROVAL_CANCELLED] = "cancelled", [APPROVAL_SUPERSEDED] = "superseded",
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
    return state <= APPROVAL_EXECUTING; /* they come first */
}

const char *approval_state_name(enum approval_state state)
{
    must((unsigned)state < APPROVAL_STATES);
    return names[state];
}

bool approval_state_named(const char *name, enum approval_state *state)
{
    for (unsigned i = 0; i < COUNT(names); i++) {
        if (!text_same(names[i], name))
            continue;
        *state = (enum approval_state)i;
        return true;
    }
    return false;
}

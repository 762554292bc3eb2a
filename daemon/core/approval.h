/* approval: the states of a held call and the only moves between them, as a table.
 * Pure.  store/approvals applies it by compare-and-set. */
#ifndef CORE_APPROVAL_H
#define CORE_APPROVAL_H

#include <stdbool.h>

/* The open ones first. */
enum approval_state {
    APPROVAL_PENDING,
    APPROVAL_APPROVED,
    APPROVAL_EXECUTING,
    APPROVAL_EXECUTED,
    APPROVAL_FAILED,
    APPROVAL_UNKNOWN,
    APPROVAL_DECLINED,
    APPROVAL_EXPIRED,
    APPROVAL_CANCELLED,
    APPROVAL_SUPERSEDED,
    APPROVAL_STATES
};

enum approval_event {
    EVENT_QUORUM, /* the last vote that was needed */
    EVENT_DECLINE,
    EVENT_EXPIRE,
    EVENT_CANCEL,
    EVENT_SUPERSEDE,
    EVENT_TIGHTEN, /* policy now asks for more: votes are open again */
    EVENT_CLAIM,
    EVENT_DONE, /* E2B answered with success */
    EVENT_FAIL, /* E2B answered with an error, or nothing was sent */
    EVENT_LOSS, /* sent, and the answer is not known */
    EVENT_SETTLE_DONE,
    EVENT_SETTLE_FAILED, /* a person settles an unknown */
    APPROVAL_EVENTS
};

/* False: this move does not exist. */
bool approval_next(enum approval_state state, enum approval_event event,
                   enum approval_state *next);

bool approval_open(enum approval_state state); /* pending, approved, executing */

const char *approval_state_name(enum approval_state state);
bool approval_state_named(const char *name, enum approval_state *state);

#endif

/* The architecture in one screen: each path is walked top to bottom, only forward.
 *
 * The probe of a target's facts, between canon and judge, comes with rules that ask for
 * them; limits and credentials are judged in `judge`. */
#include "exchange/inside.h"

static bool always(const struct exchange *x)
{
    (void)x;
    return true;
}

static bool if_ok(const struct exchange *x)
{
    return x->err == ERR_OK;
}

static bool if_held(const struct exchange *x)
{
    return x->err == ERR_OK && x->verdict.decision == DECIDE_HOLD;
}

/* A client that has left, or a gateway that stops, waits for nobody. */
static bool can_wait(const struct exchange *x)
{
    return !exchange_has_left(x) && !__atomic_load_n(&world.draining, __ATOMIC_RELAXED);
}

static bool if_waiting(const struct exchange *x)
{
    return if_held(x) && *x->waiter && approval_open(x->approval.state) && can_wait(x);
}

static bool if_allowed(const struct exchange *x)
{
    return x->err == ERR_OK && x->verdict.decision == DECIDE_ALLOW;
}

static bool if_allowed_run(const struct exchange *x)
{
    return if_allowed(x) && x->facts.effect != EFFECT_READ;
}

static bool sent_a_read(const struct exchange *x)
{
    return x->target && x->facts.effect == EFFECT_READ;
}

static bool if_begun_or_read(const struct exchange *x)
{
    return (x->marks & BEGUN) || sent_a_read(x);
}

/* Refused before anything was recorded. Without a log there is nothing to record in. */
static bool if_refused(const struct exchange *x)
{
    return x->err != ERR_OK && x->err != ERR_STORE && x->err != ERR_SHUTTING_DOWN
           && x->err != ERR_OVERLOADED && !(x->marks & (BEGUN | HELD))
           && !sent_a_read(x);
}

/* The life of an agent's call to E2B. */
const struct step request_path[] = {
    {"identify", FRONT, always, identify, 0},
    {"route",    FRONT, if_ok, route, 0},
    {"body",         INTAKE, if_ok, NULL, 0},
    {"canon",    FRONT, if_ok, canonicalise, 0},
    {"judge",     FRONT, if_ok, judge, 0},
    {"begin",         STORE, if_allowed_run, begin, BEGUN},
    {"draft",     FRONT, if_held, draft, 0},
    {"hold",     STORE, if_held, hold, HELD},
    {"wait",         PARKED, if_waiting, park, 0},
    {"collect",    STORE, if_held, collect, 0},
    {"forward",     UPSTREAM, if_allowed, forward, 0},
    {"note",         FRONT, sent_a_read, note_read, 0},
    {"settle",    STORE, if_begun_or_read, settle, SETTLED},
    {"refuse",     STORE, if_refused, refuse, 0},
    {"respond",         FRONT, always, respond, 0},
    {0   },
};

/* An approved call, whether its agent waits, is gone or is back again: the only way a
 * held call runs. */
static bool if_claimed(const struct exchange *x)
{
    return (x->marks & BEGUN) && *x->run;
}

const struct step run_path[] = {
    {"claim",     STORE, always, claim, BEGUN},
    {"forward",     UPSTREAM, if_claimed, run_forward, 0},
    {"settle",      STORE, if_claimed, run_settle, SETTLED},
    {"announce",   FRONT, always, run_announce, 0},
    {0},
};

/* Sandgate's own endpoints. */
static bool lane_is(const struct exchange *x, enum serve_lane lane)
{
    return x->err == ERR_OK && x->local.endpoint->lane == lane;
}

static bool on_front(const struct exchange *x)
{
    return lane_is(x, SERVE_FRONT);
}

static bool on_reader(const struct exchange *x)
{
    return lane_is(x, SERVE_READER);
}

static bool on_store(const struct exchange *x)
{
    return lane_is(x, SERVE_STORE);
}

static bool if_probes(const struct exchange *x)
{
    return x->err == ERR_OK && x->local.endpoint->probe;
}

static bool if_polls(const struct exchange *x)
{
    return x->err == ERR_OK && x->reply.wait_for && can_wait(x);
}

static bool if_polled(const struct exchange *x)
{
    return x->err == ERR_OK && x->local.again;
}

const struct step local_path[] = {
    {"identify", FRONT, always, identify, 0},
    {"route",    FRONT, if_ok, local_route, 0},
    {"body",         INTAKE, if_ok, NULL, 0},
    {"parse",    FRONT, if_ok, local_parse, 0},
    {"may it",     READER, if_probes, local_authorise, 0},
    {"probe",         UPSTREAM, if_probes, local_probe, 0},
    {"answer",     FRONT, on_front, local_handle, 0},
    {"read",     READER, on_reader, local_handle, 0},
    {"change",         STORE, on_store, local_handle, 0},
    {"wait",    PARKED, if_polls, local_park, 0},
    {"read again",     READER, if_polled, local_handle, 0},
    {"respond",         FRONT, always, local_respond, 0},
    {0  },
};

/* Who calls, and what: key, route, canonical form. */
#include "base/clock.h"
#include "base/text.h"
#include "exchange/inside.h"

#include <string.h>

/* Framing first: a request whose end is not certain gets no further. */
enum err identify(struct exchange *x, struct db *db)
{
    (void)db;
    if (__atomic_load_n(&world.draining, __ATOMIC_RELAXED))
        return ERR_SHUTTING_DOWN;
    enum err err = canon_headers(&x->raw, x->arena, &x->canon, &x->agent);
    if (err) {
        x->out.close = true;
        exchange_fail(x, err, x->canon.why);
        return err;
    }
    if (x->in.listener != LISTEN_AGENTS)
        return ERR_OK;
    x->keyring = snapshot_take(&keyring_snapshot);
    const char *key = x->agent.key;
    if (!x->keyring || !key)
        return ERR_BAD_KEY;
    return keyring_identify((const struct keyring *)x->keyring, key, strlen(key),
                            clock_wall_ms(), &x->identity);
}

enum err route(struct exchange *x, struct db *db)
{
    (void)db;
    enum err err = canon_target(&x->raw, x->arena, &x->canon);
    if (err)
        exchange_fail(x, err, x->canon.why);
    else if (x->canon.content_length != SIZE_MAX
             && x->canon.content_length > x->canon.operation->body_cap)
        exchange_fail(x, ERR_TOO_LARGE, NULL);
    return x->err;
}

static bool skill_allowed(const struct exchange *x)
{
    return identity_may_claim(x->identity, x->agent.skill ? x->agent.skill : "");
}

enum err canonicalise(struct exchange *x, struct db *db)
{
    (void)db;
    enum err err =
        canon_body(&x->raw, x->identity->target->lenient, x->arena, &x->canon);
    if (err) {
        exchange_fail(x, err, x->canon.why);
        return err;
    }
    if (!facts_of(&x->canon, x->arena, &x->facts))
        return ERR_TOO_LARGE;
    canon_digest(&x->canon, x->identity->agent, x->identity->environment, x->digest);
    if (!store_writable()) /* before anything is sent, not after */
        return ERR_STORE;
    if (!skill_allowed(x))
        exchange_fail(x, ERR_POLICY_DENIED, "this key may not claim the skill");
    return x->err;
}

/* Why a call deserves a second look, and when its values make it worse than its path.
 */
#include "base/must.h"
#include "base/text.h"
#include "core/facts_parts.h"

enum { FLOOR_S = 30 }; /* a shorter life is an end */

/* ---- asking for one attribute; one that cannot be told is the worse of the two ----
 */

static bool truth(const struct asking *asking, const char *name, bool value)
{
    const struct fact *fact = fact_named(asking->facts, name);
    return fact && fact->state != FACT_ABSENT
           && (fact->state == FACT_CANNOT_TELL || fact->number == value);
}

static bool has_text(const struct asking *asking, const char *name)
{
    const struct fact *fact = fact_named(asking->facts, name);
    return fact && (fact->state == FACT_CANNOT_TELL || *fact->text);
}

static bool has_items(const struct asking *asking, const char *name)
{
    const struct fact *fact = fact_named(asking->facts, name);
    return fact && fact->list && *fact->list;
}

#define OPERATION(name) facts_operation_is(asking, name)

/* ---- one function a risk, in the order of the table ---- */

static bool under_floor(const struct asking *asking)
{
    const struct fact *seconds = fact_named(asking->facts, "timeout_s");
    return !(seconds && seconds->state == FACT_VALUE && seconds->number >= FLOOR_S);
}

/* A sandbox that is woken for a moment is gone with its snapshot when that is over.
 * E2B's own default is no wish of the caller. */
static bool wakes_to_end(const struct asking *asking)
{
    bool wakes = OPERATION("sandbox.connect") || OPERATION("sandbox.resume");
    return wakes && facts_at(asking, "timeout") && under_floor(asking);
}

static bool ends_sandbox(const struct asking *asking)
{
    return OPERATION("sandbox.kill") || wakes_to_end(asking)
           || (OPERATION("sandbox.timeout") && under_floor(asking));
}

static bool drops_memory(const struct asking *asking)
{
    return truth(asking, "memory", false)
           || (truth(asking, "auto_pause", true)
               && truth(asking, "auto_pause_memory", false));
}

static bool clears_egress(const struct asking *asking)
{
    return has_items(asking, "clears");
}

static bool opens_internet(const struct asking *asking)
{
    return truth(asking, "internet", true);
}

static bool opens_ports(const struct asking *asking)
{
    return truth(asking, "public_traffic", true);
}

static bool unauthenticated(const struct asking *asking)
{
    return truth(asking, "secure", false);
}

/* The answer carries the token of the data plane. */
static bool opens_shell(const struct asking *asking)
{
    return OPERATION("sandbox.create") || OPERATION("sandbox.connect")
           || OPERATION("sandbox.resume") || OPERATION("sandbox.fork");
}

static bool multiplies(const struct asking *asking)
{
    const struct fact *count = fact_named(asking->facts, "count");
    return count && count->number > 1;
}

/* Another address, other events, or none at all: what went there goes there no more. */
static bool redirects(const struct asking *asking)
{
    return has_text(asking, "webhook_host") || facts_at(asking, "events");
}

static bool data_leaves(const struct asking *asking)
{
    return OPERATION("webhook.create") || has_text(asking, "egress_proxy")
           || (OPERATION("webhook.update")
               && (redirects(asking) || truth(asking, "enabled", true)));
}

static bool silences(const struct asking *asking)
{
    return OPERATION("webhook.delete")
           || (OPERATION("webhook.update")
               && (redirects(asking) || truth(asking, "enabled", false)
                   || truth(asking, "rekeys", true)));
}

static bool publishes(const struct asking *asking)
{
    return truth(asking, "public", true);
}

static bool repoints(const struct asking *asking)
{
    bool makes = OPERATION("template.create") || OPERATION("sandbox.snapshot");
    return OPERATION("template.tag") || (makes && has_text(asking, "name"));
}

static bool runs_build(const struct asking *asking)
{
    return OPERATION("template.build");
}

static bool upload_link(const struct asking *asking)
{
    return OPERATION("template.files");
}

static bool carries_secrets(const struct asking *asking)
{
    return has_items(asking, "env_names") || has_items(asking, "mcp_servers")
           || has_items(asking, "rule_hosts") || has_text(asking, "registry")
           || truth(asking, "rekeys", true) || OPERATION("webhook.create")
           || OPERATION("secret.create") || OPERATION("secret.update");
}

static const struct risk {
    const char *name;
    bool (*holds)(const struct asking *asking);
    bool guards;
} risks[] = {
    {"ends_sandbox",    ends_sandbox,    false},
    {"drops_memory",    drops_memory,    false},
    {"clears_egress",   clears_egress,   false},
    {"opens_internet",  opens_internet,  false},
    {"opens_ports",     opens_ports,     false},
    {"unauthenticated", unauthenticated, true },
    {"opens_shell",     opens_shell,     false},
    {"multiplies",      multiplies,      false},
    {"data_leaves",     data_leaves,     true },
    {"silences",        silences,        false},
    {"publishes",       publishes,       true },
    {"repoints",        repoints,        false},
    {"runs_build",      runs_build,      false},
    {"upload_link",     upload_link,     false},
    {"carries_secrets", carries_secrets, false},
};

/* What makes the call destructive though its path is not. */
static bool raised(const struct asking *asking)
{
    bool keeps_memory = OPERATION("sandbox.pause") || OPERATION("sandbox.connect")
                        || OPERATION("sandbox.resume");
    return (OPERATION("sandbox.timeout") && ends_sandbox(asking))
           || wakes_to_end(asking)
           || (OPERATION("sandbox.network") && clears_egress(asking))
           || (keeps_memory && truth(asking, "memory", false));
}

void facts_judge(struct asking *asking)
{
    struct facts *facts = asking->facts;
    struct fact found = {0};
    size_t count = 0;
    const char **list = facts_set_list(asking, &found, COUNT(risks));
    facts->guarded = facts->operation->treatment == TREAT_DENY;
    for (size_t i = 0; list && i < COUNT(risks); i++) {
        if (!risks[i].holds(asking))
            continue;
        list[count++] = risks[i].name;
        facts->guarded |= risks[i].guards;
    }
    facts->risks = found.list;
    facts->effect = raised(asking) ? EFFECT_DESTRUCTIVE : facts->operation->effect;
}

#include "core/facts.h"

#include "base/must.h"
#include "base/text.h"
#include "core/facts_parts.h"

/* What is reckoned with while the size of the template is not known. */
enum { VCPUS_UNKNOWN = 2 };

/* ---- what belongs to no subject ---- */

static READER(timeout)
{
    static const struct {
        const char *operation, *version;
        int64_t seconds;
    } defaults[] = {
        {"sandbox.create",  "v1", 15 },
        {"sandbox.create",  "v2", 300},
        {"sandbox.connect", "v2", 300},
        {"sandbox.resume",  "v1", 15 },
        {"sandbox.fork",    "v1", 15 },
        {"sandbox.refresh", "v1", 15 },
    };
    struct attribute from = *row;
    if (facts_operation_is(asking, "sandbox.refresh"))
        from.path = "duration";
    fact->state = FACT_CANNOT_TELL;
    for (size_t i = 0; i < COUNT(defaults); i++)
        if (facts_operation_is(asking, defaults[i].operation)
            && text_same(asking->canon->route->version, defaults[i].version))
            facts_set_number(fact, defaults[i].seconds);
    if (facts_at(asking, from.path))
        facts_integer(asking, &from, fact);
}

/* A connect counts as a start: whether the sandbox runs is not the request's to tell.
 */
static READER(vcpu_seconds)
{
    (void)row;
    const struct fact *seconds = fact_named(asking->facts, "timeout_s");
    int64_t count = 1;
    must(seconds); /* it comes first in the catalogue's list */
    (void)node_int(facts_at(asking, "count"), &count);
    fact->state = seconds->state;
    if (fact->state == FACT_VALUE && seconds->number > 0 && count > 0)
        fact->number = VCPUS_UNKNOWN * seconds->number * count;
}

static READER(secure)
{
    facts_truth(asking, row, fact);
    if (!text_same(asking->canon->route->version, "v1"))
        facts_set_number(fact, true);
}

static READER(enabled)
{
    struct attribute from = *row;
    if (facts_operation_is(asking, "webhook.create"))
        from.otherwise = true;
    facts_truth(asking, &from, fact);
}

static READER(presence)
{
    facts_set_number(fact, facts_at(asking, row->path) != NULL);
}

/* ---- the table ---- */

static const struct attribute attributes[] = {
    {"template",          FACT_NAMES, facts_template,     "",                            0           },
    {"template_tag",      FACT_TEXT,  facts_template_tag, "",                            0           },
    {"timeout_s",         FACT_INT,   timeout,            "timeout",                     0           },
    {"vcpu_s",            FACT_INT,   vcpu_seconds,       "",                            0           },
    {"count",             FACT_INT,   facts_integer,      "count",                       1           },
    {"auto_pause",        FACT_BOOL,  facts_truth,        "autoPause",                   false       },
    {"auto_pause_memory", FACT_BOOL,  facts_truth,        "autoPauseMemory",             true        },
    {"auto_resume",       FACT_BOOL,  facts_truth,        "autoResume.enabled",          false       },
    {"memory",            FACT_BOOL,  facts_truth,        "memory",                      true        },
    {"secure",            FACT_BOOL,  secure,             "secure",                      false       },
    {"internet",          FACT_BOOL,  facts_internet,     "allow_internet_access",       true        },
    {"allow_out",         FACT_LIST,  facts_texts,        "network.allowOut",            0           },
    {"deny_out",          FACT_LIST,  facts_texts,        "network.denyOut",             0           },
    {"egress_proxy",      FACT_TEXT,  facts_proxy,        "network.egressProxy.address", 0           },
    {"rule_hosts",        FACT_LIST,  facts_rule_hosts,   "network.rules",               0           },
    {"public_traffic",    FACT_BOOL,  facts_truth,        "network.allowPublicTraffic",  true        },
    {"clears",            FACT_LIST,  facts_clears,       "",                            0           },
    {"env_names",         FACT_LIST,  facts_env_names,    "envVars",                     0           },
    {"metadata",          FACT_MAP,   facts_map,          "metadata",                    0           },
    {"mcp_servers",       FACT_LIST,  facts_keys,         "mcp",                         0           },
    {"iam_audiences",     FACT_LIST,  facts_members,      "iam.tokens.audience",         0           },
    {"volumes",           FACT_LIST,  facts_members,      "volumeMounts.name",           0           },
    {"name",              FACT_TEXT,  facts_name,         "name",                        0           },
    {"tags",              FACT_LIST,  facts_tags,         "tags",                        0           },
    {"cpu",               FACT_INT,   facts_integer,      "cpuCount",                    FACTS_ABSENT},
    {"memory_mb",         FACT_INT,   facts_integer,      "memoryMB",                    FACTS_ABSENT},
    {"min_free_disk_mb",  FACT_INT,   facts_integer,      "minFreeDiskMb",               FACTS_ABSENT},
    {"from_image",        FACT_TEXT,  facts_text,         "fromImage",                   0           },
    {"from_template",     FACT_TEXT,  facts_reference,    "fromTemplate",                0           },
    {"registry",          FACT_TEXT,  facts_text,         "fromImageRegistry.type",      0           },
    {"force",             FACT_BOOL,  facts_truth,        "force",                       false       },
    {"step_types",        FACT_LIST,  facts_step_types,   "steps",                       0           },
    {"public",            FACT_BOOL,  facts_truth,        "public",                      FACTS_ABSENT},
    {"webhook_host",      FACT_TEXT,  facts_webhook_host, "url",                         0           },
    {"events",            FACT_LIST,  facts_verbatim,     "events",                      0           },
    {"enabled",           FACT_BOOL,  enabled,            "enabled",                     FACTS_ABSENT},
    {"rekeys",            FACT_BOOL,  presence,           "signatureSecret",             0           },
};

/* ---- all of one call ---- */

static struct fact *add(struct facts *facts, const char *name, enum fact_type type)
{
    must(facts->count < FACTS_MAX);
    struct fact *fact = &facts->all[facts->count];
    *fact = (struct fact){.name = name, .type = type, .text = ""};
    return fact; /* counted once it is read */
}

static void read_attribute(struct asking *asking, const char *name)
{
    for (size_t i = 0; i < COUNT(attributes); i++) {
        const struct attribute *row = &attributes[i];
        if (!text_same(row->name, name))
            continue;
        row->read(asking, row, add(asking->facts, row->name, row->type));
        asking->facts->count++;
        return;
    }
    must(false); /* the catalogue lists an attribute that has no row here */
}

static void add_list(struct facts *facts, const char *name, const char *const *list)
{
    add(facts, name, FACT_LIST)->list = list;
    facts->count++;
}

bool facts_of(const struct canon *canon, struct arena *arena, struct facts *facts)
{
    static const char *const none[] = {NULL};
    struct asking asking = {.canon = canon,
                            .body = canon->doc ? doc_root(canon->doc) : NULL,
                            .arena = arena,
                            .facts = facts};
    *facts = (struct facts){
        .operation = canon->operation, .effect = EFFECT_UNKNOWN, .risks = none};
    if (!canon->route)
        return true;
    facts_set_text(add(facts, "route", FACT_TEXT), canon->route->version);
    facts->count++;
    for (const char *const *name = canon->operation->facts; name && *name; name++)
        read_attribute(&asking, *name);
    facts_judge(&asking);
    add_list(facts, "risks", facts->risks);
    add_list(facts, "unrecognised", canon->unrecognised ? canon->unrecognised : none);
    facts->unrecognised = canon->unrecognised && *canon->unrecognised;
    return !asking.full;
}

const struct fact *fact_named(const struct facts *facts, const char *name)
{
    for (size_t i = 0; i < facts->count; i++)
        if (text_same(facts->all[i].name, name))
            return &facts->all[i];
    return NULL;
}

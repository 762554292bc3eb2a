/* What a call says of the network: where a sandbox may go, and where events go. */
#include "base/must.h"
#include "base/text.h"
#include "core/facts_parts.h"
#include "core/origin.h"

#include <stdlib.h>
#include <string.h>

static bool holds(const char *const *list, const char *text)
{
    for (; *list; list++)
        if (text_same(*list, text))
            return true;
    return false;
}

/* "*", or a prefix shorter than /8: it lets through about everything. */
static bool is_wide(const char *entry)
{
    const char *slash = strchr(entry, '/');
    return text_same(entry, "*") || (slash && strtol(slash + 1, NULL, 10) < 8);
}

static const char *const *list_at(struct asking *asking, const char *path)
{
    const struct attribute row = {.path = path};
    struct fact fact = {0};
    facts_texts(asking, &row, &fact);
    return fact.list;
}

/* E2B lets allowed entries win over denied ones. */
READER(facts_internet)
{
    facts_truth(asking, row, fact);
    if (holds(list_at(asking, "network.denyOut"), "0.0.0.0/0"))
        facts_set_number(fact, false);
    for (const char *const *at = list_at(asking, "network.allowOut"); *at; at++)
        if (is_wide(*at))
            facts_set_number(fact, true);
}

READER(facts_proxy)
{
    struct origin origin;
    const char *address = node_text(facts_at(asking, row->path));
    facts_set_text(fact, "");
    if (!address)
        return;
    if (origin_of_address(asking->arena, address, &origin))
        facts_set_text(fact, facts_kept(asking, origin_text(asking->arena, &origin)));
    else
        asking->full = true; /* canon has seen that it is well-formed */
}

READER(facts_rule_hosts)
{
    const struct node *node = facts_at(asking, row->path);
    const char **list = facts_set_list(asking, fact, node_size(node));
    const char *key;
    const struct node *value;
    for (size_t i = 0; list && node_each(node, i, &key, &value); i++)
        list[i] = facts_folded(asking, key);
}

/* What the update omits or empties.  Of the target nothing is known: all may be set. */
READER(facts_clears)
{
    static const struct {
        const char *name, *path;
    } cleared[] = {
        {"allow_out",    "network.allowOut"   },
        {"deny_out",     "network.denyOut"    },
        {"egress_proxy", "network.egressProxy"},
        {"rules",        "network.rules"      },
    };
    (void)row;
    size_t count = 0;
    const char **list = facts_set_list(asking, fact, COUNT(cleared));
    for (size_t i = 0; list && i < COUNT(cleared); i++)
        if (node_size(facts_at(asking, cleared[i].path)) == 0)
            list[count++] = cleared[i].name;
}

READER(facts_webhook_host)
{
    struct origin origin;
    const char *url = node_text(facts_at(asking, row->path));
    facts_set_text(fact, "");
    if (url && origin_of_url(asking->arena, url, &origin))
        facts_set_text(fact, origin.host);
    else
        asking->full |= url != NULL; /* canon has seen that it is well-formed */
}

/* handlers: what the rows of serve.c point to. Private to serve/. */
#ifndef SERVE_HANDLERS_H
#define SERVE_HANDLERS_H

#include "serve/serve.h"

#define HANDLER(name) struct reply name(struct call *call, struct db *db)

HANDLER(agent_whoami);
HANDLER(agent_approval);
HANDLER(agent_cancel);

HANDLER(status_show);
HANDLER(live);
HANDLER(ready);
HANDLER(metrics);

HANDLER(approvals_index);
HANDLER(approvals_show);
HANDLER(approvals_approve);
HANDLER(approvals_decline);
HANDLER(approvals_settle_unknown);

HANDLER(audit_index);
HANDLER(audit_head);
HANDLER(audit_export);
HANDLER(audit_checkpoint);
HANDLER(audit_show);

HANDLER(agents_index);
HANDLER(agents_add);
HANDLER(agents_disable);
HANDLER(keys_index);
HANDLER(keys_add);
HANDLER(keys_rotate);
HANDLER(keys_revoke);

HANDLER(environments_index);
HANDLER(environments_add);
HANDLER(environments_key);
HANDLER(environments_test);
enum err environments_probe_new(struct call *call, struct probe *probe);
enum err environments_probe_known(struct call *call, struct probe *probe);

HANDLER(people_whoami);
HANDLER(people_index);
HANDLER(people_put);
HANDLER(policy_reload);

/* A sys record of what a person changed: in the same transaction as the change. */
enum err record_change(struct call *call, struct db *db, const char *event,
                       const char *detail);

#endif

/* groups: the functions of the table in commands.def, one file a group. */
#ifndef CLI_GROUPS_H
#define CLI_GROUPS_H

#include "cli/command.h"

int run_help(struct call *call);    /* help.c */
int run_init(struct call *call);    /* init.c */
int run_status(struct call *call);  /* status.c */
int run_version(struct call *call); /* status.c */

int approvals_ls(struct call *call);      /* approvals.c */
int approvals_show(struct call *call);    /* approvals.c */
int approvals_watch(struct call *call);   /* approvals.c */
int approvals_approve(struct call *call); /* decide.c */
int approvals_decline(struct call *call); /* decide.c */
int approvals_settle(struct call *call);  /* decide.c */

int audit_ls(struct call *call);     /* audit.c */
int audit_show(struct call *call);   /* audit.c */
int audit_head(struct call *call);   /* audit.c */
int audit_export(struct call *call); /* export.c */
int audit_check(struct call *call);  /* verify.c */

int agent_ls(struct call *call);      /* agents.c */
int agent_new(struct call *call);     /* agents.c */
int agent_off(struct call *call);     /* agents.c */
int agent_keys(struct call *call);    /* agents.c */
int agent_mint(struct call *call);    /* agents.c */
int agent_rotate(struct call *call);  /* agents.c */
int agent_revoke(struct call *call);  /* agents.c */
int people_ls(struct call *call);     /* people.c */
int people_add(struct call *call);    /* people.c */
int env_ls(struct call *call);        /* environments.c */
int env_add(struct call *call);       /* environments.c */
int env_key(struct call *call);       /* environments.c */
int env_test(struct call *call);      /* environments.c */
int policy_check(struct call *call);  /* policy.c */
int policy_reload(struct call *call); /* policy.c */
int tools_show(struct call *call);    /* tools.c */

#endif

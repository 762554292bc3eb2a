/* policy: files -> one immutable compiled set; a call -> verdict and the rules behind
 * it.
 *
 * Pure: no files, no clock, no counters, so explain, test, dry run and replay come
 * free. The strictest matching rule wins: deny, then hold, then allow; order never
 * matters. Any error while judging is a deny.  The language is docs/POLICY.md; this is
 * its first part: where, unless, calendars, limits, grants, confine, shadow are not
 * there yet and are load errors. */
#ifndef CORE_POLICY_H
#define CORE_POLICY_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/snapshot.h"
#include "core/facts.h"
#include "core/policy_verdict.h"

#include <stdint.h>

enum { POLICY_DIGEST = 32 };

struct policy_file {
    const char *path; /* relative to the policy folder: named in messages and digest */
    const char *bytes;
    size_t size;
};

/* Counted (base/snapshot); the `shared` member is first. */
struct policy {
    struct shared shared;
    unsigned char
        digest[POLICY_DIGEST]; /* over sorted path, length and bytes of each */
    char digest_text[20];      /* "b2:" + 16 hex */
    size_t files, rules;
    struct policy_set *set; /* private */
};

/* NULL on errors; `messages` gets one line each, "file: JSON pointer: what is wrong;
 * what to do", at most 50, sorted.  Warnings come with the word "warning" and do not
 * refuse. Zero files are valid: the built-in defaults apply. */
struct policy *policy_load(const struct policy_file *files, size_t count,
                           struct buf *messages);

/* Who calls. Texts may be "" but not NULL. */
struct caller {
    const char *agent, *skill, *team, *environment;
};

/* Always gives a verdict. The verdict lives in the arena and the set: keep both. */
void policy_judge(const struct policy *policy, const struct caller *caller,
                  const struct facts *facts, struct arena *arena,
                  struct verdict *verdict);

/* Is this user in the group? "approvers" is everybody with the approver role. */
bool policy_in_group(const struct policy *policy, const char *group, const char *user,
                     bool has_approver_role);

#endif

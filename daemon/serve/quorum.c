#include "serve/quorum.h"

#include "base/text.h"
#include "store/approvals.h"

bool quorum_counts(const struct policy *policy, const struct requirement *requirement,
                   const struct person *person)
{
    bool approver = person_has_role(person, "approver");
    for (const char *const *group = requirement->groups; *group; group++)
        if (policy_in_group(policy, *group, person->name, approver))
            return true;
    return false;
}

/* Asked anew at every count: a role or group taken away since the vote counts. */
static int approving(struct db *db, const struct policy *policy,
                     const struct requirement *requirement, const struct vote *votes,
                     size_t count)
{
    int people = 0;
    for (size_t i = 0; i < count; i++) {
        struct person person;
        if (text_same(votes[i].choice, "approve")
            && person_named(db, votes[i].person, &person) == ERR_OK && !person.disabled
            && person_has_role(&person, "approver"))
            people += quorum_counts(policy, requirement, &person);
    }
    return people;
}

bool quorum_met(struct db *db, const struct policy *policy, const char *approval,
                const struct terms *terms, struct arena *arena)
{
    struct vote votes[APPROVAL_VOTES];
    size_t count = 0;
    if (approvals_votes(db, approval, arena, votes, &count))
        return false;
    for (size_t i = 0; i < terms->requirement_count; i++)
        if (approving(db, policy, &terms->requirements[i], votes, count)
            < terms->requirements[i].need)
            return false;
    return terms->requirement_count > 0;
}

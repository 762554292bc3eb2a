#include "base/text.h"
#include "store/approvals.h"

bool approval_due(const struct approval *approval)
{
    bool waited = approval->waiter && *approval->waiter
                  && text_starts(approval->waiter, store_boot());
    return approval->state == APPROVAL_APPROVED
           && (approval->run_when_absent || waited);
}

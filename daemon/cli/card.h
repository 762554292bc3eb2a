/* card: a held call as its approver has to see it. */
#ifndef CLI_CARD_H
#define CLI_CARD_H

#include "cli/json.h"

void card_put(struct call *call, const struct node *approval, FILE *out);

/* What an approver types to approve something that cannot be undone: "kill i0abc". */
const char *card_words(struct call *call, const struct node *approval);

/* Whether it has to be typed. */
bool card_grave(const struct node *approval);

#endif

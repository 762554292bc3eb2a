/* json: answers of the API, read by path and printed again.
 *
 * What is printed is printable ASCII (core/writer), so that nothing an agent wrote can
 * reach the terminal as it is. */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include "cli/command.h"
#include "core/doc.h"
#include "core/writer.h"

/* "call.target.id": the member of a member; NULL when there is none. */
const struct node *node_path(const struct node *object, const char *path);
const char *path_text(const struct node *object, const char *path); /* "" when none */

void node_write(const struct node *node, struct writer *w, const char *key);

/* One line on stdout. */
void put_json(struct call *call, const struct node *node);

#endif

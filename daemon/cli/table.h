/* table: a list of an answer as aligned columns, or as JSON lines with --json.
 *
 * On a terminal the one `cut` column is shortened until the lines fit; ids are never
 * cut, and in a pipe nothing is. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include "cli/json.h"

enum cell { CELL_TEXT, CELL_MOMENT, CELL_WALL_US, CELL_YES, CELL_JSON };

struct column {
    const char *title;
    const char *path; /* of the member; several with '|': the first that is there */
    enum cell kind;   /* CELL_YES: the title in small where true, else nothing */
    bool cut;
};

/* `nothing` is said when the list is empty. Told when the list is none. */
int put_list(struct call *call, const struct node *list, const struct column *columns,
             size_t column_count, const char *nothing);

/* What a column shows of one object. */
const char *cell_text(struct call *call, const struct node *object,
                      const struct column *column);

/* "name   value" lines of one object; what is absent is left out. */
void put_members(struct call *call, const struct node *object,
                 const struct column *rows, size_t count);

#endif

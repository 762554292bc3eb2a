#include "cli/table.h"

#include "base/must.h"
#include "base/text.h"
#include "cli/talk.h"
#include "cli/when.h"

#include <string.h>

enum { COLUMNS = 12, PATH = 64, GAP = 2, CUT_LEAST = 12, CELL_CAP = 64 << 10 };

/* ---- cells ---- */

static const struct node *first_there(const struct node *object, const char *paths)
{
    const struct node *found = NULL;
    for (const char *at = paths; *at && !found;) {
        char path[PATH];
        size_t size = strcspn(at, "|");
        must(text_format(path, sizeof(path), "%.*s", (int)size, at));
        found = node_path(object, path);
        at += size + (at[size] == '|');
    }
    return found;
}

static const char *plain_text(struct call *call, const struct node *node)
{
    int64_t number;
    bool truth;
    if (node_kind(node) == NODE_TEXT)
        return safe(call, node_text(node));
    if (node_int(node, &number))
        return words(call, "%lld", (long long)number);
    if (node_bool(node, &truth))
        return truth ? "yes" : "no";
    return "";
}

static const char *list_text(struct call *call, const struct node *list)
{
    const char *all = "";
    for (size_t i = 0; i < node_size(list); i++)
        all = words(call, "%s%s%s", all, *all ? ", " : "",
                    plain_text(call, node_at(list, i)));
    return all;
}

static const char *moment_cell(struct call *call, const struct node *node)
{
    int64_t ms;
    const char *text = node_text(node);
    return text && moment_read(text, &ms) ? moment_text(call, ms)
                                          : plain_text(call, node);
}

/* Unlike names and values with commas, JSON cannot be made to look like more. */
static const char *as_json(struct call *call, const struct node *node)
{
    own_buf out = BUF(CELL_CAP);
    struct writer w = WRITER(&out);
    if (node_size(node) == 0)
        return "";
    node_write(node, &w, NULL);
    return out.failed ? "too large for here; see it with --json"
                      : words(call, "%s", out.data);
}

const char *cell_text(struct call *call, const struct node *object,
                      const struct column *column)
{
    int64_t us;
    bool truth = false;
    const struct node *node = first_there(object, column->path);
    if (!node)
        return "";
    switch (column->kind) {
    case CELL_MOMENT:
        return moment_cell(call, node);
    case CELL_WALL_US:
        return node_int(node, &us) ? moment_text(call, us / 1000) : "";
    case CELL_YES:
        return node_bool(node, &truth) && truth ? column->title : "";
    case CELL_JSON:
        return as_json(call, node);
    case CELL_TEXT:
        break;
    }
    return node_kind(node) == NODE_LIST ? list_text(call, node)
                                        : plain_text(call, node);
}

/* ---- tables ---- */

struct table {
    const struct column *columns;
    size_t column_count, row_count;
    const char **cells; /* row by row, the titles first */
    size_t widths[COLUMNS];
};

static void fill_row(struct call *call, struct table *table, size_t row,
                     const struct node *object)
{
    for (size_t i = 0; i < table->column_count; i++) {
        const struct column *column = &table->columns[i];
        const char *text = object ? cell_text(call, object, column) : column->title;
        size_t size = strlen(text);
        table->cells[row * table->column_count + i] = text;
        if (size > table->widths[i])
            table->widths[i] = size;
    }
}

/* Takes from the cut column what the terminal has not. */
static void fit(const struct call *call, struct table *table)
{
    size_t all = 0, cut = table->column_count;
    for (size_t i = 0; i < table->column_count; i++) {
        all += table->widths[i] + (i > 0 ? GAP : 0);
        if (table->columns[i].cut)
            cut = i;
    }
    if (!call->out_terminal || cut == table->column_count || all <= (size_t)call->width)
        return;
    size_t over = all - (size_t)call->width, width = table->widths[cut];
    table->widths[cut] = width > over + CUT_LEAST ? width - over : CUT_LEAST;
}

static void put_row(struct call *call, const struct table *table, size_t row)
{
    own_buf line = BUF(1 << 20);
    for (size_t i = 0; i < table->column_count; i++) {
        const char *text = table->cells[row * table->column_count + i];
        size_t width = table->widths[i], size = strlen(text);
        if (size > width)
            buf_printf(&line, "%.*s...", (int)width - 3, text);
        else
            buf_printf(&line, "%-*s", (int)width, text);
        buf_text(&line, "  ");
    }
    while (line.size && line.data[line.size - 1] == ' ')
        line.data[--line.size] = '\0';
    put(call, "%s\n", row ? line.data : painted(call, DIM, line.data));
}

static void put_table(struct call *call, struct table *table, const struct node *list)
{
    table->row_count = node_size(list) + 1;
    table->cells = arena_alloc(call->arena, table->row_count * table->column_count
                                                * sizeof(*table->cells));
    must(table->cells && table->column_count <= COLUMNS);
    fill_row(call, table, 0, NULL);
    for (size_t i = 1; i < table->row_count; i++)
        fill_row(call, table, i, node_at(list, i - 1));
    fit(call, table);
    for (size_t i = 0; i < table->row_count; i++)
        put_row(call, table, i);
}

int put_list(struct call *call, const struct node *list, const struct column *columns,
             size_t column_count, const char *nothing)
{
    struct table table = {.columns = columns, .column_count = column_count};
    if (!list || node_kind(list) != NODE_LIST)
        return fail(call, FAILED, "the daemon's answer holds no list");
    if (flag_on(call, "json"))
        for (size_t i = 0; i < node_size(list); i++)
            put_json(call, node_at(list, i));
    else if (node_size(list) == 0)
        say(call, "%s", nothing);
    else
        put_table(call, &table, list);
    return DONE;
}

void put_members(struct call *call, const struct node *object,
                 const struct column *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *text = cell_text(call, object, &rows[i]);
        if (*text)
            put(call, "  %s %s\n",
                painted(call, DIM, words(call, "%-12s", rows[i].title)), text);
    }
}

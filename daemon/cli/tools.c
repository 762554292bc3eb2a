/* tools: E2B's operations as the gateway knows them. */
#include "base/must.h"
#include "base/text.h"
#include "cli/groups.h"
#include "cli/talk.h"
#include "core/catalogue.h"
#include "core/policy_messages.h"
#include "core/writer.h"

enum { LINE_CAP = 64 << 10 };

static const char *const treatments[] = {[TREAT_ALLOW] = "allow",
                                         [TREAT_HOLD] = "hold",
                                         [TREAT_DENY] = "deny",
                                         [TREAT_NEVER] = "never"};

static void put_json_row(struct call *call, const struct operation *operation)
{
    own_buf line = BUF(LINE_CAP);
    struct writer w = WRITER(&line);
    write_open(&w, NULL, '{');
    write_text(&w, "operation", operation->name);
    write_text(&w, "title", operation->title);
    write_text(&w, "effect", effect_name(operation->effect));
    write_text(&w, "default", treatments[operation->treatment]);
    write_text(&w, "tool", operation->tool);
    write_text(&w, "undo", operation->undo);
    write_open(&w, "routes", '[');
    for (const struct route *route = operation->routes; route->method; route++) {
        write_open(&w, NULL, '{');
        write_text(&w, "method", route->method);
        write_text(&w, "path", route->path);
        write_bool(&w, "deprecated", route->deprecated);
        write_bool(&w, "forwarded", route->forwarded);
        write_close(&w, '}');
    }
    write_close(&w, ']');
    write_close(&w, '}');
    put(call, "%s\n", line.data);
}

static const char *route_text(struct call *call, const struct route *route)
{
    return words(call, "%s %s%s%s", route->method, route->path,
                 route->deprecated ? " (old)" : "",
                 route->forwarded ? "" : " (never forwarded)");
}

static void put_row(struct call *call, const struct operation *operation)
{
    put(call, "%-24s %-11s %-7s %-26s %s\n", operation->name,
        effect_name(operation->effect), treatments[operation->treatment],
        operation->tool ? operation->tool : "-", route_text(call, operation->routes));
    for (const struct route *route = operation->routes + 1; route->method; route++)
        put(call, "%71s %s\n", "", route_text(call, route));
}

static const char *field_marks(struct call *call, const struct body_field *field)
{
    return words(call, "%s%s%s", field->required ? " required" : "",
                 field->secret ? " secret" : "", field->clear ? " shown" : "");
}

static void put_operation(struct call *call, const struct operation *operation)
{
    put(call, "%s: %s\n", painted(call, BOLD, operation->name), operation->title);
    for (const struct route *route = operation->routes; route->method; route++)
        put(call, "  route    %s\n", route_text(call, route));
    put(call, "  effect   %s\n  default  %s\n", effect_name(operation->effect),
        treatments[operation->treatment]);
    if (operation->tool)
        put(call, "  tool     %s\n", operation->tool);
    put(call, "  undo     %s\n", operation->undo ? operation->undo : "none");
    for (const struct body_field *field = operation->body; field && field->path;
         field++)
        put(call, "  field    %s%s\n", field->path, field_marks(call, field));
    for (const char *const *fact = operation->facts; fact && *fact; fact++)
        put(call, "  fact     request.%s\n", *fact);
}

static int no_such(struct call *call, const char *name)
{
    char meant[QUOTE];
    struct guess guess = {.word = name};
    for (size_t i = 0; i < catalogue_size; i++)
        guess_try(&guess, catalogue[i].name);
    return fail(call, NOT_FOUND, "no such operation: %s%s", safe(call, name),
                guess_text(meant, &guess));
}

int tools_show(struct call *call)
{
    bool json = flag_on(call, "json");
    if (call->arg_count) {
        const struct operation *operation = operation_named(call->args[0]);
        if (!operation)
            return no_such(call, call->args[0]);
        (json ? put_json_row : put_operation)(call, operation);
        return DONE;
    }
    if (!json)
        put(call, "%s\n",
            painted(call, DIM,
                    words(call, "%-24s %-11s %-7s %-26s %s", "operation", "effect",
                          "default", "tool", "route")));
    for (size_t i = 0; i < catalogue_size; i++)
        (json ? put_json_row : put_row)(call, &catalogue[i]);
    return DONE;
}

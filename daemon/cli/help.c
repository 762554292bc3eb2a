/* Help, all of it from the table. */
#include "base/text.h"
#include "cli/groups.h"
#include "cli/parse.h"
#include "cli/talk.h"

#include <string.h>

enum { FLAG_TEXT = 64 };

static void put_flags(struct call *call, const struct flag *flags)
{
    char text[FLAG_TEXT];
    for (; flags->name; flags++) {
        (void)text_format(text, sizeof(text), "--%s%s%s", flags->name,
                          flags->value ? " " : "", flags->value ? flags->value : "");
        put(call, "  %-26s %s\n", text, flags->help);
    }
}

static void put_usage(struct call *call, const struct command *command)
{
    put(call, "  %-32s %s\n",
        words(call, "%s%s%s", command->name, *command->args ? " " : "", command->args),
        command->summary);
}

static void put_command(struct call *call, const struct command *command)
{
    put(call, "sandgate %s%s%s%s\n\n%s.%s\n", command->name, *command->args ? " " : "",
        command->args, command->flags->name ? " [flags]" : "", command->summary,
        command->via == VIA_LOCAL ? " Needs no daemon." : "");
    if (command->more)
        put(call, "\n%s\n", command->more);
    if (command->flags->name)
        put(call, "\nFlags:\n");
    put_flags(call, command->flags);
    put(call, "\nEverywhere:\n");
    put_flags(call, global_flags);
}

static const char exit_codes[] =
    "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not found, 4 rights needed,\n"
    "  5 still pending, 6 declined, expired or withdrawn, 7 audit not verified,\n"
    "  8 configuration or policy invalid, 75 try again, 130 interrupted.\n";

static void put_all(struct call *call)
{
    put(call,
        "sandgate: approvals, audit and administration of the Sandgate gateway\n\n"
        "Usage: sandgate COMMAND [ARGUMENTS] [flags]\n\nCommands:\n");
    for (size_t i = 0; i < command_count; i++)
        put_usage(call, &commands[i]);
    put(call, "\nEverywhere:\n");
    put_flags(call, global_flags);
    put(call, "\n%s\nMore about one: sandgate help COMMAND\n", exit_codes);
}

int help_group(struct call *call, const char *group)
{
    size_t size = strlen(group);
    if (!*group)
        return help_show(call, NULL);
    put(call, "sandgate %s is one of:\n", group);
    for (size_t i = 0; i < command_count; i++)
        if (text_starts(commands[i].name, group) && commands[i].name[size] == ' ')
            put_usage(call, &commands[i]);
    put(call, "\nMore about one: sandgate help COMMAND\n");
    return DONE;
}

int help_show(struct call *call, const struct command *command)
{
    if (command)
        put_command(call, command);
    else
        put_all(call);
    return DONE;
}

/* `help approvals ls` is read like `approvals ls --help`. */
int run_help(struct call *call)
{
    static char self[] = "sandgate", asked[] = "--help";
    char *argv[ARGS_MAX + 3] = {self};
    struct call about = *call;
    int argc = 1;
    for (size_t i = 0; i < call->arg_count; i++)
        argv[argc++] = arena_text(call->arena, call->args[i]);
    argv[argc++] = asked;
    about.command = NULL;
    about.arg_count = about.given_count = 0;
    return parse(&about, argc, argv);
}

/* Flags may stand anywhere behind the command, global ones before it too; "--" ends
 * them. */
#include "cli/parse.h"

#include "base/must.h"
#include "base/text.h"
#include "cli/talk.h"
#include "core/policy_messages.h"

#include <string.h>

enum { SAID = 128 };

/* ---- flags ---- */

static const struct flag *flag_in(const struct flag *flags, const char *name)
{
    for (; flags && flags->name; flags++)
        if (text_same(flags->name, name))
            return flags;
    return NULL;
}

static const struct flag *flag_named(const struct call *call, const char *name)
{
    const struct flag *flag =
        call->command ? flag_in(call->command->flags, name) : NULL;
    return flag ? flag : flag_in(global_flags, name);
}

static const struct given *given_named(const struct call *call, const char *name)
{
    for (size_t i = 0; i < call->given_count; i++)
        if (text_same(call->given[i].flag->name, name))
            return &call->given[i];
    return NULL;
}

bool flag_on(const struct call *call, const char *name)
{
    return given_named(call, name) != NULL;
}

const char *flag_text(const struct call *call, const char *name)
{
    must(!call->command || flag_named(call, name)); /* no command asks for another's */
    const struct given *given = given_named(call, name);
    return given ? given->value : NULL;
}

static int unknown_flag(struct call *call, const char *name)
{
    char meant[QUOTE];
    struct guess guess = {.word = name};
    const struct flag *own = call->command ? call->command->flags : NULL;
    for (const struct flag *flag = own; flag && flag->name; flag++)
        guess_try(&guess, flag->name);
    for (const struct flag *flag = global_flags; flag->name; flag++)
        guess_try(&guess, flag->name);
    (void)fail(call, USAGE, "no such flag%s: --%s%s",
               call->command ? "" : " before the command", safe(call, name),
               guess_text(meant, &guess));
    hint(call, "see: sandgate help%s%s", call->command ? " " : "",
         call->command ? call->command->name : "");
    return USAGE;
}

/* "-o" and "-h" are the only short ones. */
static const char *long_name(const char *arg)
{
    if (text_same(arg, "-o"))
        return "output";
    return text_same(arg, "-h") ? "help" : arg + strspn(arg, "-");
}

static int take_flag(struct call *call, char *const *argv, int *at)
{
    const char *name = long_name(argv[*at]), *equals = strchr(name, '=');
    if (equals)
        name = words(call, "%.*s", (int)(equals - name), name);
    const struct flag *flag = flag_named(call, name);
    if (!flag)
        return unknown_flag(call, name);
    if (given_named(call, name) || call->given_count == GIVEN_MAX)
        return fail(call, USAGE, "--%s is given twice", name);
    const char *value = equals ? equals + 1 : "";
    if (!flag->value && equals)
        return fail(call, USAGE, "--%s takes no value", name);
    if (flag->value && !equals) {
        if (!argv[*at + 1])
            return fail(call, USAGE, "--%s needs a value: %s", name, flag->value);
        value = argv[++*at];
    }
    call->given[call->given_count++] = (struct given){flag, value};
    return DONE;
}

/* ---- the command's name ---- */

static const struct command *command_named(const char *name)
{
    for (size_t i = 0; i < command_count; i++)
        if (text_same(commands[i].name, name))
            return &commands[i];
    return NULL;
}

static bool begins_a_name(const char *said)
{
    size_t size = strlen(said);
    for (size_t i = 0; i < command_count; i++)
        if (text_starts(commands[i].name, said) && commands[i].name[size] == ' ')
            return true;
    return false;
}

/* Tries the beginnings of all names that have as many words as were said. */
static int unknown_command(struct call *call, const char *said)
{
    char meant[QUOTE];
    struct guess guess = {.word = said};
    for (size_t i = 0; i < command_count; i++) {
        const char *name = commands[i].name, *end = name;
        for (const char *at = said; at && *end; at = strchr(at + 1, ' '))
            end += (end != name) + strcspn(end + (end != name), " ");
        guess_try(&guess, words(call, "%.*s", (int)(end - name), name));
    }
    (void)fail(call, USAGE, "no such command: %s%s", safe(call, said),
               guess_text(meant, &guess));
    hint(call, "see: sandgate help");
    return USAGE;
}

/* Two habits are accepted: `list` for `ls`, and `key ...` for `agent key ...`. */
static int take_name(struct call *call, char *said, const char *word)
{
    char longer[SAID];
    if (*said && text_same(word, "list"))
        word = "ls";
    else if (!*said && text_same(word, "key"))
        word = "agent key";
    if (!text_format(longer, SAID, "%s%s%s", said, *said ? " " : "", word))
        return unknown_command(call, word);
    (void)text_copy(said, SAID, longer);
    call->command = command_named(said);
    return call->command || begins_a_name(said) ? DONE : unknown_command(call, said);
}

/* ---- arguments ---- */

/* "ID [FILE]" takes one or two. */
static void count_args(const char *spec, size_t *least, size_t *most)
{
    *least = *most = 0;
    for (const char *at = spec; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
        ++*most;
        *least += *at != '[';
    }
}

static int check_args(struct call *call)
{
    size_t least, most;
    count_args(call->command->args, &least, &most);
    if (call->arg_count >= least && call->arg_count <= most)
        return DONE;
    return fail(call, USAGE, "%s: usage: sandgate %s %s",
                call->arg_count < least ? "something is missing" : "that is too much",
                call->command->name, call->command->args);
}

static int take_word(struct call *call, char *said, const char *word)
{
    if (!call->command)
        return take_name(call, said, word);
    if (call->arg_count == ARGS_MAX)
        return fail(call, USAGE, "usage: sandgate %s %s", call->command->name,
                    call->command->args);
    call->args[call->arg_count++] = word;
    return DONE;
}

int parse(struct call *call, int argc, char *const *argv)
{
    char said[SAID] = "";
    bool ended = false;
    int code = DONE;
    for (int i = 1; i < argc && !code; i++) {
        if (!ended && text_same(argv[i], "--"))
            ended = true;
        else if (!ended && argv[i][0] == '-' && argv[i][1])
            code = take_flag(call, argv, &i);
        else
            code = take_word(call, said, argv[i]);
    }
    if (code)
        return code;
    if (flag_on(call, "help"))
        return call->command ? help_show(call, call->command) : help_group(call, said);
    if (!call->command && *said) {
        (void)help_group(call, said);
        return USAGE;
    }
    return call->command ? check_args(call) : DONE;
}

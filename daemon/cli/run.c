/* The program between argv and exit code. */
#include "base/must.h"
#include "base/text.h"
#include "cli/api.h"
#include "cli/parse.h"
#include "cli/talk.h"
#include "core/keys.h"
#include "core/tlog.h"

#include <sys/ioctl.h>
#include <unistd.h>

enum { ARENA = 1 << 30, WIDTH = 100 };

static int choose_color(struct call *call)
{
    const char *when = flag_text(call, "color");
    if (text_same(when, "always"))
        call->colored = true;
    else if (text_same(when, "never") || (when && !text_same(when, "auto")))
        call->colored = false;
    if (!when || text_same(when, "auto") || text_same(when, "always")
        || text_same(when, "never"))
        return DONE;
    return fail(call, USAGE, "--color is auto, always or never");
}

static void measure(struct call *call)
{
    struct winsize size;
    call->width = WIDTH;
    if (call->out_terminal && ioctl(fileno(call->out), TIOCGWINSZ, &size) == 0
        && size.ws_col > 0)
        call->width = size.ws_col;
}

static int run(struct call *call, int argc, char *const *argv)
{
    int code = parse(call, argc, argv);
    if (!code && !flag_on(call, "help"))
        code = choose_color(call);
    if (code || flag_on(call, "help"))
        return code;
    if (!call->command) {
        (void)help_show(call, NULL);
        return USAGE;
    }
    if (call->command->via == VIA_DAEMON)
        code = api_place(call);
    return code ? code : call->command->run(call);
}

int cli_run(struct call *call, int argc, char *const *argv)
{
    keys_start();
    tlog_start();
    call->arena = arena_new(ARENA);
    must(call->arena);
    measure(call);
    int code = run(call, argc, argv);
    if (fflush(call->out) != 0 && !code)
        code = fail(call, FAILED, "stdout cannot be written");
    arena_free(call->arena);
    return code;
}

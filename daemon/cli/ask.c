#include "cli/ask.h"

#include "base/files.h"
#include "base/text.h"
#include "cli/talk.h"

#include <string.h>
#include <termios.h>
#include <unistd.h>

enum { LINE = 1024, SECRET_MAX = 4096, CTRL_C = 3 };

static bool possible(const struct call *call)
{
    return call->in_terminal && !flag_on(call, "no-input");
}

static const char *read_line(struct call *call)
{
    char line[LINE];
    if (!fgets(line, sizeof(line), call->in))
        return NULL;
    line[strcspn(line, "\n")] = '\0';
    return words(call, "%s", line);
}

const char *ask_line(struct call *call, const char *question)
{
    if (!possible(call))
        return NULL;
    (void)fprintf(call->talk, "%s ", question);
    (void)fflush(call->talk);
    return read_line(call);
}

int ask_yes(struct call *call, const char *question)
{
    if (flag_on(call, "yes"))
        return DONE;
    if (!possible(call)) {
        (void)fail(call, USAGE, "%s: nobody is there to ask", question);
        hint(call, "say it beforehand with --yes");
        return USAGE;
    }
    const char *answer = ask_line(call, words(call, "%s [y/N]", question));
    if (text_same(answer, "y") || text_same(answer, "yes"))
        return DONE;
    return fail(call, FAILED, "not done");
}

/* ---- secrets ---- */

/* Byte by byte past stdio, so that no copy stays in a stream's buffer.  Ctrl-C comes as
 * a byte while the terminal is quiet: it cannot be left without echo. */
static int read_secret(struct call *call, int fd, struct buf *secret)
{
    char c = 0;
    ssize_t n;
    while ((n = read(fd, &c, 1)) == 1 && c != '\n' && c != '\r' && c != CTRL_C)
        if (!buf_char(secret, c))
            return fail(call, USAGE, "the secret is too long");
    if (c == CTRL_C)
        return INTERRUPTED;
    return n < 0 ? fail(call, FAILED, "stdin cannot be read") : DONE;
}

static int prompt_secret(struct call *call, const char *question, struct buf *secret)
{
    struct termios before, quiet;
    int fd = fileno(call->in);
    if (tcgetattr(fd, &before) != 0)
        return fail(call, FAILED, "the terminal cannot be told to hide what is typed");
    quiet = before;
    quiet.c_lflag &= (tcflag_t) ~(unsigned)(ECHO | ISIG);
    (void)fprintf(call->talk, "%s (not shown): ", question);
    (void)fflush(call->talk);
    (void)tcsetattr(fd, TCSAFLUSH, &quiet);
    int code = read_secret(call, fd, secret);
    (void)tcsetattr(fd, TCSAFLUSH, &before);
    (void)fputc('\n', call->talk);
    return code;
}

static int from_file(struct call *call, const char *path, struct buf *secret)
{
    char error[FILES_ERROR];
    if (!file_read(path, secret, error))
        return fail(call, FAILED, "%s", error);
    return DONE;
}

int ask_secret(struct call *call, const char *file_flag, const char *question,
               struct buf *secret)
{
    *secret = BUF(SECRET_MAX);
    const char *file = flag_text(call, file_flag);
    int code;
    if (file) {
        code = from_file(call, file, secret);
    } else if (possible(call)) {
        code = prompt_secret(call, question, secret);
    } else if (call->in_terminal) {
        code = fail(call, USAGE, "%s: give it with --%s FILE or on stdin", question,
                    file_flag);
    } else {
        code = read_secret(call, fileno(call->in), secret);
    }
    while (!code && secret->size && strchr("\r\n", secret->data[secret->size - 1]))
        secret->data[--secret->size] = '\0';
    if (!code && secret->size == 0)
        code = fail(call, USAGE, "%s: nothing was given (--%s FILE, or stdin)",
                    question, file_flag);
    return code;
}

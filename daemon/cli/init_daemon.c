/* Starting the daemon in the background, where no service manager does. */
#include "base/clock.h"
#include "base/must.h"
#include "base/text.h"
#include "cli/api.h"
#include "cli/init.h"
#include "cli/talk.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH = 4096, START_MS = 20000, LOOK_US = 50000, TAIL = 2000, NO_PROGRAM = 127 };

bool init_alive(struct call *call)
{
    own_answer answer = {.status = 0};
    api_try(call, "GET", "/api/v1/status", NULL, &answer);
    return answer.status != 0;
}

/* Beside this program, or wherever PATH says. */
static const char *program(struct call *call)
{
    char self[PATH];
    ssize_t size = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (size > 0) {
        self[size] = '\0';
        *strrchr(self, '/') = '\0';
        const char *beside = words(call, "%s/sandgated", self);
        if (access(beside, X_OK) == 0)
            return beside;
    }
    return "sandgated";
}

/* In the child: no way back, no stdio. */
static _Noreturn void become_daemon(const char *binary, const char *config, int log)
{
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    (void)setsid();
    if (null >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(log, STDOUT_FILENO) >= 0
        && dup2(log, STDERR_FILENO) >= 0)
        (void)execlp(binary, binary, "--config", config, (char *)NULL);
    _exit(NO_PROGRAM);
}

static void put_tail(struct call *call, const char *path)
{
    char bytes[TAIL + 1];
    FILE *file = fopen(path, "re");
    if (!file)
        return;
    (void)(fseek(file, -TAIL, SEEK_END) != 0 && fseek(file, 0, SEEK_SET) != 0);
    size_t size = fread(bytes, 1, TAIL, file);
    bytes[size] = '\0';
    (void)fclose(file);
    for (const char *at = bytes; *at;) {
        size_t line = strcspn(at, "\n");
        hint(call, "%s", safe(call, words(call, "%.*s", (int)line, at)));
        at += line + (at[line] == '\n');
    }
}

static int await(struct call *call, pid_t child, const char *binary, const char *log)
{
    int status;
    int64_t until = clock_mono_ms() + START_MS;
    while (clock_mono_ms() < until) {
        if (init_alive(call))
            return DONE;
        if (waitpid(child, &status, WNOHANG) == child) {
            if (WIFEXITED(status) && WEXITSTATUS(status) == NO_PROGRAM)
                return fail(call, FAILED, "%s cannot be run: is it installed?", binary);
            (void)fail(call, FAILED, "sandgated did not start; the end of %s:", log);
            put_tail(call, log);
            return FAILED;
        }
        (void)usleep(LOOK_US);
    }
    return fail(call, TRY_AGAIN, "sandgated does not answer yet; see %s", log);
}

int init_start(struct call *call, const struct plan *plan)
{
    const char *binary = program(call);
    const char *path = plan->dir ? words(call, "%s/sandgated.log", plan->dir)
                                 : "/var/log/sandgated.log";
    int log = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
                   S_IRUSR | S_IWUSR);
    if (log < 0)
        return fail(call, FAILED, "%s: %s", path, strerrordesc_np(errno));
    (void)fflush(NULL); /* the child must not print it again */
    pid_t child = fork();
    if (child == 0)
        become_daemon(binary, plan->where.file, log);
    (void)close(log);
    if (child < 0)
        return fail(call, FAILED, "no process can be started: %s",
                    strerrordesc_np(errno));
    int code = await(call, child, binary, path);
    if (!code)
        init_tell(call, "done", words(call, "%s, process %d", binary, (int)child),
                  "daemon started");
    return code;
}

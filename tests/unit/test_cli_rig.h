/* The rig of the command line's tests: `sandgate` run inside the test with its streams
 * in memory, and a daemon that answers from a table and remembers what it was asked. */
#ifndef TESTS_CLI_RIG_H
#define TESTS_CLI_RIG_H

#include "test.h"

#include "base/text.h"
#include "cli/command.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define RIG __attribute__((unused)) static

enum { RIG_WORDS = 32, RIG_ASKED = 64, RIG_BYTES = 64 << 10, RIG_PATH = 108 };

/* ---- running ---- */

struct ran {
    int code;
    char *out, *talk; /* whole; the next run frees them */
};

/* What stands on stdin; NULL: an empty pipe. `terminal`: somebody sits there. */
struct setting {
    const char *input;
    bool terminal;
    int width;
};

static struct ran ran;

static size_t split(char *line, char **argv)
{
    size_t argc = 0;
    for (char *at = line; *at; argc++) {
        char end = *at == '\'' ? '\'' : ' ';
        at += end == '\'';
        must(argc < RIG_WORDS - 1);
        argv[argc] = at;
        at += strcspn(at, (char[2]){end, '\0'});
        if (*at)
            *at++ = '\0';
        at += strspn(at, " ");
    }
    argv[argc] = NULL;
    return argc;
}

/* "approvals ls --state 'a b'"; single quotes keep words together. */
RIG struct ran run_with(const struct setting *setting, const char *line)
{
    char words[4096], *argv[RIG_WORDS];
    size_t out_size, talk_size;
    FILE *in = tmpfile();
    must(in && text_format(words, sizeof(words), "sandgate %s", line));
    (void)fputs(setting->input ? setting->input : "", in);
    rewind(in);
    (void)lseek(fileno(in), 0, SEEK_SET);
    free(ran.out);
    free(ran.talk);
    struct call call = {.in = in,
                        .in_terminal = setting->terminal,
                        .out_terminal = setting->terminal,
                        .out = open_memstream(&ran.out, &out_size),
                        .talk = open_memstream(&ran.talk, &talk_size)};
    must(call.out && call.talk);
    size_t argc = split(words, argv);
    ran.code = cli_run(&call, (int)argc, argv);
    (void)fclose(call.out);
    (void)fclose(call.talk);
    (void)fclose(in);
    return ran;
}

RIG struct ran run(const char *line)
{
    return run_with(&(struct setting){.input = NULL}, line);
}

/* ---- a folder of its own ---- */

static char folder[64];

static void remove_folder(void)
{
    char command[128];
    (void)text_format(command, sizeof(command), "rm -rf %s", folder);
    if (folder[0] && system(command) != 0)
        (void)fprintf(stderr, "%s stays\n", folder);
}

RIG const char *in_folder(const char *name)
{
    static char paths[8][RIG_PATH];
    static unsigned turn;
    if (!folder[0]) {
        must(text_copy(folder, sizeof(folder), "/tmp/sandgate-cli-XXXXXX"));
        must(mkdtemp(folder));
        must(atexit(remove_folder) == 0);
    }
    char *path = paths[turn++ % 8];
    must(text_format(path, RIG_PATH, "%s/%s", folder, name));
    return path;
}

RIG void write_text_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");
    must(file);
    (void)fputs(text, file);
    must(fclose(file) == 0);
}

RIG const char *read_text_file(const char *path)
{
    static char text[RIG_BYTES];
    FILE *file = fopen(path, "re");
    if (!file)
        return NULL;
    size_t size = fread(text, 1, sizeof(text) - 1, file);
    text[size] = '\0';
    (void)fclose(file);
    return text;
}

/* ---- a daemon ---- */

struct said {
    const char *start; /* of "METHOD /path", the first row that fits answers */
    int status;
    const char *body;
};

static struct {
    const struct said *said;
    char asked[RIG_ASKED][4096]; /* "METHOD /path body" */
    size_t count;
    int listener;
    pthread_t thread;
    pthread_mutex_t lock;
} played = {.listener = -1, .lock = PTHREAD_MUTEX_INITIALIZER};

static const struct said *answer_to(const char *request)
{
    const struct said *row = played.said;
    while (row->start && !text_starts(request, row->start))
        row++;
    return row;
}

static void answer_one(int fd)
{
    static char request[RIG_BYTES];
    static char answer[RIG_BYTES];
    size_t size = 0, body = 0, length = 0;
    const char *end = NULL;
    while (!end || size < body + length) {
        ssize_t n = read(fd, request + size, sizeof(request) - 1 - size);
        if (n <= 0)
            return;
        size += (size_t)n;
        request[size] = '\0';
        end = strstr(request, "\r\n\r\n");
        const char *header = strstr(request, "Content-Length: ");
        length = header ? strtoul(header + 16, NULL, 10) : 0;
        body = end ? (size_t)(end + 4 - request) : 0;
    }
    (void)pthread_mutex_lock(&played.lock);
    char *asked = played.asked[played.count++ % RIG_ASKED];
    (void)text_format(asked, sizeof(played.asked[0]), "%.*s%s%s",
                      (int)(strstr(request, " HTTP/") - request), request,
                      length ? " " : "", request + body);
    const struct said *row = answer_to(asked);
    (void)pthread_mutex_unlock(&played.lock);
    const char *text = row->start ? row->body
                                  : "{\"code\":404,\"error_code\":\"not_found\","
                                    "\"message\":\"no such thing\"}";
    must(text_format(answer, sizeof(answer),
                     "HTTP/1.1 %d Said\r\nContent-Length: %zu\r\n"
                     "Content-Type: application/json\r\nConnection: close\r\n\r\n%s",
                     row->start ? row->status : 404, strlen(text), text));
    for (size_t at = 0, all = strlen(answer); at < all;) {
        ssize_t n = write(fd, answer + at, all - at);
        if (n <= 0)
            return;
        at += (size_t)n;
    }
}

static void *answer_all(void *unused)
{
    for (;;) {
        int fd = accept(played.listener, NULL, NULL);
        if (fd < 0)
            return unused;
        answer_one(fd);
        (void)close(fd);
    }
}

/* Answers at `path` from now on; ended by rig_stop. Rows end with a NULL start. */
RIG void rig_play(const char *path, const struct said *said)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    must(text_copy(address.sun_path, sizeof(address.sun_path), path));
    (void)unlink(path);
    played.said = said;
    played.count = 0;
    played.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    must(bind(played.listener, (const struct sockaddr *)&address, sizeof(address))
         == 0);
    must(listen(played.listener, 16) == 0);
    must(pthread_create(&played.thread, NULL, answer_all, NULL) == 0);
}

RIG void rig_stop(const char *path)
{
    (void)shutdown(played.listener, SHUT_RDWR);
    (void)pthread_join(played.thread, NULL);
    (void)close(played.listener);
    (void)unlink(path);
    played.listener = -1;
}

/* How often something was asked that starts so. */
RIG size_t asked_count(const char *start)
{
    size_t count = 0;
    for (size_t i = 0; i < played.count && i < RIG_ASKED; i++)
        count += text_starts(played.asked[i], start);
    return count;
}

RIG const char *asked(const char *start)
{
    for (size_t i = 0; i < played.count && i < RIG_ASKED; i++)
        if (text_starts(played.asked[i], start))
            return played.asked[i];
    return NULL;
}

/* One command against one set of answers. */
RIG struct ran run_against(const struct said *said, const struct setting *setting,
                           const char *line)
{
    char whole[4096];
    const char *path = in_folder("daemon.sock");
    rig_play(path, said);
    must(text_format(whole, sizeof(whole), "--socket %s %s", path, line));
    struct ran result =
        run_with(setting ? setting : &(struct setting){.input = NULL}, whole);
    rig_stop(path);
    return result;
}

#endif

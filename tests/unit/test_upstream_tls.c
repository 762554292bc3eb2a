/* Real TLS: `openssl s_server` is a pipe here, and the answers are made by the test.
 * Without that program the tests say so and pass. */
#include "test_upstream_rig.h"

#include <fcntl.h>
#include <sys/wait.h>

struct tls_server {
    char folder[64], url[64], ca[96];
    int to, from;
    pid_t process;
    int requests;
};

static bool have_openssl(void)
{
    bool have = system("openssl version >/dev/null 2>&1") == 0;
    if (!have)
        (void)fprintf(stderr, "no openssl program: skipped\n");
    return have;
}

static void shell(const char *format, const char *folder)
{
    char command[1024];
    (void)snprintf(command, sizeof(command), format, folder);
    must(system(command) == 0);
}

/* An authority of its own, and a certificate by it for `localhost`. */
static void make_certificates(const char *folder)
{
    shell("cd %s && { openssl ecparam -genkey -name prime256v1 -out ca.key &&"
          " openssl req -x509 -new -key ca.key -days 2 -subj /CN=test-authority -out "
          "ca.pem"
          " && openssl ecparam -genkey -name prime256v1 -out key.pem &&"
          " openssl req -new -key key.pem -subj /CN=localhost -out csr.pem &&"
          " printf 'subjectAltName=DNS:localhost\\n' >ext &&"
          " openssl x509 -req -in csr.pem -CA ca.pem -CAkey ca.key -CAcreateserial "
          "-days 2"
          " -extfile ext -out cert.pem; } >log 2>&1",
          folder);
}

static void launch(struct tls_server *server, int port)
{
    int to[2], from[2];
    char number[16];
    (void)snprintf(number, sizeof(number), "%d", port);
    must(!pipe2(to, O_CLOEXEC) && !pipe2(from, O_CLOEXEC));
    server->process = fork();
    must(server->process >= 0);
    if (server->process == 0) {
        must(!chdir(server->folder));
        must(dup2(to[0], 0) >= 0 && dup2(from[1], 1) >= 0);
        must(freopen("/dev/null", "w", stderr));
        execlp("openssl", "openssl", "s_server", "-quiet", "-accept", number, "-cert",
               "cert.pem", "-key", "key.pem", (char *)NULL);
        _exit(99);
    }
    close(to[0]);
    close(from[1]);
    server->to = to[1];
    server->from = from[0];
}

static void await_listener(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                  .sin_port = htons((uint16_t)port)};
    bool there = false;
    for (int i = 0; i < 5000 && !there; i++) {
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        there = !connect(fd, (const struct sockaddr *)&address, sizeof(address));
        close(fd);
        if (!there)
            (void)poll(NULL, 0, 1);
    }
    OK(there);
}

static void tls_start(struct tls_server *server)
{
    int port;
    *server = (struct tls_server){.folder = "/tmp/sandgate-tls-XXXXXX"};
    must(mkdtemp(server->folder));
    make_certificates(server->folder);
    close(bind_loopback(&port, -1));
    (void)snprintf(server->url, sizeof(server->url), "https://localhost:%d", port);
    (void)snprintf(server->ca, sizeof(server->ca), "%s/ca.pem", server->folder);
    launch(server, port);
    await_listener(port);
}

static void tls_stop(struct tls_server *server)
{
    close(server->to);
    close(server->from);
    (void)kill(server->process, SIGKILL);
    must(waitpid(server->process, NULL, 0) == server->process);
    shell("rm -rf %s", server->folder);
}

/* Answers `count` requests with `text`, then returns. */
struct answering {
    struct tls_server *server;
    const char *text;
    int count;
};

/* Reads a request, whose body goes into the void. */
static void read_piped(const struct tls_server *server)
{
    char seen[SEEN], *end = NULL;
    size_t size = 0, body = 0;
    while (!end || body < body_due(seen)) {
        size_t keep = end ? (size_t)(end + 4 - seen) : size;
        ssize_t got = read(server->from, seen + keep, sizeof(seen) - 1 - keep);
        must(got > 0);
        size = keep + (size_t)got;
        seen[size] = '\0';
        bool had_end = end;
        end = strstr(seen, "\r\n\r\n");
        if (end)
            body += had_end ? (size_t)got : size - (size_t)(end + 4 - seen);
    }
}

static void *answer(void *context)
{
    const struct answering *answering = context;
    struct tls_server *server = answering->server;
    while (server->requests < answering->count) {
        read_piped(server);
        server->requests++;
        size_t due = strlen(answering->text);
        for (size_t at = 0; at < due;) {
            ssize_t put = write(server->to, answering->text + at, due - at);
            must(put > 0);
            at += (size_t)put;
        }
    }
    return NULL;
}

TEST(upstream_speaks_tls_to_whom_it_can_verify)
{
    if (!have_openssl())
        return;
    struct tls_server server;
    tls_start(&server);
    struct rig rig = {.config.ca_file = server.ca};
    rig_start(&rig);
    struct answering answering = {&server, OK_HI, 4};
    pthread_t thread;
    must(!pthread_create(&thread, NULL, answer, &answering));
    for (int i = 0; i < 3; i++) { /* on one connection, past the tickets of TLS 1.3 */
        struct call call = call_make(server.url, true);
        call_run(&rig, &call);
        EQ_TEXT(call.transfer.why, "");
        EQ_INT(call.transfer.result, TRANSFER_ANSWERED);
        EQ_TEXT(call_answer(&call), "hi");
        call_free(&call);
    }
    rig_stop(&rig);
    rig_start(&rig); /* s_server serves one connection at a time */
    struct call write = call_make(server.url, false);
    call_run(&rig, &write);
    EQ_INT(write.transfer.result, TRANSFER_ANSWERED);
    call_free(&write);
    must(!pthread_join(thread, NULL));
    rig_stop(&rig);
    tls_stop(&server);
}

TEST(upstream_carries_large_bodies_over_tls)
{
    enum { SIZE = 3000000 };
    static char said[SIZE + 128], body[SIZE + 1];
    if (!have_openssl())
        return;
    int head = snprintf(said, sizeof(said),
                        "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", SIZE);
    memset(said + head, 'a', SIZE);
    memset(body, 'b', SIZE);
    struct tls_server server;
    tls_start(&server);
    struct rig rig = {.config.ca_file = server.ca};
    rig_start(&rig);
    struct answering answering = {&server, said, 1};
    pthread_t thread;
    must(!pthread_create(&thread, NULL, answer, &answering));
    struct call call = call_make(server.url, false);
    call.transfer.body = body;
    call.transfer.body_size = SIZE;
    call_run(&rig, &call);
    EQ_TEXT(call.transfer.why, "");
    EQ_INT(call.transfer.answer.size, SIZE);
    EQ_INT(strspn(call_answer(&call), "a"), SIZE);
    call_free(&call);
    must(!pthread_join(thread, NULL));
    rig_stop(&rig);
    tls_stop(&server);
}

TEST(upstream_sends_nothing_to_whom_it_cannot_verify)
{
    if (!have_openssl())
        return;
    struct tls_server server;
    tls_start(&server);
    char by_address[64];
    (void)snprintf(by_address, sizeof(by_address), "https://127.0.0.1%s",
                   strrchr(server.url, ':'));
    const struct {
        const char *name, *url, *ca;
    } cases[] = {
        {"unknown authority",   server.url, NULL             },
        {"another host's name", by_address, server.ca        },
        {"no such file",        server.url, "/does/not/exist"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        CASE("%s", cases[i].name);
        struct rig rig = {.config.ca_file = cases[i].ca};
        rig_start(&rig);
        struct call call = call_make(cases[i].url, false);
        call_run(&rig, &call);
        EQ_INT(call.transfer.result, TRANSFER_NOT_SENT);
        OK(call.transfer.why[0]);
        EQ_INT(call.sent, 0);
        call_free(&call);
        rig_stop(&rig);
    }
    tls_stop(&server);
}

TEST(upstream_does_not_speak_plainly_to_a_tls_url)
{
    struct server server = {.scripts = {{{{SAY, OK_HI}, {HANG, NULL}}}}};
    struct rig rig = {0};
    char url[64];
    server_start(&server);
    rig_start(&rig);
    (void)snprintf(url, sizeof(url), "https://127.0.0.1:%d", server.port);
    struct call call = call_make(url, false);
    call_run(&rig, &call);
    EQ_INT(call.transfer.result, TRANSFER_NOT_SENT);
    EQ_INT(call.sent, 0);
    call_free(&call);
    rig_stop(&rig);
    server_stop(&server);
}

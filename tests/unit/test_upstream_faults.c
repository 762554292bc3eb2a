/* Failpoints, a resolver that hangs, and memory that runs out. */
#include "test_upstream_rig.h"

#include "base/clock.h"

#include <netdb.h>
#include <sys/wait.h>

/* ---- a resolver under control: libcurl finds this one first ---- */

static sem_t resolver_may_go;
static int resolving, resolved; /* atomic */

int getaddrinfo(const char *restrict name, const char *restrict service,
                const struct addrinfo *restrict hints, struct addrinfo **restrict out)
{
    (void)name;
    (void)service;
    (void)hints;
    (void)out;
    (void)__atomic_add_fetch(&resolving, 1, __ATOMIC_SEQ_CST);
    while (sem_wait(&resolver_may_go))
        continue;
    (void)__atomic_add_fetch(&resolved, 1, __ATOMIC_SEQ_CST);
    return EAI_AGAIN;
}

static void await(const int *counter, int value)
{
    for (int i = 0; i < 5000 && __atomic_load_n(counter, __ATOMIC_SEQ_CST) < value; i++)
        (void)poll(NULL, 0, 1);
    EQ_INT(__atomic_load_n(counter, __ATOMIC_SEQ_CST), value);
}

TEST(upstream_does_not_wait_for_a_resolver_that_hangs)
{
    static const struct {
        int64_t connect_ms, answer_ms;
    } limits[] = {
        {100, 0  },
        {0,   100}
    };
    must(!sem_init(&resolver_may_go, 0, 0));
    for (size_t i = 0; i < COUNT(limits); i++) {
        struct rig rig = {
            .config = {.connect_ms = limits[i].connect_ms,
                       .answer_ms = limits[i].answer_ms}
        };
        rig_start(&rig);
        struct call call = call_make("http://somewhere.invalid", false);
        int64_t began = clock_mono_ms();
        call_run(&rig, &call);
        EQ_INT(call.transfer.result, TRANSFER_NOT_SENT_LATE);
        call_free(&call);
        rig_stop(&rig);
        OK(clock_mono_ms() - began < 5000);
        EQ_INT(__atomic_load_n(&resolved, __ATOMIC_SEQ_CST), (int)i);
        EQ_INT(__atomic_load_n(&resolving, __ATOMIC_SEQ_CST), (int)i + 1);
        must(!sem_post(&resolver_may_go));
        await(&resolved, (int)i + 1);
    }
    (void)poll(NULL, 0, 20); /* its thread frees what it had and goes */
}

/* ---- failpoints: read from the environment at the start, so in a child ---- */

#ifdef SANDGATE_FAULTS
static int run_child(const char *test, const char *variable, const char *value)
{
    int status = 0;
    pid_t child = fork();
    must(child >= 0);
    if (child == 0) {
        must(!setenv(variable, value, 1));
        must(freopen("/dev/null", "w", stdout));
        execl("/proc/self/exe", "child", test, (char *)NULL);
        _exit(99);
    }
    must(waitpid(child, &status, 0) == child);
    return status;
}

static void send_one(enum transfer_result *result, int *sent, int *requests, bool read)
{
    struct server server = {.scripts = {{{{READ, NULL}, {HANG, NULL}}}}};
    struct rig rig = {0};
    server_start(&server);
    rig_start(&rig);
    struct call call = call_make(server.url, read);
    call_run(&rig, &call);
    *result = call.transfer.result;
    *sent = call.sent;
    call_free(&call);
    rig_stop(&rig);
    server_stop(&server);
    *requests = server.requests;
}

TEST(failpoint_before_send_leaves_nothing_sent)
{
    enum transfer_result result;
    int sent, requests;
    if (!getenv("SANDGATE_FAIL")) {
        EQ_INT(run_child("failpoint_before_send", "SANDGATE_FAIL", "before_send:error"),
               0);
        return;
    }
    for (int read = 0; read < 2; read++) {
        send_one(&result, &sent, &requests, read);
        EQ_INT(result, TRANSFER_NOT_SENT);
        EQ_INT(sent, 0);
        EQ_INT(requests, 0);
    }
}

TEST(failpoint_after_send_loses_the_answer)
{
    enum transfer_result result;
    int sent, requests;
    if (!getenv("SANDGATE_FAIL")) {
        EQ_INT(run_child("failpoint_after_send", "SANDGATE_FAIL", "after_send:error"),
               0);
        return;
    }
    for (int read = 0; read < 2; read++) {
        send_one(&result, &sent, &requests, read);
        EQ_INT(result, TRANSFER_LOST);
        EQ_INT(sent, 1);
    }
}

TEST(failpoints_can_kill)
{
    static const char *const points[] = {"before_send:abort", "after_send:abort"};
    enum transfer_result result;
    int sent, requests;
    if (getenv("SANDGATE_FAIL")) {
        send_one(&result, &sent, &requests, false);
        return;
    }
    for (size_t i = 0; i < COUNT(points); i++) {
        CASE("%s", points[i]);
        int status = run_child("failpoints_can_kill", "SANDGATE_FAIL", points[i]);
        OK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
}

/* Whichever allocation fails, the transfer ends once and says so; only the very first,
 * at start-up, aborts. */
TEST(upstream_outlives_each_failing_allocation)
{
    if (getenv("SANDGATE_FAIL_ALLOC")) {
        struct server server = {
            .scripts = {{{{READ, NULL}, {SAY, CHUNKED_HI}, {HANG, NULL}}}}};
        struct rig rig = {0};
        server_start(&server);
        rig_start(&rig);
        struct call call = call_make(server.url, false);
        call_run(&rig, &call);
        EQ_INT(call.transfer.result == TRANSFER_ANSWERED, !call.transfer.why[0]);
        call_free(&call);
        rig_stop(&rig);
        server_stop(&server);
        return;
    }
    for (int i = 1; i <= 8; i++) {
        char number[16];
        (void)snprintf(number, sizeof(number), "%d", i);
        CASE("allocation %d", i);
        int status = run_child("upstream_outlives", "SANDGATE_FAIL_ALLOC", number);
        OK(status == 0
           || (i == 1 && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT));
    }
}
#endif

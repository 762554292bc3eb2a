#include "lanes.h"

#include "base/clock.h"
#include "base/embedded.h"
#include "base/files.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/must.h"
#include "base/text.h"
#include "exchange/world.h"
#include "front/front.h"

#include <string.h>
#include <unistd.h>

enum {
    DRAIN_MS = 100000,
    TURN_MS = 20,
    HEAD_MS = 15000,
    BODY_MS = 30000,
    IDLE_MS = 620000, /* longer than any client keeps an idle connection */
    CONNECTION_MEMORY = 16 << 10,
    CONTROL_CONNECTIONS = 256,
};

static struct {
    struct front *fronts[WORKERS_MAX];
    int agents_fd, metrics_fd, admin_fd;
    const char *admin_socket;
    uint64_t turns[WORKERS_MAX];
} lanes = {.agents_fd = -1, .metrics_fd = -1, .admin_fd = -1};

/* /run is empty after every boot. */
static bool make_folder_of(const char *socket)
{
    char folder[CONFIG_TEXT], error[FILES_ERROR];
    const char *slash = strrchr(socket, '/');
    if (*socket != '/' || slash == socket)
        return true;
    (void)text_format(folder, sizeof(folder), "%.*s", (int)(slash - socket), socket);
    if (folder_make(folder, 0755, error))
        return true;
    log_error("listen", "%s", error);
    return false;
}

static int start_listening(const struct config *config)
{
    char error[FRONT_ERROR];
    const struct {
        const char *address;
        int *fd;
    } rows[] = {
        {config->agents_listen,  &lanes.agents_fd },
        {config->admin_socket,   &lanes.admin_fd  },
        {config->metrics_listen, &lanes.metrics_fd}
    };
    if (!make_folder_of(config->admin_socket))
        return LANES_EXIT_SYSTEM;
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (!*rows[i].address)
            continue;
        *rows[i].fd = front_listen(rows[i].address, error);
        if (*rows[i].fd < 0) {
            log_error("listen", "%s", error);
            return LANES_EXIT_SYSTEM;
        }
    }
    return 0;
}

static void make_worker(struct worker *worker, size_t index,
                        const struct config *config)
{
    const struct upstream_config upstream = {
        .connect_ms = config->connect_ms,
        .answer_ms = config->answer_ms,
        .idle_ms = config->idle_ms,
        .connections_max = (size_t)config->upstream_connections,
        .header_max = 64 << 10,
        .body_max = 16 << 20,
        .ca_file = *config->ca_file ? config->ca_file : NULL};
    worker->index = index;
    worker->control = index + 1 == world.worker_count;
    worker->loop = loop_new();
    worker->upstream = upstream_new(worker->loop, &upstream);
    must(worker->upstream);
}

static struct front *make_front(struct worker *worker, const struct config *config)
{
    const struct front_config front = {.memory = CONNECTION_MEMORY,
                                       .head_ms = HEAD_MS,
                                       .body_ms = BODY_MS,
                                       .idle_ms = IDLE_MS};
    size_t loops = world.worker_count - 1;
    size_t share = ((size_t)config->agent_connections + loops - 1) / loops;
    const struct listener agents = {LISTEN_AGENTS, lanes.agents_fd, share};
    const struct listener control[] = {
        {LISTEN_ADMIN,   lanes.admin_fd,   CONTROL_CONNECTIONS},
        {LISTEN_METRICS, lanes.metrics_fd, CONTROL_CONNECTIONS}
    };
    size_t controls = lanes.metrics_fd >= 0 ? 2 : 1;
    return worker->control ? front_new(worker, &front, control, controls)
                           : front_new(worker, &front, &agents, 1);
}

static int make_workers(const struct config *config)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t loops = config->loops ? (size_t)config->loops
                                 : (size_t)(cores < 1    ? 1
                                            : cores > 64 ? 64
                                                         : cores);
    world.worker_count = loops + 1;
    world.workers = memory_new(world.worker_count * sizeof(*world.workers));
    must(world.workers);
    world.approve_hint = config->approve_hint;
    world.cooldown_ms = config->cooldown_s * 1000;
    world.answer_ms = config->answer_ms;
    world.runs_max = (size_t)config->runs_max;
    for (size_t i = 0; i < world.worker_count; i++) {
        make_worker(&world.workers[i], i, config);
        lanes.fronts[i] = make_front(&world.workers[i], config);
        if (!lanes.fronts[i])
            return LANES_EXIT_SYSTEM;
    }
    sweep_start();
    for (size_t i = 0; i < world.worker_count; i++)
        worker_start(&world.workers[i]);
    executor_recover();
    return 0;
}

/* ---- stopping ---- */

struct order {
    struct task task;
    struct front *front;
    struct worker *worker;
    struct link link;
    struct inbox *done;
    size_t open;
};

static void quiesce(struct task *task)
{
    struct order *order = container_of(task, struct order, task);
    front_quiesce(order->front);
    inbox_send(order->done, &order->link);
}

static void count_open(struct task *task)
{
    struct order *order = container_of(task, struct order, task);
    order->open = order->worker->open;
    inbox_send(order->done, &order->link);
}

/* Runs `what` on every worker's loop and adds up what it counted. */
static size_t everywhere(void (*what)(struct task *task))
{
    static struct order orders[WORKERS_MAX];
    struct inbox done;
    size_t answers = 0, open = 0;
    inbox_init(&done, false);
    for (size_t i = 0; i < world.worker_count; i++) {
        orders[i] = (struct order){.task.run = what,
                                   .front = lanes.fronts[i],
                                   .worker = &world.workers[i],
                                   .done = &done};
        loop_post(world.workers[i].loop, &orders[i].task);
    }
    while (answers < world.worker_count)
        for (struct link *link = inbox_wait(&done, -1); link; link = link->next) {
            open += container_of(link, struct order, link)->open;
            answers++;
        }
    inbox_destroy(&done);
    return open;
}

static size_t on_their_way(void)
{
    size_t count = 0;
    for (size_t i = 0; i < world.worker_count; i++)
        count += upstream_in_flight(world.workers[i].upstream);
    return count;
}

bool lanes_drain(void)
{
    int64_t until = clock_mono_ms() + DRAIN_MS;
    log_info("stop", "draining");
    drain_start();
    (void)everywhere(quiesce);
    while (everywhere(count_open) > 0) {
        if (clock_mono_ms() >= until) {
            log_error("stop", "calls still on their way to E2B: %zu", on_their_way());
            return false;
        }
        (void)usleep(TURN_MS * 1000);
    }
    return true;
}

void lanes_watch(void)
{
    for (size_t i = 0; i < world.worker_count; i++) {
        uint64_t turns = loop_turns(world.workers[i].loop);
        if (turns == lanes.turns[i])
            log_error("watch", "loop %zu stands still", i);
        lanes.turns[i] = turns;
    }
}

void lanes_stop(void)
{
    for (size_t i = 0; i < world.worker_count; i++)
        worker_stop(&world.workers[i]);
    for (size_t i = 0; i < world.worker_count; i++) {
        front_free(lanes.fronts[i]);
        upstream_free(world.workers[i].upstream);
    }
    (void)unlink(lanes.admin_socket);
}

void lanes_free(void)
{
    for (size_t i = 0; i < world.worker_count; i++)
        loop_free(world.workers[i].loop);
    memory_free(world.workers);
}

/* systemd's protocol is one datagram; without a socket there is nobody to tell. */
static void tell_ready(const struct config *config)
{
    char agents[128], metrics[128] = "off";
    front_address(lanes.agents_fd, agents);
    if (lanes.metrics_fd >= 0)
        front_address(lanes.metrics_fd, metrics);
    log_info("ready", "agents=http://%s metrics=%s admin=%s version=%s", agents,
             metrics, config->admin_socket, embedded_version);
}

int lanes_start(const struct config *config)
{
    int code = start_listening(config);
    if (!code)
        code = make_workers(config);
    if (code)
        return code;
    lanes.admin_socket = config->admin_socket;
    tell_ready(config);
    return 0;
}

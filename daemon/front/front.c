#include "front/front.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/must.h"
#include "front/clients.h"

enum { SWEEP_MS = 2000, HEADERS_MAX = 1 << 20, TEXT_MAX = 64 << 10 };

static const struct front_config usual = {
    .memory = 16 << 10, .head_ms = 15000, .body_ms = 30000, .idle_ms = 620000};

/* Runs what was touched. What that touches anew has its turn after the next events. */
static int turn(void *context)
{
    struct front *front = context;
    struct micro *micro = front->due;
    front->due = NULL;
    front->due_last = &front->due;
    for (struct micro *next; micro; micro = next) {
        next = micro->next;
        micro->due = false;
        micro_run(micro);
    }
    return front->due ? 0 : -1;
}

/* In case an edge was missed. */
static void sweep(struct timer *timer)
{
    struct front *front = container_of(timer, struct front, sweep);
    for (size_t i = 0; i < front->gate_count; i++)
        for (size_t k = 0; k < front->gates[i].micro_count; k++)
            micro_touch(&front->gates[i].micros[k]);
    timer_set(front->worker->loop, timer, clock_mono_ms() + SWEEP_MS);
}

static bool gates_init(struct front *front, const struct listener *listeners,
                       size_t count)
{
    front->gates = memory_new(count * sizeof(*front->gates));
    if (!front->gates)
        return false;
    for (size_t i = 0; i < count; i++) {
        front->gate_count = i + 1;
        if (!gate_init(&front->gates[i], front, &listeners[i]))
            return false;
    }
    return true;
}

static struct front_config with_defaults(struct front_config config)
{
    config.memory = config.memory ? config.memory : usual.memory;
    config.head_ms = config.head_ms ? config.head_ms : usual.head_ms;
    config.body_ms = config.body_ms ? config.body_ms : usual.body_ms;
    config.idle_ms = config.idle_ms ? config.idle_ms : usual.idle_ms;
    return config;
}

struct front *front_new(struct worker *worker, const struct front_config *config,
                        const struct listener *listeners, size_t count)
{
    struct front *front = memory_new(sizeof(*front));
    if (!front)
        return NULL;
    front->worker = worker;
    front->config = with_defaults(*config);
    front->due_last = &front->due;
    front->headers = BUF(HEADERS_MAX);
    front->text = BUF(TEXT_MAX);
    front->sweep.fire = sweep;
    if (!gates_init(front, listeners, count)) {
        log_error("front", "no memory or no descriptors for the listeners");
        front_free(front);
        return NULL;
    }
    loop_each_turn(worker->loop, turn, front);
    sweep(&front->sweep);
    return front;
}

/* The sending half stays open: what has come in already is answered. */
void front_quiesce(struct front *front)
{
    front->quiescing = true;
    for (size_t i = 0; i < front->gate_count; i++)
        gate_update(&front->gates[i]);
    for (struct client *client = front->clients; client; client = client->next)
        if (client->phase == IDLE)
            (void)shutdown(client->watch.fd, SHUT_RD);
}

void front_free(struct front *front)
{
    if (!front)
        return;
    must(front->away == 0); /* libmicrohttpd would abort, less clearly */
    front->quiescing = true;
    for (size_t i = 0; i < front->gate_count; i++)
        gate_free(&front->gates[i]);
    timer_clear(front->worker->loop, &front->sweep);
    loop_each_turn(front->worker->loop, NULL, NULL);
    buf_free(&front->headers);
    buf_free(&front->text);
    memory_free(front->gates);
    memory_free(front);
}

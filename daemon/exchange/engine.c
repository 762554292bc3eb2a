#include "exchange/inside.h"

#include "base/must.h"
#include "base/text.h"

void exchange_fail(struct exchange *x, enum err err, const char *why)
{
    if (x->err || !err)
        return;
    x->err = err;
    (void)text_copy(x->why, sizeof(x->why), why ? why : "");
}

static const struct step *here(const struct exchange *x)
{
    return &x->path[x->at];
}

static void over(struct exchange *x, enum err err)
{
    const struct step *step = here(x);
    if (err)
        exchange_fail(x, err, NULL);
    else
        x->marks |= (unsigned)step->mark;
    x->at++;
}

/* ---- coming back from the store: on its thread, then on the loop's ---- */

static void back_on_loop(struct task *task)
{
    struct exchange *x = container_of(task, struct exchange, task);
    over(x, x->job.err);
    x->recorded |= x->recording && !x->job.err;
    x->recording = false;
    if (x->announces && !x->job.err)
        announce(&x->announcement);
    x->announces = false;
    engine_walk(x);
}

static void store_done(struct job *job)
{
    struct exchange *x = container_of(job, struct exchange, job);
    x->task.run = back_on_loop;
    loop_post(x->worker->loop, &x->task);
}

static enum err store_run(struct job *job, struct db *db)
{
    struct exchange *x = container_of(job, struct exchange, job);
    return here(x)->run(x, db);
}

/* The last thing this thread does with the exchange, but for a transfer or a wait that
 * could not begin. */
static bool hand_over(struct exchange *x)
{
    const struct step *step = here(x);
    if (step->lane == STORE || step->lane == READER) {
        x->job.run = store_run;
        x->job.done = store_done;
        x->job.err = ERR_OK;
        x->job.urgent = (x->marks & BEGUN) != 0; /* the outcome of what was sent */
        (step->lane == STORE ? store_write : store_read)(&x->job);
        return true;
    }
    enum err err = step->run(x, NULL);
    if (!err)
        return true;
    over(x, err);
    return false;
}

void engine_walk_head(struct exchange *x)
{
    for (; here(x)->lane == FRONT;)
        over(x, here(x)->when(x) ? here(x)->run(x, NULL) : ERR_OK);
    must(here(x)->lane == INTAKE);
}

void engine_walk(struct exchange *x)
{
    while (here(x)->name) {
        if (here(x)->lane == INTAKE || !here(x)->when(x))
            x->at++;
        else if (here(x)->lane == FRONT)
            over(x, here(x)->run(x, NULL));
        else if (hand_over(x))
            return;
    }
    x->finished(x);
}

void engine_resume(struct exchange *x, enum err err)
{
    over(x, err);
    engine_walk(x);
}

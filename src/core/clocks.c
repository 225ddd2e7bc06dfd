/* clocks: every phase has a limit of its own; the error names the one that fired. */
#include "core/rules.h"

#define RESIDUE_RETRY_MS 1000 /* how often bytes that did not come back are looked for */

static struct core_why why_limit(enum core_clock clock, uint64_t limit_ms)
{
    return (struct core_why){
        .kind = CORE_WHY_LIMIT, .clock = clock, .wait_ms = limit_ms, .other = CORE_NO_MODEL};
}

static void clocks_queue(struct core *core, struct core_model *model)
{
    uint64_t limit = model->spec.clocks.queue_ms;

    for (int i = 0; i < CORE_PRIORITIES && limit; i++) {
        list_each_safe (node, &model->queue[i]) {
            struct core_job *job = list_entry(node, struct core_job, node);
            if (core->now_ms < job->queued_ms + limit)
                break; /* first in, first out: the rest is younger */
            queue_end(core, job, CORE_END_QUEUE_TIMEOUT, why_limit(CORE_CLOCK_QUEUE, limit));
        }
    }
}

/* When the job's run limit ends, given the progress it made; 0 = never. */
static uint64_t clocks_run_limit(const struct core *core, const struct core_job *job)
{
    uint64_t limit = job->model->spec.clocks.run_ms;
    uint64_t soft, fresh, hard;

    if (!limit)
        return 0;
    soft = job->started_ms + limit;
    hard = soft + core->config.run_extra_ms;
    /* No progress yet: nothing speaks for it (progress_ms is the start). */
    fresh = job->progress_ms > job->started_ms ? job->progress_ms + core->config.progress_fresh_ms
                                               : 0;
    if (fresh <= soft)
        return soft;
    return fresh < hard ? fresh : hard;
}

static uint64_t clocks_stall_limit(const struct core_job *job)
{
    uint64_t limit = job->model->spec.clocks.stall_ms;

    return limit ? job->progress_ms + limit : 0;
}

static void clocks_job(struct core *core, struct core_job *job)
{
    const struct core_clocks *clocks = &job->model->spec.clocks;

    if (job->state == CORE_JOB_RUNNING) {
        if (core_is_due(core, clocks_stall_limit(job)))
            queue_abandon(core, job, CORE_END_STALL_TIMEOUT,
                          why_limit(CORE_CLOCK_STALL, clocks->stall_ms));
        else if (core_is_due(core, clocks_run_limit(core, job)))
            queue_abandon(core, job, CORE_END_RUN_TIMEOUT,
                          why_limit(CORE_CLOCK_RUN, clocks->run_ms));
        return;
    }
    if (!core_is_due(core, job->cancel_by_ms))
        return;
    /* It ignored its cancel: the slot is lost; the tree goes once nobody else runs in it. */
    job->worker->has_lost_slot = true;
    if (job->state == CORE_JOB_CANCELLING)
        queue_abandon(core, job, CORE_END_CANCELLED,
                      why_limit(CORE_CLOCK_CANCEL, clocks->cancel_ms));
}

/* Nobody waits for anything that runs in it, and something does run. */
static bool clocks_only_ghosts(const struct core_worker *worker)
{
    list_each (node, &worker->jobs) {
        const struct core_job *job = list_entry(node, struct core_job, node);
        if (job->state == CORE_JOB_RUNNING ||
            (job->state == CORE_JOB_CANCELLING && !worker->is_forced))
            return false;
    }
    return worker->running > 0;
}

static void clocks_loading(struct core *core, struct core_worker *worker)
{
    uint64_t limit = worker->model->spec.clocks.load_ms;
    struct core_why why = why_limit(CORE_CLOCK_LOAD, limit);

    why.failure = CORE_FAILURE_HANG;
    model_failed(core, worker->model, CORE_FAILURE_HANG);
    queue_load_failed(core, worker->model, CORE_END_LOAD_TIMEOUT, why, worker->model->is_broken);
    residency_drain(core, worker, true, 0, why); /* while loading this kills it */
}

static struct core_why clocks_drain_why(const struct core *core, const struct core_worker *worker)
{
    if (core->is_stopping)
        return why_limit(CORE_CLOCK_STOP, core->config.stop_grace_ms);
    return why_limit(CORE_CLOCK_DRAIN, worker->model->spec.clocks.drain_ms);
}

static void clocks_worker(struct core *core, struct core_worker *worker)
{
    list_each_safe (node, &worker->jobs) {
        clocks_job(core, list_entry(node, struct core_job, node));
    }
    if (worker->has_lost_slot && clocks_only_ghosts(worker))
        residency_kill(core, worker);
    switch (worker->state) {
    case CORE_WORKER_STARTING:
    case CORE_WORKER_LOADING:
        if (core_is_due(core, worker->limit_ms))
            clocks_loading(core, worker);
        break;
    case CORE_WORKER_DRAINING:
        if (core_is_due(core, worker->limit_ms))
            residency_drain(core, worker, true, 0, clocks_drain_why(core, worker));
        break;
    case CORE_WORKER_RELEASING:
        if (!core_is_due(core, worker->limit_ms))
            break;
        if (!worker->exited_ms)
            residency_kill(core, worker);
        worker->limit_ms = core->now_ms + RESIDUE_RETRY_MS;
        ledger_ask(core, CORE_DEVICE_HOST);
        break;
    case CORE_WORKER_READY:
        if (core->config.ttl_ms && !worker->running && !worker->model->queued &&
            core_is_due(core, worker->idle_since_ms + core->config.ttl_ms)) {
            struct core_why why = {.kind = CORE_WHY_IDLE, .other = CORE_NO_MODEL};
            why.wait_ms = core->config.ttl_ms;
            residency_drain(core, worker, false, 0, why);
        }
        break;
    case CORE_WORKER_COLD:
        break;
    }
}

void clocks_run(struct core *core)
{
    list_each (node, &core->model_list) {
        clocks_queue(core, list_entry(node, struct core_model, node));
    }
    list_each_safe (node, &core->workers) {
        clocks_worker(core, list_entry(node, struct core_worker, node));
    }
    if (core_is_due(core, ledger_next_sample(core, CORE_DEVICE_HOST)))
        ledger_ask(core, CORE_DEVICE_HOST);
}

static uint64_t clocks_next_of_worker(const struct core *core, const struct core_worker *worker)
{
    uint64_t next = worker->limit_ms;

    list_each (node, &worker->jobs) {
        const struct core_job *job = list_entry(node, struct core_job, node);
        if (job->state != CORE_JOB_RUNNING) {
            if (job->state == CORE_JOB_CANCELLING || !worker->has_lost_slot)
                next = core_sooner(next, job->cancel_by_ms);
            continue;
        }
        next = core_sooner(next, clocks_run_limit(core, job));
        next = core_sooner(next, clocks_stall_limit(job));
    }
    if (worker->state == CORE_WORKER_READY && !worker->running && core->config.ttl_ms)
        next = core_sooner(next, worker->idle_since_ms + core->config.ttl_ms);
    return next;
}

uint64_t clocks_next(const struct core *core)
{
    uint64_t next = ledger_next_sample(core, CORE_DEVICE_HOST);

    list_each (node, &core->model_list) {
        const struct core_model *model = list_entry(node, struct core_model, node);
        if (!model->queued)
            continue;
        if (core->now_ms < model->backoff_until_ms)
            next = core_sooner(next, model->backoff_until_ms);
        for (int i = 0; i < CORE_PRIORITIES && model->spec.clocks.queue_ms; i++) {
            struct list *first = list_first(&model->queue[i]);
            if (first)
                next = core_sooner(next, list_entry(first, struct core_job, node)->queued_ms +
                                             model->spec.clocks.queue_ms);
        }
    }
    list_each (node, &core->workers) {
        next = core_sooner(next,
                           clocks_next_of_worker(core, list_entry(node, struct core_worker, node)));
    }
    return next;
}

/* residency: workers from the decision to spawn to the proof that their bytes are back. */
#include "core/rules.h"

#include <assert.h>

#define BACKOFF_FIRST_MS 1000
#define BACKOFF_MAX_MS   60000
#define BREAKER_FAILURES 5 /* failures in a row after which a person is needed */

/* [from][to]: what may follow what. */
static const bool ALLOWED[CORE_WORKER_STATES][CORE_WORKER_STATES] = {
    [CORE_WORKER_COLD] = {[CORE_WORKER_STARTING] = true},
    [CORE_WORKER_STARTING] = {[CORE_WORKER_LOADING] = true, [CORE_WORKER_RELEASING] = true},
    [CORE_WORKER_LOADING] = {[CORE_WORKER_READY] = true, [CORE_WORKER_RELEASING] = true},
    [CORE_WORKER_READY] = {[CORE_WORKER_DRAINING] = true, [CORE_WORKER_RELEASING] = true},
    [CORE_WORKER_DRAINING] = {[CORE_WORKER_RELEASING] = true},
    [CORE_WORKER_RELEASING] = {[CORE_WORKER_COLD] = true},
};

void residency_set_state(struct core *core, struct core_worker *worker, enum core_worker_state to,
                         struct core_why why)
{
    struct core_command *command;

    assert(ALLOWED[worker->state][to]);
    (void)ALLOWED; /* without asserts */
    command = core_emit(core, CORE_COMMAND_WORKER_STATE);
    command->worker = worker->id;
    command->model = worker->model->id;
    command->from = worker->state;
    command->to = to;
    command->why = why;
    command->failure = why.failure;
    command->held_bytes = worker->peak_bytes;
    worker->state = to;
}

struct core_worker *residency_find(const struct core *core, uint32_t id)
{
    list_each (node, &core->workers) {
        struct core_worker *worker = list_entry(node, struct core_worker, node);
        if (worker->id == id)
            return worker;
    }
    return NULL;
}

struct core_worker *residency_spawn(struct core *core, struct core_model *model)
{
    struct core_worker *worker = mem_new(1, sizeof(*worker));
    struct core_command *command;

    worker->id = ++core->next_worker;
    worker->model = model;
    worker->spawned_ms = core->now_ms;
    worker->limit_ms = core_after(core, model->spec.clocks.load_ms);
    list_init(&worker->jobs);
    list_init(&worker->waiters);
    list_add_tail(&core->workers, &worker->node);
    model->worker = worker;
    model->after_worker = 0;
    residency_set_state(core, worker, CORE_WORKER_STARTING, why_of(CORE_WHY_REQUEST));
    command = core_emit(core, CORE_COMMAND_SPAWN);
    command->worker = worker->id;
    command->model = model->id;
    ledger_changed(core, worker);
    return worker;
}

void residency_started(struct core *core, struct core_worker *worker)
{
    struct core_command *command;

    if (worker->state != CORE_WORKER_STARTING)
        return;
    residency_set_state(core, worker, CORE_WORKER_LOADING, why_of(CORE_WHY_NONE));
    command = core_emit(core, CORE_COMMAND_LOAD);
    command->worker = worker->id;
    command->model = worker->model->id;
}

void residency_loaded(struct core *core, struct core_worker *worker)
{
    if (worker->state != CORE_WORKER_LOADING)
        return;
    worker->limit_ms = 0;
    worker->loaded_ms = core->now_ms;
    worker->idle_since_ms = core->now_ms;
    worker->model->last_load_ms = core->now_ms - worker->spawned_ms;
    residency_set_state(core, worker, CORE_WORKER_READY, why_of(CORE_WHY_NONE));
    ledger_changed(core, worker);
    ledger_ask(core, CORE_DEVICE_HOST);
}

/* ---- the way out ---- */

static void residency_release(struct core *core, struct core_worker *worker, struct core_why why)
{
    struct core_command *command;

    residency_set_state(core, worker, CORE_WORKER_RELEASING, why);
    worker->limit_ms = core_after(core, worker->model->spec.clocks.stop_ms);
    for (uint32_t i = 0; i < CORE_DEVICES_MAX; i++)
        worker->held_bytes += worker->measured_bytes[i];
    if (worker->exited_ms)
        return;
    command = core_emit(core, CORE_COMMAND_STOP);
    command->worker = worker->id;
    command->model = worker->model->id;
}

void residency_kill(struct core *core, struct core_worker *worker)
{
    struct core_command *command;

    if (worker->is_killed || worker->exited_ms)
        return;
    worker->is_killed = true;
    command = core_emit(core, CORE_COMMAND_KILL);
    command->worker = worker->id;
    command->model = worker->model->id;
}

/* Ends the jobs that still run in it. */
static void residency_end_jobs(struct core *core, struct core_worker *worker, enum core_end end,
                               struct core_why why)
{
    list_each_safe (node, &worker->jobs) {
        struct core_job *job = list_entry(node, struct core_job, node);
        if (job->state == CORE_JOB_GHOST)
            queue_release(core, job);
        else if (job->state == CORE_JOB_CANCELLING)
            queue_end(core, job, CORE_END_CANCELLED, why_of(CORE_WHY_REQUEST));
        else
            queue_end(core, job, end, why);
    }
}

void residency_drain(struct core *core, struct core_worker *worker, bool is_forced,
                     uint64_t limit_ms, struct core_why why)
{
    uint64_t limit = core_after(core, limit_ms);

    if (worker->state == CORE_WORKER_RELEASING || worker->state == CORE_WORKER_COLD)
        return;
    worker->is_forced |= is_forced;
    if (worker->state == CORE_WORKER_STARTING || worker->state == CORE_WORKER_LOADING) {
        residency_release(core, worker, why);
        residency_kill(core, worker); /* a load cannot be asked to end */
        return;
    }
    if (worker->state == CORE_WORKER_READY && worker->running == 0) {
        residency_release(core, worker, why);
        return;
    }
    if (worker->state == CORE_WORKER_READY) {
        worker->limit_ms = limit;
        residency_set_state(core, worker, CORE_WORKER_DRAINING, why);
    } else {
        worker->limit_ms = core_sooner(worker->limit_ms, limit);
    }
    if (!worker->is_forced)
        return;
    residency_end_jobs(core, worker, core->is_stopping ? CORE_END_STOPPING : CORE_END_UNLOADED,
                       why);
    if (worker->state == CORE_WORKER_RELEASING)
        residency_kill(core, worker); /* the jobs were cut off: it cannot be asked */
}

void residency_job_left(struct core *core, struct core_worker *worker)
{
    if (worker->running)
        return;
    worker->idle_since_ms = core->now_ms;
    worker->has_overlap = false;
    if (worker->state == CORE_WORKER_DRAINING)
        residency_release(core, worker, why_of(CORE_WHY_REQUEST));
    else if (worker->state == CORE_WORKER_READY && worker->has_lost_slot)
        residency_release(core, worker, why_of(CORE_WHY_LIMIT));
    if (worker->state == CORE_WORKER_READY)
        ledger_ask(core, CORE_DEVICE_HOST);
}

void residency_load_failed(struct core *core, struct core_worker *worker, enum core_failure failure)
{
    struct core_why why = why_of(CORE_WHY_FAILED);

    if (worker->state != CORE_WORKER_STARTING && worker->state != CORE_WORKER_LOADING)
        return;
    why.failure = failure;
    model_failed(core, worker->model, failure);
    queue_load_failed(core, worker->model, CORE_END_LOAD_FAILED, why,
                      failure_is_permanent(failure) || worker->model->is_broken);
    residency_release(core, worker, why);
}

void residency_exited(struct core *core, struct core_worker *worker, enum core_failure failure)
{
    struct core_why why = why_of(CORE_WHY_FAILED);
    bool was_expected = worker->state == CORE_WORKER_RELEASING;

    if (worker->exited_ms)
        return;
    why.failure = failure == CORE_FAILURE_NONE ? CORE_FAILURE_CRASH : failure;
    worker->exited_ms = core->now_ms;
    if (worker->state == CORE_WORKER_STARTING || worker->state == CORE_WORKER_LOADING)
        residency_load_failed(core, worker, why.failure);
    else if (!was_expected && !worker->is_killed)
        model_failed(core, worker->model, why.failure);
    residency_end_jobs(core, worker, CORE_END_WORKER_DIED, why);
    if (worker->model->is_broken)
        queue_end_all(core, worker->model, CORE_END_MODEL_BROKEN, why); /* rule 26 */
    if (worker->state != CORE_WORKER_RELEASING)
        residency_release(core, worker, why);
    worker->limit_ms = core_after(core, core->config.release_grace_ms);
    for (uint32_t i = 0; i < CORE_DEVICES_MAX; i++)
        worker->reserved_bytes[i] = 0; /* rule 3: the reservation ends at the exit */
    ledger_changed(core, worker);
    ledger_ask(core, CORE_DEVICE_HOST);
}

void residency_released(struct core *core, struct core_worker *worker)
{
    struct core_command *command;

    list_each_safe (node, &worker->waiters) {
        struct core_unload_waiter *waiter = list_entry(node, struct core_unload_waiter, node);
        command = core_emit(core, CORE_COMMAND_UNLOADED);
        command->token = waiter->token;
        command->model = worker->model->id;
        command->worker = worker->id;
        command->held_bytes = worker->held_bytes;
        list_del(&waiter->node);
        mem_free(waiter);
    }
    residency_set_state(core, worker, CORE_WORKER_COLD, why_of(CORE_WHY_NONE));
    list_del(&worker->node);
    if (worker->model->worker == worker)
        worker->model->worker = NULL;
    mem_free(worker);
}

/* ---- failures ---- */

bool failure_is_permanent(enum core_failure failure)
{
    switch (failure) {
    case CORE_FAILURE_BAD_ARGUMENTS:
    case CORE_FAILURE_MISSING_FILE:
    case CORE_FAILURE_IMPORT:
    case CORE_FAILURE_START:
        return true;
    case CORE_FAILURE_NONE:
    case CORE_FAILURE_DEVICE_OOM:
    case CORE_FAILURE_HOST_OOM:
    case CORE_FAILURE_PORT:
    case CORE_FAILURE_DRIVER:
    case CORE_FAILURE_HANG:
    case CORE_FAILURE_PROTOCOL:
    case CORE_FAILURE_ERROR:
    case CORE_FAILURE_CRASH:
        break;
    }
    return false;
}

void model_failed(struct core *core, struct core_model *model, enum core_failure failure)
{
    uint64_t wait = BACKOFF_FIRST_MS;

    model->failure = failure;
    model->failures++;
    for (unsigned i = 1; i < model->failures && wait < BACKOFF_MAX_MS; i++)
        wait *= 2;
    model->backoff_until_ms = core->now_ms + (wait < BACKOFF_MAX_MS ? wait : BACKOFF_MAX_MS);
    if (model->failures >= BREAKER_FAILURES)
        model->is_broken = true;
}

/* ---- what people ask for ---- */

void residency_unload(struct core *core, const struct core_event *event)
{
    struct core_model *model = map_get(&core->models, event->model);
    struct core_worker *worker = model ? model->worker : NULL;
    struct core_unload_waiter *waiter;

    if (model && event->unload.is_forced)
        queue_end_all(core, model, CORE_END_UNLOADED, why_of(CORE_WHY_REQUEST));
    if (!worker) {
        struct core_command *command = core_emit(core, CORE_COMMAND_UNLOADED);
        command->token = event->unload.token;
        command->model = event->model;
        return;
    }
    waiter = mem_new(1, sizeof(*waiter));
    waiter->token = event->unload.token;
    list_add_tail(&worker->waiters, &waiter->node);
    if (worker->state == CORE_WORKER_STARTING || worker->state == CORE_WORKER_LOADING)
        queue_end_all(core, model, CORE_END_UNLOADED, why_of(CORE_WHY_REQUEST));
    residency_drain(core, worker, event->unload.is_forced, model->spec.clocks.drain_ms,
                    why_of(CORE_WHY_REQUEST));
}

void residency_switch(struct core *core, uint32_t model_id)
{
    struct core_model *next = map_get(&core->models, model_id);
    struct core_model *previous = map_get(&core->models, core->active);
    struct core_why why = why_of(CORE_WHY_SWITCH);

    if (!next || next->is_removed || next == previous)
        return;
    core->active = model_id;
    core_emit(core, CORE_COMMAND_ACTIVE)->model = model_id;
    if (!previous)
        return;
    if (!previous->worker) {
        /* It may itself still wait for the one before it: whoever comes next does too. */
        next->after_worker = previous->after_worker;
        return;
    }
    why.other = model_id;
    next->after_worker = previous->worker->id;
    /* No time limit: work in progress is not a switch's to end. */
    residency_drain(core, previous->worker, false, 0, why);
}

void residency_stop(struct core *core, bool is_now)
{
    uint64_t grace = is_now ? 0 : core->config.stop_grace_ms;
    bool is_forced = grace == 0; /* to worker_drain, 0 would mean "no limit" */

    core->is_stopping = true;
    /* Nothing more will start: whoever waits is told now. */
    list_each (node, &core->model_list) {
        struct core_model *model = list_entry(node, struct core_model, node);
        queue_end_all(core, model, CORE_END_STOPPING, why_of(CORE_WHY_STOPPING));
    }
    list_each_safe (node, &core->workers) {
        struct core_worker *worker = list_entry(node, struct core_worker, node);
        residency_drain(core, worker, is_forced, grace, why_of(CORE_WHY_STOPPING));
        if (is_now)
            residency_kill(core, worker);
    }
}

/* queue: jobs from the request to their one end. */
#include "core/rules.h"

#define LOADS_PER_JOB 2 /* a job survives one failed load, not a second (rule 26) */

static void queue_refuse(struct core *core, const struct core_event *event, enum core_end end,
                         struct core_why why)
{
    struct core_command *command = core_emit(core, CORE_COMMAND_JOB_ENDED);

    command->job = event->request.job;
    command->model = event->model;
    command->end = end;
    command->why = why;
}

/* Why the model cannot take a request at all; true when it was refused. */
static bool queue_refuses(struct core *core, const struct core_event *event,
                          const struct core_model *model)
{
    struct core_why why = why_of(CORE_WHY_STOPPING);

    if (core->is_stopping) {
        queue_refuse(core, event, CORE_END_STOPPING, why);
    } else if (!model || model->is_removed) {
        queue_refuse(core, event, CORE_END_UNKNOWN_MODEL, why_of(CORE_WHY_CHANGED));
    } else if (model->is_broken && !event->request.is_load) {
        why = why_of(CORE_WHY_FAILED);
        why.failure = model->failure;
        queue_refuse(core, event, CORE_END_MODEL_BROKEN, why);
    } else if (model->queued >= core->config.queue_limit) {
        why = why_of(CORE_WHY_QUEUE_FULL);
        why.count = model->queued;
        queue_refuse(core, event, CORE_END_QUEUE_FULL, why);
    } else {
        return false;
    }
    return true;
}

void queue_request(struct core *core, const struct core_event *event)
{
    struct core_model *model = map_get(&core->models, event->model);
    struct core_job *job;

    if (queue_refuses(core, event, model))
        return;
    if (event->request.is_load) {
        /* A person asks: try again now. */
        model->is_broken = false;
        model->failures = 0;
        model->backoff_until_ms = 0;
    }
    job = mem_new(1, sizeof(*job));
    job->id = event->request.job;
    job->model = model;
    job->priority = event->request.priority;
    job->is_load = event->request.is_load;
    job->queued_ms = core->now_ms;
    job->why = why_of(CORE_WHY_NONE);
    map_put(&core->jobs, job->id, job);
    list_add_tail(&model->queue[job->priority], &job->node);
    model->queued++;
}

static void queue_leave(struct core_job *job)
{
    if (job->state == CORE_JOB_QUEUED)
        job->model->queued--;
    list_del(&job->node);
}

static void queue_free(struct core *core, struct core_job *job)
{
    (void)map_del(&core->jobs, job->id);
    mem_free(job);
}

void queue_release(struct core *core, struct core_job *job)
{
    struct core_worker *worker = job->worker;

    queue_leave(job);
    queue_free(core, job);
    if (!worker)
        return;
    worker->running--;
    residency_job_left(core, worker);
}

/* Tells the client's end, once a job. */
static void queue_tell_end(struct core *core, struct core_job *job, enum core_end end,
                           struct core_why why)
{
    struct core_command *command;
    bool was_running = job->state != CORE_JOB_QUEUED;

    if (job->state == CORE_JOB_GHOST)
        return;
    command = core_emit(core, CORE_COMMAND_JOB_ENDED);
    command->job = job->id;
    command->model = job->model->id;
    command->worker = job->worker ? job->worker->id : 0;
    command->end = end;
    command->failure = why.failure;
    command->why = why;
    command->queue_ms = (was_running ? job->started_ms : core->now_ms) - job->queued_ms;
    command->load_ms = job->load_ms;
    command->run_ms = was_running ? core->now_ms - job->started_ms : 0;
    command->held_bytes = job->worker ? job->worker->busy_peak_bytes : 0;
    if (end == CORE_END_DONE && was_running)
        pool_note(job->model, command->run_ms);
}

void queue_end(struct core *core, struct core_job *job, enum core_end end, struct core_why why)
{
    queue_tell_end(core, job, end, why);
    queue_release(core, job);
}

void queue_abandon(struct core *core, struct core_job *job, enum core_end end, struct core_why why)
{
    queue_tell_end(core, job, end, why);
    if (job->state == CORE_JOB_RUNNING)
        queue_cancel_running(core, job, CORE_JOB_GHOST);
    else
        job->state = CORE_JOB_GHOST;
}

void queue_cancel_running(struct core *core, struct core_job *job, enum core_job_state state)
{
    struct core_command *command = core_emit(core, CORE_COMMAND_CANCEL_JOB);

    command->job = job->id;
    command->model = job->model->id;
    command->worker = job->worker->id;
    job->state = state;
    job->cancel_by_ms = core_after(core, job->model->spec.clocks.cancel_ms);
}

void queue_cancel(struct core *core, uint64_t job_id)
{
    struct core_job *job = map_get(&core->jobs, job_id);

    if (!job)
        return; /* it has ended already: nothing to do */
    if (job->state == CORE_JOB_QUEUED)
        queue_end(core, job, CORE_END_CANCELLED, why_of(CORE_WHY_REQUEST));
    else if (job->state == CORE_JOB_RUNNING)
        queue_cancel_running(core, job, CORE_JOB_CANCELLING);
}

void queue_end_all(struct core *core, struct core_model *model, enum core_end end,
                   struct core_why why)
{
    for (int i = 0; i < CORE_PRIORITIES; i++) {
        list_each_safe (node, &model->queue[i]) {
            queue_end(core, list_entry(node, struct core_job, node), end, why);
        }
    }
}

void queue_load_failed(struct core *core, struct core_model *model, enum core_end end,
                       struct core_why why, bool is_permanent)
{
    for (int i = 0; i < CORE_PRIORITIES; i++) {
        list_each_safe (node, &model->queue[i]) {
            struct core_job *job = list_entry(node, struct core_job, node);
            job->failed_loads++;
            if (is_permanent || job->is_load || job->failed_loads >= LOADS_PER_JOB)
                queue_end(core, job, end, why);
        }
    }
}

struct core_job *queue_first(const struct core_model *model)
{
    for (int i = 0; i < CORE_PRIORITIES; i++) {
        struct list *first = list_first(&model->queue[i]);
        if (first)
            return list_entry(first, struct core_job, node);
    }
    return NULL;
}

static void queue_start_job(struct core *core, struct core_job *job, struct core_worker *worker)
{
    struct core_command *command;

    queue_leave(job);
    job->state = CORE_JOB_RUNNING;
    job->worker = worker;
    job->started_ms = core->now_ms;
    job->progress_ms = core->now_ms;
    /* It waited for a load only if that load began after it came. */
    job->load_ms = worker->spawned_ms >= job->queued_ms ? job->model->last_load_ms : 0;
    list_add_tail(&worker->jobs, &job->node);
    if (worker->running == 0)
        worker->busy_peak_bytes = worker->measured_bytes[CORE_DEVICE_HOST];
    worker->running++;
    worker->idle_since_ms = 0;
    if (worker->running > 1) {
        worker->has_overlap = true;
        footprint_charge(worker, CORE_DEVICE_HOST); /* its bytes are nobody else's from now on */
    }
    command = core_emit(core, CORE_COMMAND_JOB_STARTED);
    command->job = job->id;
    command->model = job->model->id;
    command->worker = worker->id;
    command->queue_ms = job->started_ms - job->queued_ms;
    command->load_ms = job->load_ms;
    command = core_emit(core, CORE_COMMAND_START_JOB);
    command->job = job->id;
    command->model = job->model->id;
    command->worker = worker->id;
}

void queue_start(struct core *core, struct core_model *model)
{
    struct core_worker *worker = model->worker;
    struct core_job *job;

    while (worker && worker->state == CORE_WORKER_READY && (job = queue_first(model)) != NULL) {
        if (job->is_load) {
            queue_end(core, job, CORE_END_DONE, why_of(CORE_WHY_REQUEST));
            if (!worker->running)
                worker->idle_since_ms = core->now_ms; /* asked for just now: not idle since long */
            continue;
        }
        if (worker->has_lost_slot || worker->running >= pool_slots(core, worker)) {
            if (!ledger_is_fresh(core, CORE_DEVICE_HOST) && model->spec.parallel > worker->running)
                ledger_ask(core, CORE_DEVICE_HOST);
            break;
        }
        queue_start_job(core, job, worker);
    }
}

void queue_explain(struct core *core, struct core_model *model, struct core_why why)
{
    unsigned ahead = 0;

    for (int i = 0; i < CORE_PRIORITIES; i++) {
        list_each (node, &model->queue[i]) {
            struct core_job *job = list_entry(node, struct core_job, node);
            struct core_command *command;
            why.ahead = ahead++;
            if (core_why_is_same(&job->why, &why))
                continue;
            job->why = why;
            command = core_emit(core, CORE_COMMAND_JOB_WAITS);
            command->job = job->id;
            command->model = model->id;
            command->why = why;
        }
    }
}

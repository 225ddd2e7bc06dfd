/* core: takes events in, and lets the rules decide at each tick. Start reading here. */
#include "core/core.h"

#include <assert.h>
#include <errno.h>

#include "core/rules.h"

#define DEFAULT_QUEUE_LIMIT       256
#define DEFAULT_SAMPLE_MAX_AGE_MS 2000
#define DEFAULT_RELEASE_GRACE_MS  10000
#define DEFAULT_RUN_EXTRA_MS      (1800 * 1000)
#define DEFAULT_PROGRESS_FRESH_MS (300 * 1000)
#define DEFAULT_TTL_MS            (300 * 1000)
#define DEFAULT_STOP_GRACE_MS     15000

void core_config_defaults(struct core_config *config)
{
    *config = (struct core_config){
        .queue_limit = DEFAULT_QUEUE_LIMIT,
        .sample_max_age_ms = DEFAULT_SAMPLE_MAX_AGE_MS,
        .release_grace_ms = DEFAULT_RELEASE_GRACE_MS,
        .run_extra_ms = DEFAULT_RUN_EXTRA_MS,
        .progress_fresh_ms = DEFAULT_PROGRESS_FRESH_MS,
        .ttl_ms = DEFAULT_TTL_MS,
        .stop_grace_ms = DEFAULT_STOP_GRACE_MS,
    };
}

struct core *core_new(const struct core_config *config)
{
    struct core *core = mem_new(1, sizeof(*core));

    core->config = *config;
    core->active = CORE_NO_MODEL;
    core->intent = CORE_NO_MODEL;
    list_init(&core->model_list);
    list_init(&core->workers);
    return core;
}

void core_free(struct core *core)
{
    size_t at = 0;
    void *item;

    if (!core)
        return;
    while ((item = map_next(&core->jobs, &at)) != NULL)
        mem_free(item);
    list_each_safe (node, &core->workers) {
        struct core_worker *worker = list_entry(node, struct core_worker, node);
        list_each_safe (inner, &worker->waiters) {
            mem_free(list_entry(inner, struct core_unload_waiter, node));
        }
        mem_free(worker);
    }
    list_each_safe (node, &core->model_list) {
        mem_free(list_entry(node, struct core_model, node));
    }
    map_fini(&core->jobs);
    map_fini(&core->models);
    mem_free(core);
}

/* ---- models ---- */

static void core_model_insert(struct core *core, struct core_model *model)
{
    struct list *at = &core->model_list;

    list_each (node, &core->model_list) {
        if (list_entry(node, struct core_model, node)->id > model->id) {
            at = node;
            break;
        }
    }
    list_add_before(at, &model->node);
    map_put(&core->models, model->id, model);
}

static void core_model_set(struct core *core, uint32_t id, const struct core_spec *spec)
{
    struct core_model *model = map_get(&core->models, id);
    struct core_why why = {.kind = CORE_WHY_CHANGED, .other = CORE_NO_MODEL};

    if (!model) {
        model = mem_new(1, sizeof(*model));
        model->id = id;
        for (int i = 0; i < CORE_PRIORITIES; i++)
            list_init(&model->queue[i]);
        core_model_insert(core, model);
    }
    if (model->worker && model->spec.revision != spec->revision)
        residency_drain(core, model->worker, false, 0, why);
    model->spec = *spec;
    model->is_removed = false;
    /* What was wrong may be mended now. */
    model->is_broken = false;
    model->failures = 0;
    model->backoff_until_ms = 0;
}

static void core_model_remove(struct core *core, uint32_t id)
{
    struct core_model *model = map_get(&core->models, id);
    struct core_why why = {.kind = CORE_WHY_CHANGED, .other = CORE_NO_MODEL};

    if (!model)
        return;
    model->is_removed = true;
    queue_end_all(core, model, CORE_END_MODEL_REMOVED, why);
    if (model->worker)
        residency_drain(core, model->worker, false, 0, why);
    if (core->active == id)
        core->active = CORE_NO_MODEL;
}

/* Removed models are forgotten once nothing of theirs is left. */
static void core_forget_models(struct core *core)
{
    list_each_safe (node, &core->model_list) {
        struct core_model *model = list_entry(node, struct core_model, node);
        if (!model->is_removed || model->worker || model->queued)
            continue;
        list_del(&model->node);
        (void)map_del(&core->models, model->id);
        mem_free(model);
    }
}

/* ---- what workers say ---- */

/* The running job of this very worker, or NULL: anything else is late, wrong or forged. */
static struct core_job *core_job_of(const struct core *core, const struct core_event *event)
{
    struct core_job *job = map_get(&core->jobs, event->job);

    if (!job || !job->worker || job->worker->id != event->worker)
        return NULL;
    return job;
}

static void core_job_progress(struct core *core, struct core_job *job)
{
    job->progress_ms = core->now_ms;
}

static void core_job_ended(struct core *core, struct core_job *job, const struct core_event *event,
                           enum core_end end)
{
    struct core_worker *worker = job->worker;
    struct core_why why = {.kind = CORE_WHY_NONE, .other = CORE_NO_MODEL};

    if (event->kind == CORE_EVENT_JOB_DONE) {
        footprint_job_done(core, worker, event->peak_bytes);
        job->model->failures = 0;
        job->model->failure = CORE_FAILURE_NONE;
        job->model->backoff_until_ms = 0;
    }
    if (event->kind == CORE_EVENT_JOB_ERROR) {
        why.kind = CORE_WHY_FAILED;
        why.failure = event->failure;
    }
    if (event->is_unloaded)
        residency_drain(core, worker, false, 0,
                        why); /* no model in it: the next job needs another */
    /* A client that asked for the end gets it, unless the result came first. */
    if (job->state == CORE_JOB_CANCELLING && event->kind != CORE_EVENT_JOB_DONE)
        end = CORE_END_CANCELLED;
    if (job->state == CORE_JOB_GHOST)
        queue_release(core, job);
    else
        queue_end(core, job, end, why);
}

static void core_job_event(struct core *core, const struct core_event *event)
{
    struct core_job *job = core_job_of(core, event);

    if (!job)
        return;
    if (event->kind == CORE_EVENT_JOB_PROGRESS)
        core_job_progress(core, job);
    else if (event->kind == CORE_EVENT_JOB_DONE)
        core_job_ended(core, job, event, CORE_END_DONE);
    else
        core_job_ended(core, job, event, CORE_END_WORKER_ERROR);
}

static void core_worker_event(struct core *core, const struct core_event *event)
{
    struct core_worker *worker = residency_find(core, event->worker);

    if (!worker)
        return;
    if (event->kind == CORE_EVENT_WORKER_STARTED)
        residency_started(core, worker);
    else if (event->kind == CORE_EVENT_WORKER_LOADED)
        residency_loaded(core, worker);
    else if (event->kind == CORE_EVENT_LOAD_FAILED)
        residency_load_failed(core, worker, event->failure);
    else
        residency_exited(core, worker, event->failure);
}

/* ---- the tick ---- */

static enum core_why_kind core_wait_reason(const struct core_worker *worker)
{
    if (worker->state == CORE_WORKER_READY)
        return CORE_WHY_BUSY;
    if (worker->state == CORE_WORKER_STARTING || worker->state == CORE_WORKER_LOADING)
        return CORE_WHY_LOADING;
    return CORE_WHY_RELEASE;
}

static void core_serve_models(struct core *core)
{
    list_each (node, &core->model_list) {
        struct core_model *model = list_entry(node, struct core_model, node);
        struct core_why why = {.other = model->id};
        if (!model->queued || !model->worker)
            continue;
        queue_start(core, model);
        if (!model->queued || !model->worker)
            continue;
        why.kind = core_wait_reason(model->worker);
        why.count = why.kind == CORE_WHY_BUSY ? model->worker->running : 0;
        queue_explain(core, model, why);
    }
}

static void core_check_stopped(struct core *core)
{
    if (!core->is_stopping || core->is_stopped || !list_is_empty(&core->workers))
        return;
    core->is_stopped = true;
    core_emit(core, CORE_COMMAND_STOPPED);
}

static void core_tick(struct core *core)
{
    uint64_t next;

    clocks_run(core);
    core_serve_models(core);
    core_forget_models(core);
    place_all(core);
    core_check_stopped(core);
    next = clocks_next(core);
    if (next && next <= core->now_ms)
        next = core->now_ms + 1;
    if (next && next != core->wake_ms)
        core_emit(core, CORE_COMMAND_WAKE)->at_ms = next;
    core->wake_ms = next;
}

void core_step(struct core *core, const struct core_event *event, uint64_t now_ms,
               struct core_commands *out)
{
    assert(now_ms >= core->now_ms);
    core->now_ms = now_ms;
    core->out = out;
    switch (event->kind) {
    case CORE_EVENT_TICK:
        core_tick(core);
        break;
    case CORE_EVENT_MODEL_SET:
        core_model_set(core, event->model, event->spec);
        break;
    case CORE_EVENT_MODEL_REMOVED:
        core_model_remove(core, event->model);
        break;
    case CORE_EVENT_SAMPLE:
        ledger_sample(core, &event->sample);
        break;
    case CORE_EVENT_REQUEST:
        queue_request(core, event);
        break;
    case CORE_EVENT_CANCEL:
        queue_cancel(core, event->job);
        break;
    case CORE_EVENT_UNLOAD:
        residency_unload(core, event);
        break;
    case CORE_EVENT_SWITCH:
        residency_switch(core, event->model);
        break;
    case CORE_EVENT_WORKER_STARTED:
    case CORE_EVENT_WORKER_LOADED:
    case CORE_EVENT_LOAD_FAILED:
    case CORE_EVENT_WORKER_EXITED:
        core_worker_event(core, event);
        break;
    case CORE_EVENT_JOB_PROGRESS:
    case CORE_EVENT_JOB_DONE:
    case CORE_EVENT_JOB_ERROR:
    case CORE_EVENT_JOB_CANCELLED:
        core_job_event(core, event);
        break;
    case CORE_EVENT_STOP:
    case CORE_EVENT_STOP_NOW:
        residency_stop(core, event->kind == CORE_EVENT_STOP_NOW);
        break;
    }
    core->out = NULL;
}

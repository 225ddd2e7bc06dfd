/* workers: the processes behind the core's worker numbers. */
#include <errno.h>

#include "daemon/app.h"

#include "base/utf8.h"

struct app_worker *workers_get(const struct app *app, uint32_t id)
{
    return map_get(&app->workers, id);
}

static void workers_feed(struct app_worker *worker, enum core_event_kind kind,
                         enum core_failure failure)
{
    struct core_event event = {
        .kind = kind, .worker = worker->id, .model = worker->model, .failure = failure};

    app_feed(worker->app, &event);
}

/* ---- what the process says ---- */

static void workers_on_ready(void *data, struct json_object *params_schema)
{
    struct app_worker *worker = data;
    struct app_model *model = worker->app->models[worker->model];

    if (params_schema) {
        json_object_put(model->params_schema);
        model->params_schema = json_object_get(params_schema);
    }
    workers_feed(worker, CORE_EVENT_WORKER_STARTED, CORE_FAILURE_NONE);
}

static void workers_on_loaded(void *data)
{
    workers_feed(data, CORE_EVENT_WORKER_LOADED, CORE_FAILURE_NONE);
}

/* A copy of a worker's words, bounded: they go into every record and event. */
static char *workers_text(const char *text)
{
    struct slice all = slice_str(text);

    if (all.len > WORKER_TEXT_MAX_BYTES)
        all.len = utf8_valid_len(slice_of(all.ptr, WORKER_TEXT_MAX_BYTES));
    return slice_dup(all);
}

static void workers_note_failure(struct app_worker *worker, const char *text)
{
    char quoted[LOG_VALUE_MAX];

    mem_free(worker->failure_text);
    worker->failure_text = workers_text(text);
    log_write(&worker->app->log, LOG_LEVEL_WARN, "worker.failure", "model=%s worker=%u text=%s",
              models_name(worker->app, worker->model), worker->id, log_quote(text, quoted));
}

static void workers_on_load_failed(void *data, enum core_failure failure, const char *text)
{
    struct app_worker *worker = data;

    workers_note_failure(worker, text);
    workers_feed(worker, CORE_EVENT_LOAD_FAILED, failure);
}

/* The live job of that id, if it runs in this very worker's model. */
static struct app_job *workers_job(struct app_worker *worker, const char *id)
{
    struct app_job *job = jobs_find(worker->app, slice_str(id));

    return job && job->model == worker->model ? job : NULL;
}

static void workers_feed_job(struct app_worker *worker, const struct app_job *job,
                             enum core_event_kind kind, const struct worker_outcome *outcome)
{
    struct core_event event = {
        .kind = kind, .worker = worker->id, .model = worker->model, .job = job->id};

    if (outcome) {
        event.failure = outcome->failure;
        event.is_unloaded = outcome->is_unloaded;
        event.peak_bytes = outcome->peak_bytes;
    }
    app_feed(worker->app, &event);
}

/* The worker's last word on the job. */
static void workers_feed_end(struct app_worker *worker, struct app_job *job,
                             enum core_event_kind kind, const struct worker_outcome *outcome)
{
    workers_feed_job(worker, job, kind, outcome);
    jobs_release(job);
}

static void workers_on_progress(void *data, const char *id, int percent, const char *step)
{
    struct app_worker *worker = data;
    struct app_job *job = workers_job(worker, id);

    if (!job || job->is_ended)
        return;
    jobs_progress(job, percent, step);
    workers_feed_job(worker, job, CORE_EVENT_JOB_PROGRESS, NULL);
}

static void workers_fail_job(struct app_job *job, const char *code, const char *text)
{
    mem_free(job->error_code);
    mem_free(job->error);
    job->error_code = mem_strdup(code);
    job->error = workers_text(text);
}

static void workers_on_done(void *data, const char *id, const struct worker_outcome *outcome)
{
    struct app_worker *worker = data;
    struct app_job *job = workers_job(worker, id);

    if (!job)
        return;
    if (!job->is_ended && results_take(job, outcome) != 0) {
        struct worker_outcome failed = {.failure = CORE_FAILURE_ERROR};
        workers_feed_end(worker, job, CORE_EVENT_JOB_ERROR, &failed);
        return;
    }
    workers_feed_end(worker, job, CORE_EVENT_JOB_DONE, outcome);
}

static void workers_on_error(void *data, const char *id, const struct worker_outcome *outcome)
{
    struct app_worker *worker = data;
    struct app_job *job = workers_job(worker, id);

    if (!job)
        return;
    if (!job->is_ended)
        workers_fail_job(job,
                         outcome->failure == CORE_FAILURE_ERROR
                             ? outcome->code
                             : core_failure_name(outcome->failure),
                         outcome->text);
    workers_feed_end(worker, job, CORE_EVENT_JOB_ERROR, outcome);
}

static void workers_on_cancelled(void *data, const char *id)
{
    struct app_worker *worker = data;
    struct app_job *job = workers_job(worker, id);

    if (job)
        workers_feed_end(worker, job, CORE_EVENT_JOB_CANCELLED, NULL);
}

static void workers_on_exit(void *data, enum core_failure failure, const char *text)
{
    struct app_worker *worker = data;

    if (!worker->failure_text && !worker->is_ending)
        workers_note_failure(worker, text);
    workers_feed(worker, CORE_EVENT_WORKER_EXITED, failure);
}

static const struct worker_events WORKER_EVENTS = {
    .on_ready = workers_on_ready,
    .on_loaded = workers_on_loaded,
    .on_load_failed = workers_on_load_failed,
    .on_progress = workers_on_progress,
    .on_done = workers_on_done,
    .on_error = workers_on_error,
    .on_cancelled = workers_on_cancelled,
    .on_exit = workers_on_exit,
};

/* ---- what the core wants ---- */

/* What is short now may be there in a moment; all else stays wrong until a person mends it. */
static enum core_failure workers_open_failure(int rc)
{
    if (rc == -EMFILE || rc == -ENFILE || rc == -ENOMEM || rc == -EAGAIN)
        return CORE_FAILURE_ERROR;
    return CORE_FAILURE_START;
}

void workers_spawn(struct app *app, const struct core_command *command)
{
    struct app_model *model = app->models[command->model];
    struct app_worker *worker = mem_new(1, sizeof(*worker));
    struct err err = {0};
    int rc = -ENOENT;

    worker->app = app;
    worker->id = command->worker;
    worker->model = command->model;
    map_put(&app->workers, worker->id, worker);
    if (model->spec) {
        struct worker_options options = {.name = model->name,
                                         .shim = app->shim,
                                         .argv = (const char *const *)model->spec->argv,
                                         .env = model->spec->env,
                                         .dir = model->spec->dir,
                                         .worker_log = model->log,
                                         .log = &app->log};
        rc = worker_open(app->loop, &options, &WORKER_EVENTS, worker, &worker->process, &err);
    }
    if (rc == 0)
        return;
    workers_note_failure(worker, err.msg[0] ? err.msg : "the model was removed");
    workers_feed(worker, CORE_EVENT_WORKER_EXITED, workers_open_failure(rc));
}

static void workers_start_job(struct app *app, struct app_worker *worker,
                              const struct core_command *command)
{
    struct app_job *job = map_get(&app->jobs, command->job);
    struct worker_job wire;
    struct worker_outcome failed = {.failure = CORE_FAILURE_ERROR};
    struct err err = {0};
    auto_free char *dir = job ? results_dir(job, &err) : NULL;

    if (!job)
        return;
    if (!dir) {
        workers_fail_job(job, "disk", err.msg);
        workers_feed_end(worker, job, CORE_EVENT_JOB_ERROR, &failed);
        return;
    }
    wire = (struct worker_job){.id = job->uuid,
                               .image_path = job->image_path,
                               .text = job->text,
                               .params = job->params,
                               .outputs_dir = dir};
    worker_start_job(worker->process, &wire);
}

void workers_command(struct app *app, const struct core_command *command)
{
    struct app_worker *worker = workers_get(app, command->worker);
    struct app_job *job;

    if (!worker || !worker->process)
        return;
    switch ((int)command->kind) {
    case CORE_COMMAND_LOAD:
        worker_load(worker->process);
        break;
    case CORE_COMMAND_START_JOB:
        workers_start_job(app, worker, command);
        break;
    case CORE_COMMAND_CANCEL_JOB:
        job = map_get(&app->jobs, command->job);
        if (job)
            worker_cancel_job(worker->process, job->uuid);
        break;
    case CORE_COMMAND_STOP:
        worker->is_ending = true;
        worker_stop(worker->process);
        break;
    case CORE_COMMAND_KILL:
        worker->is_ending = true;
        worker_kill(worker->process);
        break;
    default:
        break;
    }
}

static void workers_free_one(struct app_worker *worker)
{
    worker_free(worker->process);
    mem_free(worker->failure_text);
    mem_free(worker);
}

void workers_forget(struct app *app, uint32_t id)
{
    struct app_worker *worker = map_del(&app->workers, id);

    jobs_release_all(app, id);
    if (worker)
        workers_free_one(worker);
}

void workers_free(struct app *app)
{
    struct app_worker *worker;
    size_t at = 0;

    while ((worker = map_next(&app->workers, &at)) != NULL)
        workers_free_one(worker);
    map_fini(&app->workers);
}

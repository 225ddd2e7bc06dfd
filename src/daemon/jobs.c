/* jobs: the record of each job, from the store's word to its end. The core decides, this file
 * remembers and tells. */
#include "daemon/app.h"

#include <errno.h>
#include <stdio.h>

#define JOBS_SAVE_EVERY_MS 1000 /* progress goes to the store at most so often */

/* The first 16 hex digits of a UUID as a number: the key of jobs_by_uuid. */
static uint64_t jobs_key(struct slice uuid)
{
    uint64_t key = 0;
    int digits = 0;

    for (size_t i = 0; i < uuid.len && digits < 16; i++) {
        char c = uuid.ptr[i];
        if (c == '-')
            continue;
        key = key << 4 | (uint64_t)(c >= 'a' ? c - 'a' + 10 : c - '0');
        digits++;
    }
    return key;
}

uint64_t jobs_next_id(struct app *app)
{
    return ++app->next_id;
}

struct app_job *jobs_find(const struct app *app, struct slice uuid)
{
    struct app_job *job;

    if (!id_is_uuid(uuid))
        return NULL;
    job = map_get(&app->jobs_by_uuid, jobs_key(uuid));
    return job && slice_eq_str(uuid, job->uuid) ? job : NULL;
}

struct app_job *jobs_new(struct app *app)
{
    struct app_job *job = mem_new(1, sizeof(*job));
    uint8_t random[16];

    job->app = app;
    job->id = jobs_next_id(app);
    do {
        loop_random(random);
        id_uuid4(random, job->uuid);
    } while (map_get(&app->jobs_by_uuid, jobs_key(slice_str(job->uuid))));
    list_init(&job->waiters);
    job->created_ms = loop_wall_ms();
    map_put(&app->jobs, job->id, job);
    map_put(&app->jobs_by_uuid, jobs_key(slice_str(job->uuid)), job);
    return job;
}

void jobs_free(struct app_job *job)
{
    (void)map_del(&job->app->jobs_by_uuid, jobs_key(slice_str(job->uuid)));
    mem_free(job->step);
    mem_free(job->image_path);
    mem_free(job->text);
    mem_free(job->collection);
    mem_free(job->error_code);
    mem_free(job->error);
    mem_free(job->output_path);
    mem_free(job->workspace_path);
    mem_free(job->media_type);
    json_object_put(job->params);
    json_object_put(job->result);
    mem_free(job);
}

static void jobs_forget(struct app_job *job)
{
    (void)map_del(&job->app->jobs, job->id);
    jobs_free(job);
}

void jobs_release(struct app_job *job)
{
    job->is_released = true;
    if (job->is_ended)
        jobs_forget(job);
}

void jobs_release_all(struct app *app, uint32_t worker)
{
    struct app_job *job, *found;

    do {
        size_t at = 0;
        found = NULL;
        while (!found && (job = map_next(&app->jobs, &at)) != NULL) {
            if (job->is_ended && job->worker == worker)
                found = job;
        }
        if (found)
            jobs_forget(found);
    } while (found);
}

/* ---- views ---- */

void jobs_fill(struct app *app, const struct app_job *job, struct api_job *out)
{
    *out = (struct api_job){.id = job->uuid,
                            .model = models_name(app, job->model),
                            .state = job->state,
                            .progress = job->progress,
                            .step = job->step ? job->step : "",
                            .why = "",
                            .error_code = job->error_code,
                            .error = job->error,
                            .output_path = job->output_path,
                            .workspace_path = job->workspace_path,
                            .media_type = job->media_type,
                            .collection = job->collection,
                            .created_ms = job->created_ms,
                            .started_ms = job->started_ms,
                            .ended_ms = job->ended_ms,
                            .queue_ms = job->queue_ms,
                            .load_ms = job->load_ms,
                            .run_ms = job->run_ms,
                            .held_bytes = job->held_bytes,
                            .result = job->result};
    if (job->state == API_JOB_QUEUED)
        out->why = app_why_text(app, &job->why);
}

void jobs_fill_row(struct app *app, const struct store_job *row, struct api_job *out)
{
    json_object_put(app->row_result);
    app->row_result = NULL;
    if (row->result_json &&
        json_parse_object(slice_str(row->result_json), &app->row_result, NULL) != 0)
        app->row_result = NULL; /* we wrote it: a damaged row */
    *out = (struct api_job){.id = row->id,
                            .model = row->model,
                            .state = (enum api_job_state)row->state,
                            .progress = row->progress,
                            .step = row->step,
                            .why = row->why,
                            .error_code = row->error_code,
                            .error = row->error,
                            .output_path = row->output_path,
                            .workspace_path = row->workspace_path,
                            .media_type = row->media_type,
                            .collection = row->collection,
                            .created_ms = row->created_ms,
                            .started_ms = row->started_ms,
                            .ended_ms = row->ended_ms,
                            .queue_ms = row->queue_ms,
                            .load_ms = row->load_ms,
                            .run_ms = row->run_ms,
                            .held_bytes = row->held_bytes,
                            .result = app->row_result};
}

static struct store_job jobs_row(const struct app_job *job)
{
    return (struct store_job){.id = job->uuid,
                              .model = models_name(job->app, job->model),
                              .params_json = job->params ? json_text(job->params) : NULL,
                              .image_path = job->image_path,
                              .text = job->text,
                              .collection = job->collection,
                              .is_scratch = job->is_scratch,
                              .is_bound = job->is_bound,
                              .created_ms = job->created_ms,
                              .state = (enum store_job_state)job->state,
                              .progress = job->progress,
                              .step = job->step,
                              .error_code = job->error_code,
                              .error = job->error,
                              .output_path = job->is_scratch ? NULL : job->output_path,
                              .workspace_path = job->workspace_path,
                              .media_type = job->media_type,
                              .result_json = job->result ? json_text(job->result) : NULL,
                              .started_ms = job->started_ms,
                              .ended_ms = job->ended_ms,
                              .queue_ms = job->queue_ms,
                              .load_ms = job->load_ms,
                              .run_ms = job->run_ms,
                              .held_bytes = job->held_bytes};
}

void jobs_save(struct app_job *job)
{
    struct store_job row = jobs_row(job);
    int rc = store_update_job(job->app->store, &row);

    if (rc != 0)
        log_write(&job->app->log, LOG_LEVEL_ERROR, "store.full", "job=%s rc=%d", job->uuid, rc);
}

/* ---- submitting ---- */

/* Its input is bad, and the store knows it: it is accepted and ends, and the core never hears. */
static void jobs_reject(struct app_job *job)
{
    struct core_command command = {.kind = CORE_COMMAND_JOB_ENDED,
                                   .model = job->model,
                                   .job = job->id,
                                   .end = CORE_END_WORKER_ERROR};

    job->submitted(job->submitted_data, job->uuid, NULL);
    job->submitted = NULL;
    jobs_ended(job->app, &command); /* error_code and error are set */
}

static void jobs_submitted(void *data, int status)
{
    struct app_job *job = data;
    struct app *app = job->app;
    struct core_event event = {.kind = CORE_EVENT_REQUEST, .model = job->model};
    struct err err = {0};

    if (status != 0) {
        (void)err_set(&err, status, "the job could not be written to %s: %s; free some space there",
                      app->config->state_dir, strerror(-status));
        job->submitted(job->submitted_data, NULL, &err);
        jobs_discard(job);
        return;
    }
    if (job->error_code) {
        jobs_reject(job);
        return;
    }
    event.request.job = job->id;
    event.request.priority = job->is_bound ? CORE_INTERACTIVE : CORE_NORMAL;
    app_feed(app, &event); /* first: the callback may cancel the job already */
    if (job->is_cancel_asked)
        app_feed(app, &(struct core_event){.kind = CORE_EVENT_CANCEL, .job = job->id});
    job->submitted(job->submitted_data, job->uuid, NULL);
    job->submitted = NULL;
}

void jobs_discard(struct app_job *job)
{
    results_clean(job);
    jobs_forget(job);
}

/* ops.c fills the job; this gives it to the store. 0, or a negative errno and it is gone. */
int jobs_submit(struct app_job *job)
{
    struct store_job row = jobs_row(job);
    int rc = store_put_job(job->app->store, &row, jobs_submitted, job);

    if (rc != 0)
        jobs_discard(job);
    return rc;
}

/* ---- the core's commands ---- */

void jobs_started(struct app *app, const struct core_command *command)
{
    struct app_job *job = map_get(&app->jobs, command->job);

    if (!job)
        return;
    job->state = API_JOB_RUNNING;
    job->worker = command->worker;
    job->started_ms = loop_wall_ms();
    job->queue_ms = command->queue_ms;
    job->load_ms = command->load_ms;
    jobs_save(job);
    feed_job(app, job);
}

void jobs_waits(struct app *app, const struct core_command *command)
{
    struct app_job *job = map_get(&app->jobs, command->job);
    bool is_new;

    if (!job)
        return;
    is_new = job->why.kind != command->why.kind;
    job->why = command->why;
    if (is_new)
        feed_job(app, job);
}

void jobs_progress(struct app_job *job, int percent, const char *step)
{
    uint64_t now = loop_now_ms(job->app->loop);

    job->progress = percent;
    if (!job->step || strcmp(job->step, step) != 0) {
        mem_free(job->step);
        job->step = mem_strdup(step);
    }
    feed_job(job->app, job);
    if (now < job->noted_ms + JOBS_SAVE_EVERY_MS)
        return;
    job->noted_ms = now;
    {
        struct store_job row = jobs_row(job);
        store_note_progress(job->app->store, &row);
    }
}

/* The client's text for an end that the core decided. */
static void jobs_explain_end(struct app_job *job, const struct core_command *command)
{
    struct app_worker *worker = workers_get(job->app, command->worker);
    const char *why = app_why_text(job->app, &command->why);

    if (job->error_code)
        return; /* the worker's own words say more */
    if (command->end == CORE_END_UNLOADED)
        why = "unloaded: somebody had the model unloaded before the job ended";
    job->error_code = mem_strdup(core_end_name(command->end));
    if ((command->end == CORE_END_WORKER_DIED || command->end == CORE_END_LOAD_FAILED) && worker &&
        worker->failure_text)
        job->error = mem_strdup(worker->failure_text);
    else
        job->error = mem_strdup(*why ? why : core_end_name(command->end));
}

static void jobs_explain_load(struct app_job *job, const struct core_command *command)
{
    size_t at = 0;
    struct app_worker *worker;

    if (command->end != CORE_END_LOAD_FAILED || job->error_code)
        return;
    while ((worker = map_next(&job->app->workers, &at)) != NULL) {
        if (worker->model != command->model || !worker->failure_text)
            continue;
        job->error_code = mem_strdup(command->failure == CORE_FAILURE_ERROR
                                         ? "load_failed"
                                         : core_failure_name(command->failure));
        job->error = mem_strdup(worker->failure_text);
        return;
    }
}

static void jobs_log_end(const struct app_job *job, const struct core_command *command)
{
    char quoted[LOG_VALUE_MAX];

    log_write(&job->app->log, LOG_LEVEL_INFO, "job.end",
              "job=%s model=%s end=%s queue_ms=%llu load_ms=%llu run_ms=%llu held_bytes=%llu "
              "error=%s",
              job->uuid, models_name(job->app, job->model), core_end_name(command->end),
              (unsigned long long)job->queue_ms, (unsigned long long)job->load_ms,
              (unsigned long long)job->run_ms, (unsigned long long)job->held_bytes,
              log_quote(job->error ? job->error : "", quoted));
}

void jobs_ended(struct app *app, const struct core_command *command)
{
    struct app_job *job = map_get(&app->jobs, command->job);

    if (!job || job->is_ended)
        return;
    job->is_ended = true;
    job->ended_ms = loop_wall_ms();
    job->queue_ms = command->queue_ms;
    job->load_ms = command->load_ms;
    job->run_ms = command->run_ms;
    if (job->held_bytes < command->held_bytes)
        job->held_bytes = command->held_bytes;
    if (command->end == CORE_END_DONE) {
        job->state = API_JOB_DONE;
        job->progress = 100;
    } else if (command->end == CORE_END_CANCELLED) {
        job->state = API_JOB_CANCELLED;
    } else {
        job->state = API_JOB_ERROR;
        jobs_explain_load(job, command);
        jobs_explain_end(job, command);
    }
    jobs_save(job);
    jobs_log_end(job, command);
    feed_job(app, job);
    list_each (node, &job->waiters) {
        tickets_fire(list_entry(node, struct api_ticket, node));
    }
    tickets_run(app); /* while its outputs are still there */
    results_clean(job);
    if (job->is_released || !workers_get(app, command->worker))
        jobs_forget(job);
}

/* ---- after a restart ---- */

struct recover {
    struct app *app;
    unsigned count;
};

static void jobs_recover_row(void *data, const struct store_job *row)
{
    struct recover *recover = data;
    struct store_job ended = *row;

    ended.state = STORE_JOB_ERROR;
    ended.error_code = "daemon_restarted";
    ended.error = "the daemon was restarted before this job ended; submit it again";
    ended.ended_ms = loop_wall_ms();
    if (store_update_job(recover->app->store, &ended) == 0)
        recover->count++;
}

void jobs_recover(struct app *app)
{
    struct recover recover = {.app = app};
    int rc = store_load_jobs(app->store, jobs_recover_row, &recover);

    if (rc != 0 || recover.count)
        log_write(&app->log, LOG_LEVEL_WARN, "jobs.recovered", "ended=%u rc=%d", recover.count, rc);
}

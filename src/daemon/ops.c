/* ops: what the routes may ask, answered from the core's views and the daemon's records. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/utf8.h"
#include "daemon/app.h"
#include "daemon/inputs.h"
#include "device/probe.h"
#include "os/file.h"

#define SAMPLE_STALE_MS 2000 /* older figures are marked, and measured again when asked for */

static const struct config *ops_config(void *data)
{
    struct app *app = data;

    return app->config;
}

static const struct catalog *ops_catalog(void *data)
{
    struct app *app = data;

    return app->catalog;
}

/* ---- models, workers, devices ---- */

static const char *ops_reason(struct app *app, const struct core_model_view *view)
{
    struct core_why why = {
        .kind = CORE_WHY_FAILED, .failure = view->failure, .other = CORE_NO_MODEL};

    if (view->residency == CORE_RESIDENCY_CRASHED || view->residency == CORE_RESIDENCY_BROKEN)
        return app_why_text(app, &why);
    return "";
}

static int ops_model_get(void *data, const struct model *spec, struct api_model *out)
{
    struct app *app = data;
    struct app_model *model = models_find(app, spec);
    struct core_model_view view;
    struct app_worker *worker;

    if (!model || core_model_get(app->core, model->id, &view) != 0)
        return -ENOENT;
    worker = workers_get(app, view.worker);
    *out = (struct api_model){
        .spec = spec,
        .state = core_residency_name(view.residency),
        .reason = ops_reason(app, &view),
        .is_loaded = view.residency == CORE_RESIDENCY_READY ||
                     view.residency == CORE_RESIDENCY_DRAINING,
        .is_active = core_active(app->core) == model->id,
        .running = view.running,
        .queued = view.queued,
        .reserved_bytes = view.reserved_bytes,
        .held_bytes = view.measured_bytes,
        .last_load_ms = view.last_load_ms,
        .pid = worker && worker->process ? worker_pid(worker->process) : 0,
        .params_schema = model->params_schema ? model->params_schema : spec->params_schema,
    };
    return 0;
}

static const char *ops_active_id(void *data)
{
    struct app *app = data;
    uint32_t active = core_active(app->core);

    return active == CORE_NO_MODEL ? NULL : models_name(app, active);
}

static size_t ops_worker_count(void *data)
{
    struct app *app = data;

    return core_worker_count(app->core);
}

static void ops_worker_at(void *data, size_t index, struct api_worker *out)
{
    struct app *app = data;
    uint64_t now = loop_now_ms(app->loop);
    struct core_worker_view view = {.model = CORE_NO_MODEL};
    struct app_worker *worker;

    core_worker_at(app->core, index, &view);
    worker = workers_get(app, view.worker);
    *out = (struct api_worker){
        .model = models_name(app, view.model),
        .state = core_worker_state_name(view.state),
        .pid = worker && worker->process ? worker_pid(worker->process) : 0,
        .generation = view.worker,
        .running = view.running,
        .reserved_bytes = view.reserved_bytes,
        .held_bytes = view.measured_bytes,
        .age_ms = now - view.spawned_ms,
        .idle_ms = view.idle_since_ms && !view.running ? now - view.idle_since_ms : 0};
}

static size_t ops_device_count(void *data)
{
    (void)data;
    return 1; /* the host's RAM */
}

static void ops_device_at(void *data, size_t index, struct api_device *out)
{
    struct app *app = data;
    struct core_device_view view = {0};
    struct device_memory memory;
    uint64_t now = loop_now_ms(app->loop);

    (void)index;
    *out = (struct api_device){
        .id = "host", .name = "host memory", .accelerator = "cpu", .is_stale = true};
    if (core_device_get(app->core, CORE_DEVICE_HOST, &view) == 0) {
        out->total_bytes = view.total_bytes;
        out->free_bytes = view.free_bytes;
        out->ours_bytes = view.ours_bytes;
        out->reserved_bytes = view.reserved_bytes;
        out->foreign_bytes = view.foreign_bytes;
        out->headroom_bytes = view.headroom_bytes;
        out->residue_bytes = view.residue_bytes;
        out->sample_age_ms = now > view.sampled_ms ? now - view.sampled_ms : 0;
        out->is_stale = out->sample_age_ms > SAMPLE_STALE_MS;
    }
    if (out->is_stale && device_host.memory(0, &memory) == 0) { /* a few small files */
        out->total_bytes = memory.total_bytes;
        out->free_bytes = memory.free_bytes;
        out->sample_age_ms = 0;
        out->is_stale = false;
    }
}

/* ---- jobs ---- */

static void ops_refuse(const struct api_submit *submit, const struct err *err,
                       void (*done)(void *data, const char *job_id, const struct err *err),
                       void *done_data)
{
    if (submit->image_path)
        (void)unlink(submit->image_path); /* it was handed over */
    done(done_data, NULL, err);
}

/* Refuses at once what the core would refuse, before anything is written. */
static int ops_check(struct app *app, const struct app_model *model, struct err *err)
{
    struct core_model_view view;

    if (app->is_stopping)
        return err_set(err, -ESHUTDOWN, "the daemon is stopping");
    if (!model || core_model_get(app->core, model->id, &view) != 0)
        return err_set(err, -ENOENT, "the model was removed");
    if (view.residency == CORE_RESIDENCY_BROKEN)
        return err_set(err, -EHOSTDOWN,
                       "%s failed too often (%s); see `hotbunk logs %s`, then `hotbunk load %s`",
                       model->name, core_failure_name(view.failure), model->name, model->name);
    if (view.queued >= app->config->queue_limit)
        return err_set(err, -EAGAIN, "%u jobs wait for %s already; try again later", view.queued,
                       model->name);
    return 0;
}

/* The upload becomes the job's own file. 0, or a negative errno. */
static int ops_take_input(struct app_job *job, const char *upload)
{
    auto_free char *dir = file_join(job->app->config->state_dir, APP_INPUTS_DIR);

    if (!upload)
        return 0;
    job->image_path = file_join(dir, job->uuid);
    return rename(upload, job->image_path) == 0 ? 0 : -errno;
}

static void ops_submit(void *data, const struct api_submit *submit,
                       void (*done)(void *data, const char *job_id, const struct err *err),
                       void *done_data)
{
    struct app *app = data;
    struct app_model *model = models_find(app, submit->model);
    struct err err = {0};
    struct app_job *job;
    int rc;

    if (ops_check(app, model, &err) != 0) {
        ops_refuse(submit, &err, done, done_data);
        return;
    }
    job = jobs_new(app);
    job->model = model->id;
    job->text = mem_strdup(submit->text);
    job->params = submit->params ? json_object_get(submit->params) : json_object_new_object();
    job->collection = mem_strdup(submit->collection ? submit->collection : "Default");
    job->is_scratch = submit->is_scratch;
    job->is_bound = submit->is_bound;
    job->submitted = done;
    job->submitted_data = done_data;
    rc = ops_take_input(job, submit->image_path);
    if (rc == 0) {
        inputs_submit(job, submit->model);
        return;
    }
    jobs_discard(job);
    (void)err_set(&err, rc, "the upload could not be moved within %s: %s", app->config->state_dir,
                  strerror(-rc));
    ops_refuse(submit, &err, done, done_data);
}

static int ops_job_get(void *data, struct slice job_id, struct api_job *out)
{
    struct app *app = data;
    struct app_job *job = jobs_find(app, job_id);
    int rc;

    if (job) {
        jobs_fill(app, job, out);
        return 0;
    }
    if (!app->store || !id_is_uuid(job_id))
        return -ENOENT;
    store_job_free(app->row);
    app->row = NULL;
    rc = store_get_job(app->store, job_id, &app->row);
    if (rc != 0)
        return rc;
    jobs_fill_row(app, app->row, out);
    return 0;
}

struct ops_listing {
    struct app *app;
    void (*each)(void *data, const struct api_job *job);
    void *data;
};

static void ops_list_row(void *data, const struct store_job *row)
{
    struct ops_listing *listing = data;
    struct store_job short_row = *row;
    struct app_job *live = jobs_find(listing->app, slice_str(row->id));
    struct api_job view;

    short_row.result_json = NULL; /* results may be large: a list leaves them out */
    if (live)
        jobs_fill(listing->app, live, &view);
    else
        jobs_fill_row(listing->app, &short_row, &view);
    view.result = NULL;
    listing->each(listing->data, &view);
}

static void ops_job_list(void *data, const enum api_job_state *state, size_t max,
                         void (*each)(void *data, const struct api_job *job), void *each_data)
{
    struct app *app = data;
    struct ops_listing listing = {app, each, each_data};
    enum store_job_state row_state = state ? (enum store_job_state) * state : STORE_JOB_QUEUED;
    int rc = store_list_jobs(app->store, state ? &row_state : NULL, max, ops_list_row, &listing);

    if (rc != 0)
        log_write(&app->log, LOG_LEVEL_ERROR, "store.list", "rc=%d", rc);
}

static int ops_job_cancel(void *data, struct slice job_id)
{
    struct app *app = data;
    struct app_job *job = jobs_find(app, job_id);
    struct core_event event = {.kind = CORE_EVENT_CANCEL};
    struct api_job view;

    if (!job)
        return ops_job_get(data, job_id, &view) == 0 ? 0 : -ENOENT;
    job->is_cancel_asked = true;
    event.job = job->id;
    app_feed(app, &event); /* before the store's word the core does not know it: see there */
    return 0;
}

static struct api_ticket *ops_job_wait(void *data, struct slice job_id,
                                       void (*done)(void *data, const struct api_job *job),
                                       void *done_data)
{
    struct app *app = data;
    struct api_ticket *ticket = tickets_new(app, TICKET_JOB, done_data);
    struct app_job *job = jobs_find(app, job_id);

    ticket->job_done = done;
    (void)snprintf(ticket->uuid, sizeof(ticket->uuid), "%.*s", SLICE_ARG(job_id)); /* a UUID */
    if (job && !job->is_ended) {
        ticket->job = job;
        list_add_tail(&job->waiters, &ticket->node);
    } else {
        tickets_fire(ticket);
    }
    return ticket;
}

/* ---- load, unload, switch, reload ---- */

static struct api_ticket *ops_load(void *data, const struct model *spec,
                                   void (*done)(void *data, const struct err *err), void *done_data)
{
    struct app *app = data;
    struct app_model *model = models_find(app, spec);
    struct api_ticket *ticket = tickets_new(app, TICKET_LOAD, done_data);
    struct core_event event = {.kind = CORE_EVENT_REQUEST,
                               .model = model ? model->id : CORE_NO_MODEL};

    ticket->load_done = done;
    ticket->id = jobs_next_id(app);
    list_add_tail(&app->tickets, &ticket->node);
    event.request =
        (struct core_request){.job = ticket->id, .priority = CORE_INTERACTIVE, .is_load = true};
    app_feed(app, &event);
    return ticket;
}

/* Time is up: the answer says what is true now. */
static void ops_unload_due(void *data)
{
    struct api_ticket *ticket = data;
    struct core_model_view view;

    ticket->result.state = "releasing";
    if (ticket->model != CORE_NO_MODEL &&
        core_model_get(ticket->app->core, ticket->model, &view) == 0)
        ticket->result.state = core_residency_name(view.residency);
    tickets_fire(ticket);
}

static void ops_unload_one(struct api_ticket *ticket, uint32_t model, bool force)
{
    struct core_event event = {.kind = CORE_EVENT_UNLOAD, .model = model};

    event.unload = (struct core_unload){.token = ticket->id, .is_forced = force};
    ticket->awaited++;
    app_feed(ticket->app, &event);
}

static struct api_ticket *
ops_unload(void *data, const struct model *spec, bool force, uint64_t within_ms,
           void (*done)(void *data, const struct api_unload_result *result), void *done_data)
{
    struct app *app = data;
    struct app_model *model = spec ? models_find(app, spec) : NULL;
    struct api_ticket *ticket = tickets_new(app, TICKET_UNLOAD, done_data);

    ticket->unload_done = done;
    ticket->id = jobs_next_id(app);
    ticket->model = model ? model->id : CORE_NO_MODEL;
    ticket->result.is_known = true;
    ticket->result.state = "cold";
    ticket->timer = timer_new(app->loop, ops_unload_due, ticket);
    timer_start(ticket->timer, within_ms);
    list_add_tail(&app->tickets, &ticket->node);
    if (model)
        ops_unload_one(ticket, model->id, force);
    for (size_t i = 0; !spec && i < app->model_count; i++)
        ops_unload_one(ticket, app->models[i]->id, force);
    if (ticket->awaited == 0) {
        ticket->result.unloaded = true;
        tickets_fire(ticket);
    }
    return ticket;
}

static int ops_switch_to(void *data, const struct model *spec)
{
    struct app *app = data;
    struct app_model *model = models_find(app, spec);
    struct core_event event = {.kind = CORE_EVENT_SWITCH};

    if (!model)
        return -ENOENT;
    event.model = model->id;
    app_feed(app, &event);
    return 0;
}

static void ops_reload(void *data, void (*done)(void *data, const struct err *err), void *done_data)
{
    reload_request(data, done, done_data);
}

/* ---- the rest ---- */

static char *ops_log_tail(void *data, const struct model *spec, size_t max)
{
    struct app_model *model = models_find(data, spec);
    auto_free char *tail = model ? worker_log_tail(model->log, max) : mem_strdup("");
    struct buf text;

    buf_init(&text, 3 * strlen(tail)); /* a bad byte becomes three */
    if (utf8_add_lossy(&text, slice_str(tail)) != 0)
        buf_reset(&text);
    if (text.len > max) { /* the newest part, from a character's start */
        buf_consume(&text, text.len - max);
        while (text.len && ((unsigned char)text.data[0] & 0xc0) == 0x80)
            buf_consume(&text, 1);
    }
    return buf_take(&text);
}

static struct api_ticket *ops_subscribe(void *data, uint64_t replay_after,
                                        void (*fn)(void *data, uint64_t id, const char *type,
                                                   struct slice json),
                                        void *fn_data)
{
    struct app *app = data;
    struct api_ticket *ticket = tickets_new(app, TICKET_EVENTS, fn_data);

    ticket->event = fn;
    feed_replay(ticket, replay_after);
    list_add_tail(&app->subscribers, &ticket->node);
    return ticket;
}

static void ops_drop(void *data, struct api_ticket *ticket)
{
    tickets_drop(data, ticket);
}

static char *ops_upload_path(void *data)
{
    struct app *app = data;
    auto_free char *dir = file_join(app->config->state_dir, APP_UPLOADS_DIR);
    char name[ID_UUID_LEN + 1];
    uint8_t random[16];

    loop_random(random);
    id_uuid4(random, name);
    return file_join(dir, name);
}

const struct api_ops APP_OPS = {
    .config = ops_config,
    .catalog = ops_catalog,
    .model_get = ops_model_get,
    .active_id = ops_active_id,
    .worker_count = ops_worker_count,
    .worker_at = ops_worker_at,
    .device_count = ops_device_count,
    .device_at = ops_device_at,
    .submit = ops_submit,
    .job_get = ops_job_get,
    .job_list = ops_job_list,
    .job_cancel = ops_job_cancel,
    .job_wait = ops_job_wait,
    .load = ops_load,
    .unload = ops_unload,
    .switch_to = ops_switch_to,
    .reload = ops_reload,
    .log_tail = ops_log_tail,
    .subscribe = ops_subscribe,
    .drop = ops_drop,
    .upload_path = ops_upload_path,
};

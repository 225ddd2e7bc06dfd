/* A backend that does what its struct says. */
#include "fixture.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/file.h"

static const char pic_manifest[] =
    "{\"id\":\"pic\",\"name\":\"Pic\",\"version\":\"1.0.0\",\"type\":\"model\",\"vram_gb\":6,"
    "\"tags\":[\"t\"],\"command\":[\"/bin/true\"],\"devices\":[\"cpu\"],\"nodes\":[{\"id\":"
    "\"mesh\",\"name\":\"Mesh\",\"input\":\"image\",\"output\":\"mesh\",\"params_schema\":["
    "{\"id\":\"depth\",\"type\":\"int\",\"default\":2,\"min\":1,\"max\":10}]}]}";
static const char talk_manifest[] =
    "{\"id\":\"talk\",\"name\":\"Talk\",\"version\":\"1.0.0\",\"type\":\"model\",\"command\":"
    "[\"/bin/true\"],\"devices\":[\"cpu\"],\"nodes\":[{\"id\":\"say\",\"name\":\"Say\",\"input\":"
    "\"text\",\"output\":\"audio\",\"params_schema\":["
    "{\"id\":\"voice\",\"type\":\"select\",\"default\":\"kal\",\"options\":[{\"value\":\"kal\","
    "\"label\":\"Kal\"},{\"value\":\"awb\",\"label\":\"Awb\"}]},"
    "{\"id\":\"speed\",\"type\":\"float\",\"default\":1,\"min\":0.25,\"max\":4},"
    "{\"id\":\"response_format\",\"type\":\"select\",\"default\":\"wav\",\"options\":["
    "{\"value\":\"wav\"},{\"value\":\"pcm\"},{\"value\":\"mp3\"}]}]}]}";

static void fake_extension(const char *root, const char *name, const char *manifest)
{
    auto_free char *dir = mem_printf("%s/extensions/%s", root, name);
    auto_free char *path = mem_printf("%s/manifest.json", dir);

    assert_int_equal(file_make_dirs(dir, NULL), 0);
    assert_int_equal(file_write_atomic(path, slice_str(manifest), 0600, NULL), 0);
}

static void fake_read_catalog(struct fake *fake)
{
    struct err err;
    int rc = catalog_read(&fake->config, &fake->catalog, &err);

    if (rc != 0)
        fail_msg("catalog: %s", err.msg);
}

int fake_init(struct fake *fake, struct loop *loop, const char *dir)
{
    struct config *config = &fake->config;
    auto_free char *uploads = mem_printf("%s/state/uploads", dir);

    fake->loop = loop;
    config->extensions_dirs[0] = mem_printf("%s/extensions", dir);
    config->workspace_dir = mem_printf("%s/workspace", dir);
    config->models_dir = mem_printf("%s/models", dir);
    config->state_dir = mem_printf("%s/state", dir);
    config->runtime_dir = mem_strdup(dir);
    config->libexec_dir = mem_strdup(dir);
    config->data_dir = mem_strdup(dir);
    config->python = mem_strdup("/usr/bin/python3");
    config->clear_after = mem_strdup("job");
    config->clock_scale = 1.0;
    config->max_body_bytes = 1 << 20;
    assert_int_equal(file_make_dirs(uploads, NULL), 0);
    assert_int_equal(file_make_dirs(config->workspace_dir, NULL), 0);
    fake_extension(dir, "pic", pic_manifest);
    fake_extension(dir, "talk", talk_manifest);
    fake_extension(dir, "wrong", "{\"id\":\"wrong\",");
    fake_read_catalog(fake);
    fake->active = "pic/mesh";
    fake->submit_ms = 5;
    fake->unload = (struct api_unload_result){true, 4096, "cold", true};
    fake->job = (struct api_job){.id = JOB_ID, .model = "pic/mesh", .collection = "Default"};
    return 0;
}

static void fake_forget_submit(struct fake *fake)
{
    mem_free(fake->text);
    mem_free(fake->params);
    mem_free(fake->collection);
    mem_free(fake->image);
    fake->text = fake->params = fake->collection = fake->image = NULL;
}

void fake_fini(struct fake *fake)
{
    struct config *config = &fake->config;

    fake_forget_submit(fake);
    catalog_free(fake->catalog);
    mem_free(config->extensions_dirs[0]);
    mem_free(config->workspace_dir);
    mem_free(config->models_dir);
    mem_free(config->state_dir);
    mem_free(config->runtime_dir);
    mem_free(config->libexec_dir);
    mem_free(config->data_dir);
    mem_free(config->python);
    mem_free(config->clear_after);
}

/* ---- tickets ---- */

struct api_ticket {
    struct fake *fake;
    struct timer *timer;
    void (*job_done)(void *data, const struct api_job *job);
    void (*load_done)(void *data, const struct err *err);
    void (*unload_done)(void *data, const struct api_unload_result *result);
    void (*event)(void *data, uint64_t id, const char *type, struct slice json);
    void *data;
};

static void ticket_free(struct api_ticket *ticket)
{
    if (ticket->timer)
        timer_free(ticket->timer);
    mem_free(ticket);
}

static void ticket_call(void *data)
{
    struct api_ticket *ticket = data;

    if (ticket->job_done)
        ticket->job_done(ticket->data, &ticket->fake->job);
    if (ticket->load_done)
        ticket->load_done(ticket->data,
                          ticket->fake->load_err.code ? &ticket->fake->load_err : NULL);
    if (ticket->unload_done)
        ticket->unload_done(ticket->data, &ticket->fake->unload);
    ticket_free(ticket);
}

/* Calls back now, in `ms`, or (0) never. */
static struct api_ticket *ticket_start(struct api_ticket *ticket, uint64_t ms)
{
    if (ticket->fake->is_at_once) {
        ticket_call(ticket);
        return NULL;
    }
    if (ms) {
        ticket->timer = timer_new(ticket->fake->loop, ticket_call, ticket);
        timer_start(ticket->timer, ms);
    }
    return ticket;
}

static struct api_ticket *ticket_new(void *app, void *data)
{
    struct api_ticket *ticket = mem_new(1, sizeof(*ticket));

    ticket->fake = app;
    ticket->data = data;
    return ticket;
}

/* ---- the operations ---- */

static const struct config *fake_config(void *app)
{
    struct fake *fake = app;

    return &fake->config;
}

static const struct catalog *fake_catalog(void *app)
{
    struct fake *fake = app;

    return fake->catalog;
}

static int fake_model_get(void *app, const struct model *spec, struct api_model *out)
{
    struct fake *fake = app;

    *out = (struct api_model){.spec = spec,
                              .state = "cold",
                              .reason = "",
                              .is_active = fake->active && strcmp(spec->id, fake->active) == 0,
                              .params_schema = spec->params_schema};
    return 0;
}

static const char *fake_active_id(void *app)
{
    struct fake *fake = app;

    return fake->active;
}

static size_t fake_one(void *app)
{
    (void)app;
    return 1;
}

static void fake_worker_at(void *app, size_t index, struct api_worker *out)
{
    (void)app;
    (void)index;
    *out = (struct api_worker){.model = "pic/mesh",
                               .state = "ready",
                               .pid = 42,
                               .generation = 7,
                               .held_bytes = 4096,
                               .age_ms = 10};
}

static void fake_device_at(void *app, size_t index, struct api_device *out)
{
    (void)app;
    (void)index;
    *out = (struct api_device){
        .id = "host", .name = "host memory", .accelerator = "cpu", .total_bytes = 1ull << 40};
}

static void fake_note_submit(struct fake *fake, const struct api_submit *submit)
{
    struct buf image;

    fake_forget_submit(fake);
    fake->submits++;
    fake->model = submit->model;
    fake->text = mem_strdup(submit->text);
    fake->params = mem_strdup(json_text(submit->params));
    fake->collection = mem_strdup(submit->collection);
    fake->is_scratch = submit->is_scratch;
    fake->is_bound = submit->is_bound;
    if (!submit->image_path)
        return;
    buf_init(&image, 1 << 20);
    assert_int_equal(file_read(submit->image_path, &image, NULL), 0);
    fake->image = buf_take(&image);
    assert_int_equal(unlink(submit->image_path), 0); /* it was handed over */
}

struct later {
    struct timer *timer;
    struct fake *fake;
    void (*submitted)(void *data, const char *job_id, const struct err *err);
    void (*reloaded)(void *data, const struct err *err);
    void *data;
};

static void later_call(void *data)
{
    struct later *later = data;
    const struct err *err = &later->fake->submit_err;

    if (later->submitted)
        later->submitted(later->data, err->code ? NULL : JOB_ID, err->code ? err : NULL);
    if (later->reloaded)
        later->reloaded(later->data, NULL);
    if (later->timer)
        timer_free(later->timer);
    mem_free(later);
}

static void later_start(struct later *later)
{
    if (later->fake->is_at_once) {
        later_call(later);
        return;
    }
    later->timer = timer_new(later->fake->loop, later_call, later);
    timer_start(later->timer, later->fake->submit_ms);
}

static void fake_submit(void *app, const struct api_submit *submit,
                        void (*done)(void *data, const char *job_id, const struct err *err),
                        void *data)
{
    struct later *later = mem_new(1, sizeof(*later));

    fake_note_submit(app, submit);
    *later = (struct later){.fake = app, .submitted = done, .data = data};
    later_start(later);
}

static int fake_job_get(void *app, struct slice job_id, struct api_job *out)
{
    struct fake *fake = app;

    if (!slice_eq_str(job_id, JOB_ID))
        return -2; /* -ENOENT */
    *out = fake->job;
    return 0;
}

static void fake_job_list(void *app, const enum api_job_state *state, size_t max,
                          void (*each)(void *data, const struct api_job *job), void *data)
{
    struct fake *fake = app;

    if (max && (!state || *state == fake->job.state))
        each(data, &fake->job);
}

static int fake_job_cancel(void *app, struct slice job_id)
{
    struct fake *fake = app;
    struct api_job job;

    if (fake_job_get(app, job_id, &job) != 0)
        return -2;
    fake->cancels++;
    fake->job.state = API_JOB_CANCELLED;
    return 0;
}

static struct api_ticket *fake_job_wait(void *app, struct slice job_id,
                                        void (*done)(void *data, const struct api_job *job),
                                        void *data)
{
    struct fake *fake = app;
    struct api_ticket *ticket = ticket_new(app, data);

    assert_true(slice_eq_str(job_id, JOB_ID));
    ticket->job_done = done;
    return ticket_start(ticket, fake->job_ms);
}

static struct api_ticket *fake_load(void *app, const struct model *spec,
                                    void (*done)(void *data, const struct err *err), void *data)
{
    struct fake *fake = app;
    struct api_ticket *ticket = ticket_new(app, data);

    fake->loads++;
    fake->model = spec;
    ticket->load_done = done;
    return ticket_start(ticket, fake->load_ms);
}

static struct api_ticket *
fake_unload(void *app, const struct model *spec, bool force, uint64_t within_ms,
            void (*done)(void *data, const struct api_unload_result *result), void *data)
{
    struct fake *fake = app;
    struct api_ticket *ticket = ticket_new(app, data);

    fake->unloads++;
    fake->model = spec;
    fake->is_forced = force;
    fake->within_ms = within_ms;
    ticket->unload_done = done;
    return ticket_start(ticket, 5);
}

static int fake_switch_to(void *app, const struct model *spec)
{
    struct fake *fake = app;

    fake->switches++;
    fake->active = spec->id;
    return 0;
}

static void fake_reload(void *app, void (*done)(void *data, const struct err *err), void *data)
{
    struct fake *fake = app;
    struct later *later = mem_new(1, sizeof(*later));

    fake->reloads++;
    *later = (struct later){.fake = app, .reloaded = done, .data = data};
    later_start(later);
}

static char *fake_log_tail(void *app, const struct model *spec, size_t max)
{
    (void)app;
    return mem_printf("%s %zu\n", spec->id, max);
}

static struct api_ticket *
fake_subscribe(void *app, uint64_t replay_after,
               void (*fn)(void *data, uint64_t id, const char *type, struct slice json), void *data)
{
    struct fake *fake = app;
    struct api_ticket *ticket = ticket_new(app, data);

    ticket->event = fn;
    fake->stream = ticket;
    fake->replay_after = replay_after;
    for (size_t i = 1; i <= fake->replayed; i++)
        fn(data, replay_after + i, "model", slice_str("{\"id\":\"pic/mesh\"}"));
    return ticket;
}

void fake_emit(struct fake *fake, uint64_t id, const char *type, const char *json)
{
    fake->stream->event(fake->stream->data, id, type, slice_str(json));
}

static void fake_drop(void *app, struct api_ticket *ticket)
{
    struct fake *fake = app;

    if (!ticket)
        return;
    fake->drops++;
    if (fake->stream == ticket)
        fake->stream = NULL;
    ticket_free(ticket);
}

static char *fake_upload_path(void *app)
{
    static unsigned count;
    struct fake *fake = app;

    return mem_printf("%s/uploads/%u", fake->config.state_dir, ++count);
}

const struct api_ops FAKE_OPS = {
    .config = fake_config,
    .catalog = fake_catalog,
    .model_get = fake_model_get,
    .active_id = fake_active_id,
    .worker_count = fake_one,
    .worker_at = fake_worker_at,
    .device_count = fake_one,
    .device_at = fake_device_at,
    .submit = fake_submit,
    .job_get = fake_job_get,
    .job_list = fake_job_list,
    .job_cancel = fake_job_cancel,
    .job_wait = fake_job_wait,
    .load = fake_load,
    .unload = fake_unload,
    .switch_to = fake_switch_to,
    .reload = fake_reload,
    .log_tail = fake_log_tail,
    .subscribe = fake_subscribe,
    .drop = fake_drop,
    .upload_path = fake_upload_path,
};

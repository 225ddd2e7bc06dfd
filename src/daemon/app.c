#include "daemon/app.h"

#include <errno.h>
#include <unistd.h>

#include "daemon/inputs.h"
#include "os/file.h"

#define APP_ROUNDS_MAX 64 /* of commands that cause events that cause commands, in one turn */

void app_poke(struct app *app)
{
    app->is_dirty = true;
    loop_poke(app->loop);
}

void app_feed(struct app *app, const struct core_event *event)
{
    core_step(app->core, event, loop_now_ms(app->loop), &app->commands);
    app_poke(app);
}

const char *app_why_text(struct app *app, const struct core_why *why)
{
    const char *other = why->other == CORE_NO_MODEL ? NULL : models_name(app, why->other);

    buf_reset(&app->why_text);
    if (core_why_text(why, other, &app->why_text) != 0)
        return "";
    return buf_str(&app->why_text);
}

/* ---- commands ---- */

static void app_log_worker(struct app *app, const struct core_command *command)
{
    log_write(&app->log, LOG_LEVEL_INFO, "worker.state",
              "model=%s worker=%u from=%s to=%s held_bytes=%llu why=\"%s\"",
              models_name(app, command->model), command->worker,
              core_worker_state_name(command->from), core_worker_state_name(command->to),
              (unsigned long long)command->held_bytes, app_why_text(app, &command->why));
}

static void app_worker_state(struct app *app, const struct core_command *command)
{
    app_log_worker(app, command);
    feed_worker(app, command);
    if (command->to == CORE_WORKER_COLD)
        workers_forget(app, command->worker);
}

static void app_job_ended(struct app *app, const struct core_command *command)
{
    if (map_get(&app->jobs, command->job))
        jobs_ended(app, command);
    else
        tickets_load_ended(app, command);
}

static void app_active(struct app *app, const struct core_command *command)
{
    struct json_object *json = json_object_new_object();

    json_put_str(json, "active", models_name(app, command->model));
    feed_publish(app, "model", json);
    log_write(&app->log, LOG_LEVEL_INFO, "model.active", "model=%s",
              models_name(app, command->model));
}

static void app_command(struct app *app, const struct core_command *command)
{
    switch (command->kind) {
    case CORE_COMMAND_SPAWN:
        workers_spawn(app, command);
        break;
    case CORE_COMMAND_LOAD:
    case CORE_COMMAND_START_JOB:
    case CORE_COMMAND_CANCEL_JOB:
    case CORE_COMMAND_STOP:
    case CORE_COMMAND_KILL:
        workers_command(app, command);
        break;
    case CORE_COMMAND_JOB_STARTED:
        jobs_started(app, command);
        break;
    case CORE_COMMAND_JOB_ENDED:
        app_job_ended(app, command);
        break;
    case CORE_COMMAND_JOB_WAITS:
        jobs_waits(app, command);
        break;
    case CORE_COMMAND_WORKER_STATE:
        app_worker_state(app, command);
        break;
    case CORE_COMMAND_UNLOADED:
        tickets_unloaded(app, command);
        break;
    case CORE_COMMAND_ACTIVE:
        app_active(app, command);
        break;
    case CORE_COMMAND_SAMPLE:
        sampler_start(app);
        break;
    case CORE_COMMAND_WAKE:
        timer_start(app->wake, command->at_ms > loop_now_ms(app->loop)
                                   ? command->at_ms - loop_now_ms(app->loop)
                                   : 0);
        break;
    case CORE_COMMAND_STOPPED:
        app->stopped(app->stopped_data);
        break;
    }
}

/* Carries out everything the core said, in order. A command may feed events, whose commands are
 * appended behind it. */
static void app_run_commands(struct app *app)
{
    for (size_t i = 0; i < app->commands.count; i++) {
        struct core_command command = app->commands.items[i];
        app_command(app, &command);
    }
    core_commands_reset(&app->commands);
}

/* The end of a loop turn: all I/O was delivered, now the core decides. */
static void app_turn(void *data)
{
    static const struct core_event TICK = {.kind = CORE_EVENT_TICK};
    struct app *app = data;

    for (int round = 0; app->is_dirty && round < APP_ROUNDS_MAX; round++) {
        app->is_dirty = false;
        app_run_commands(app);
        core_step(app->core, &TICK, loop_now_ms(app->loop), &app->commands);
        app_run_commands(app);
        tickets_run(app);
    }
    if (app->is_dirty)
        loop_poke(app->loop); /* go on in the next turn, after other I/O */
}

static void app_wake(void *data)
{
    app_poke(data); /* the tick comes after this turn's I/O, as a `done` may lie unread */
}

/* ---- life ---- */

static int app_make_dirs(struct app *app, struct err *err)
{
    /* What a former daemon left in the first three belongs to jobs that have ended. */
    static const char *const NAMES[] = {APP_UPLOADS_DIR, APP_INPUTS_DIR, APP_SCRATCH_DIR,
                                        APP_LOGS_DIR};
    int rc = file_make_dirs(app->config->workspace_dir, err);

    for (size_t i = 0; i < ARRAY_LEN(NAMES) && rc == 0; i++) {
        auto_free char *dir = file_join(app->config->state_dir, NAMES[i]);
        if (i < 3 && file_remove_tree(dir) != 0)
            log_write(&app->log, LOG_LEVEL_WARN, "state.clean", "dir=%s", dir);
        rc = file_make_dirs(dir, err);
    }
    return rc;
}

static int app_find_shim(struct app *app, struct err *err)
{
    app->shim = file_join(app->config->libexec_dir, "hotbunk-shim");
    if (access(app->shim, X_OK) == 0)
        return 0;
    mem_free(app->shim);
    app->shim = file_join(app->config->libexec_dir, "src/shim/hotbunk-shim");
    if (access(app->shim, X_OK) == 0)
        return 0;
    return err_set(err, -ENOENT,
                   "hotbunk-shim is not in %s; set HOTBUNK_LIBEXEC_DIR to where it is installed",
                   app->config->libexec_dir);
}

static void app_core_config(const struct config *config, struct core_config *out)
{
    core_config_defaults(out);
    out->queue_limit = config->queue_limit;
    out->release_grace_ms = config->release_grace_ms;
    out->run_extra_ms = config->run_max_ms;
    out->ttl_ms = config->ttl_ms;
    out->host_reserve_bytes = config->host_reserve_bytes;
    out->stop_grace_ms = config->clocks.stop_ms;
}

static int app_open_store(struct app *app, struct err *err)
{
    auto_free char *path = file_join(app->config->state_dir, "jobs.db");
    struct store_options options = {.path = path, .job_history = app->config->job_history};
    struct err warning = {0};
    int rc = store_open(app->loop, &options, &app->store, &warning);

    if (rc != 0)
        return err_set(err, rc, "%s", warning.msg);
    if (warning.code)
        log_write(&app->log, LOG_LEVEL_WARN, "store.warning", "text=\"%s\"", warning.msg);
    return 0;
}

struct app *app_new(struct loop *loop, const struct config *config, const struct log *log)
{
    struct app *app = mem_new(1, sizeof(*app));
    struct core_config core_config;

    app->loop = loop;
    app->config = config;
    app->log = *log;
    list_init(&app->tickets);
    list_init(&app->subscribers);
    list_init(&app->firing);
    list_init(&app->reload_waiters);
    buf_init(&app->why_text, ERR_MSG_MAX);
    app_core_config(config, &core_config);
    app->core = core_new(&core_config);
    app->wake = timer_new(loop, app_wake, app);
    return app;
}

int app_start(struct app *app, struct catalog *catalog_take, struct err *err)
{
    int rc;

    app->catalog = catalog_take;
    rc = app_find_shim(app, err);
    if (rc == 0)
        rc = app_open_store(app, err); /* its lock says that the directory is ours to clean */
    if (rc == 0)
        rc = app_make_dirs(app, err);
    if (rc != 0)
        return rc;
    jobs_recover(app);
    models_sync(app);
    loop_on_turn(app->loop, app_turn, app);
    sampler_start(app);
    return 0;
}

void app_stop(struct app *app, bool is_now, void (*stopped)(void *data), void *data)
{
    struct core_event event = {.kind = is_now ? CORE_EVENT_STOP_NOW : CORE_EVENT_STOP};

    app->is_stopping = true;
    app->stopped = stopped;
    app->stopped_data = data;
    app_feed(app, &event);
}

void app_close(struct app *app)
{
    if (!app)
        return;
    loop_on_turn(app->loop, NULL, NULL);
    sampler_orphan(app);
    reload_orphan(app);
    inputs_orphan(app);
    workers_free(app);
    if (app->store)
        store_close(app->store);
    app->store = NULL;
}

void app_free(struct app *app)
{
    size_t at = 0;
    struct app_job *job;

    if (!app)
        return;
    app_close(app);
    tickets_free(app);
    while ((job = map_next(&app->jobs, &at)) != NULL)
        jobs_free(job);
    map_fini(&app->jobs);
    map_fini(&app->jobs_by_uuid);
    feed_free(app);
    models_free(app);
    timer_free(app->wake);
    core_free(app->core);
    core_commands_fini(&app->commands);
    catalog_free(app->catalog);
    store_job_free(app->row);
    json_object_put(app->row_result);
    buf_fini(&app->why_text);
    mem_free(app->shim);
    mem_free(app);
}

/* check: what must be true of every command, whatever the world does. */
#include <stdarg.h>
#include <stdio.h>

#include "world.h"

#define TINY_BYTES (32 * MIB) /* what jobs below it take is not counted */

/* For the trace: what the core and the truth say of every worker. */
static void check_dump(const struct sim *sim)
{
    struct core_device_view device;
    size_t count = core_worker_count(sim->core);

    if (core_device_get(sim->core, CORE_DEVICE_HOST, &device) == 0)
        printf("# MiB: total %llu free %llu reserved %llu headroom %llu available %llu\n",
               (unsigned long long)(device.total_bytes / MIB),
               (unsigned long long)(device.free_bytes / MIB),
               (unsigned long long)(device.reserved_bytes / MIB),
               (unsigned long long)(device.headroom_bytes / MIB),
               (unsigned long long)(device.available_bytes / MIB));
    for (size_t i = 0; i < count; i++) {
        struct core_worker_view view;
        core_worker_at(sim->core, i, &view);
        printf("# worker %u model %u %s: runs %u, reserved %llu, sampled %llu, holds %llu MiB\n",
               view.worker, view.model, core_worker_state_name(view.state), view.running,
               (unsigned long long)(view.reserved_bytes / MIB),
               (unsigned long long)(view.measured_bytes / MIB),
               (unsigned long long)(daemon_worker_bytes(sim, view.worker) / MIB));
    }
}

void check_fail(struct sim *sim, const char *fmt, ...)
{
    va_list args;

    if (sim->result->violation[0])
        return; /* the first one counts */
    if (sim->is_traced)
        check_dump(sim);
    va_start(args, fmt);
    (void)vsnprintf(sim->result->violation, sizeof(sim->result->violation), fmt, args);
    va_end(args);
}

static bool check_is_listed(const struct sim *sim, uint32_t worker)
{
    for (size_t i = 0; i < sim->last.sample.worker_count; i++) {
        if (sim->last.workers[i].worker == worker)
            return true;
    }
    return false;
}

static uint64_t check_sampled(const struct sim *sim, uint32_t worker)
{
    for (size_t i = 0; i < sim->last.sample.worker_count; i++) {
        if (sim->last.workers[i].worker == worker)
            return sim->last.workers[i].bytes;
    }
    return 0;
}

/* Promise 1, from the last sample and what the core says it reserved. */
static void check_admission(struct sim *sim, const char *what)
{
    const struct core_sample *sample = &sim->last.sample;
    uint64_t sum = sample->total_bytes - sample->free_bytes;
    struct core_device_view device;
    size_t count = core_worker_count(sim->core);

    if (core_device_get(sim->core, CORE_DEVICE_HOST, &device) != 0) {
        check_fail(sim, "%s before any sample", what);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        struct core_worker_view view;
        uint64_t sampled;
        core_worker_at(sim->core, i, &view);
        sampled = check_sampled(sim, view.worker);
        sum += view.reserved_bytes > sampled ? view.reserved_bytes - sampled : 0;
    }
    if (count > 1)
        sum += device.headroom_bytes; /* alone, only the device itself is the limit */
    if (sum > sample->total_bytes)
        check_fail(sim, "%s goes over the line: %llu of %llu MiB", what,
                   (unsigned long long)(sum / MIB),
                   (unsigned long long)(sample->total_bytes / MIB));
}

static void check_loner(struct sim *sim, const struct core_command *command)
{
    bool is_unknown = !sim->models[command->model].spec.need_bytes[CORE_DEVICE_HOST] &&
                      !sim->models[command->model].is_ever_loaded;

    for (uint32_t i = 1; i <= sim->worker_count; i++) {
        const struct sim_worker *other = &sim->workers[i];
        if (other->is_cold || other->is_exit_told || other->is_loaded || other->is_told_stop)
            continue;
        if (is_unknown || other->was_unknown)
            check_fail(sim, "worker %u of unknown size does not load alone", command->worker);
    }
}

static void check_spawn(struct sim *sim, const struct core_command *command)
{
    const struct sim_model *model = &sim->models[command->model];
    struct core_worker_view view = {0};
    struct core_model_view known;

    if (core_model_get(sim->core, command->model, &known) != 0 ||
        known.backoff_until_ms > sim->now_ms)
        check_fail(sim, "model %u loads before its back-off ends", command->model);
    if (sim->is_stopping)
        check_fail(sim, "spawn while stopping");
    if (model->worker)
        check_fail(sim, "spawn of model %u, which has worker %u", command->model, model->worker);
    if (command->worker != sim->worker_count + 1 || command->worker >= SIM_WORKERS)
        check_fail(sim, "worker number %u after %u", command->worker, sim->worker_count);
    if (model->after_worker && !sim->workers[model->after_worker].is_cold)
        check_fail(sim, "switch: model %u loads before worker %u is gone", command->model,
                   model->after_worker);
    if (sim->last.sample.begin_ms < sim->changed_ms)
        check_fail(sim, "spawn on a sample from before the last change");
    if (sim->now_ms > sim->last.sample.begin_ms + sim->config.sample_max_age_ms)
        check_fail(sim, "spawn on an old sample");
    core_worker_at(sim->core, core_worker_count(sim->core) - 1, &view);
    if (sim->profile == SIM_HONEST && view.worker == command->worker &&
        view.reserved_bytes < model->resident_bytes + model->per_job_bytes)
        check_fail(sim, "worker %u got less than it needs", command->worker);
    check_loner(sim, command);
    check_admission(sim, "spawn");
}

static void check_start_job(struct sim *sim, const struct core_command *command)
{
    const struct sim_worker *worker = &sim->workers[command->worker];
    const struct sim_job *job = &sim->jobs[command->job];

    if (!worker->is_loaded || worker->is_exit_told || worker->is_told_stop || worker->is_killed)
        check_fail(sim, "job %llu given to worker %u, which is not ready",
                   (unsigned long long)command->job, command->worker);
    if (job->model != worker->model)
        check_fail(sim, "job %llu given to another model", (unsigned long long)command->job);
    if (job->is_load || job->is_started || job->is_ended)
        check_fail(sim, "job %llu may not start", (unsigned long long)command->job);
    if (worker->running >= sim->models[worker->model].spec.parallel)
        check_fail(sim, "worker %u runs more than its slots", command->worker);
    if (worker->running && sim->models[worker->model].per_job_bytes >= TINY_BYTES)
        check_admission(sim, "one more job");
}

/* Work in progress is sacred: whoever is stopped runs nothing that somebody waits for. */
static void check_end_of_worker(struct sim *sim, const struct core_command *command)
{
    const struct sim_worker *worker = &sim->workers[command->worker];
    bool is_kill = command->kind == CORE_COMMAND_KILL;

    for (size_t i = 0; i < SIM_SLOTS; i++) {
        if (worker->jobs[i] && !sim->jobs[worker->jobs[i]].is_ended)
            check_fail(sim, "worker %u stopped in the middle of job %llu", command->worker,
                       (unsigned long long)worker->jobs[i]);
    }
    if (worker->is_exit_told)
        check_fail(sim, "worker %u is gone already", command->worker);
    if (is_kill ? worker->is_killed : worker->is_told_stop)
        check_fail(sim, "worker %u told twice", command->worker);
    if (is_kill && worker->is_loaded && !worker->running && !worker->is_told_stop)
        check_fail(sim, "idle worker %u killed without being asked to stop", command->worker);
}

static void check_cancel_job(struct sim *sim, const struct core_command *command)
{
    const struct sim_job *job = &sim->jobs[command->job];

    if (!job->is_started || job->worker != command->worker)
        check_fail(sim, "cancel for job %llu goes to the wrong worker",
                   (unsigned long long)command->job);
    if (!job->is_cancel_asked && !job->is_ended)
        check_fail(sim, "job %llu cancelled though nobody asked", (unsigned long long)command->job);
}

static bool check_end_is_right(const struct sim *sim, const struct sim_job *job, enum core_end end)
{
    const struct sim_model *model = &sim->models[job->model];
    const struct core_clocks *clocks = &model->spec.clocks;
    uint64_t run = sim->now_ms - job->started_ms;

    switch (end) {
    case CORE_END_DONE:
        return job->is_load ? model->worker && sim->workers[model->worker].is_loaded
                            : job->is_done_sent;
    case CORE_END_CANCELLED:
        return job->is_cancel_asked &&
               sim->now_ms <= job->cancel_ms + (job->is_started ? clocks->cancel_ms : 0);
    case CORE_END_WORKER_ERROR:
        return job->is_started;
    case CORE_END_QUEUE_TIMEOUT:
        return !job->is_started && sim->now_ms == job->accepted_ms + clocks->queue_ms;
    case CORE_END_RUN_TIMEOUT:
        return job->is_started && run >= clocks->run_ms &&
               run <= clocks->run_ms + sim->config.run_extra_ms;
    case CORE_END_STALL_TIMEOUT:
        return job->is_started && sim->now_ms == job->progress_ms + clocks->stall_ms;
    case CORE_END_WORKER_DIED:
        return job->is_started && sim->workers[job->worker].is_exit_told;
    case CORE_END_UNLOADED:
        return model->is_unload_asked;
    case CORE_END_STOPPING:
        return sim->is_stopping;
    case CORE_END_MODEL_REMOVED:
    case CORE_END_UNKNOWN_MODEL:
        return !job->is_started && !model->is_set;
    case CORE_END_QUEUE_FULL:
    case CORE_END_LOAD_TIMEOUT:
    case CORE_END_LOAD_FAILED:
    case CORE_END_MODEL_BROKEN:
    case CORE_END_NEVER_FITS:
        return !job->is_started;
    }
    return false;
}

static void check_job_ended(struct sim *sim, const struct core_command *command)
{
    const struct sim_job *job = &sim->jobs[command->job];

    if (!command->job || command->job > sim->job_count) {
        check_fail(sim, "job %llu was never accepted", (unsigned long long)command->job);
        return;
    }
    if (job->is_ended)
        check_fail(sim, "job %llu ended twice", (unsigned long long)command->job);
    if (!check_end_is_right(sim, job, command->end))
        check_fail(sim, "job %llu may not end as %s now", (unsigned long long)command->job,
                   core_end_name(command->end));
}

/* Gone means gone: its end was told, and a sample begun after it does not show it any more. */
static void check_gone(struct sim *sim, uint32_t id)
{
    const struct sim_worker *worker = &sim->workers[id];

    if (!worker->is_exit_told || sim->last.sample.begin_ms < worker->exit_ms ||
        check_is_listed(sim, id))
        check_fail(sim, "worker %u called gone without proof", id);
}

static void check_worker_state(struct sim *sim, const struct core_command *command)
{
    enum core_why_kind why = command->why.kind;

    if (command->to == CORE_WORKER_COLD)
        check_gone(sim, command->worker);
    if (command->to == CORE_WORKER_DRAINING && (why == CORE_WHY_ROOM || why == CORE_WHY_IDLE))
        check_fail(sim, "worker %u closed while it runs jobs", command->worker);
}

static void check_unloaded(struct sim *sim, const struct core_command *command)
{
    if (sim->answers >= sim->tokens)
        check_fail(sim, "more unloads answered than asked for");
    if (command->worker)
        check_gone(sim, command->worker);
    else if (sim->models[command->model].worker)
        check_fail(sim, "model %u called unloaded, it has worker %u", command->model,
                   sim->models[command->model].worker);
}

void check_command(struct sim *sim, const struct core_command *command)
{
    switch (command->kind) {
    case CORE_COMMAND_SPAWN:
        check_spawn(sim, command);
        break;
    case CORE_COMMAND_LOAD:
        if (sim->workers[command->worker].is_told_load)
            check_fail(sim, "worker %u told to load twice", command->worker);
        break;
    case CORE_COMMAND_START_JOB:
        check_start_job(sim, command);
        break;
    case CORE_COMMAND_CANCEL_JOB:
        check_cancel_job(sim, command);
        break;
    case CORE_COMMAND_STOP:
    case CORE_COMMAND_KILL:
        check_end_of_worker(sim, command);
        break;
    case CORE_COMMAND_JOB_ENDED:
        check_job_ended(sim, command);
        break;
    case CORE_COMMAND_WORKER_STATE:
        check_worker_state(sim, command);
        break;
    case CORE_COMMAND_UNLOADED:
        check_unloaded(sim, command);
        break;
    case CORE_COMMAND_WAKE:
        if (command->at_ms <= sim->now_ms)
            check_fail(sim, "a wake that lies in the past");
        break;
    case CORE_COMMAND_STOPPED:
        if (!sim->is_stopping || sim->is_stopped || core_worker_count(sim->core))
            check_fail(sim, "stopped too early or twice");
        break;
    case CORE_COMMAND_JOB_STARTED:
    case CORE_COMMAND_JOB_WAITS:
    case CORE_COMMAND_ACTIVE:
    case CORE_COMMAND_SAMPLE:
        break;
    }
}

/* Where all are honest, the device itself must never be overfull. */
void check_step(struct sim *sim)
{
    uint64_t used = sim->foreign_bytes;

    if (sim->profile != SIM_HONEST || !sim->out.count)
        return;
    for (uint32_t i = 1; i <= sim->worker_count; i++)
        used += sim->workers[i].is_cold ? 0 : daemon_worker_bytes(sim, i);
    if (used > sim->total_bytes)
        check_fail(sim, "the device is overfull: %llu of %llu MiB",
                   (unsigned long long)(used / MIB), (unsigned long long)(sim->total_bytes / MIB));
}

void check_end(struct sim *sim)
{
    for (uint64_t i = 1; i <= sim->job_count; i++) {
        const struct sim_job *job = &sim->jobs[i];
        if (job->is_ended || (sim->is_stopping && !job->is_started && !job->is_load))
            continue; /* what only waited when the daemon stopped waits in the store */
        check_fail(sim, "job %llu of model %u never ended", (unsigned long long)i, job->model);
    }
    if (sim->answers != sim->tokens)
        check_fail(sim, "%llu unloads, %llu answers", (unsigned long long)sim->tokens,
                   (unsigned long long)sim->answers);
    if (sim->is_stopping && !sim->is_stopped)
        check_fail(sim, "it never stopped");
}

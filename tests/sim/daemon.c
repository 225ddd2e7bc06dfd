/* daemon: carries out commands, and plays the workers and the device. */
#include "world.h"

#define CANCEL_ANSWER_MS 400
#define SAMPLE_LATE_MS   9000

static void daemon_tell(struct sim *sim, enum core_event_kind kind, uint32_t worker, uint64_t job,
                        enum core_failure failure)
{
    const struct core_event event = {
        .kind = kind, .worker = worker, .job = job, .failure = failure};

    sim_feed(sim, &event);
}

/* ---- bytes ---- */

uint64_t daemon_worker_bytes(const struct sim *sim, uint32_t id)
{
    const struct sim_worker *worker = &sim->workers[id];
    const struct sim_model *model = &sim->models[worker->model];

    if (!worker->is_spawned)
        return 0;
    if (worker->is_gone)
        return sim->now_ms < worker->listed_until_ms ? worker->last_bytes : 0;
    if (worker->is_loaded)
        return model->resident_bytes + worker->running * model->per_job_bytes;
    return worker->is_told_load ? model->resident_bytes / 2 : 0;
}

static void daemon_ask(struct sim *sim)
{
    sim_later(sim, sim_random(sim, 3), SIM_SAMPLE_BEGIN, 0, 0);
}

static void daemon_sample_begin(struct sim *sim)
{
    struct sim_sample *slot = NULL;
    uint64_t used = sim->foreign_bytes, took = sim_random(sim, 8);
    uint32_t index = 0;

    for (uint32_t i = 0; i < SIM_SAMPLES && !slot; i++) {
        slot = sim->samples[i].is_used ? NULL : &sim->samples[i];
        index = i;
    }
    if (!slot || (sim->profile != SIM_HONEST && sim_random(sim, 1000) == 0))
        return; /* lost: the core must ask again */
    slot->is_used = true;
    slot->sample = (struct core_sample){.device = CORE_DEVICE_HOST, .begin_ms = sim->now_ms};
    for (uint32_t i = 1; i <= sim->worker_count; i++) {
        const struct sim_worker *worker = &sim->workers[i];
        uint64_t bytes = daemon_worker_bytes(sim, i);
        if (worker->is_cold || (worker->is_gone && sim->now_ms >= worker->listed_until_ms))
            continue;
        slot->workers[slot->sample.worker_count++] = (struct core_measure){.worker = i,
                                                                           .bytes = bytes};
        used += bytes;
    }
    slot->sample.total_bytes = sim->total_bytes;
    slot->sample.free_bytes = used < sim->total_bytes ? sim->total_bytes - used : 0;
    if (sim->profile != SIM_HONEST && sim_random(sim, 1000) == 0)
        took = SAMPLE_LATE_MS;
    sim_later(sim, took, SIM_SAMPLE_END, index, 0);
}

static void daemon_sample_end(struct sim *sim, uint32_t index)
{
    struct sim_sample *slot = &sim->samples[index];
    struct core_event event = {.kind = CORE_EVENT_SAMPLE};

    slot->sample.end_ms = sim->now_ms;
    slot->sample.workers = slot->workers;
    slot->is_used = false;
    if (slot->sample.begin_ms >= sim->last.sample.begin_ms) {
        sim->last.sample = slot->sample;
        for (size_t i = 0; i < slot->sample.worker_count; i++)
            sim->last.workers[i] = slot->workers[i];
        sim->last.sample.workers = sim->last.workers;
    }
    event.sample = slot->sample;
    sim_feed(sim, &event);
}

/* ---- commands ---- */

static void daemon_spawn(struct sim *sim, const struct core_command *command)
{
    struct sim_worker *worker = &sim->workers[command->worker];
    struct sim_model *model = &sim->models[command->model];

    sim->worker_count = command->worker;
    worker->model = command->model;
    worker->is_spawned = true;
    worker->was_unknown = !model->spec.need_bytes[CORE_DEVICE_HOST] && !model->is_ever_loaded;
    model->worker = command->worker;
    model->after_worker = 0;
    sim->changed_ms = sim->now_ms;
    sim->result->spawns++;
    if (sim_chance(sim, model->load_fails_pct / 4))
        sim_later(sim, sim_random(sim, 2000), SIM_EXIT, command->worker, 0);
    else if (!sim_chance(sim, model->hang_pct / 4))
        sim_later(sim, sim_random(sim, 300), SIM_STARTED, command->worker, 0);
}

static void daemon_load(struct sim *sim, uint32_t id)
{
    struct sim_worker *worker = &sim->workers[id];
    const struct sim_model *model = &sim->models[worker->model];

    worker->is_told_load = true;
    if (sim_chance(sim, model->load_fails_pct))
        sim_later(sim, sim_random(sim, model->load_ms), SIM_LOAD_FAILED, id, 0);
    else if (!sim_chance(sim, model->hang_pct / 2))
        sim_later(sim, model->load_ms, SIM_LOADED, id, 0);
}

static void daemon_start_job(struct sim *sim, uint32_t id, uint64_t number)
{
    struct sim_worker *worker = &sim->workers[id];
    const struct sim_model *model = &sim->models[worker->model];
    struct sim_job *job = &sim->jobs[number];
    uint64_t run_ms = sim_between(sim, model->run_ms / 2, model->run_ms * 2);

    for (size_t i = 0; i < SIM_SLOTS; i++) {
        if (worker->jobs[i])
            continue;
        worker->jobs[i] = number;
        break;
    }
    worker->running++;
    job->worker = id;
    job->is_started = true;
    job->started_ms = job->progress_ms = sim->now_ms;
    if (sim_chance(sim, 50))
        sim_later(sim, sim_random(sim, 1000), SIM_PROGRESS, id, number);
    if (sim_chance(sim, model->hang_pct))
        return;
    if (sim_chance(sim, model->crash_pct))
        sim_later(sim, sim_random(sim, run_ms), SIM_EXIT, id, 0);
    else if (sim_chance(sim, model->job_fails_pct))
        sim_later(sim, sim_random(sim, run_ms), sim_chance(sim, 20) ? SIM_CANCELLED : SIM_ERROR, id,
                  number); /* some call it a cancel though nobody asked */
    else
        sim_later(sim, run_ms, SIM_DONE, id, number);
}

static void daemon_stop(struct sim *sim, uint32_t id)
{
    struct sim_worker *worker = &sim->workers[id];

    worker->is_told_stop = true;
    if (!sim_chance(sim, sim->models[worker->model].deaf_pct / 2))
        sim_later(sim, sim_random(sim, 2000), SIM_EXIT, id, 0);
}

static void daemon_cancel(struct sim *sim, uint32_t id, uint64_t job)
{
    if (!sim_chance(sim, sim->models[sim->workers[id].model].deaf_pct))
        sim_later(sim, sim_random(sim, CANCEL_ANSWER_MS), SIM_CANCELLED, id, job);
}

static void daemon_cold(struct sim *sim, uint32_t id)
{
    struct sim_worker *worker = &sim->workers[id];

    worker->is_cold = true;
    if (sim->models[worker->model].worker == id)
        sim->models[worker->model].worker = 0;
}

void daemon_command(struct sim *sim, const struct core_command *command)
{
    switch (command->kind) {
    case CORE_COMMAND_SPAWN:
        daemon_spawn(sim, command);
        break;
    case CORE_COMMAND_LOAD:
        daemon_load(sim, command->worker);
        break;
    case CORE_COMMAND_START_JOB:
        daemon_start_job(sim, command->worker, command->job);
        break;
    case CORE_COMMAND_CANCEL_JOB:
        daemon_cancel(sim, command->worker, command->job);
        break;
    case CORE_COMMAND_STOP:
        daemon_stop(sim, command->worker);
        break;
    case CORE_COMMAND_KILL:
        sim->workers[command->worker].is_killed = true;
        sim->result->kills++;
        sim_later(sim, sim_random(sim, 50), SIM_EXIT, command->worker, 0);
        break;
    case CORE_COMMAND_JOB_ENDED:
        sim->jobs[command->job].is_ended = true;
        break;
    case CORE_COMMAND_WORKER_STATE:
        if (command->to == CORE_WORKER_COLD)
            daemon_cold(sim, command->worker);
        break;
    case CORE_COMMAND_UNLOADED:
        sim->answers++;
        break;
    case CORE_COMMAND_SAMPLE:
        daemon_ask(sim);
        break;
    case CORE_COMMAND_WAKE:
        sim->wake_ms = command->at_ms;
        break;
    case CORE_COMMAND_STOPPED:
        sim->is_stopped = true;
        break;
    case CORE_COMMAND_JOB_STARTED:
    case CORE_COMMAND_JOB_WAITS:
    case CORE_COMMAND_ACTIVE:
        break;
    }
}

/* ---- what workers do ---- */

static void daemon_exit(struct sim *sim, uint32_t id)
{
    struct sim_worker *worker = &sim->workers[id];
    bool was_asked = worker->is_told_stop || worker->is_killed;

    worker->last_bytes = daemon_worker_bytes(sim, id);
    worker->listed_until_ms = sim->now_ms +
                              sim_random(sim, sim->models[worker->model].release_ms + 1);
    worker->is_gone = true;
    worker->is_exit_told = true;
    worker->exit_ms = sim->now_ms;
    sim->changed_ms = sim->now_ms;
    daemon_tell(sim, CORE_EVENT_WORKER_EXITED, id, 0,
                was_asked ? CORE_FAILURE_NONE : CORE_FAILURE_CRASH);
}

static bool daemon_runs(const struct sim *sim, uint32_t id, uint64_t job)
{
    for (size_t i = 0; i < SIM_SLOTS; i++) {
        if (sim->workers[id].jobs[i] == job)
            return true;
    }
    return false;
}

static void daemon_job_over(struct sim *sim, const struct sim_event *event)
{
    struct sim_worker *worker = &sim->workers[event->worker];
    enum core_event_kind kind = event->kind == SIM_DONE    ? CORE_EVENT_JOB_DONE
                                : event->kind == SIM_ERROR ? CORE_EVENT_JOB_ERROR
                                                           : CORE_EVENT_JOB_CANCELLED;

    for (size_t i = 0; i < SIM_SLOTS; i++) {
        if (worker->jobs[i] == event->job)
            worker->jobs[i] = 0;
    }
    worker->running--;
    sim->jobs[event->job].is_done_sent = event->kind == SIM_DONE;
    daemon_tell(sim, kind, event->worker, event->job,
                kind == CORE_EVENT_JOB_ERROR ? CORE_FAILURE_ERROR : CORE_FAILURE_NONE);
}

static void daemon_job_event(struct sim *sim, const struct sim_event *event)
{
    if (!daemon_runs(sim, event->worker, event->job))
        return; /* ended another way meanwhile */
    if (sim_chance(sim, sim->models[sim->workers[event->worker].model].job_fails_pct)) /* a lie */
        daemon_tell(sim, CORE_EVENT_JOB_DONE, event->worker + 1, event->job, CORE_FAILURE_NONE);
    if (event->kind != SIM_PROGRESS) {
        daemon_job_over(sim, event);
        return;
    }
    sim->jobs[event->job].progress_ms = sim->now_ms;
    if (sim_chance(sim, 90))
        sim_later(sim, sim_random(sim, 3000), SIM_PROGRESS, event->worker, event->job);
    daemon_tell(sim, CORE_EVENT_JOB_PROGRESS, event->worker, event->job, CORE_FAILURE_NONE);
}

static void daemon_worker_event(struct sim *sim, const struct sim_event *event)
{
    struct sim_worker *worker = &sim->workers[event->worker];

    if (worker->is_gone)
        return; /* the dead say nothing */
    if (event->kind == SIM_EXIT) {
        daemon_exit(sim, event->worker);
    } else if (event->kind == SIM_STARTED) {
        daemon_tell(sim, CORE_EVENT_WORKER_STARTED, event->worker, 0, CORE_FAILURE_NONE);
    } else if (event->kind == SIM_LOAD_FAILED) {
        daemon_tell(sim, CORE_EVENT_LOAD_FAILED, event->worker, 0,
                    sim_chance(sim, 10) ? CORE_FAILURE_IMPORT : CORE_FAILURE_ERROR);
    } else if (event->kind == SIM_LOADED) {
        worker->is_loaded = true;
        sim->models[worker->model].is_ever_loaded = true;
        sim->changed_ms = sim->now_ms;
        daemon_tell(sim, CORE_EVENT_WORKER_LOADED, event->worker, 0, CORE_FAILURE_NONE);
    } else {
        daemon_job_event(sim, event);
    }
}

static void daemon_stop_asked(struct sim *sim)
{
    const struct core_event event = {
        .kind = sim->is_stopping || sim_chance(sim, 20) ? CORE_EVENT_STOP_NOW : CORE_EVENT_STOP};

    if (!sim->is_stopping && sim_chance(sim, 30))
        sim_later(sim, sim_random(sim, 5000), SIM_STOP_ASKED, 0, 0); /* the second signal */
    sim->is_stopping = true;
    sim_feed(sim, &event);
}

void daemon_event(struct sim *sim, const struct sim_event *event)
{
    switch (event->kind) {
    case SIM_CLIENT:
        people_act(sim);
        break;
    case SIM_FOREIGN_MOVES:
        people_foreign_moves(sim);
        break;
    case SIM_SAMPLE_BEGIN:
        daemon_sample_begin(sim);
        break;
    case SIM_SAMPLE_END:
        daemon_sample_end(sim, event->worker);
        break;
    case SIM_STOP_ASKED:
        daemon_stop_asked(sim);
        break;
    case SIM_STARTED:
    case SIM_LOADED:
    case SIM_LOAD_FAILED:
    case SIM_EXIT:
    case SIM_PROGRESS:
    case SIM_DONE:
    case SIM_ERROR:
    case SIM_CANCELLED:
        daemon_worker_event(sim, event);
        break;
    }
}

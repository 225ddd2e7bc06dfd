/* people: the models of the world, the clients' wishes, and strangers on the device. */
#include <stdio.h>

#include "world.h"

static void people_faults(struct sim *sim, struct sim_model *model)
{
    if (sim->profile == SIM_FLAKY || sim->profile == SIM_STOP) {
        model->load_fails_pct = (unsigned)sim_random(sim, 40);
        model->job_fails_pct = (unsigned)sim_random(sim, 20);
        model->crash_pct = (unsigned)sim_random(sim, 15);
        model->hang_pct = (unsigned)sim_random(sim, 15);
        model->deaf_pct = (unsigned)sim_random(sim, 60);
    }
    if (sim->profile == SIM_PEOPLE)
        model->deaf_pct = 30;
    if (sim->profile == SIM_FOREIGN || sim->profile == SIM_STOP)
        model->release_ms = sim_chance(sim, 30) ? sim_random(sim, 40000) : sim_random(sim, 500);
    else
        model->release_ms = sim_random(sim, 100);
}

static void people_clocks(struct sim *sim, struct core_clocks *clocks)
{
    clocks->queue_ms = sim_between(sim, 20000, 600000);
    clocks->load_ms = sim_between(sim, 15000, 60000);
    clocks->run_ms = sim_between(sim, 2000, 60000);
    clocks->stall_ms = sim_chance(sim, 50) ? sim_between(sim, 2000, 20000) : 0;
    clocks->drain_ms = sim_between(sim, 1000, 60000);
    clocks->cancel_ms = sim_between(sim, 500, 5000);
    clocks->stop_ms = sim_between(sim, 1000, 15000);
}

static void people_model(struct sim *sim, uint32_t id)
{
    struct sim_model *model = &sim->models[id];
    uint64_t declared;

    model->resident_bytes = sim_between(sim, 100, sim->total_bytes / MIB * 2 / 3) * MIB;
    model->per_job_bytes = sim_between(sim, 1, 1500) * MIB;
    model->load_ms = sim_between(sim, 50, 12000);
    model->run_ms = sim_between(sim, 20, 8000);
    model->spec.parallel = (unsigned)sim_between(sim, 1, SIM_SLOTS);
    people_clocks(sim, &model->spec.clocks);
    people_faults(sim, model);
    declared = model->resident_bytes + model->per_job_bytes;
    model->spec.per_job_bytes = model->per_job_bytes;
    if (sim->profile == SIM_UNKNOWN || sim->profile == SIM_STOP) {
        declared = sim_chance(sim, 40) ? 0 : declared / 100 * sim_between(sim, 30, 300);
        model->spec.per_job_bytes = sim_chance(sim, 50) ? 0 : model->per_job_bytes;
    }
    model->spec.need_bytes[CORE_DEVICE_HOST] = declared;
    (void)snprintf(model->spec.name, sizeof(model->spec.name), "m%u", id);
}

static void people_set(struct sim *sim, uint32_t id)
{
    struct core_event event = {
        .kind = CORE_EVENT_MODEL_SET, .model = id, .spec = &sim->models[id].spec};

    sim->models[id].is_set = true;
    sim_feed(sim, &event);
}

void people_init(struct sim *sim)
{
    sim->total_bytes = sim_between(sim, 4096, 65536) * MIB;
    sim->foreign_bytes = sim_random(sim, sim->total_bytes / 4);
    for (uint32_t id = 0; id < SIM_MODELS; id++) {
        people_model(sim, id);
        people_set(sim, id);
    }
}

void people_foreign_moves(struct sim *sim)
{
    if (sim->now_ms > sim->end_ms)
        return;
    sim->foreign_bytes = sim_random(sim, sim->total_bytes * (sim_chance(sim, 20) ? 100 : 40) / 100);
    sim_later(sim, sim_between(sim, 100, 60000), SIM_FOREIGN_MOVES, 0, 0);
}

/* ---- wishes ---- */

static void people_request(struct sim *sim)
{
    struct core_event event = {.kind = CORE_EVENT_REQUEST};
    struct sim_job *job;

    if (sim->job_count == SIM_JOBS - 1)
        return;
    job = &sim->jobs[++sim->job_count];
    job->model = (uint32_t)sim_random(sim, SIM_MODELS);
    job->is_load = sim_chance(sim, 10);
    job->is_accepted = true;
    job->accepted_ms = sim->now_ms;
    event.model = job->model;
    event.request =
        (struct core_request){.job = sim->job_count,
                              .priority = (enum core_priority)sim_random(sim, CORE_PRIORITIES),
                              .is_load = job->is_load};
    sim->result->jobs++;
    sim_feed(sim, &event);
}

static void people_cancel(struct sim *sim)
{
    uint64_t back = sim_random(sim, sim_chance(sim, 80) ? 6 : 60);
    struct core_event event = {.kind = CORE_EVENT_CANCEL};

    if (back >= sim->job_count)
        return;
    event.job = sim->job_count - back; /* it may have ended long ago */
    if (!sim->jobs[event.job].is_ended && !sim->jobs[event.job].is_cancel_asked) {
        sim->jobs[event.job].is_cancel_asked = true;
        sim->jobs[event.job].cancel_ms = sim->now_ms;
    }
    sim_feed(sim, &event);
}

static void people_unload(struct sim *sim)
{
    struct core_event event = {.kind = CORE_EVENT_UNLOAD,
                               .model = (uint32_t)sim_random(sim, SIM_MODELS)};

    event.unload.token = ++sim->tokens;
    event.unload.is_forced = sim_chance(sim, 25);
    sim->models[event.model].is_unload_asked = true;
    sim_feed(sim, &event);
}

static void people_switch(struct sim *sim)
{
    uint32_t next = (uint32_t)sim_random(sim, SIM_MODELS);
    struct core_event event = {.kind = CORE_EVENT_SWITCH, .model = next};

    if (sim->models[next].is_set && next != sim->active) {
        if (sim->active != CORE_NO_MODEL) {
            const struct sim_model *previous = &sim->models[sim->active];
            sim->models[next].after_worker = previous->worker ? previous->worker
                                                              : previous->after_worker;
        }
        sim->active = next;
    }
    sim_feed(sim, &event);
}

static void people_change(struct sim *sim)
{
    uint32_t id = (uint32_t)sim_random(sim, SIM_MODELS);
    struct core_event event = {.kind = CORE_EVENT_MODEL_REMOVED, .model = id};

    if (!sim->models[id].is_set || sim_chance(sim, 50)) {
        people_set(sim, id);
        return;
    }
    sim->models[id].is_set = false;
    sim->models[id].after_worker = 0; /* forgotten with it */
    if (sim->active == id)
        sim->active = CORE_NO_MODEL;
    sim_feed(sim, &event);
}

void people_act(struct sim *sim)
{
    bool is_busy = sim->profile == SIM_PEOPLE || sim->profile == SIM_STOP;
    uint64_t what = sim_random(sim, 100);

    if (sim->now_ms > sim->end_ms)
        return;
    if (what < (is_busy ? 60u : 88u))
        people_request(sim);
    else if (what < (is_busy ? 80u : 95u))
        people_cancel(sim);
    else if (what < (is_busy ? 88u : 97u))
        people_unload(sim);
    else if (what < 96 || !is_busy)
        people_switch(sim);
    else
        people_change(sim);
    /* Bursts, and long silences in which the idle timer runs. */
    sim_later(sim,
              sim_chance(sim, 60)   ? sim_random(sim, 50)
              : sim_chance(sim, 90) ? sim_random(sim, 15000)
                                    : sim_random(sim, 180000),
              SIM_CLIENT, 0, 0);
}

/* sampler: measures the host's RAM on a pool thread, one sample at a time. */
#include "daemon/app.h"

#include "device/probe.h"

struct sampling {
    struct app *app; /* NULL: it has gone */
    struct device_memory memory;
    struct device_holder holders[DEVICE_SAMPLES_MAX];
    uint32_t workers[DEVICE_SAMPLES_MAX];
    size_t count;
    uint64_t begin_ms, end_ms;
    int status;
};

static void sampler_work(void *data)
{
    struct sampling *sampling = data;

    sampling->begin_ms = loop_now_ns() / 1000000;
    sampling->status = device_host.holders(0, sampling->holders, sampling->count);
    if (sampling->status == 0)
        sampling->status = device_host.memory(0, &sampling->memory);
    sampling->end_ms = loop_now_ns() / 1000000;
}

static void sampler_feed(struct sampling *sampling)
{
    struct core_measure measures[DEVICE_SAMPLES_MAX];
    struct core_event event = {.kind = CORE_EVENT_SAMPLE};
    size_t alive = 0;

    for (size_t i = 0; i < sampling->count; i++) {
        if (sampling->holders[i].is_alive)
            measures[alive++] = (struct core_measure){sampling->workers[i],
                                                      sampling->holders[i].bytes};
    }
    event.sample = (struct core_sample){.device = CORE_DEVICE_HOST,
                                        .begin_ms = sampling->begin_ms,
                                        .end_ms = sampling->end_ms,
                                        .total_bytes = sampling->memory.total_bytes,
                                        .free_bytes = sampling->memory.free_bytes,
                                        .workers = measures,
                                        .worker_count = alive};
    app_feed(sampling->app, &event);
}

static void sampler_done(void *data)
{
    struct sampling *sampling = data;
    struct app *app = sampling->app;

    if (!app) {
        mem_free(sampling);
        return;
    }
    app->sampling = NULL;
    if (sampling->status == 0)
        sampler_feed(sampling);
    else
        log_write(&app->log, LOG_LEVEL_WARN, "sample.failed", "device=host rc=%d",
                  sampling->status);
    mem_free(sampling);
    if (app->is_sample_wanted) {
        app->is_sample_wanted = false;
        sampler_start(app);
    }
}

void sampler_start(struct app *app)
{
    struct sampling *sampling;
    struct app_worker *worker;
    size_t at = 0;

    if (app->sampling) {
        app->is_sample_wanted = true; /* the one under way may have begun too early */
        return;
    }
    sampling = mem_new(1, sizeof(*sampling));
    sampling->app = app;
    while ((worker = map_next(&app->workers, &at)) != NULL &&
           sampling->count < DEVICE_SAMPLES_MAX) {
        pid_t root = worker->process ? worker_guard_pid(worker->process) : 0;
        if (!root)
            continue;
        sampling->workers[sampling->count] = worker->id;
        sampling->holders[sampling->count++].root = root;
    }
    app->sampling = sampling;
    if (loop_offload(app->loop, sampler_work, sampler_done, sampling) == 0)
        return;
    app->sampling = NULL;
    mem_free(sampling);
}

void sampler_orphan(struct app *app)
{
    if (app->sampling)
        app->sampling->app = NULL;
    app->sampling = NULL;
}

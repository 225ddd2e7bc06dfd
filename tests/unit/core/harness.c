#include "harness.h"

#include <string.h>

#define RUN_STEPS_MAX 200000

void harness_config(struct core_config *config)
{
    core_config_defaults(config);
    config->host_reserve_bytes = 1; /* no headroom: the figures in the tests stay round */
    config->ttl_ms = 0;
}

void harness_open_with(struct harness *h, const struct core_config *config)
{
    memset(h, 0, sizeof(*h));
    h->core = core_new(config);
    h->now_ms = HARNESS_START_MS;
    h->total_bytes = 24 * GIB;
    harness_sample(h);
}

void harness_open(struct harness *h)
{
    struct core_config config;

    harness_config(&config);
    harness_open_with(h, &config);
}

void harness_close(struct harness *h)
{
    core_free(h->core);
    core_commands_fini(&h->out);
}

struct core_spec harness_spec(uint64_t need_bytes)
{
    struct core_spec spec = {.name = "model", .parallel = 1};

    spec.need_bytes[CORE_DEVICE_HOST] = need_bytes;
    spec.clocks = (struct core_clocks){.queue_ms = 1800000,
                                       .load_ms = 1200000,
                                       .run_ms = 300000,
                                       .drain_ms = 60000,
                                       .cancel_ms = 5000,
                                       .stop_ms = 15000};
    return spec;
}

void harness_model_spec(struct harness *h, uint32_t model, const struct core_spec *spec)
{
    harness_feed(h,
                 (struct core_event){.kind = CORE_EVENT_MODEL_SET, .model = model, .spec = spec});
}

void harness_model(struct harness *h, uint32_t model, uint64_t need_bytes)
{
    struct core_spec spec = harness_spec(need_bytes);

    harness_model_spec(h, model, &spec);
}

/* ---- events ---- */

static void harness_note_commands(struct harness *h)
{
    for (; h->seen < h->out.count; h->seen++) {
        const struct core_command *command = &h->out.items[h->seen];
        if (command->kind == CORE_COMMAND_WAKE)
            h->wake_ms = command->at_ms;
        if (command->kind == CORE_COMMAND_SAMPLE)
            h->is_sample_due = true;
    }
}

void harness_tick(struct harness *h)
{
    struct core_event tick = {.kind = CORE_EVENT_TICK};

    if (h->wake_ms && h->wake_ms <= h->now_ms)
        h->wake_ms = 0;
    core_step(h->core, &tick, h->now_ms, &h->out);
    harness_note_commands(h);
}

void harness_feed(struct harness *h, struct core_event event)
{
    core_step(h->core, &event, h->now_ms, &h->out);
    harness_note_commands(h);
    harness_tick(h);
}

void harness_request_as(struct harness *h, uint32_t model, uint64_t job,
                        enum core_priority priority)
{
    harness_feed(h, (struct core_event){.kind = CORE_EVENT_REQUEST,
                                        .model = model,
                                        .request = {.job = job, .priority = priority}});
}

void harness_request(struct harness *h, uint32_t model, uint64_t job)
{
    harness_request_as(h, model, job, CORE_NORMAL);
}

void harness_load(struct harness *h, uint32_t model, uint64_t job)
{
    harness_feed(
        h, (struct core_event){.kind = CORE_EVENT_REQUEST,
                               .model = model,
                               .request = {.job = job, .priority = CORE_NORMAL, .is_load = true}});
}

void harness_cancel(struct harness *h, uint64_t job)
{
    harness_feed(h, (struct core_event){.kind = CORE_EVENT_CANCEL, .job = job});
}

void harness_unload(struct harness *h, uint32_t model, uint64_t token, bool is_forced)
{
    harness_feed(h, (struct core_event){.kind = CORE_EVENT_UNLOAD,
                                        .model = model,
                                        .unload = {.token = token, .is_forced = is_forced}});
}

void harness_switch(struct harness *h, uint32_t model)
{
    harness_feed(h, (struct core_event){.kind = CORE_EVENT_SWITCH, .model = model});
}

void harness_event(struct harness *h, enum core_event_kind kind, uint32_t worker)
{
    harness_feed(h, (struct core_event){.kind = kind, .worker = worker});
}

void harness_job_event(struct harness *h, enum core_event_kind kind, uint32_t worker, uint64_t job)
{
    harness_feed(h, (struct core_event){.kind = kind, .worker = worker, .job = job});
}

void harness_load_fails(struct harness *h, uint32_t worker, enum core_failure failure)
{
    harness_feed(h, (struct core_event){
                        .kind = CORE_EVENT_LOAD_FAILED, .worker = worker, .failure = failure});
}

void harness_exit(struct harness *h, uint32_t worker, enum core_failure failure)
{
    h->is_listed[worker] = false;
    harness_feed(h, (struct core_event){
                        .kind = CORE_EVENT_WORKER_EXITED, .worker = worker, .failure = failure});
}

void harness_bytes(struct harness *h, uint32_t worker, uint64_t bytes)
{
    h->worker_bytes[worker] = bytes;
    h->is_listed[worker] = true;
}

void harness_sample_from(struct harness *h, uint64_t begin_ms)
{
    struct core_measure measures[HARNESS_WORKERS_MAX];
    struct core_event event = {.kind = CORE_EVENT_SAMPLE};
    uint64_t used = h->foreign_bytes;
    size_t count = 0;

    for (uint32_t i = 0; i < HARNESS_WORKERS_MAX; i++) {
        if (!h->is_listed[i])
            continue;
        used += h->worker_bytes[i];
        measures[count++] = (struct core_measure){.worker = i, .bytes = h->worker_bytes[i]};
    }
    event.sample = (struct core_sample){.device = CORE_DEVICE_HOST,
                                        .begin_ms = begin_ms,
                                        .end_ms = h->now_ms,
                                        .total_bytes = h->total_bytes,
                                        .free_bytes = used < h->total_bytes ? h->total_bytes - used
                                                                            : 0,
                                        .workers = measures,
                                        .worker_count = count};
    h->is_sample_due = false;
    harness_feed(h, event);
}

void harness_sample(struct harness *h)
{
    harness_sample_from(h, h->now_ms);
}

/* ---- time ---- */

void harness_skip(struct harness *h, uint64_t ms)
{
    h->now_ms += ms;
}

void harness_run(struct harness *h, uint64_t ms)
{
    uint64_t end_ms = h->now_ms + ms;

    for (int steps = 0; h->now_ms < end_ms; steps++) {
        assert_true(steps < RUN_STEPS_MAX); /* a WAKE that comes back again and again */
        if (h->is_sample_due && !h->is_deaf) {
            h->now_ms++;
            harness_sample(h);
        } else if (h->wake_ms && h->wake_ms <= end_ms) {
            if (h->wake_ms > h->now_ms)
                h->now_ms = h->wake_ms;
            harness_tick(h);
        } else {
            h->now_ms = end_ms;
        }
    }
}

/* ---- longer ways ---- */

uint32_t harness_bring_up(struct harness *h, uint32_t model, uint64_t bytes)
{
    uint32_t worker = harness_view(h, model).worker;

    assert_int_not_equal(worker, 0);
    harness_skip(h, 10);
    harness_event(h, CORE_EVENT_WORKER_STARTED, worker);
    harness_bytes(h, worker, bytes);
    harness_skip(h, 100);
    harness_event(h, CORE_EVENT_WORKER_LOADED, worker);
    harness_skip(h, 1);
    harness_sample(h);
    return worker;
}

uint32_t harness_ready(struct harness *h, uint32_t model, uint64_t job, uint64_t bytes)
{
    uint32_t worker;

    harness_load(h, model, job);
    if (h->is_sample_due) {
        harness_skip(h, 1);
        harness_sample(h);
    }
    worker = harness_bring_up(h, model, bytes);
    assert_ended(h, job, CORE_END_DONE);
    return worker;
}

/* ---- what came out ---- */

void harness_forget(struct harness *h)
{
    h->mark = h->out.count;
}

size_t harness_count(const struct harness *h, enum core_command_kind kind)
{
    size_t count = 0;

    for (size_t i = h->mark; i < h->out.count; i++)
        count += h->out.items[i].kind == kind;
    return count;
}

const struct core_command *harness_last(const struct harness *h, enum core_command_kind kind)
{
    for (size_t i = h->out.count; i > h->mark; i--) {
        if (h->out.items[i - 1].kind == kind)
            return &h->out.items[i - 1];
    }
    return NULL;
}

const struct core_command *harness_expect_at(const struct harness *h, enum core_command_kind kind,
                                             const char *name, const char *file, int line)
{
    const struct core_command *command = harness_last(h, kind);

    if (!command) {
        print_error("expected %s, it did not come\n", name);
        _fail(file, line);
    }
    return command;
}

struct core_model_view harness_view(const struct harness *h, uint32_t model)
{
    struct core_model_view view;

    assert_int_equal(core_model_get(h->core, model, &view), 0);
    return view;
}

struct core_device_view harness_device(const struct harness *h)
{
    struct core_device_view view;

    assert_int_equal(core_device_get(h->core, CORE_DEVICE_HOST, &view), 0);
    return view;
}

const struct core_command *harness_end(const struct harness *h, uint64_t job)
{
    const struct core_command *end = NULL;

    for (size_t i = 0; i < h->out.count; i++) {
        const struct core_command *command = &h->out.items[i];
        if (command->kind != CORE_COMMAND_JOB_ENDED || command->job != job)
            continue;
        assert_null(end);
        end = command;
    }
    return end;
}

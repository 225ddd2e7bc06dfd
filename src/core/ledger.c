/* ledger: who has how many bytes where (docs/scheduling.md, rules 1–8).
 *
 *     available = free − Σ max(0, reserved − measured) − headroom − earmarks
 *
 * all from one sample. What is foreign or residue is already in `free`: a label, no addend. */
#include "core/rules.h"

#define SAMPLE_LEARNING_MS  50   /* while something unlearned loads or runs: 20 Hz */
#define SAMPLE_RELEASING_MS 20   /* while bytes are awaited */
#define SAMPLE_BUSY_MS      1000 /* while learned models load or run, or somebody waits for bytes */
#define SAMPLE_LOST_MS      5000 /* an answer that has not come by then is asked for again */
#define HEADROOM_MIN_BYTES  (512ull << 20)
#define HEADROOM_FIRST_PCT  20 /* while sizes are only declared */
#define HEADROOM_LAST_PCT   5
#define HEADROOM_LEARNED    10 /* loads after which the last figure holds */

struct core_command *core_emit(struct core *core, enum core_command_kind kind)
{
    struct core_commands *list = core->out;
    struct core_command *command;

    if (list->count == list->cap) {
        list->cap = list->cap ? list->cap * 2 : 16;
        list->items = mem_resize(list->items, list->cap * sizeof(*list->items));
    }
    command = &list->items[list->count++];
    *command = (struct core_command){.kind = kind, .model = CORE_NO_MODEL};
    command->why.other = CORE_NO_MODEL;
    return command;
}

void ledger_ask(struct core *core, uint32_t device)
{
    struct core_device *dev = &core->devices[device];

    if (dev->is_sampling && core->now_ms < dev->asked_ms + SAMPLE_LOST_MS)
        return;
    dev->is_sampling = true;
    dev->asked_ms = core->now_ms;
    core_emit(core, CORE_COMMAND_SAMPLE)->device = device;
}

void ledger_changed(struct core *core, const struct core_worker *worker)
{
    (void)worker; /* one device so far: every change is on it */
    core->devices[CORE_DEVICE_HOST].changed_ms = core->now_ms;
}

bool ledger_is_fresh(const struct core *core, uint32_t device)
{
    const struct core_device *dev = &core->devices[device];

    return dev->is_known && dev->begin_ms >= dev->changed_ms &&
           core->now_ms <= dev->begin_ms + core->config.sample_max_age_ms;
}

/* 20 % of the device at first, less with every load that was measured. */
static uint64_t ledger_headroom(const struct core *core, const struct core_device *dev)
{
    uint64_t least = dev->total_bytes / 100 * HEADROOM_LAST_PCT;
    uint64_t most = dev->total_bytes / 100 * HEADROOM_FIRST_PCT;
    unsigned loads = 0;

    if (core->config.host_reserve_bytes)
        return core->config.host_reserve_bytes;
    list_each (node, &core->model_list) {
        loads += list_entry(node, struct core_model, node)->footprint[CORE_DEVICE_HOST].loads;
    }
    if (loads > HEADROOM_LEARNED)
        loads = HEADROOM_LEARNED;
    if (least < HEADROOM_MIN_BYTES)
        least = HEADROOM_MIN_BYTES;
    if (most < least)
        most = least;
    return most - (most - least) / HEADROOM_LEARNED * loads;
}

void ledger_view(const struct core *core, uint32_t device, struct core_device_view *out)
{
    const struct core_device *dev = &core->devices[device];
    uint64_t promised = 0, used;

    *out = (struct core_device_view){.total_bytes = dev->total_bytes,
                                     .free_bytes = dev->free_bytes,
                                     .headroom_bytes = ledger_headroom(core, dev),
                                     .residue_bytes = dev->residue_bytes,
                                     .sampled_ms = dev->begin_ms};
    list_each (node, &core->workers) {
        const struct core_worker *worker = list_entry(node, struct core_worker, node);
        uint64_t reserved = worker->reserved_bytes[device];
        uint64_t measured = worker->measured_bytes[device];
        out->reserved_bytes += reserved;
        out->ours_bytes += measured;
        promised += reserved > measured ? reserved - measured : 0;
    }
    used = dev->total_bytes > dev->free_bytes ? dev->total_bytes - dev->free_bytes : 0;
    out->foreign_bytes = used > out->ours_bytes ? used - out->ours_bytes : 0;
    promised += out->headroom_bytes;
    out->available_bytes = dev->free_bytes > promised ? dev->free_bytes - promised : 0;
}

/* Rule 3: a released worker's bytes are back when it is absent from a sample begun after its
 * end. What stays away after the grace is shown as residue, never above what nobody owns. */
static void ledger_prove_release(struct core *core, const struct core_sample *sample)
{
    list_each_safe (node, &core->workers) {
        struct core_worker *worker = list_entry(node, struct core_worker, node);
        bool is_listed = false;
        if (worker->state != CORE_WORKER_RELEASING || !worker->exited_ms ||
            sample->begin_ms < worker->exited_ms)
            continue;
        for (size_t i = 0; i < sample->worker_count; i++)
            is_listed |= sample->workers[i].worker == worker->id;
        if (!is_listed)
            residency_released(core, worker);
    }
}

/* Exactly one job runs in it, and the sample began after that job did. */
static bool ledger_saw_one_job(const struct core_worker *worker, const struct core_sample *sample)
{
    const struct list *first = list_first(&worker->jobs);

    return worker->running == 1 && first &&
           sample->begin_ms > list_entry(first, struct core_job, node)->started_ms;
}

static void ledger_note_worker(struct core *core, const struct core_sample *sample,
                               const struct core_measure *measure)
{
    struct core_worker *worker = residency_find(core, measure->worker);

    if (!worker)
        return;
    worker->measured_bytes[sample->device] = measure->bytes;
    if (measure->bytes > worker->peak_bytes)
        worker->peak_bytes = measure->bytes;
    if (worker->running && measure->bytes > worker->busy_peak_bytes)
        worker->busy_peak_bytes = measure->bytes;
    if (ledger_saw_one_job(worker, sample) && measure->bytes > worker->solo_peak_bytes)
        worker->solo_peak_bytes = measure->bytes;
    footprint_learn(core, worker, sample->device);
}

/* Rule 1: what a sample does not attribute to a worker counts as not yet taken. */
static void ledger_forget_measured(struct core *core, uint32_t device)
{
    list_each (node, &core->workers) {
        struct core_worker *worker = list_entry(node, struct core_worker, node);
        if (!worker->exited_ms)
            worker->measured_bytes[device] = 0;
    }
}

void ledger_sample(struct core *core, const struct core_sample *sample)
{
    struct core_device *dev;

    if (sample->device >= CORE_DEVICES_MAX)
        return;
    dev = &core->devices[sample->device];
    dev->is_sampling = false;
    if (dev->is_known && sample->begin_ms < dev->begin_ms)
        return; /* an answer that had been given up for lost: a newer one was taken */
    dev->is_known = true;
    dev->begin_ms = sample->begin_ms;
    dev->total_bytes = sample->total_bytes;
    dev->free_bytes = sample->free_bytes;
    ledger_forget_measured(core, sample->device);
    for (size_t i = 0; i < sample->worker_count; i++)
        ledger_note_worker(core, sample, &sample->workers[i]);
    ledger_prove_release(core, sample);
}

static uint64_t worker_sample_period(const struct core *core, const struct core_worker *worker)
{
    switch (worker->state) {
    case CORE_WORKER_STARTING:
    case CORE_WORKER_LOADING:
        return worker->model->footprint[CORE_DEVICE_HOST].loads ? SAMPLE_BUSY_MS
                                                                : SAMPLE_LEARNING_MS;
    case CORE_WORKER_READY:
    case CORE_WORKER_DRAINING:
        if (worker->running == 0) /* one sample at rest shows what it keeps */
            return worker->is_learned ? 0 : SAMPLE_LEARNING_MS;
        if (worker->is_unknown_need)
            return SAMPLE_LEARNING_MS;
        return worker->model->footprint[CORE_DEVICE_HOST].jobs ? SAMPLE_BUSY_MS
                                                               : SAMPLE_LEARNING_MS;
    case CORE_WORKER_RELEASING:
        if (!worker->exited_ms)
            return 0;
        return core->now_ms < worker->exited_ms + core->config.release_grace_ms
                   ? SAMPLE_RELEASING_MS
                   : SAMPLE_BUSY_MS;
    case CORE_WORKER_COLD:
        break;
    }
    return 0;
}

uint64_t ledger_next_sample(const struct core *core, uint32_t device)
{
    const struct core_device *dev = &core->devices[device];
    uint64_t period = 0;

    list_each (node, &core->workers) {
        const struct core_worker *worker = list_entry(node, struct core_worker, node);
        period = core_sooner(period, worker_sample_period(core, worker));
    }
    list_each (node, &core->model_list) {
        const struct core_model *model = list_entry(node, struct core_model, node);
        /* What it waits for may be somebody else's to give back: only a sample shows it. */
        if (model->queued && !model->worker && core->now_ms >= model->backoff_until_ms)
            period = core_sooner(period, SAMPLE_BUSY_MS);
    }
    if (!period)
        return 0;
    if (dev->is_sampling)
        return dev->asked_ms + SAMPLE_LOST_MS;
    return dev->begin_ms + period;
}

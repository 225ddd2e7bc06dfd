/* view: what others may look at. Nothing here changes anything. */
#include <errno.h>

#include "core/rules.h"

static uint64_t view_sum(const uint64_t bytes[CORE_DEVICES_MAX])
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < CORE_DEVICES_MAX; i++)
        sum += bytes[i];
    return sum;
}

static enum core_residency view_residency(const struct core *core, const struct core_model *model)
{
    if (model->worker)
        return (enum core_residency)model->worker->state;
    if (model->is_broken)
        return CORE_RESIDENCY_BROKEN;
    if (core->now_ms < model->backoff_until_ms)
        return CORE_RESIDENCY_CRASHED;
    return CORE_RESIDENCY_COLD;
}

int core_model_get(const struct core *core, uint32_t id, struct core_model_view *out)
{
    const struct core_model *model = map_get(&core->models, id);

    if (!model)
        return -ENOENT;
    *out = (struct core_model_view){.residency = view_residency(core, model),
                                    .queued = model->queued,
                                    .backoff_until_ms = model->backoff_until_ms,
                                    .failure = model->failure,
                                    .last_load_ms = model->last_load_ms,
                                    .job_average_ms = model->job_average_ms};
    if (model->worker) {
        out->worker = model->worker->id;
        out->running = model->worker->running;
        out->reserved_bytes = view_sum(model->worker->reserved_bytes);
        out->measured_bytes = view_sum(model->worker->measured_bytes);
    }
    return 0;
}

int core_device_get(const struct core *core, uint32_t device, struct core_device_view *out)
{
    if (device >= CORE_DEVICES_MAX || !core->devices[device].is_known)
        return -ENOENT;
    ledger_view(core, device, out);
    return 0;
}

size_t core_worker_count(const struct core *core)
{
    size_t count = 0;

    list_each (node, &core->workers) {
        count++;
    }
    return count;
}

void core_worker_at(const struct core *core, size_t index, struct core_worker_view *out)
{
    list_each (node, &core->workers) {
        const struct core_worker *worker = list_entry(node, struct core_worker, node);
        if (index--)
            continue;
        *out = (struct core_worker_view){.worker = worker->id,
                                         .model = worker->model->id,
                                         .state = worker->state,
                                         .running = worker->running,
                                         .slots = pool_slots(core, worker),
                                         .reserved_bytes = view_sum(worker->reserved_bytes),
                                         .measured_bytes = view_sum(worker->measured_bytes),
                                         .peak_bytes = worker->peak_bytes,
                                         .spawned_ms = worker->spawned_ms,
                                         .idle_since_ms = worker->idle_since_ms};
        return;
    }
}

uint32_t core_active(const struct core *core)
{
    return core->active;
}

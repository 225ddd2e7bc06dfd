/* pool: how many jobs of a model run at once. */
#include "core/rules.h"

#define PER_JOB_TINY_BYTES (16ull << 20) /* rule 5: below it memory does not limit the slots */
#define SOLO_PEAKS_NEEDED  3             /* without a declared per_job */

unsigned pool_slots(const struct core *core, const struct core_worker *worker)
{
    const struct core_model *model = worker->model;
    const struct core_footprint *fp = &model->footprint[CORE_DEVICE_HOST];
    uint64_t per_job = footprint_per_job(model, CORE_DEVICE_HOST);
    struct core_device_view view;
    unsigned charged = worker->running ? worker->running : 1;
    uint64_t room;

    if (model->spec.parallel <= 1)
        return 1;
    if (!model->spec.per_job_bytes && (fp->jobs < SOLO_PEAKS_NEEDED || !fp->loads))
        return 1;
    if (per_job < PER_JOB_TINY_BYTES)
        return model->spec.parallel;
    /* One more takes bytes that are known to be free and that nobody is making room with. */
    if (!ledger_is_fresh(core, CORE_DEVICE_HOST) || core->intent != CORE_NO_MODEL)
        return charged;
    ledger_view(core, CORE_DEVICE_HOST, &view);
    room = charged + view.available_bytes / per_job;
    return room < model->spec.parallel ? (unsigned)room : model->spec.parallel;
}

void pool_note(struct core_model *model, uint64_t run_ms)
{
    if (!model->job_average_ms)
        model->job_average_ms = run_ms;
    else
        model->job_average_ms = (model->job_average_ms * 7 + run_ms * 3) / 10;
}

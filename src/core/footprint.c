/* footprint: how many bytes a model needs: declared at first, then as measured (rules 9–12). */
#include "core/rules.h"

#define RESIDENT_MARGIN_PCT 5
#define PEAK_MARGIN_MIN_PCT 5
#define PEAK_MARGIN_MAX_PCT 25 /* ÷ √n */
#define DECLARED_FLOOR_JOBS 10 /* before so many jobs nothing below the declared value is used */

static unsigned footprint_sqrt(unsigned n)
{
    unsigned root = 1;

    while (root * root < n)
        root++;
    return root;
}

static unsigned footprint_margin(unsigned jobs)
{
    unsigned margin = jobs ? PEAK_MARGIN_MAX_PCT / footprint_sqrt(jobs) : PEAK_MARGIN_MAX_PCT;

    return margin > PEAK_MARGIN_MIN_PCT ? margin : PEAK_MARGIN_MIN_PCT;
}

uint64_t footprint_per_job(const struct core_model *model, uint32_t device)
{
    const struct core_footprint *fp = &model->footprint[device];
    uint64_t learned;

    if (fp->jobs == 0 || fp->loads == 0)
        return model->spec.per_job_bytes;
    learned = fp->job_peak_bytes / 100 * (100 + footprint_margin(fp->jobs));
    if (fp->jobs < DECLARED_FLOOR_JOBS && learned < model->spec.per_job_bytes)
        return model->spec.per_job_bytes;
    return learned;
}

uint64_t footprint_need(const struct core_model *model, uint32_t device)
{
    const struct core_footprint *fp = &model->footprint[device];
    uint64_t declared = model->spec.need_bytes[device];
    uint64_t learned;

    if (fp->loads == 0) /* all that may be known is what the whole worker held in a job */
        learned = fp->job_peak_bytes / 100 * (100 + footprint_margin(fp->jobs));
    else
        learned = fp->resident_bytes / 100 * (100 + RESIDENT_MARGIN_PCT) +
                  footprint_per_job(model, device);
    if (fp->jobs < DECLARED_FLOOR_JOBS && learned < declared)
        return declared;
    return learned;
}

/* Rule 5: a ready worker is charged max(measured, resident + max(1, running) × per job). Before
 * its first load was measured the declared need stands for resident and one job. */
void footprint_charge(struct core_worker *worker, uint32_t device)
{
    const struct core_footprint *fp = &worker->model->footprint[device];
    uint64_t per_job = footprint_per_job(worker->model, device);
    uint64_t need = footprint_need(worker->model, device);
    uint64_t more = worker->running > 1 ? (worker->running - 1) * per_job : 0;
    uint64_t charge = fp->loads ? fp->resident_bytes + per_job + more : need + more;

    if (worker->is_unknown_need)
        return; /* it keeps all that was free until a sample after the load */
    if (charge < need)
        charge = need;
    if (charge < worker->measured_bytes[device])
        charge = worker->measured_bytes[device];
    worker->reserved_bytes[device] = charge;
}

static void footprint_learn_resident(struct core_footprint *fp, struct core_worker *worker,
                                     uint64_t measured)
{
    if (fp->resident_bytes < measured)
        fp->resident_bytes = measured;
    if (fp->loads == 0) /* so far the peaks were of the whole worker */
        fp->job_peak_bytes = fp->job_peak_bytes > measured ? fp->job_peak_bytes - measured : 0;
    fp->loads += !worker->is_learned;
    worker->is_learned = true;
    worker->is_unknown_need = false;
}

void footprint_learn(struct core *core, struct core_worker *worker, uint32_t device)
{
    struct core_footprint *fp = &worker->model->footprint[device];
    uint64_t measured = worker->measured_bytes[device];

    /* At rest it shows what it keeps, if the sample began after its last job had ended. */
    if (worker->state == CORE_WORKER_READY && worker->running == 0 &&
        core->devices[device].begin_ms > worker->idle_since_ms)
        footprint_learn_resident(fp, worker, measured);
    /* Alone only for its load: once it was measured behind it, the rest is free for others. */
    if (worker->loaded_ms && core->devices[device].begin_ms > worker->loaded_ms)
        worker->is_unknown_need = false;
    if (worker->state == CORE_WORKER_READY || worker->state == CORE_WORKER_DRAINING)
        footprint_charge(worker, device);
    else if (worker->reserved_bytes[device] < measured)
        worker->reserved_bytes[device] = measured;
}

void footprint_job_done(struct core *core, struct core_worker *worker, uint64_t reported_bytes)
{
    struct core_footprint *fp = &worker->model->footprint[CORE_DEVICE_HOST];
    uint64_t peak = worker->solo_peak_bytes;

    worker->solo_peak_bytes = 0;
    if (worker->has_overlap)
        return; /* rule 10: learned only while exactly one job ran */
    /* A figure above the whole device is a mistake, not a measurement. */
    if (reported_bytes && reported_bytes <= core->devices[CORE_DEVICE_HOST].total_bytes)
        peak = reported_bytes; /* its own figure beats a sampled one */
    if (peak == 0)
        return; /* too short for any sample: it says nothing */
    if (peak > worker->peak_bytes)
        worker->peak_bytes = peak;
    if (peak > worker->busy_peak_bytes)
        worker->busy_peak_bytes = peak;
    if (fp->loads)
        peak = peak > fp->resident_bytes ? peak - fp->resident_bytes : 0;
    if (fp->job_peak_bytes < peak)
        fp->job_peak_bytes = peak;
    fp->jobs++;
}

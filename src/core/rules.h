/* rules: what the files of this folder offer each other, by file. Nobody else includes it. */
#ifndef HOTBUNK_CORE_RULES_H
#define HOTBUNK_CORE_RULES_H

#include "core/state.h"

/* A reason without numbers. */
static inline struct core_why why_of(enum core_why_kind kind)
{
    return (struct core_why){.kind = kind, .other = CORE_NO_MODEL};
}

/* Appends a zeroed command of this kind. */
struct core_command *core_emit(struct core *core, enum core_command_kind kind);

/* The sooner of the two, where 0 means "never". */
static inline uint64_t core_sooner(uint64_t a, uint64_t b)
{
    if (!a || !b)
        return a ? a : b;
    return a < b ? a : b;
}

/* now + ms, or 0 (never) for a limit of 0. */
static inline uint64_t core_after(const struct core *core, uint64_t ms)
{
    return ms ? core->now_ms + ms : 0;
}

static inline bool core_is_due(const struct core *core, uint64_t at_ms)
{
    return at_ms && core->now_ms >= at_ms;
}

/* ---- queue.c: jobs ---- */

void queue_request(struct core *core, const struct core_event *event);
void queue_cancel(struct core *core, uint64_t job_id);

/* Ends a job for its client and frees its slot. */
void queue_end(struct core *core, struct core_job *job, enum core_end end, struct core_why why);

/* Ends a running job for its client at once; the worker is told to end it and keeps the slot
 * (as a ghost) until it says so, or is killed after cancel_grace. */
void queue_abandon(struct core *core, struct core_job *job, enum core_end end, struct core_why why);

/* The slot is free: takes the job off its worker and forgets it. */
void queue_release(struct core *core, struct core_job *job);

/* Ends every job that waits for the model. */
void queue_end_all(struct core *core, struct core_model *model, enum core_end end,
                   struct core_why why);

/* After a failed load: the waiting jobs stay, but not those it was the second failure for. */
void queue_load_failed(struct core *core, struct core_model *model, enum core_end end,
                       struct core_why why, bool is_permanent);

/* Gives waiting jobs to a ready worker while it has slots. */
void queue_start(struct core *core, struct core_model *model);

/* The job that would start next, or NULL. */
struct core_job *queue_first(const struct core_model *model);

/* Tells the waiting jobs of a model why, if it changed. */
void queue_explain(struct core *core, struct core_model *model, struct core_why why);

/* Tells the worker to end the job; after cancel_grace it is killed. */
void queue_cancel_running(struct core *core, struct core_job *job, enum core_job_state state);

/* ---- residency.c: workers ---- */

/* The one place that changes a worker's state. */
void residency_set_state(struct core *core, struct core_worker *worker, enum core_worker_state to,
                         struct core_why why);
struct core_worker *residency_spawn(struct core *core, struct core_model *model);
struct core_worker *residency_find(const struct core *core, uint32_t id);
void residency_started(struct core *core, struct core_worker *worker);
void residency_loaded(struct core *core, struct core_worker *worker);
void residency_load_failed(struct core *core, struct core_worker *worker,
                           enum core_failure failure);
void residency_exited(struct core *core, struct core_worker *worker, enum core_failure failure);

/* Takes no new jobs, then goes when the running ones have ended. */
void residency_drain(struct core *core, struct core_worker *worker, bool is_forced,
                     uint64_t limit_ms, struct core_why why);
void residency_kill(struct core *core, struct core_worker *worker);

/* A job left it: idle, or gone if it drains. */
void residency_job_left(struct core *core, struct core_worker *worker);

/* The bytes are proven to be back: answers who waits and forgets the worker. */
void residency_released(struct core *core, struct core_worker *worker);

/* A crash or failed load of the model: back-off, breaker. */
void model_failed(struct core *core, struct core_model *model, enum core_failure failure);
bool failure_is_permanent(enum core_failure failure);

void residency_unload(struct core *core, const struct core_event *event);
void residency_switch(struct core *core, uint32_t model_id);
void residency_stop(struct core *core, bool is_now);

/* ---- ledger.c: bytes ---- */

void ledger_sample(struct core *core, const struct core_sample *sample);
void ledger_view(const struct core *core, uint32_t device, struct core_device_view *out);

/* Asks for a sample unless one is under way. */
void ledger_ask(struct core *core, uint32_t device);

/* A load, exit or unload of ours: older samples admit nothing any more. */
void ledger_changed(struct core *core, const struct core_worker *worker);
bool ledger_is_fresh(const struct core *core, uint32_t device);

/* When the next periodic sample of the device is due, 0 = none needed. */
uint64_t ledger_next_sample(const struct core *core, uint32_t device);

/* ---- footprint.c: what a model needs ---- */

/* Learned or declared bytes on the device for a load and one job; 0 = unknown. */
uint64_t footprint_need(const struct core_model *model, uint32_t device);
uint64_t footprint_per_job(const struct core_model *model, uint32_t device);
void footprint_learn(struct core *core, struct core_worker *worker, uint32_t device);

/* Charges the worker for the jobs it runs now, at the latest when one more starts. */
void footprint_charge(struct core_worker *worker, uint32_t device);
void footprint_job_done(struct core *core, struct core_worker *worker, uint64_t reported_bytes);

/* ---- pool.c: slots ---- */

/* Jobs the worker may run at once now, at least 1. */
unsigned pool_slots(const struct core *core, const struct core_worker *worker);
void pool_note(struct core_model *model, uint64_t run_ms);

/* ---- place.c: who loads next, and who leaves for it ---- */

void place_all(struct core *core);

/* ---- clocks.c: limits ---- */

void clocks_run(struct core *core);

/* The next moment at which something is due, 0 = never. */
uint64_t clocks_next(const struct core *core);

#endif

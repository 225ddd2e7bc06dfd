/* core: the brain: a deterministic state machine, events in, commands out.
 *
 *     core_step(core, &event, now_ms, &commands)
 *
 * It has no I/O, no clock, no threads and no globals: the daemon feeds it and carries out its
 * commands; a test or a simulator feeds it just the same. Events only note what happened; the
 * TICK that follows (once per loop turn) decides. Time is a monotonic count of milliseconds that
 * never runs backwards. The rules are in docs/scheduling.md. */
#ifndef HOTBUNK_CORE_CORE_H
#define HOTBUNK_CORE_CORE_H

#include "core/command.h"
#include "core/event.h"

struct core;

struct core_config {
    uint64_t queue_limit;        /* jobs that may wait for one model */
    uint64_t sample_max_age_ms;  /* an older sample admits nothing */
    uint64_t release_grace_ms;   /* until bytes that did not come back become residue */
    uint64_t run_extra_ms;       /* the most that progress may add to a run limit */
    uint64_t progress_fresh_ms;  /* progress younger than this keeps a job past its limit alive */
    uint64_t ttl_ms;             /* an idle worker leaves after this; 0 = never */
    uint64_t host_reserve_bytes; /* host RAM never given out, instead of the headroom rule */
    uint64_t stop_grace_ms;      /* running jobs may go on this long when the daemon stops */
};

/* Sensible values for every field. */
void core_config_defaults(struct core_config *config);

struct core *core_new(const struct core_config *config);
void core_free(struct core *core);

/* Takes in one event; appends what is to be done to `out`, in order. */
void core_step(struct core *core, const struct core_event *event, uint64_t now_ms,
               struct core_commands *out);

/* ---- what others may look at; nothing here changes anything ---- */

struct core_model_view {
    enum core_residency residency;
    uint32_t worker; /* 0 = none */
    unsigned running, queued;
    uint64_t reserved_bytes; /* on all devices */
    uint64_t measured_bytes;
    uint64_t backoff_until_ms;
    enum core_failure failure; /* of the last failed load or crash */
    uint64_t last_load_ms;     /* how long the last load took */
    uint64_t job_average_ms;   /* moving average of finished jobs */
};

struct core_worker_view {
    uint32_t worker, model;
    enum core_worker_state state;
    unsigned running, slots;
    uint64_t reserved_bytes, measured_bytes, peak_bytes;
    uint64_t spawned_ms, idle_since_ms;
};

struct core_device_view {
    uint64_t total_bytes, free_bytes;
    uint64_t reserved_bytes; /* Σ over our workers */
    uint64_t ours_bytes;     /* measured, Σ over our workers */
    uint64_t foreign_bytes;  /* used and attributed to nobody of ours */
    uint64_t headroom_bytes;
    uint64_t residue_bytes;
    uint64_t available_bytes; /* what a new load could get now */
    uint64_t sampled_ms;      /* when the last sample began; 0 = never */
};

/* 0, or -ENOENT. */
int core_model_get(const struct core *core, uint32_t model, struct core_model_view *out) MUSTCHECK;
int core_device_get(const struct core *core, uint32_t device,
                    struct core_device_view *out) MUSTCHECK;

size_t core_worker_count(const struct core *core);
void core_worker_at(const struct core *core, size_t index, struct core_worker_view *out);

/* The active model of Modly's routes, or CORE_NO_MODEL. */
uint32_t core_active(const struct core *core);

#endif

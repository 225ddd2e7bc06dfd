/* state: what the core remembers; shared by the files of this folder, seen by nobody else.
 *
 * Parents own children: core owns models, workers and jobs; a worker points at its model, a job
 * at its model and (while it runs) its worker. Lists are intrusive. */
#ifndef HOTBUNK_CORE_STATE_H
#define HOTBUNK_CORE_STATE_H

#include "base/list.h"
#include "base/map.h"
#include "core/core.h"

/* Which list holds a job: QUEUED its model's queue, the others its worker's jobs. */
enum core_job_state {
    CORE_JOB_QUEUED = 0,
    CORE_JOB_RUNNING,
    CORE_JOB_CANCELLING, /* told to end, its client still waits for the outcome */
    CORE_JOB_GHOST,      /* ended for its client, its slot is not free yet */
};

struct core_job {
    struct list node; /* in model->queue[priority] or worker->jobs */
    uint64_t id;
    struct core_model *model;
    struct core_worker *worker;
    enum core_job_state state;
    enum core_priority priority;
    bool is_load;
    unsigned failed_loads; /* loads that failed under it */
    uint64_t queued_ms;
    uint64_t started_ms;
    uint64_t progress_ms;  /* last sign of progress */
    uint64_t cancel_by_ms; /* CANCELLING, GHOST: the worker is ended then */
    uint64_t load_ms;      /* load time it waited for */
    struct core_why why;   /* last reason told */
};

/* What was learned of a model; one device in this version of the rules. */
struct core_footprint {
    uint64_t resident_bytes; /* after a load, most seen */
    uint64_t job_peak_bytes; /* above resident while one job ran, most seen; in all if !loads */
    unsigned loads, jobs;    /* samples behind them */
};

struct core_model {
    struct list node; /* in core->model_list, by id */
    uint32_t id;
    struct core_spec spec;
    bool is_removed;
    struct list queue[CORE_PRIORITIES];
    unsigned queued;
    struct core_worker *worker;
    uint32_t after_worker; /* may not spawn before this worker is gone (switch), 0 = none */
    struct core_footprint footprint[CORE_DEVICES_MAX];
    uint64_t backoff_until_ms;
    unsigned failures; /* loads failed or crashes in a row */
    bool is_broken;
    bool is_tried; /* place_all looked at it in this round */
    enum core_failure failure;
    uint64_t last_load_ms;
    uint64_t job_average_ms;
};

struct core_unload_waiter {
    struct list node; /* in worker->waiters */
    uint64_t token;
};

struct core_worker {
    struct list node; /* in core->workers, oldest first */
    uint32_t id;
    struct core_model *model;
    enum core_worker_state state;
    struct list jobs;    /* RUNNING, CANCELLING, GHOST */
    struct list waiters; /* unloads to be answered */
    unsigned running;    /* jobs in the list */
    uint64_t reserved_bytes[CORE_DEVICES_MAX];
    uint64_t measured_bytes[CORE_DEVICES_MAX];
    uint64_t peak_bytes; /* most measured, all devices together */
    uint64_t held_bytes; /* measured when it was asked to go, all devices together */
    uint64_t spawned_ms;
    uint64_t limit_ms; /* STARTING, LOADING, DRAINING, RELEASING: when that phase ends */
    uint64_t loaded_ms;
    uint64_t idle_since_ms;   /* READY without jobs */
    uint64_t exited_ms;       /* 0 = its tree may still live */
    uint64_t busy_peak_bytes; /* most measured or reported since it was last idle */
    uint64_t solo_peak_bytes; /* most measured during the job that runs alone */
    bool is_forced;           /* drain without waiting */
    bool is_unknown_need;     /* it got all that was free, until it is measured */
    bool is_learned;          /* this load was measured */
    bool has_overlap;         /* since it last was idle, more than one job ran at once */
    bool is_killed;
    bool has_lost_slot; /* a ghost ignored its cancel: no new jobs */
};

struct core_device {
    bool is_known;
    bool is_sampling; /* asked for, not yet answered */
    uint64_t asked_ms;
    uint64_t begin_ms;   /* of the last sample */
    uint64_t changed_ms; /* last own load, exit or unload on it */
    uint64_t total_bytes, free_bytes;
    uint64_t residue_bytes;
};

struct core {
    struct core_config config;
    struct map models; /* id → struct core_model */
    struct map jobs;   /* id → struct core_job */
    struct list model_list;
    struct list workers;
    struct core_device devices[CORE_DEVICES_MAX];
    uint32_t next_worker;
    uint32_t active;
    uint32_t intent; /* the model that bytes are being freed for, or CORE_NO_MODEL */
    bool is_stopping, is_stopped;
    uint64_t wake_ms; /* last WAKE given, 0 = none */
    /* set for the duration of a step */
    uint64_t now_ms;
    struct core_commands *out;
};

#endif

/* event: what the core is told. Plain values; pointers are borrowed for the call. */
#ifndef HOTBUNK_CORE_EVENT_H
#define HOTBUNK_CORE_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CORE_DEVICES_MAX 16 /* device 0 is the host's RAM */
#define CORE_DEVICE_HOST 0
#define CORE_NO_MODEL    UINT32_MAX
#define CORE_NAME_MAX    200

enum core_event_kind {
    CORE_EVENT_TICK = 0,       /* all I/O of this turn was delivered: decide */
    CORE_EVENT_MODEL_SET,      /* a model was added, or its spec changed */
    CORE_EVENT_MODEL_REMOVED,  /* its queue ends, its worker drains */
    CORE_EVENT_SAMPLE,         /* a device was measured */
    CORE_EVENT_REQUEST,        /* a job was accepted, or a load asked for */
    CORE_EVENT_CANCEL,         /* its client wants the job to end */
    CORE_EVENT_UNLOAD,         /* a person wants the model out of memory */
    CORE_EVENT_SWITCH,         /* the active model changes */
    CORE_EVENT_WORKER_STARTED, /* the process runs and speaks */
    CORE_EVENT_WORKER_LOADED,  /* the model is in memory */
    CORE_EVENT_LOAD_FAILED,    /* it said so itself; `failure` */
    CORE_EVENT_JOB_PROGRESS,   /* something of the job moved */
    CORE_EVENT_JOB_DONE,
    CORE_EVENT_JOB_ERROR,     /* `failure`; `is_unloaded` if the model left memory with it */
    CORE_EVENT_JOB_CANCELLED, /* the worker confirms */
    CORE_EVENT_WORKER_EXITED, /* nothing of its tree is left; `failure`; the last of its events */
    CORE_EVENT_STOP,          /* end everything, jobs get stop_grace */
    CORE_EVENT_STOP_NOW,      /* end everything at once */
};

enum core_priority { CORE_INTERACTIVE = 0, CORE_NORMAL = 1, CORE_BATCH = 2 };
#define CORE_PRIORITIES 3

/* Why a load failed or a worker died, by positive signatures only. */
enum core_failure {
    CORE_FAILURE_NONE = 0,
    CORE_FAILURE_DEVICE_OOM,
    CORE_FAILURE_HOST_OOM,
    CORE_FAILURE_BAD_ARGUMENTS,
    CORE_FAILURE_PORT,
    CORE_FAILURE_MISSING_FILE,
    CORE_FAILURE_IMPORT,
    CORE_FAILURE_DRIVER,
    CORE_FAILURE_HANG,
    CORE_FAILURE_PROTOCOL,
    CORE_FAILURE_START, /* the program could not be executed */
    CORE_FAILURE_ERROR, /* it said that it failed, in words of its own */
    CORE_FAILURE_CRASH,
};

/* "out_of_memory", "missing_module", … */
const char *core_failure_name(enum core_failure failure);

struct core_clocks { /* milliseconds; 0 = no limit */
    uint64_t queue_ms, load_ms, run_ms, stall_ms, drain_ms, cancel_ms, stop_ms;
};

struct core_spec {
    char name[CORE_NAME_MAX + 1];          /* for explanations */
    uint64_t need_bytes[CORE_DEVICES_MAX]; /* declared; all 0 = unknown */
    uint64_t per_job_bytes;                /* declared need of one job, 0 = unknown */
    unsigned parallel;
    uint64_t revision; /* another number than before: a running worker is outdated and drains */
    struct core_clocks clocks;
};

struct core_measure {
    uint32_t worker;
    uint64_t bytes;
};

struct core_sample {
    uint32_t device;
    uint64_t begin_ms, end_ms;
    uint64_t total_bytes, free_bytes;
    const struct core_measure *workers; /* those whose tree still exists */
    size_t worker_count;
};

struct core_request {
    uint64_t job; /* unique for ever, never 0 */
    enum core_priority priority;
    bool is_load; /* ends as done when the model is loaded; runs nothing */
};

struct core_unload {
    uint64_t token; /* named in the command that tells the end */
    bool is_forced; /* do not wait for running jobs */
};

struct core_event {
    enum core_event_kind kind;
    uint32_t model;  /* chosen by the owner, small numbers */
    uint32_t worker; /* as named by the SPAWN command */
    uint64_t job;
    enum core_failure failure;
    bool is_unloaded;
    uint64_t peak_bytes; /* JOB_DONE: the worker's own figure of its peak, 0 = none */
    union {
        const struct core_spec *spec;
        struct core_sample sample;
        struct core_request request;
        struct core_unload unload;
    };
};

#endif

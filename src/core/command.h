/* command: what the core wants done, and the list they come in. */
#ifndef HOTBUNK_CORE_COMMAND_H
#define HOTBUNK_CORE_COMMAND_H

#include "base/buf.h"
#include "core/event.h"
#include "core/why.h"

enum core_command_kind {
    CORE_COMMAND_SPAWN = 0,    /* start a process for `model`, known as `worker` from now on */
    CORE_COMMAND_LOAD,         /* tell the worker to load */
    CORE_COMMAND_START_JOB,    /* give it the job */
    CORE_COMMAND_CANCEL_JOB,   /* tell it to end the job */
    CORE_COMMAND_STOP,         /* ask it to unload and exit */
    CORE_COMMAND_KILL,         /* SIGKILL its whole tree */
    CORE_COMMAND_JOB_STARTED,  /* for the record: queue_ms, load_ms */
    CORE_COMMAND_JOB_ENDED,    /* `end`; run_ms, held_bytes; exactly once a job */
    CORE_COMMAND_JOB_WAITS,    /* the reason why it waits changed: `why` */
    CORE_COMMAND_WORKER_STATE, /* `from` → `to`, `why` */
    CORE_COMMAND_UNLOADED,     /* `token`: release is proven, or nothing was loaded */
    CORE_COMMAND_ACTIVE,       /* `model` is the active one now */
    CORE_COMMAND_SAMPLE,       /* measure `device`, answer with an event */
    CORE_COMMAND_WAKE,         /* send a TICK at `at_ms`; the newest one counts */
    CORE_COMMAND_STOPPED,      /* after STOP: no worker is left */
};

/*                  ┌────────── load failed, crash, limit ─────────┐
 *   (cold) → STARTING → LOADING → READY → DRAINING → RELEASING → (cold)
 *                  └──────────┴──── no jobs ────────────┘
 * RELEASING covers the stop, the kill and the proof that the bytes are back. */
enum core_worker_state {
    CORE_WORKER_COLD = 0,
    CORE_WORKER_STARTING,
    CORE_WORKER_LOADING,
    CORE_WORKER_READY,
    CORE_WORKER_DRAINING,
    CORE_WORKER_RELEASING,
};
#define CORE_WORKER_STATES 6

const char *core_worker_state_name(enum core_worker_state state);

/* A model's state: its worker's, or what it is without one. */
enum core_residency {
    CORE_RESIDENCY_COLD = 0,
    CORE_RESIDENCY_STARTING,
    CORE_RESIDENCY_LOADING,
    CORE_RESIDENCY_READY,
    CORE_RESIDENCY_DRAINING,
    CORE_RESIDENCY_RELEASING,
    CORE_RESIDENCY_CRASHED, /* waits for its back-off */
    CORE_RESIDENCY_BROKEN,  /* needs a person: load or reload tries again */
};

const char *core_residency_name(enum core_residency residency);

enum core_end {
    CORE_END_DONE = 0,
    CORE_END_CANCELLED,
    CORE_END_WORKER_ERROR, /* the worker's own words; `failure` */
    CORE_END_QUEUE_FULL,
    CORE_END_QUEUE_TIMEOUT,
    CORE_END_LOAD_TIMEOUT,
    CORE_END_LOAD_FAILED,
    CORE_END_RUN_TIMEOUT,
    CORE_END_STALL_TIMEOUT,
    CORE_END_WORKER_DIED,
    CORE_END_UNLOADED,
    CORE_END_MODEL_REMOVED,
    CORE_END_MODEL_BROKEN,
    CORE_END_UNKNOWN_MODEL,
    CORE_END_NEVER_FITS,
    CORE_END_STOPPING,
};

/* The error code clients see: "run_timeout", "never_fits", … "done" and "cancelled" too. */
const char *core_end_name(enum core_end end);

struct core_command {
    enum core_command_kind kind;
    uint32_t model, worker, device;
    uint64_t job, token, at_ms;
    enum core_worker_state from, to;
    enum core_end end;
    enum core_failure failure;
    uint64_t queue_ms, load_ms, run_ms;
    uint64_t held_bytes; /* JOB_ENDED: most it held; UNLOADED: bytes that came back */
    struct core_why why;
};

/* Growable list; {0} is empty. The owner empties it by core_commands_reset. */
struct core_commands {
    struct core_command *items;
    size_t count, cap;
};

void core_commands_fini(struct core_commands *list);
void core_commands_reset(struct core_commands *list);

#endif

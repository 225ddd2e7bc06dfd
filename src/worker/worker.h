/* worker: one running process of a model, whatever its kind, as the daemon sees it.
 *
 * It carries out the core's commands for this worker (load, start job, cancel, stop, kill) and
 * reports what happens; it decides nothing. The `ndjson` kind is in ndjson.c. Loop thread. No
 * callback after worker_free; on_exit is the last one. */
#ifndef HOTBUNK_WORKER_WORKER_H
#define HOTBUNK_WORKER_WORKER_H

#include <sys/types.h>

#include "base/json.h"
#include "base/log.h"
#include "core/event.h"
#include "os/loop.h"
#include "worker/log.h"

#define WORKER_LINE_MAX_BYTES    (4u << 20)   /* of the protocol */
#define WORKER_STDIN_MAX_BYTES   (256u << 20) /* queued for a worker that does not read */
#define WORKER_STDIN_FLUSH_MS    10000        /* then the rest is dropped, after a stop */
#define WORKER_PROGRESS_EVERY_MS 100          /* a job's progress is told at most so often */
#define WORKER_TURN_BYTES        (64u << 10)  /* of its stdout in one turn: others come between */
#define WORKER_STRAYS_PER_S      50           /* stray lines that are logged; others count */
#define WORKER_STEP_MAX_BYTES    256          /* of a progress message's step */
#define WORKER_TEXT_MAX_BYTES    (16u << 10)  /* of an error's words */
#define WORKER_DRAIN_MS          100          /* the pipes are read this long after the exit */

struct worker;

struct worker_options {
    const char *name; /* the model's id, for logs */
    const char *shim;
    const char *const *argv;       /* copied, like all below */
    char *const *env;              /* its own NAME=value texts */
    const char *dir;               /* working directory, or NULL */
    struct worker_log *worker_log; /* the model's; outlives the worker */
    const struct log *log;
};

/* A job as the worker is given it. */
struct worker_job {
    const char *id;             /* the id on the wire */
    const char *image_path;     /* or NULL */
    const char *text;           /* or NULL */
    struct json_object *params; /* borrowed */
    const char *outputs_dir;
};

/* What a job ended with; borrowed for the call. */
struct worker_outcome {
    const char *output_path;     /* done: or NULL */
    struct json_object *message; /* the whole message */
    uint64_t peak_bytes;         /* done: the worker's own figure, 0 = none */
    const char *code;            /* error: "bad_input", …, "error" */
    const char *text;            /* error: its words */
    enum core_failure failure;
    bool is_unloaded; /* error: the model is not in memory any more */
};

struct worker_events {
    /* The process speaks; params_schema (borrowed) is NULL when it did not tell one. */
    void (*on_ready)(void *data, struct json_object *params_schema);
    void (*on_loaded)(void *data);
    void (*on_load_failed)(void *data, enum core_failure failure, const char *text);
    void (*on_progress)(void *data, const char *job, int percent, const char *step);
    void (*on_done)(void *data, const char *job, const struct worker_outcome *outcome);
    void (*on_error)(void *data, const char *job, const struct worker_outcome *outcome);
    void (*on_cancelled)(void *data, const char *job);
    /* Nothing of its tree is left (but for what hangs in the kernel, which is logged). `text` says
     * how it ended, for people. */
    void (*on_exit)(void *data, enum core_failure failure, const char *text);
};

/* 0, or a negative errno when it could not even be tried. `events` must outlive it. */
int worker_open(struct loop *loop, const struct worker_options *options,
                const struct worker_events *events, void *data, struct worker **out_worker,
                struct err *err) MUSTCHECK;

/* Kills what is left of the tree; no more callbacks. NULL is fine. */
void worker_free(struct worker *worker);

void worker_load(struct worker *worker);
void worker_start_job(struct worker *worker, const struct worker_job *job);
void worker_cancel_job(struct worker *worker, const char *job);

/* Asks it to unload and exit: `shutdown`, end-of-file, SIGTERM. */
void worker_stop(struct worker *worker);
void worker_kill(struct worker *worker);

pid_t worker_pid(const struct worker *worker);

/* The root of everything it may own, for measuring. */
pid_t worker_guard_pid(const struct worker *worker);

#endif

/* backend: what the routes ask of the daemon: the one seam between HTTP and the rest.
 *
 * The daemon implements it, unit tests fake it. All calls are on the loop thread; structs that
 * are handed out are borrowed until the callback or call returns. Answers that take time come
 * through a callback exactly once; a `ticket` cancels the waiting (never the work behind it,
 * unless said). */
#ifndef HOTBUNK_API_BACKEND_H
#define HOTBUNK_API_BACKEND_H

#include "base/err.h"
#include "base/json.h"
#include "catalog/catalog.h"
#include "catalog/config.h"

enum api_job_state {
    API_JOB_QUEUED = 0,
    API_JOB_RUNNING = 1,
    API_JOB_DONE = 2,
    API_JOB_ERROR = 3,
    API_JOB_CANCELLED = 4,
};

struct api_job {
    const char *id; /* UUID */
    const char *model;
    enum api_job_state state;
    int progress;               /* 0..100 */
    const char *step;           /* "" when there is none */
    const char *why;            /* why it waits, with numbers, or "" */
    const char *error_code;     /* bad_input, load_timeout, out_of_memory, unloaded, …; or NULL */
    const char *error;          /* text for a person, or NULL */
    const char *output_path;    /* absolute, or NULL */
    const char *workspace_path; /* of the output, relative to the workspace, or NULL */
    const char *media_type;     /* of the output, or NULL */
    const char *collection;
    int64_t created_ms, started_ms, ended_ms; /* wall clock, 0 = not yet */
    uint64_t queue_ms, load_ms, run_ms;       /* 0 = not yet; load_ms 0 = it was warm */
    uint64_t held_bytes;                      /* the most its worker held during the job */
    struct json_object *result;               /* further fields of the worker's `done`, or NULL */
};

struct api_model {
    const struct model *spec;
    const char *state;  /* cold starting loading ready draining releasing crashed broken */
    const char *reason; /* why it is in this state, or "" */
    bool is_loaded, is_active;
    unsigned running, queued;
    uint64_t reserved_bytes, held_bytes;
    uint64_t last_load_ms;
    pid_t pid;                         /* 0 = no worker */
    struct json_object *params_schema; /* the worker's, once it was ready; else the manifest's */
};

struct api_worker {
    const char *model;
    const char *state;
    pid_t pid;
    unsigned generation, running;
    uint64_t reserved_bytes, held_bytes;
    uint64_t age_ms, idle_ms;
};

struct api_device {
    const char *id; /* "host" */
    const char *name;
    const char *accelerator; /* cpu, cuda, … */
    uint64_t total_bytes, free_bytes, ours_bytes, reserved_bytes, foreign_bytes;
    uint64_t headroom_bytes, residue_bytes;
    uint64_t sample_age_ms;
    bool is_stale;
};

struct api_submit {
    const struct model *model;
    const char *image_path;     /* an uploaded file the daemon takes over (renames), or NULL */
    const char *text;           /* or NULL */
    struct json_object *params; /* object; the daemon takes a reference */
    const char *collection;     /* one checked path component, "Default" */
    bool is_scratch; /* output goes to a private directory and is removed after the call */
    bool is_bound;   /* the job is cancelled when nobody waits for it any more */
};

struct api_unload_result {
    bool unloaded; /* nothing of it is held any more */
    uint64_t freed_bytes;
    const char *state;
    bool is_known;
};

struct api_ticket; /* one waiting caller; over when its one callback was called, or dropped */

struct api_ops {
    const struct config *(*config)(void *app);
    const struct catalog *(*catalog)(void *app);

    int (*model_get)(void *app, const struct model *spec, struct api_model *out);
    const char *(*active_id)(void *app); /* NULL when there is none */

    size_t (*worker_count)(void *app);
    void (*worker_at)(void *app, size_t index, struct api_worker *out);
    size_t (*device_count)(void *app);
    void (*device_at)(void *app, size_t index, struct api_device *out);

    /* Persists, then calls back with the job's id, or with an error (errno: -EAGAIN queue full,
     * -ESHUTDOWN stopping, -EFBIG can never fit, -EHOSTDOWN broken, -ENOSPC disk). err->msg is for
     * the client. Strings of `submit` are copied before it returns. */
    void (*submit)(void *app, const struct api_submit *submit,
                   void (*done)(void *data, const char *job_id, const struct err *err), void *data);

    /* 0 or -ENOENT. A finished job of an earlier run of the daemon is found, too. */
    int (*job_get)(void *app, struct slice job_id, struct api_job *out);
    /* Newest first; at most `max`. Calls `each` for every one. `state` NULL = all. */
    void (*job_list)(void *app, const enum api_job_state *state, size_t max,
                     void (*each)(void *data, const struct api_job *job), void *data);
    /* 0 also for a finished job; -ENOENT. */
    int (*job_cancel)(void *app, struct slice job_id);
    /* Calls back once, when the job is done, error or cancelled; with NULL when it is unknown. */
    struct api_ticket *(*job_wait)(void *app, struct slice job_id,
                                   void (*done)(void *data, const struct api_job *job), void *data);

    /* Begins a load (as a request with no job). `done` comes when the model is ready or the load
     * failed (err; err->where is the error code). */
    struct api_ticket *(*load)(void *app, const struct model *spec,
                               void (*done)(void *data, const struct err *err), void *data);
    /* spec NULL = all. `done` comes when release is proven, or after within_ms with what is true
     * then. */
    struct api_ticket *(*unload)(void *app, const struct model *spec, bool force,
                                 uint64_t within_ms,
                                 void (*done)(void *data, const struct api_unload_result *result),
                                 void *data);
    /* Sets the active id at once; A's release and B's load follow by themselves. */
    int (*switch_to)(void *app, const struct model *spec);

    /* Reads the extensions again, on a pool thread. */
    void (*reload)(void *app, void (*done)(void *data, const struct err *err), void *data);

    /* The tail of a model's log, at most `max` bytes, in new memory. */
    char *(*log_tail)(void *app, const struct model *spec, size_t max);

    /* Event stream: `fn` gets every event as one JSON object text until the ticket is dropped.
     * `replay_after` (an event id) asks for those still in the ring; 0 = only new ones. */
    struct api_ticket *(*subscribe)(void *app, uint64_t replay_after,
                                    void (*fn)(void *data, uint64_t id, const char *type,
                                               struct slice json),
                                    void *data);

    /* No callback comes for this ticket any more. NULL is fine. A bound job that nobody waits
     * for is cancelled. */
    void (*drop)(void *app, struct api_ticket *ticket);

    /* A path for a new upload, in new memory, inside the state directory. */
    char *(*upload_path)(void *app);
};

struct api_backend {
    const struct api_ops *ops;
    void *app;
};

#endif

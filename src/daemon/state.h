/* state: what the daemon remembers. app.h says who does what with it. */
#ifndef HOTBUNK_DAEMON_STATE_H
#define HOTBUNK_DAEMON_STATE_H

#include "api/backend.h"
#include "base/id.h"
#include "base/list.h"
#include "base/log.h"
#include "base/map.h"
#include "core/core.h"
#include "os/loop.h"
#include "store/store.h"
#include "worker/worker.h"

#define APP_EVENTS_KEPT 1024 /* of the event stream, for Last-Event-ID */
#define APP_MODELS_MAX  65536
#define APP_UPLOADS_DIR "uploads" /* below the state directory, like the next ones */
#define APP_INPUTS_DIR  "inputs"
#define APP_SCRATCH_DIR "scratch"
#define APP_LOGS_DIR    "logs"

/* A model as the daemon holds it: a number for the core, the spec of the current catalog. */
struct app_model {
    uint32_t id;
    char *name;
    const struct model *spec; /* NULL once it left the catalog */
    uint64_t revision;
    struct worker_log *log;
    struct json_object *params_schema; /* the worker's, once it was ready */
};

/* A worker process, by the number the core gave it. */
struct app_worker {
    struct app *app;
    uint32_t id;
    uint32_t model;
    struct worker *process;
    bool is_ending;     /* it was told to stop or killed: its exit is no failure */
    char *failure_text; /* its last words, for the jobs that die with it */
};

struct app_job {
    struct app *app;
    uint64_t id; /* the core's name for it */
    uint32_t model;
    char uuid[ID_UUID_LEN + 1];
    enum api_job_state state;
    bool is_scratch, is_bound;
    uint32_t worker;      /* that it was given to, 0 = none yet */
    bool is_ended;        /* the core has told its end; kept while the worker may speak of it */
    bool is_cancel_asked; /* maybe before the core knew the job */
    bool is_released;     /* its worker has told its end */
    int progress;
    char *step, *image_path, *text, *collection;
    char *error_code, *error, *output_path, *workspace_path, *media_type;
    struct json_object *params, *result;
    struct core_why why;
    int64_t created_ms, started_ms, ended_ms;
    uint64_t queue_ms, load_ms, run_ms, held_bytes;
    uint64_t noted_ms;         /* when its progress was last given to the store */
    struct list waiters;       /* tickets */
    struct input_check *check; /* of its image, under way on a pool thread, or NULL */
    /* between submit and the store's word */
    void (*submitted)(void *data, const char *job_id, const struct err *err);
    void *submitted_data;
};

enum ticket_kind { TICKET_JOB = 0, TICKET_LOAD, TICKET_UNLOAD, TICKET_EVENTS };

struct api_ticket {
    struct list node; /* in a job's waiters, app->tickets or app->subscribers */
    struct list fire; /* in app->firing while its callback is due */
    struct app *app;
    enum ticket_kind kind;
    bool is_firing; /* its callback is running: it frees itself afterwards */
    void *data;
    /* TICKET_JOB */
    struct app_job *job; /* NULL when it was not live any more */
    char uuid[ID_UUID_LEN + 1];
    void (*job_done)(void *data, const struct api_job *job);
    /* TICKET_LOAD: its request in the core; TICKET_UNLOAD: its model */
    uint64_t id;
    uint32_t model;
    void (*load_done)(void *data, const struct err *err);
    struct err err;
    unsigned awaited; /* releases still to come */
    struct timer *timer;
    struct api_unload_result result;
    void (*unload_done)(void *data, const struct api_unload_result *result);
    /* TICKET_EVENTS */
    void (*event)(void *data, uint64_t id, const char *type, struct slice json);
};

struct app_event {
    uint64_t id; /* 0 = empty slot */
    const char *type;
    char *json;
};

struct app {
    struct loop *loop;
    struct log log;
    const struct config *config;
    struct catalog *catalog;
    struct core *core;
    struct core_commands commands;
    struct store *store;
    struct timer *wake;
    char *shim;

    struct app_model **models; /* by core number */
    size_t model_count;
    struct map workers; /* core number → struct app_worker */
    struct map
        jobs; /* core number → struct app_job, and those that ended but may still be spoken of */
    struct map jobs_by_uuid; /* app_uuid_key → struct app_job */
    uint64_t next_id;        /* of jobs, load requests and unload tokens */

    struct list tickets; /* loads and unloads */
    struct list subscribers;
    struct list firing;
    struct app_event events[APP_EVENTS_KEPT];
    uint64_t last_event;

    struct store_job *row;          /* handed out last, out of the store */
    struct json_object *row_result; /* its result, as a tree */
    struct buf why_text;            /* handed out last */

    struct sampling *sampling; /* under way on a pool thread, or NULL */
    bool is_sample_wanted;     /* again, when it has ended */
    struct reload *reload;     /* the same for reading the extensions */
    struct list reload_waiters;
    bool is_dirty; /* something was fed since the last turn */
    bool is_stopping;
    void (*stopped)(void *data); /* everything has ended */
    void *stopped_data;
};

#endif

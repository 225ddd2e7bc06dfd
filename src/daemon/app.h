/* app: the one place that knows every module: I/O becomes core events, core commands become I/O.
 *
 * All state belongs to the loop thread. Events are fed during a loop turn; commands are carried
 * out, and the core ticks, at the end of it (app_turn). The files: app.c turns and commands,
 * models.c the registry beside the core, workers.c processes, jobs.c job records, results.c
 * outputs, tickets.c waiting callers, feed.c the event stream, sampler.c measuring, inputs.c
 * a look at images, ops.c what the routes may ask. */
#ifndef HOTBUNK_DAEMON_APP_H
#define HOTBUNK_DAEMON_APP_H

#include "daemon/state.h"

extern const struct api_ops APP_OPS;

/* `config` outlives the app. Nothing of it may be asked before app_start. */
struct app *app_new(struct loop *loop, const struct config *config, const struct log *log);

/* Opens the store, ends what a former daemon left, takes in the models of `catalog_take` (taken
 * in every case). 0 or a negative errno. */
int app_start(struct app *app, struct catalog *catalog_take, struct err *err) MUSTCHECK;

/* Ends jobs (after their grace, or at once) and workers; then calls `stopped`. */
void app_stop(struct app *app, bool is_now, void (*stopped)(void *data), void *data);

/* Gives every answer that is still owed, and closes the store: while the routes still live. */
void app_close(struct app *app);
void app_free(struct app *app);

/* ---- app.c ---- */

/* Takes the event in; its consequences follow at the end of this loop turn. */
void app_feed(struct app *app, const struct core_event *event);

/* Makes the end of this turn come soon, though no event was fed. */
void app_poke(struct app *app);

/* ---- models.c ---- */

/* Brings the core and app->models in line with app->catalog. */
void models_sync(struct app *app);
struct app_model *models_find(const struct app *app, const struct model *spec);
const char *models_name(const struct app *app, uint32_t id); /* "?" for none */
void models_free(struct app *app);

/* ---- workers.c ---- */

void workers_spawn(struct app *app, const struct core_command *command);
void workers_command(struct app *app, const struct core_command *command);
void workers_forget(struct app *app, uint32_t id);
struct app_worker *workers_get(const struct app *app, uint32_t id);
void workers_free(struct app *app);

/* ---- jobs.c ---- */

struct app_job *jobs_new(struct app *app);
void jobs_free(struct app_job *job);
struct app_job *jobs_find(const struct app *app, struct slice uuid);
uint64_t jobs_next_id(struct app *app);

/* Forgets a job that was never accepted. */
void jobs_discard(struct app_job *job);

/* Commands of the core. */
void jobs_started(struct app *app, const struct core_command *command);
void jobs_ended(struct app *app, const struct core_command *command);
void jobs_waits(struct app *app, const struct core_command *command);

/* The worker spoke its last word on it, or has gone: forgets it once the core has ended it. */
void jobs_release(struct app_job *job);
void jobs_release_all(struct app *app, uint32_t worker);
void jobs_progress(struct app_job *job, int percent, const char *step);
void jobs_fill(struct app *app, const struct app_job *job, struct api_job *out);
void jobs_fill_row(struct app *app, const struct store_job *row, struct api_job *out);

/* Gives a filled job to the store; job->submitted follows. 0, or a negative errno and the job
 * is gone. */
int jobs_submit(struct app_job *job) MUSTCHECK;

/* Writes its row: as an update, or (mere progress) at most once a second. */
void jobs_save(struct app_job *job);

/* Jobs that a former daemon left unfinished end as errors. */
void jobs_recover(struct app *app);

/* ---- results.c ---- */

/* Takes over a worker's `done`: checks the file, finds its place in the workspace. 0, or a
 * negative errno with error_code and error set in the job. */
int results_take(struct app_job *job, const struct worker_outcome *outcome) MUSTCHECK;

/* Where the job's outputs go, made if missing; mem_free. NULL and err on failure. */
char *results_dir(const struct app_job *job, struct err *err);

/* Removes its input and, for scratch jobs, its outputs. */
void results_clean(const struct app_job *job);

/* ---- tickets.c ---- */

struct api_ticket *tickets_new(struct app *app, enum ticket_kind kind, void *data);
void tickets_fire(struct api_ticket *ticket); /* its callback comes at the end of this turn */
void tickets_run(struct app *app);
void tickets_drop(struct app *app, struct api_ticket *ticket);
void tickets_load_ended(struct app *app, const struct core_command *command);
void tickets_unloaded(struct app *app, const struct core_command *command);
void tickets_free(struct app *app);

/* ---- feed.c ---- */

/* Publishes an event; takes `json`. `type` is a constant. */
void feed_publish(struct app *app, const char *type, struct json_object *json_take);
void feed_job(struct app *app, const struct app_job *job);
void feed_worker(struct app *app, const struct core_command *command);
void feed_replay(struct api_ticket *ticket, uint64_t after);
void feed_free(struct app *app);

/* The reason in words, borrowed until the next call. */
const char *app_why_text(struct app *app, const struct core_why *why);

/* ---- sampler.c ---- */

void sampler_start(struct app *app);
void sampler_orphan(struct app *app); /* what is under way has no owner any more */

/* ---- reload.c ---- */

void reload_request(struct app *app, void (*done)(void *data, const struct err *err), void *data);
void reload_orphan(struct app *app);

#endif

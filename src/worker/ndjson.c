/* ndjson: a worker that speaks one JSON object a line (docs/worker-protocol.md).
 *
 * Its stdout carries the protocol, its stderr the log. Whatever is no message, or names no job
 * that runs here, is logged and dropped. */
#include "worker/ndjson.h"

#include <errno.h>
#include <stdio.h>

#include "base/utf8.h"
#include "worker/env.h"
#include "worker/failure.h"

#define STDERR_TAIL_BYTES 4096
#define STRAY_SHOWN_BYTES 200
#define EXIT_TEXT_MAX     256

extern char **environ;

static const struct stream_events OUT_EVENTS;
static const struct stream_events ERR_EVENTS;
static const struct stream_events IN_EVENTS;
static const struct child_events CHILD_EVENTS;

/* ---- jobs that run here ---- */

struct running *ndjson_job_find(struct worker *worker, const char *id)
{
    list_each (node, &worker->jobs) {
        struct running *job = list_entry(node, struct running, node);
        if (id && strcmp(job->id, id) == 0)
            return job;
    }
    return NULL;
}

/* A foreign runner may leave the id out: it means the only job there is. */
static struct running *ndjson_job_only(struct worker *worker)
{
    struct list *first = list_first(&worker->jobs);

    return worker->is_foreign && first && first->next == &worker->jobs
               ? list_entry(first, struct running, node)
               : NULL;
}

static struct running *ndjson_job_meant(struct worker *worker, const struct message *message)
{
    return message->id ? ndjson_job_find(worker, message->id) : ndjson_job_only(worker);
}

static void ndjson_job_free(struct running *job)
{
    list_del(&job->node);
    buf_fini(&job->pending);
    mem_free(job->id);
    mem_free(job);
}

/* ---- logging what is astray ---- */

/* A second is over, or the worker: says how many lines were not worth a line. */
static void ndjson_stray_sum(struct worker *worker)
{
    if (worker->strays > WORKER_STRAYS_PER_S)
        worker_log_note(worker->worker_log, "dropped %u more lines on stdout",
                        worker->strays - WORKER_STRAYS_PER_S);
    worker->strays = 0;
}

static void ndjson_stray(struct worker *worker, struct slice line, const char *why)
{
    size_t shown = line.len < STRAY_SHOWN_BYTES ? line.len : STRAY_SHOWN_BYTES;
    uint64_t now = loop_now_ms(worker->loop);

    if (now >= worker->stray_ms + 1000) {
        ndjson_stray_sum(worker);
        worker->stray_ms = now;
    }
    if (worker->strays++ >= WORKER_STRAYS_PER_S)
        return;
    worker_log_note(worker->worker_log, "dropped a line on stdout (%s): %.*s", why, (int)shown,
                    line.ptr);
    log_write(worker->log, LOG_LEVEL_DEBUG, "worker.stray", "model=%s why=\"%s\" bytes=%zu",
              worker->name, why, line.len);
}

/* ---- progress: the newest one counts, at most ten a second are told ---- */

/* As much of `text` as fits, cut between characters; NULL gives "". */
static void ndjson_copy_text(char *out, size_t size, const char *text)
{
    struct slice all = slice_str(text);

    if (all.len >= size)
        all.len = utf8_valid_len(slice_of(all.ptr, size - 1));
    (void)snprintf(out, size, "%.*s", SLICE_ARG(all)); /* it was cut to fit */
}

static void ndjson_tell_progress(struct worker *worker, struct running *job, struct slice line)
{
    struct message message;
    struct err err = {0};
    char step[WORKER_STEP_MAX_BYTES + 1];
    int percent;

    job->told_ms = loop_now_ms(worker->loop);
    if (message_parse(line, &message, &err) != 0) {
        ndjson_stray(worker, line, err.msg);
        return;
    }
    if (ndjson_job_meant(worker, &message) == job && message.type == MESSAGE_PROGRESS) {
        percent = message_percent(&message);
        if (percent < job->percent)
            percent = job->percent; /* it never runs backwards */
        job->percent = percent;
        ndjson_copy_text(step, sizeof(step), json_get_str(message.root, "step"));
        worker->events->on_progress(worker->data, job->id, percent, step);
    } else {
        ndjson_stray(worker, line, "progress of a job that does not run here");
    }
    message_fini(&message);
}

static void ndjson_flush_progress(struct worker *worker, struct running *job)
{
    struct buf line = job->pending;

    if (line.len == 0)
        return;
    buf_init(&job->pending, WORKER_LINE_MAX_BYTES);
    ndjson_tell_progress(worker, job, buf_slice(&line));
    buf_fini(&line);
}

static void ndjson_progress_due(void *data)
{
    struct worker *worker = data;

    worker->is_progress_timed = false;
    list_each_safe (node, &worker->jobs) {
        ndjson_flush_progress(worker, list_entry(node, struct running, node));
    }
}

/* Which running job a raw progress line speaks of, without parsing it. */
static struct running *ndjson_progress_job(struct worker *worker, struct slice line)
{
    list_each (node, &worker->jobs) {
        struct running *job = list_entry(node, struct running, node);
        if (slice_find(line, slice_str(job->id)) < line.len)
            return job;
    }
    return slice_find(line, slice_str("\"id\"")) < line.len ? NULL : ndjson_job_only(worker);
}

static void ndjson_progress_line(struct worker *worker, struct slice line)
{
    struct running *job = ndjson_progress_job(worker, line);
    uint64_t now = loop_now_ms(worker->loop);

    if (!job) {
        ndjson_stray(worker, line, "progress of a job that does not run here");
        return;
    }
    if (now >= job->told_ms + WORKER_PROGRESS_EVERY_MS) {
        buf_reset(&job->pending);
        ndjson_tell_progress(worker, job, line);
        return;
    }
    buf_reset(&job->pending);
    if (buf_add_slice(&job->pending, line) != 0)
        return; /* lines are bounded by the same maximum */
    if (worker->is_progress_timed)
        return;
    worker->is_progress_timed = true;
    timer_start(worker->progress_timer, job->told_ms + WORKER_PROGRESS_EVERY_MS - now);
}

/* ---- messages ---- */

static void ndjson_ready(struct worker *worker, const struct message *message)
{
    struct json_object *schema = json_get(message->root, "params_schema");

    if (worker->is_ready)
        return;
    worker->is_ready = true;
    worker->is_foreign = json_get_int(message->root, "protocol", 0) < 1;
    worker->takes_path = message_has_feature(message, "image_path");
    worker->events->on_ready(worker->data, json_is(schema, json_type_array) ? schema : NULL);
}

static struct worker_outcome ndjson_error_outcome(const struct message *message)
{
    const char *code = json_get_str(message->root, "code");
    const char *text = json_get_str(message->root, "message");
    const char *trace = json_get_str(message->root, "traceback");
    struct worker_outcome outcome = {
        .message = message->root,
        .code = code ? code : "error",
        .text = text && *text ? text : "the worker gave no reason",
        .is_unloaded = !json_get_bool(message->root, "loaded", true),
    };

    outcome.failure = failure_classify(slice_str(code ? code : ""), slice_str(outcome.text));
    if (outcome.failure == CORE_FAILURE_ERROR && trace && !code)
        outcome.failure = failure_classify((struct slice){0}, slice_str(trace));
    return outcome;
}

static void ndjson_load_error(struct worker *worker, const struct message *message)
{
    struct worker_outcome outcome = ndjson_error_outcome(message);
    const char *trace = json_get_str(message->root, "traceback");

    if (trace)
        worker_log_note(worker->worker_log, "load failed: %s", trace);
    worker->is_loading = false;
    worker->has_failed = true;
    worker->events->on_load_failed(worker->data, outcome.failure, outcome.text);
}

/* The worker's own figure; nonsense counts as none. */
static uint64_t ndjson_peak(const struct message *message)
{
    int64_t bytes = json_get_int(message->root, "rss_peak_bytes", 0);

    return bytes > 0 ? (uint64_t)bytes : 0;
}

static void ndjson_terminal(struct worker *worker, struct running *job,
                            const struct message *message)
{
    struct worker_outcome outcome = {.message = message->root};
    char *id = job->id;

    ndjson_flush_progress(worker, job);
    job->id = NULL;
    ndjson_job_free(job); /* the first terminal message wins: later ones find no job */
    if (message->type == MESSAGE_DONE) {
        outcome.output_path = json_get_str(message->root, "output_path");
        outcome.peak_bytes = ndjson_peak(message);
        worker->events->on_done(worker->data, id, &outcome);
    } else if (message->type == MESSAGE_ERROR) {
        outcome = ndjson_error_outcome(message);
        worker->events->on_error(worker->data, id, &outcome);
    } else {
        worker->events->on_cancelled(worker->data, id);
    }
    mem_free(id);
}

static bool ndjson_is_load_error(const struct worker *worker, const struct message *message)
{
    if (message->type != MESSAGE_ERROR || worker->has_failed)
        return false;
    if (!worker->is_ready || worker->is_loading)
        return !message->id || strcmp(message->id, NDJSON_LOAD_ID) == 0;
    return false;
}

static void ndjson_message(struct worker *worker, struct slice line, const struct message *message)
{
    struct running *job;

    switch (message->type) {
    case MESSAGE_READY:
        ndjson_ready(worker, message);
        return;
    case MESSAGE_LOADED:
        if (worker->is_loading) {
            worker->is_loading = false;
            worker->events->on_loaded(worker->data);
        }
        return;
    case MESSAGE_PROGRESS:
        ndjson_progress_line(worker, line);
        return;
    case MESSAGE_DONE:
    case MESSAGE_CANCELLED:
    case MESSAGE_ERROR:
        if (ndjson_is_load_error(worker, message)) {
            ndjson_load_error(worker, message);
            return;
        }
        job = ndjson_job_meant(worker, message);
        if (job)
            ndjson_terminal(worker, job, message);
        else
            ndjson_stray(worker, line, "the end of a job that does not run here");
        return;
    case MESSAGE_LOG:
        worker_log_note(worker->worker_log, "%s", json_text(message->root));
        return;
    case MESSAGE_UNLOADED:
    case MESSAGE_HEARTBEAT:
    case MESSAGE_NONE:
        return;
    }
}

static void ndjson_line(void *data, struct slice line)
{
    struct worker *worker = data;
    struct message message;
    struct err err = {0};

    if (worker->is_freed)
        return;
    if (message_looks_like_progress(line)) {
        ndjson_progress_line(worker, line);
        return;
    }
    if (message_parse(line, &message, &err) != 0) {
        ndjson_stray(worker, line, err.msg);
        return;
    }
    ndjson_message(worker, line, &message);
    message_fini(&message);
}

/* ---- the pipes ---- */

/* A worker that floods its stdout must not keep the loop from everybody else. */
static void ndjson_bound_turn(struct worker *worker, size_t bytes)
{
    uint64_t now = loop_now_ms(worker->loop);

    if (worker->read_ms != now)
        worker->read_bytes = 0;
    worker->read_ms = now;
    worker->read_bytes += bytes;
    if (worker->read_bytes < WORKER_TURN_BYTES)
        return;
    stream_read_stop(worker->out);
    timer_start(worker->read_timer, 0); /* fires in the next turn */
}

static void ndjson_read_due(void *data)
{
    struct worker *worker = data;

    worker->read_bytes = 0;
    stream_read_start(worker->out);
}

static void ndjson_out_data(void *data, struct slice bytes)
{
    struct worker *worker = data;
    uint64_t dropped = worker->lines.dropped;

    worker->is_feeding = true;
    lines_feed(&worker->lines, bytes, ndjson_line, worker);
    worker->is_feeding = false;
    if (worker->is_freed) {
        ndjson_release(worker);
        return;
    }
    if (worker->lines.dropped != dropped)
        worker_log_note(worker->worker_log, "dropped a line of over %u bytes on stdout",
                        WORKER_LINE_MAX_BYTES);
    ndjson_bound_turn(worker, bytes.len);
    pace_note(&worker->pace, bytes.len);
}

static void ndjson_out_end(void *data, int status)
{
    struct worker *worker = data;

    (void)status; /* the exit tells what matters */
    worker->is_out_ended = true;
    ndjson_maybe_exit(worker);
}

static void ndjson_err_data(void *data, struct slice bytes)
{
    struct worker *worker = data;

    worker_log_add(worker->worker_log, bytes);
    if (bytes.len > STDERR_TAIL_BYTES)
        bytes = slice_skip(bytes, bytes.len - STDERR_TAIL_BYTES);
    if (worker->tail.len + bytes.len > STDERR_TAIL_BYTES)
        buf_consume(&worker->tail, worker->tail.len + bytes.len - STDERR_TAIL_BYTES);
    if (buf_add_slice(&worker->tail, bytes) != 0)
        buf_reset(&worker->tail); /* cannot be: it was cut to fit */
}

static void ndjson_err_end(void *data, int status)
{
    struct worker *worker = data;

    (void)status;
    worker->is_err_ended = true;
    ndjson_maybe_exit(worker);
}

static void ndjson_in_data(void *data, struct slice bytes)
{
    (void)data; /* nobody can write into our end of its stdin */
    (void)bytes;
}

static void ndjson_in_end(void *data, int status)
{
    (void)data; /* it closed its stdin: the job's clock or its exit decides */
    (void)status;
}

static const struct stream_events OUT_EVENTS = {ndjson_out_data, ndjson_out_end, NULL};
static const struct stream_events ERR_EVENTS = {ndjson_err_data, ndjson_err_end, NULL};
static const struct stream_events IN_EVENTS = {ndjson_in_data, ndjson_in_end, NULL};

/* ---- start and end ---- */

static void ndjson_started(void *data, pid_t pid)
{
    struct worker *worker = data;

    worker->pid = pid;
    worker_log_note(worker->worker_log, "started, pid %ld", (long)pid);
}

static void ndjson_exit_text(const struct worker *worker, char out[EXIT_TEXT_MAX])
{
    const struct child_exit *exit = &worker->exit;

    if (!exit->was_started)
        (void)snprintf(out, EXIT_TEXT_MAX, "%s could not be started: %s", worker->program,
                       strerror(-exit->error));
    else if (exit->signo)
        (void)snprintf(out, EXIT_TEXT_MAX, "the worker was ended by signal %d (%s)", exit->signo,
                       strsignal(exit->signo));
    else
        (void)snprintf(out, EXIT_TEXT_MAX, "the worker exited with code %d", exit->code);
}

static void ndjson_exit_now(struct worker *worker)
{
    enum core_failure failure = CORE_FAILURE_START;
    char text[EXIT_TEXT_MAX];

    if (worker->is_over)
        return;
    worker->is_over = true;
    worker->is_feeding = true;
    lines_finish(&worker->lines, ndjson_line, worker);
    worker->is_feeding = false;
    if (worker->is_freed) {
        ndjson_release(worker);
        return;
    }
    ndjson_stray_sum(worker);
    ndjson_exit_text(worker, text);
    worker_log_note(worker->worker_log, "%s", text);
    if (worker->exit.was_started)
        failure = failure_of_exit(worker->exit.code, worker->exit.signo, buf_slice(&worker->tail));
    worker->events->on_exit(worker->data, failure, text);
}

void ndjson_maybe_exit(struct worker *worker)
{
    if (worker->is_child_gone && worker->is_out_ended && worker->is_err_ended)
        ndjson_exit_now(worker);
}

/* Timers run before I/O: after a pause its last words may lie unread, so one more turn is given.
 * What then still holds a pipe is something outside the tree. */
static void ndjson_drain_due(void *data)
{
    struct worker *worker = data;

    if (worker->is_drain_due) {
        ndjson_exit_now(worker);
        return;
    }
    worker->is_drain_due = true;
    timer_start(worker->drain_timer, 1);
}

static void ndjson_child_exit(void *data, const struct child_exit *exit)
{
    struct worker *worker = data;

    worker->exit = *exit;
    worker->child = NULL; /* it frees itself after this call */
    worker->is_child_gone = true;
    if (exit->is_stuck) {
        worker_log_note(worker->worker_log, "a process of its tree hangs in the kernel");
        log_write(worker->log, LOG_LEVEL_ERROR, "worker.stuck", "model=%s pid=%ld", worker->name,
                  (long)worker->pid);
    }
    timer_start(worker->drain_timer, WORKER_DRAIN_MS);
    ndjson_maybe_exit(worker);
}

static const struct child_events CHILD_EVENTS = {ndjson_started, NULL, ndjson_child_exit};

int worker_open(struct loop *loop, const struct worker_options *options,
                const struct worker_events *events, void *data, struct worker **out_worker,
                struct err *err)
{
    char **env = env_build(environ, options->env);
    struct child_options child = {.shim = options->shim,
                                  .argv = options->argv,
                                  .envp = (const char *const *)env,
                                  .dir = options->dir};
    struct worker *worker = mem_new(1, sizeof(*worker));
    int rc = child_open(loop, &child, &CHILD_EVENTS, worker, &worker->child, &worker->in,
                        &worker->out, &worker->err_stream, err);

    env_free(env);
    if (rc != 0) {
        mem_free(worker);
        return rc;
    }
    worker->loop = loop;
    worker->events = events;
    worker->data = data;
    worker->log = options->log;
    worker->worker_log = options->worker_log;
    worker->name = mem_strdup(options->name);
    worker->program = mem_strdup(options->argv[0]);
    worker->progress_timer = timer_new(loop, ndjson_progress_due, worker);
    worker->drain_timer = timer_new(loop, ndjson_drain_due, worker);
    worker->read_timer = timer_new(loop, ndjson_read_due, worker);
    list_init(&worker->jobs);
    list_init(&worker->encodes);
    lines_init(&worker->lines, WORKER_LINE_MAX_BYTES);
    buf_init(&worker->tail, STDERR_TAIL_BYTES);
    pace_init(&worker->pace, loop, worker->out);
    stream_listen(worker->in, &IN_EVENTS, worker);
    stream_listen(worker->out, &OUT_EVENTS, worker);
    stream_listen(worker->err_stream, &ERR_EVENTS, worker);
    stream_read_start(worker->out);
    stream_read_start(worker->err_stream);
    *out_worker = worker;
    return 0;
}

void ndjson_release(struct worker *worker)
{
    list_each_safe (node, &worker->jobs) {
        ndjson_job_free(list_entry(node, struct running, node));
    }
    lines_fini(&worker->lines);
    buf_fini(&worker->tail);
    mem_free(worker->name);
    mem_free(worker->program);
    mem_free(worker);
}

void worker_free(struct worker *worker)
{
    if (!worker || worker->is_freed)
        return;
    worker->is_freed = true;
    ndjson_encodes_orphan(worker);
    timer_free(worker->progress_timer);
    timer_free(worker->drain_timer);
    timer_free(worker->read_timer);
    pace_fini(&worker->pace);
    stream_free(worker->in);
    stream_free(worker->out);
    stream_free(worker->err_stream);
    child_free(worker->child);
    if (!worker->is_feeding)
        ndjson_release(worker);
}

pid_t worker_pid(const struct worker *worker)
{
    return worker->pid;
}

pid_t worker_guard_pid(const struct worker *worker)
{
    return worker->child ? child_guard_pid(worker->child) : 0;
}

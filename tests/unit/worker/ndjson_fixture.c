#include "ndjson_fixture.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "os/file.h"

#define SEEN_MAX (8u << 20)

static void fixture_note(struct fixture *fx, const char *fmt, ...) PRINTF(2, 3);

static void fixture_note(struct fixture *fx, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    assert_int_equal(buf_vprintf(&fx->seen, fmt, args), 0);
    va_end(args);
    assert_int_equal(buf_add_char(&fx->seen, '\n'), 0);
    if (fx->wanted && strstr(buf_str(&fx->seen), fx->wanted))
        loop_stop(fx->loop);
}

static void fixture_on_ready(void *data, struct json_object *params_schema)
{
    fixture_note(data, "ready %s", params_schema ? json_text(params_schema) : "-");
}

static void fixture_on_loaded(void *data)
{
    fixture_note(data, "loaded");
}

static void fixture_on_load_failed(void *data, enum core_failure failure, const char *text)
{
    fixture_note(data, "load_failed %s %s", core_failure_name(failure), text);
}

static void fixture_on_progress(void *data, const char *job, int percent, const char *step)
{
    struct fixture *fx = data;

    if (fx->progress_count < ARRAY_LEN(fx->progress_at))
        fx->progress_at[fx->progress_count] = loop_now_ms(fx->loop);
    fx->progress_count++;
    fixture_note(fx, "progress %s %d %s", job, percent, step);
}

static void fixture_on_done(void *data, const char *job, const struct worker_outcome *outcome)
{
    fixture_note(data, "done %s %s %llu", job, outcome->output_path ? outcome->output_path : "-",
                 (unsigned long long)outcome->peak_bytes);
}

static void fixture_on_error(void *data, const char *job, const struct worker_outcome *outcome)
{
    fixture_note(data, "error %s %s %s %s%s", job, outcome->code,
                 core_failure_name(outcome->failure), outcome->text,
                 outcome->is_unloaded ? " unloaded" : "");
}

static void fixture_on_cancelled(void *data, const char *job)
{
    fixture_note(data, "cancelled %s", job);
}

static void fixture_on_exit(void *data, enum core_failure failure, const char *text)
{
    fixture_note(data, "exit %s %s", core_failure_name(failure), text);
}

static const struct worker_events FIXTURE_EVENTS = {
    fixture_on_ready, fixture_on_loaded, fixture_on_load_failed, fixture_on_progress,
    fixture_on_done,  fixture_on_error,  fixture_on_cancelled,   fixture_on_exit,
};

static void fixture_on_limit(void *data)
{
    struct fixture *fx = data;

    loop_stop(fx->loop);
}

static void fixture_ignore_log(void *data, enum log_level level, const char *line, size_t len)
{
    (void)data;
    (void)level;
    (void)line;
    (void)len;
}

int fixture_setup(void **state)
{
    struct fixture *fx = mem_new(1, sizeof(*fx));

    (void)snprintf(fx->dir, sizeof(fx->dir), "/tmp/hotbunk-ndjson-XXXXXX");
    if (!mkdtemp(fx->dir))
        return -1;
    (void)signal(SIGPIPE, SIG_IGN); /* as the daemon does */
    fx->loop = loop_new();
    fx->limit = timer_new(fx->loop, fixture_on_limit, fx);
    fx->log = worker_log_new(NULL, 0);
    fx->log_sink = (struct log){fixture_ignore_log, NULL, LOG_LEVEL_DEBUG};
    buf_init(&fx->seen, SEEN_MAX);
    *state = fx;
    return 0;
}

int fixture_teardown(void **state)
{
    struct fixture *fx = *state;
    int rc;

    worker_free(fx->worker);
    timer_free(fx->limit);
    loop_free(fx->loop);
    worker_log_free(fx->log);
    buf_fini(&fx->seen);
    rc = file_remove_tree(fx->dir);
    mem_free(fx);
    return rc;
}

void fixture_open_argv(struct fixture *fx, const char *const *argv)
{
    struct worker_options options = {.name = "test/run",
                                     .shim = getenv("HOTBUNK_TEST_SHIM"),
                                     .argv = argv,
                                     .dir = fx->dir,
                                     .worker_log = fx->log,
                                     .log = &fx->log_sink};
    struct err err = {0};

    assert_non_null(options.shim);
    if (worker_open(fx->loop, &options, &FIXTURE_EVENTS, fx, &fx->worker, &err) != 0)
        fail_msg("%s", err.msg);
}

void fixture_open(struct fixture *fx, const char *script)
{
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};

    fixture_open_argv(fx, argv);
}

void fixture_wait(struct fixture *fx, const char *text)
{
    fx->wanted = text;
    timer_start(fx->limit, WAIT_LIMIT_MS);
    if (!strstr(buf_str(&fx->seen), text))
        loop_run(fx->loop);
    timer_stop(fx->limit);
    fx->wanted = NULL;
    assert_contains(buf_str(&fx->seen), text);
}

void fixture_run_ms(struct fixture *fx, uint64_t ms)
{
    timer_start(fx->limit, ms);
    loop_run(fx->loop);
    timer_stop(fx->limit);
}

void fixture_start(struct fixture *fx, const char *id)
{
    struct worker_job job = {.id = id, .text = "hello", .outputs_dir = fx->dir};

    worker_start_job(fx->worker, &job);
}

void fixture_log_has(const struct fixture *fx, const char *text)
{
    auto_free char *tail = worker_log_tail(fx->log, WORKER_LOG_RING_BYTES);

    assert_contains(tail, text);
}

size_t fixture_count(const struct fixture *fx, const char *part)
{
    size_t count = 0;

    for (const char *at = buf_str(&fx->seen); (at = strstr(at, part)) != NULL; at++)
        count++;
    return count;
}

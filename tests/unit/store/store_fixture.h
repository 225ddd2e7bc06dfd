/* What the store's tests share: a temporary directory, a loop, an open store, and waiting. */
#ifndef HOTBUNK_TESTS_STORE_FIXTURE_H
#define HOTBUNK_TESTS_STORE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "os/file.h"
#include "store/store.h"

#define ID_A          "00000000-0000-4000-8000-00000000000a"
#define ID_B          "00000000-0000-4000-8000-00000000000b"
#define WAIT_LIMIT_MS 10000

struct fixture {
    char dir[64];
    char path[96];
    struct loop *loop;
    struct store *store;
    struct timer *limit;
    struct timer *tick;
    struct store_options options;
    unsigned done_calls;
    int last_status;
};

static inline void fixture_open(struct fixture *fx)
{
    struct err err;

    assert_int_equal(store_open(fx->loop, &fx->options, &fx->store, &err), 0);
}

static inline void fixture_close(struct fixture *fx)
{
    struct store *store = fx->store;

    fx->store = NULL; /* fixture_done must not stop a loop that does not run */
    store_close(store);
}

static inline void fixture_stop(void *data)
{
    struct fixture *fx = data;

    loop_stop(fx->loop);
}

static inline int fixture_setup(void **state)
{
    struct fixture *fx = mem_new(1, sizeof(*fx));

    (void)snprintf(fx->dir, sizeof(fx->dir), "/tmp/hotbunk-store-XXXXXX");
    if (!mkdtemp(fx->dir))
        return -1;
    (void)snprintf(fx->path, sizeof(fx->path), "%s/jobs.db", fx->dir);
    fx->loop = loop_new();
    fx->limit = timer_new(fx->loop, fixture_stop, fx);
    fx->tick = timer_new(fx->loop, fixture_stop, fx);
    fx->options = (struct store_options){.path = fx->path, .job_history = 1000};
    *state = fx;
    return 0;
}

static inline int fixture_setup_open(void **state)
{
    int rc = fixture_setup(state);

    if (rc == 0)
        fixture_open(*state);
    return rc;
}

static inline int fixture_teardown(void **state)
{
    struct fixture *fx = *state;
    int rc;

    fixture_close(fx);
    timer_free(fx->limit);
    timer_free(fx->tick);
    loop_free(fx->loop);
    rc = file_remove_tree(fx->dir);
    mem_free(fx);
    return rc;
}

static inline void fixture_done(void *data, int status)
{
    struct fixture *fx = data;

    fx->done_calls++;
    fx->last_status = status;
    if (fx->store)
        loop_stop(fx->loop);
}

/* Runs the loop until `done` was called `calls` times in all. */
static inline void fixture_wait_done(struct fixture *fx, unsigned calls)
{
    uint64_t until = loop_now_ns() / 1000000 + WAIT_LIMIT_MS;

    timer_start(fx->limit, WAIT_LIMIT_MS);
    while (fx->done_calls < calls && loop_now_ns() / 1000000 < until)
        loop_run(fx->loop);
    timer_stop(fx->limit);
    assert_int_equal(fx->done_calls, calls);
}

/* Runs the loop until nothing is queued any more, or the limit in milliseconds. */
static inline void fixture_wait_idle(struct fixture *fx, uint64_t limit_ms)
{
    uint64_t until = loop_now_ns() / 1000000 + limit_ms;
    struct store_stats stats;

    do {
        timer_start(fx->tick, 5);
        loop_run(fx->loop);
        store_stats(fx->store, &stats);
    } while (stats.queued && loop_now_ns() / 1000000 < until);
}

static inline struct store_job fixture_job(const char *id)
{
    return (struct store_job){
        .id = id,
        .model = "relief/mesh",
        .params_json = "{\"depth\":1}",
        .collection = "Default",
        .created_ms = 1000,
    };
}

static inline void fixture_put(struct fixture *fx, const struct store_job *job)
{
    unsigned calls = fx->done_calls;

    assert_int_equal(store_put_job(fx->store, job, fixture_done, fx), 0);
    fixture_wait_done(fx, calls + 1);
}

#endif

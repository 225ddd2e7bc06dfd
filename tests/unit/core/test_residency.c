/* A worker's life: up, in use, down, and the proof that its bytes are back. */
#include "harness.h"

enum { A = 0, B = 1 };

static void test_worker_goes_through_its_states_in_order(void **state)
{
    static const enum core_worker_state expected[] = {CORE_WORKER_STARTING, CORE_WORKER_LOADING,
                                                      CORE_WORKER_READY, CORE_WORKER_RELEASING,
                                                      CORE_WORKER_COLD};
    enum core_worker_state at = CORE_WORKER_COLD;
    size_t seen = 0;
    struct harness h;
    uint32_t worker;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    worker = harness_ready(&h, A, 1, 3 * GIB);
    harness_unload(&h, A, 1, false);
    harness_exit(&h, worker, CORE_FAILURE_NONE);
    harness_run(&h, 100);
    for (size_t i = 0; i < h.out.count; i++) {
        if (h.out.items[i].kind != CORE_COMMAND_WORKER_STATE)
            continue;
        assert_in_range(seen, 0, ARRAY_LEN(expected) - 1);
        assert_int_equal(h.out.items[i].from, at);
        at = h.out.items[i].to;
        assert_int_equal(at, expected[seen++]);
    }
    assert_int_equal(seen, ARRAY_LEN(expected));
    harness_close(&h);
}

static void test_load_is_sent_once_the_process_speaks(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    harness_request(&h, A, 1);
    assert_command_count(&h, CORE_COMMAND_LOAD, 0);
    harness_event(&h, CORE_EVENT_WORKER_STARTED, 1);
    assert_command_count(&h, CORE_COMMAND_LOAD, 1);
    harness_event(&h, CORE_EVENT_WORKER_STARTED, 1); /* again: wrong, harmless */
    assert_command_count(&h, CORE_COMMAND_LOAD, 1);
    harness_close(&h);
}

static void test_events_of_unknown_workers_are_dropped(void **state)
{
    static const enum core_event_kind kinds[] = {
        CORE_EVENT_WORKER_STARTED, CORE_EVENT_WORKER_LOADED, CORE_EVENT_LOAD_FAILED,
        CORE_EVENT_WORKER_EXITED,  CORE_EVENT_JOB_PROGRESS,  CORE_EVENT_JOB_DONE,
        CORE_EVENT_JOB_ERROR,      CORE_EVENT_JOB_CANCELLED};
    struct harness h;
    size_t before;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    harness_ready(&h, A, 100, 3 * GIB);
    harness_request(&h, A, 1);
    before = h.out.count;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        harness_job_event(&h, kinds[i], 99, 1);
        harness_job_event(&h, kinds[i], 0, 99);
    }
    assert_int_equal(h.out.count, before);
    assert_int_equal(harness_view(&h, A).running, 1);
    harness_close(&h);
}

static void test_events_out_of_their_state_are_dropped(void **state)
{
    struct harness h;
    uint32_t worker;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    harness_request(&h, A, 1);
    harness_event(&h, CORE_EVENT_WORKER_LOADED, 1); /* before it was told to load */
    assert_residency(&h, A, CORE_RESIDENCY_STARTING);
    worker = harness_bring_up(&h, A, 3 * GIB);
    harness_load_fails(&h, worker, CORE_FAILURE_ERROR); /* it is loaded */
    assert_residency(&h, A, CORE_RESIDENCY_READY);
    assert_not_ended(&h, 1);
    harness_close(&h);
}

/* ---- unload ---- */

static void test_unload_answers_only_on_proof(void **state)
{
    struct harness h;
    uint32_t worker;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    worker = harness_ready(&h, A, 1, 3 * GIB);
    harness_unload(&h, A, 77, false);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_STOP)->worker, worker);
    harness_skip(&h, 100);
    harness_exit(&h, worker, CORE_FAILURE_NONE);
    harness_skip(&h, 10);
    harness_sample_from(&h, h.now_ms - 11); /* begun before it was gone */
    assert_command_count(&h, CORE_COMMAND_UNLOADED, 0);
    assert_residency(&h, A, CORE_RESIDENCY_RELEASING);
    h.is_listed[worker] = true; /* begun after, but something of it is still there */
    harness_sample(&h);
    assert_command_count(&h, CORE_COMMAND_UNLOADED, 0);
    h.is_listed[worker] = false;
    harness_skip(&h, 10);
    harness_sample(&h);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_UNLOADED)->token, 77);
    assert_int_equal(harness_last(&h, CORE_COMMAND_UNLOADED)->held_bytes, 3 * GIB);
    assert_residency(&h, A, CORE_RESIDENCY_COLD);
    harness_close(&h);
}

static void test_unload_tells_what_came_back_though_it_emptied_itself_first(void **state)
{
    struct harness h;
    uint32_t worker;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    worker = harness_ready(&h, A, 1, 3 * GIB);
    harness_unload(&h, A, 1, false);
    harness_bytes(&h, worker, 100 * MIB); /* unloaded, the process not yet gone */
    harness_skip(&h, 10);
    harness_sample(&h);
    harness_exit(&h, worker, CORE_FAILURE_NONE);
    harness_run(&h, 100);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_UNLOADED)->held_bytes, 3 * GIB);
    harness_close(&h);
}

static void test_bytes_stay_charged_until_the_exit(void **state)
{
    struct harness h;
    uint32_t worker;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    worker = harness_ready(&h, A, 1, 3 * GIB);
    harness_unload(&h, A, 1, false);
    assert_int_equal(harness_device(&h).reserved_bytes, 4 * GIB);
    harness_exit(&h, worker, CORE_FAILURE_NONE);
    assert_int_equal(harness_device(&h).reserved_bytes, 0);
    harness_close(&h);
}

static void test_unload_of_what_is_not_loaded_answers_at_once(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    harness_unload(&h, A, 5, false);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_UNLOADED)->token, 5);
    harness_unload(&h, 42, 6, false); /* unknown model */
    assert_int_equal(harness_expect(&h, CORE_COMMAND_UNLOADED)->token, 6);
    harness_close(&h);
}

static void test_every_unload_is_answered(void **state)
{
    struct harness h;
    uint32_t worker;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    worker = harness_ready(&h, A, 1, 3 * GIB);
    harness_unload(&h, A, 1, false);
    harness_unload(&h, A, 2, true);
    harness_exit(&h, worker, CORE_FAILURE_NONE);
    harness_unload(&h, A, 3, false);
    assert_command_count(&h, CORE_COMMAND_UNLOADED, 0);
    harness_run(&h, 100);
    assert_command_count(&h, CORE_COMMAND_UNLOADED, 3);
    assert_command_count(&h, CORE_COMMAND_STOP, 1);
    harness_close(&h);
}

static void test_unload_of_a_busy_model_lets_the_job_finish(void **state)
{
    struct harness h;
    uint32_t worker;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    worker = harness_ready(&h, A, 100, 3 * GIB);
    harness_request(&h, A, 1);
    harness_unload(&h, A, 9, false);
    assert_residency(&h, A, CORE_RESIDENCY_DRAINING);
    harness_run(&h, 59000);
    assert_command_count(&h, CORE_COMMAND_STOP, 0);
    assert_command_count(&h, CORE_COMMAND_CANCEL_JOB, 0);
    harness_job_event(&h, CORE_EVENT_JOB_DONE, worker, 1);
    assert_ended(&h, 1, CORE_END_DONE);
    harness_expect(&h, CORE_COMMAND_STOP);
    assert_command_count(&h, CORE_COMMAND_KILL, 0);
    harness_close(&h);
}

static void test_drain_timeout_ends_the_job_as_unloaded(void **state)
{
    struct harness h;
    uint32_t worker;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    worker = harness_ready(&h, A, 100, 3 * GIB);
    harness_request(&h, A, 1);
    harness_unload(&h, A, 9, false);
    harness_run(&h, 59999);
    assert_not_ended(&h, 1);
    harness_run(&h, 1);
    assert_ended(&h, 1, CORE_END_UNLOADED);
    assert_int_equal(harness_end(&h, 1)->why.clock, CORE_CLOCK_DRAIN);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_KILL)->worker, worker);
    harness_exit(&h, worker, CORE_FAILURE_CRASH);
    harness_run(&h, 100);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_UNLOADED)->token, 9);
    assert_int_equal(harness_view(&h, A).failure, CORE_FAILURE_NONE); /* not its fault */
    harness_close(&h);
}

static void test_forced_unload_ends_everything_at_once(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    harness_ready(&h, A, 100, 3 * GIB);
    harness_request(&h, A, 1);
    harness_request(&h, A, 2);
    harness_unload(&h, A, 9, true);
    assert_ended(&h, 1, CORE_END_UNLOADED);
    assert_ended(&h, 2, CORE_END_UNLOADED);
    harness_expect(&h, CORE_COMMAND_KILL);
    assert_command_count(&h, CORE_COMMAND_UNLOADED, 0);
    harness_close(&h);
}

static void test_cancelled_job_in_a_forced_unload_ends_cancelled(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    harness_ready(&h, A, 100, 3 * GIB);
    harness_request(&h, A, 1);
    harness_cancel(&h, 1);
    harness_unload(&h, A, 9, true);
    assert_ended(&h, 1, CORE_END_CANCELLED);
    harness_close(&h);
}

static void test_unload_while_loading_ends_the_load(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    harness_request(&h, A, 1);
    harness_event(&h, CORE_EVENT_WORKER_STARTED, 1);
    harness_unload(&h, A, 9, false);
    assert_ended(&h, 1, CORE_END_UNLOADED);
    harness_expect(&h, CORE_COMMAND_KILL);
    harness_exit(&h, 1, CORE_FAILURE_CRASH);
    harness_run(&h, 5000);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_UNLOADED)->token, 9);
    assert_command_count(&h, CORE_COMMAND_SPAWN, 1);
    harness_close(&h);
}

static void test_request_during_release_loads_again_after_the_proof(void **state)
{
    struct harness h;
    uint32_t worker;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    worker = harness_ready(&h, A, 100, 3 * GIB);
    harness_unload(&h, A, 9, false);
    harness_forget(&h);
    harness_request(&h, A, 1);
    harness_run(&h, 1000);
    assert_command_count(&h, CORE_COMMAND_SPAWN, 0);
    harness_exit(&h, worker, CORE_FAILURE_NONE);
    assert_command_count(&h, CORE_COMMAND_SPAWN, 0);
    harness_run(&h, 100);
    assert_command_count(&h, CORE_COMMAND_SPAWN, 1);
    harness_close(&h);
}

static void test_worker_that_ignores_the_stop_is_killed_after_stop_grace(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    harness_ready(&h, A, 100, 3 * GIB);
    harness_unload(&h, A, 9, false);
    harness_run(&h, 14999);
    assert_command_count(&h, CORE_COMMAND_KILL, 0);
    harness_run(&h, 1);
    assert_command_count(&h, CORE_COMMAND_KILL, 1);
    harness_close(&h);
}

/* ---- TTL ---- */

static void open_with_ttl(struct harness *h, uint64_t ttl_ms)
{
    struct core_config config;

    harness_config(&config);
    config.ttl_ms = ttl_ms;
    harness_open_with(h, &config);
    harness_model(h, A, 4 * GIB);
}

static void test_case_047_ttl_counts_from_the_end_of_the_last_request(void **state)
{
    struct harness h;
    uint32_t worker;

    (void)state;
    open_with_ttl(&h, 2000);
    worker = harness_ready(&h, A, 100, 3 * GIB);
    harness_run(&h, 1500);
    harness_request(&h, A, 1);
    harness_run(&h, 10000); /* running: not idle */
    assert_command_count(&h, CORE_COMMAND_STOP, 0);
    harness_job_event(&h, CORE_EVENT_JOB_DONE, worker, 1);
    harness_run(&h, 1999);
    assert_command_count(&h, CORE_COMMAND_STOP, 0);
    harness_run(&h, 1);
    assert_command_count(&h, CORE_COMMAND_STOP, 1);
    assert_int_equal(harness_last(&h, CORE_COMMAND_WORKER_STATE)->why.kind, CORE_WHY_IDLE);
    harness_close(&h);
}

static void test_load_request_counts_as_use(void **state)
{
    struct harness h;

    (void)state;
    open_with_ttl(&h, 2000);
    harness_ready(&h, A, 100, 3 * GIB);
    harness_run(&h, 1500);
    harness_load(&h, A, 101);
    harness_run(&h, 1500);
    assert_residency(&h, A, CORE_RESIDENCY_READY);
    harness_run(&h, 500);
    assert_residency(&h, A, CORE_RESIDENCY_RELEASING);
    harness_close(&h);
}

static void test_ttl_of_zero_means_never(void **state)
{
    struct harness h;

    (void)state;
    open_with_ttl(&h, 0);
    harness_ready(&h, A, 100, 3 * GIB);
    harness_run(&h, 24 * 3600 * 1000);
    assert_residency(&h, A, CORE_RESIDENCY_READY);
    harness_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worker_goes_through_its_states_in_order),
        cmocka_unit_test(test_load_is_sent_once_the_process_speaks),
        cmocka_unit_test(test_events_of_unknown_workers_are_dropped),
        cmocka_unit_test(test_events_out_of_their_state_are_dropped),
        cmocka_unit_test(test_unload_answers_only_on_proof),
        cmocka_unit_test(test_unload_tells_what_came_back_though_it_emptied_itself_first),
        cmocka_unit_test(test_bytes_stay_charged_until_the_exit),
        cmocka_unit_test(test_unload_of_what_is_not_loaded_answers_at_once),
        cmocka_unit_test(test_every_unload_is_answered),
        cmocka_unit_test(test_unload_of_a_busy_model_lets_the_job_finish),
        cmocka_unit_test(test_drain_timeout_ends_the_job_as_unloaded),
        cmocka_unit_test(test_forced_unload_ends_everything_at_once),
        cmocka_unit_test(test_cancelled_job_in_a_forced_unload_ends_cancelled),
        cmocka_unit_test(test_unload_while_loading_ends_the_load),
        cmocka_unit_test(test_request_during_release_loads_again_after_the_proof),
        cmocka_unit_test(test_worker_that_ignores_the_stop_is_killed_after_stop_grace),
        cmocka_unit_test(test_case_047_ttl_counts_from_the_end_of_the_last_request),
        cmocka_unit_test(test_load_request_counts_as_use),
        cmocka_unit_test(test_ttl_of_zero_means_never),
    };

    return cmocka_run_group_tests_name("core/residency", tests, NULL, NULL);
}

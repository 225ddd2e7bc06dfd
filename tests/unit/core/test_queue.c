/* What happens to requests: one load for all, order, limits, cancels, ends. */
#include "harness.h"

enum { A = 0, B = 1 };

static void test_concurrent_first_requests_cause_one_load(void **state)
{
    struct harness h;
    uint32_t worker;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    harness_request(&h, A, 1);
    harness_request(&h, A, 2);
    worker = harness_bring_up(&h, A, 3 * GIB);
    assert_command_count(&h, CORE_COMMAND_SPAWN, 1);
    assert_command_count(&h, CORE_COMMAND_LOAD, 1);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_START_JOB)->job, 1);
    harness_job_event(&h, CORE_EVENT_JOB_DONE, worker, 1);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_START_JOB)->job, 2);
    harness_close(&h);
}

static void test_order_is_fifo_within_a_priority(void **state)
{
    static const uint64_t expected[] = {4, 1, 3, 5, 2};
    struct harness h;
    uint32_t worker;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    harness_request_as(&h, A, 1, CORE_NORMAL);
    harness_request_as(&h, A, 2, CORE_BATCH);
    harness_request_as(&h, A, 3, CORE_NORMAL);
    harness_request_as(&h, A, 4, CORE_INTERACTIVE);
    harness_request_as(&h, A, 5, CORE_NORMAL);
    worker = harness_bring_up(&h, A, 3 * GIB);
    for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
        assert_int_equal(harness_expect(&h, CORE_COMMAND_START_JOB)->job, expected[i]);
        harness_job_event(&h, CORE_EVENT_JOB_DONE, worker, expected[i]);
    }
    harness_close(&h);
}

static void test_no_job_starts_before_the_model_is_loaded(void **state)
{
    struct harness h;
    uint32_t worker;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    harness_request(&h, A, 1);
    worker = harness_view(&h, A).worker;
    harness_event(&h, CORE_EVENT_WORKER_STARTED, worker);
    harness_run(&h, 5000);
    assert_command_count(&h, CORE_COMMAND_START_JOB, 0);
    harness_event(&h, CORE_EVENT_WORKER_LOADED, worker);
    assert_command_count(&h, CORE_COMMAND_START_JOB, 1);
    harness_close(&h);
}

static void test_queue_full_refuses_the_next(void **state)
{
    struct core_config config;
    struct harness h;

    (void)state;
    harness_config(&config);
    config.queue_limit = 2;
    harness_open_with(&h, &config);
    harness_model(&h, A, 4 * GIB);
    harness_request(&h, A, 1);
    harness_request(&h, A, 2);
    harness_request(&h, A, 3);
    assert_ended(&h, 3, CORE_END_QUEUE_FULL);
    assert_int_equal(harness_end(&h, 3)->why.count, 2);
    assert_not_ended(&h, 1);
    assert_not_ended(&h, 2);
    harness_close(&h);
}

static void test_unknown_model_is_refused(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    harness_request(&h, 7, 1);
    assert_ended(&h, 1, CORE_END_UNKNOWN_MODEL);
    harness_close(&h);
}

static void test_two_models_do_not_mix_their_jobs(void **state)
{
    struct harness h;
    uint32_t a, b;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    harness_model(&h, B, 4 * GIB);
    a = harness_ready(&h, A, 100, 3 * GIB);
    b = harness_ready(&h, B, 101, 3 * GIB);
    harness_request(&h, A, 1);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_START_JOB)->worker, a);
    harness_request(&h, B, 2);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_START_JOB)->worker, b);
    harness_job_event(&h, CORE_EVENT_JOB_DONE, b, 1); /* a lie: 1 runs in the other worker */
    assert_not_ended(&h, 1);
    harness_job_event(&h, CORE_EVENT_JOB_DONE, a, 1);
    assert_ended(&h, 1, CORE_END_DONE);
    assert_not_ended(&h, 2);
    harness_close(&h);
}

static void test_parallel_jobs_run_up_to_the_slots(void **state)
{
    struct core_spec spec = harness_spec(4 * GIB);
    struct harness h;

    (void)state;
    spec.parallel = 2;
    spec.per_job_bytes = 1 * MIB;
    harness_open(&h);
    harness_model_spec(&h, A, &spec);
    harness_ready(&h, A, 100, 3 * GIB);
    for (uint64_t job = 1; job <= 3; job++)
        harness_request(&h, A, job);
    assert_command_count(&h, CORE_COMMAND_START_JOB, 2);
    assert_int_equal(harness_view(&h, A).queued, 1);
    harness_close(&h);
}

static void test_load_request_ends_when_loaded_and_runs_nothing(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    harness_ready(&h, A, 1, 3 * GIB);
    harness_load(&h, A, 2);
    assert_ended(&h, 2, CORE_END_DONE);
    assert_command_count(&h, CORE_COMMAND_START_JOB, 0);
    harness_close(&h);
}

static void test_record_tells_queue_load_and_run_time_apart(void **state)
{
    const struct core_command *end;
    struct harness h;
    uint32_t worker;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    harness_request(&h, A, 1);
    worker = harness_bring_up(&h, A, 3 * GIB); /* 10 ms start, 100 ms load */
    harness_skip(&h, 40);
    harness_sample(&h);
    harness_job_event(&h, CORE_EVENT_JOB_DONE, worker, 1);
    end = harness_end(&h, 1);
    assert_int_equal(end->queue_ms, 110);
    assert_int_equal(end->load_ms, 110);
    assert_int_equal(end->run_ms, 41);
    assert_int_equal(end->held_bytes, 3 * GIB);
    harness_close(&h);
}

/* ---- cancel ---- */

static void test_case_053_cancel_reaches_only_its_own_job(void **state)
{
    struct harness h;
    uint32_t worker;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    worker = harness_ready(&h, A, 100, 3 * GIB);
    for (uint64_t job = 1; job <= 3; job++)
        harness_request(&h, A, job);
    harness_cancel(&h, 2);
    assert_ended(&h, 2, CORE_END_CANCELLED);
    assert_command_count(&h, CORE_COMMAND_CANCEL_JOB, 0);
    assert_not_ended(&h, 1);
    harness_cancel(&h, 1);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_CANCEL_JOB)->job, 1);
    harness_job_event(&h, CORE_EVENT_JOB_CANCELLED, worker, 1);
    assert_ended(&h, 1, CORE_END_CANCELLED);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_START_JOB)->job, 3);
    harness_job_event(&h, CORE_EVENT_JOB_DONE, worker, 3);
    assert_ended(&h, 3, CORE_END_DONE);
    harness_close(&h);
}

static void test_case_053_cancel_of_a_finished_job_is_nothing(void **state)
{
    struct harness h;
    uint32_t worker;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    worker = harness_ready(&h, A, 100, 3 * GIB);
    harness_request(&h, A, 1);
    harness_request(&h, A, 2);
    harness_job_event(&h, CORE_EVENT_JOB_DONE, worker, 1);
    harness_forget(&h);
    harness_cancel(&h, 1);
    assert_command_count(&h, CORE_COMMAND_CANCEL_JOB, 0);
    assert_ended(&h, 1, CORE_END_DONE);
    harness_job_event(&h, CORE_EVENT_JOB_DONE, worker, 2);
    assert_ended(&h, 2, CORE_END_DONE);
    harness_close(&h);
}

static void test_result_that_beats_the_cancel_counts(void **state)
{
    struct harness h;
    uint32_t worker;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    worker = harness_ready(&h, A, 100, 3 * GIB);
    harness_request(&h, A, 1);
    harness_cancel(&h, 1);
    assert_not_ended(&h, 1);
    harness_job_event(&h, CORE_EVENT_JOB_DONE, worker, 1);
    assert_ended(&h, 1, CORE_END_DONE);
    harness_close(&h);
}

static void test_second_cancel_says_nothing_new(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    harness_ready(&h, A, 100, 3 * GIB);
    harness_request(&h, A, 1);
    harness_cancel(&h, 1);
    harness_cancel(&h, 1);
    assert_command_count(&h, CORE_COMMAND_CANCEL_JOB, 1);
    harness_close(&h);
}

static void test_job_ends_cancelled_only_when_asked(void **state)
{
    struct harness h;
    uint32_t worker;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    worker = harness_ready(&h, A, 100, 3 * GIB);
    harness_request(&h, A, 1);
    harness_job_event(&h, CORE_EVENT_JOB_CANCELLED, worker, 1); /* nobody asked */
    assert_ended(&h, 1, CORE_END_WORKER_ERROR);
    harness_close(&h);
}

static void test_cancelled_waiters_do_not_stop_the_load(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    harness_request(&h, A, 1);
    harness_cancel(&h, 1);
    assert_ended(&h, 1, CORE_END_CANCELLED);
    harness_bring_up(&h, A, 3 * GIB);
    assert_residency(&h, A, CORE_RESIDENCY_READY);
    harness_close(&h);
}

/* ---- ends ---- */

static void test_error_of_the_worker_ends_only_that_job(void **state)
{
    struct harness h;
    uint32_t worker;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    worker = harness_ready(&h, A, 100, 3 * GIB);
    harness_request(&h, A, 1);
    harness_request(&h, A, 2);
    harness_feed(&h, (struct core_event){.kind = CORE_EVENT_JOB_ERROR,
                                         .worker = worker,
                                         .job = 1,
                                         .failure = CORE_FAILURE_ERROR});
    assert_ended(&h, 1, CORE_END_WORKER_ERROR);
    assert_int_equal(harness_end(&h, 1)->failure, CORE_FAILURE_ERROR);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_START_JOB)->job, 2);
    assert_residency(&h, A, CORE_RESIDENCY_READY);
    harness_close(&h);
}

static void test_error_that_lost_the_model_brings_a_fresh_worker(void **state)
{
    struct harness h;
    uint32_t worker;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    worker = harness_ready(&h, A, 100, 3 * GIB);
    harness_request(&h, A, 1);
    harness_request(&h, A, 2);
    harness_forget(&h);
    harness_feed(&h, (struct core_event){.kind = CORE_EVENT_JOB_ERROR,
                                         .worker = worker,
                                         .job = 1,
                                         .failure = CORE_FAILURE_ERROR,
                                         .is_unloaded = true});
    assert_command_count(&h, CORE_COMMAND_START_JOB, 0);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_STOP)->worker, worker);
    harness_exit(&h, worker, CORE_FAILURE_NONE);
    harness_run(&h, 100);
    assert_command_count(&h, CORE_COMMAND_SPAWN, 1);
    harness_bring_up(&h, A, 3 * GIB);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_START_JOB)->job, 2);
    harness_close(&h);
}

static void test_removed_model_ends_its_queue_and_drains(void **state)
{
    struct core_model_view view;
    struct harness h;
    uint32_t worker;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    worker = harness_ready(&h, A, 100, 3 * GIB);
    harness_request(&h, A, 1);
    harness_request(&h, A, 2);
    harness_feed(&h, (struct core_event){.kind = CORE_EVENT_MODEL_REMOVED, .model = A});
    assert_ended(&h, 2, CORE_END_MODEL_REMOVED);
    assert_not_ended(&h, 1); /* in progress: sacred */
    harness_request(&h, A, 3);
    assert_ended(&h, 3, CORE_END_UNKNOWN_MODEL);
    harness_job_event(&h, CORE_EVENT_JOB_DONE, worker, 1);
    assert_ended(&h, 1, CORE_END_DONE);
    harness_exit(&h, worker, CORE_FAILURE_NONE);
    harness_run(&h, 100);
    assert_int_not_equal(core_model_get(h.core, A, &view), 0);
    assert_int_equal(core_worker_count(h.core), 0);
    harness_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_concurrent_first_requests_cause_one_load),
        cmocka_unit_test(test_order_is_fifo_within_a_priority),
        cmocka_unit_test(test_no_job_starts_before_the_model_is_loaded),
        cmocka_unit_test(test_queue_full_refuses_the_next),
        cmocka_unit_test(test_unknown_model_is_refused),
        cmocka_unit_test(test_two_models_do_not_mix_their_jobs),
        cmocka_unit_test(test_parallel_jobs_run_up_to_the_slots),
        cmocka_unit_test(test_load_request_ends_when_loaded_and_runs_nothing),
        cmocka_unit_test(test_record_tells_queue_load_and_run_time_apart),
        cmocka_unit_test(test_case_053_cancel_reaches_only_its_own_job),
        cmocka_unit_test(test_case_053_cancel_of_a_finished_job_is_nothing),
        cmocka_unit_test(test_result_that_beats_the_cancel_counts),
        cmocka_unit_test(test_second_cancel_says_nothing_new),
        cmocka_unit_test(test_job_ends_cancelled_only_when_asked),
        cmocka_unit_test(test_cancelled_waiters_do_not_stop_the_load),
        cmocka_unit_test(test_error_of_the_worker_ends_only_that_job),
        cmocka_unit_test(test_error_that_lost_the_model_brings_a_fresh_worker),
        cmocka_unit_test(test_removed_model_ends_its_queue_and_drains),
    };

    return cmocka_run_group_tests_name("core/queue", tests, NULL, NULL);
}

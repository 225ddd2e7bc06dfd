/* Failed loads and crashes: back-off, the breaker, and what becomes of the jobs. */
#include "harness.h"

enum { A = 0, B = 1 };

/* The load of the present worker fails and the process goes. */
static void fail_load(struct harness *h, enum core_failure failure)
{
    uint32_t worker = harness_view(h, A).worker;

    harness_event(h, CORE_EVENT_WORKER_STARTED, worker);
    harness_load_fails(h, worker, failure);
    harness_exit(h, worker, CORE_FAILURE_NONE);
}

/* The worker dies while it runs the job. */
static void crash_in_job(struct harness *h, uint64_t job)
{
    uint32_t worker;

    harness_request(h, A, job);
    harness_run(h, 61000); /* past any back-off */
    worker = harness_bring_up(h, A, 3 * GIB);
    harness_exit(h, worker, CORE_FAILURE_CRASH);
    assert_ended(h, job, CORE_END_WORKER_DIED);
}

static void test_case_063_load_fails_first_and_works_after_the_back_off(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    harness_request(&h, A, 1);
    fail_load(&h, CORE_FAILURE_ERROR);
    assert_not_ended(&h, 1);
    harness_forget(&h);
    harness_run(&h, 990);
    assert_command_count(&h, CORE_COMMAND_SPAWN, 0);
    assert_residency(&h, A, CORE_RESIDENCY_CRASHED);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_JOB_WAITS)->why.kind, CORE_WHY_BACKOFF);
    assert_int_equal(harness_last(&h, CORE_COMMAND_JOB_WAITS)->why.failure, CORE_FAILURE_ERROR);
    harness_run(&h, 100);
    assert_command_count(&h, CORE_COMMAND_SPAWN, 1);
    harness_bring_up(&h, A, 3 * GIB);
    harness_job_event(&h, CORE_EVENT_JOB_DONE, 2, 1);
    assert_ended(&h, 1, CORE_END_DONE);
    harness_close(&h);
}

static void test_job_outlives_one_failed_load_not_two(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    harness_request(&h, A, 1);
    fail_load(&h, CORE_FAILURE_ERROR);
    harness_request(&h, A, 2);
    harness_run(&h, 1100);
    fail_load(&h, CORE_FAILURE_ERROR);
    assert_ended(&h, 1, CORE_END_LOAD_FAILED);
    assert_int_equal(harness_end(&h, 1)->failure, CORE_FAILURE_ERROR);
    assert_not_ended(&h, 2);
    harness_close(&h);
}

static void test_load_request_is_told_of_the_first_failure(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    harness_load(&h, A, 1);
    fail_load(&h, CORE_FAILURE_DRIVER);
    assert_ended(&h, 1, CORE_END_LOAD_FAILED);
    harness_close(&h);
}

static void test_permanent_failure_ends_all_who_wait(void **state)
{
    static const enum core_failure permanent[] = {CORE_FAILURE_BAD_ARGUMENTS,
                                                  CORE_FAILURE_MISSING_FILE, CORE_FAILURE_IMPORT,
                                                  CORE_FAILURE_START};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(permanent); i++) {
        struct harness h;
        harness_open(&h);
        harness_model(&h, A, 4 * GIB);
        harness_request(&h, A, 1);
        harness_request(&h, A, 2);
        fail_load(&h, permanent[i]);
        assert_ended(&h, 1, CORE_END_LOAD_FAILED);
        assert_ended(&h, 2, CORE_END_LOAD_FAILED);
        harness_run(&h, 120000);
        assert_command_count(&h, CORE_COMMAND_SPAWN, 1);
        harness_close(&h);
    }
}

static void test_exit_in_load_is_a_failed_load(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    harness_request(&h, A, 1);
    harness_exit(&h, 1, CORE_FAILURE_IMPORT);
    assert_ended(&h, 1, CORE_END_LOAD_FAILED);
    assert_int_equal(harness_end(&h, 1)->failure, CORE_FAILURE_IMPORT);
    assert_command_count(&h, CORE_COMMAND_STOP, 0); /* there is nobody to ask */
    harness_run(&h, 100);
    assert_int_equal(core_worker_count(h.core), 0);
    harness_close(&h);
}

static void test_failed_load_counts_once_though_the_process_exits_later(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    harness_request(&h, A, 1);
    harness_event(&h, CORE_EVENT_WORKER_STARTED, 1);
    harness_load_fails(&h, 1, CORE_FAILURE_ERROR);
    harness_expect(&h, CORE_COMMAND_STOP);
    harness_exit(&h, 1, CORE_FAILURE_CRASH);
    assert_int_equal(harness_view(&h, A).backoff_until_ms, h.now_ms + 1000);
    assert_int_equal(harness_view(&h, A).failure, CORE_FAILURE_ERROR);
    harness_close(&h);
}

static void test_back_off_doubles_up_to_a_minute(void **state)
{
    static const uint64_t expected_s[] = {1, 2, 4, 8};
    struct harness h;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    for (size_t i = 0; i < ARRAY_LEN(expected_s); i++) {
        harness_request(&h, A, 10 + i); /* two loads each: somebody always waits */
        harness_run(&h, 61000);
        fail_load(&h, CORE_FAILURE_ERROR);
        assert_int_equal(harness_view(&h, A).backoff_until_ms, h.now_ms + expected_s[i] * 1000);
    }
    harness_close(&h);
}

static void test_crash_ends_the_running_job_and_the_next_gets_a_fresh_worker(void **state)
{
    struct harness h;
    uint32_t worker;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    worker = harness_ready(&h, A, 100, 3 * GIB);
    harness_request(&h, A, 1);
    harness_request(&h, A, 2);
    harness_exit(&h, worker, CORE_FAILURE_DEVICE_OOM);
    assert_ended(&h, 1, CORE_END_WORKER_DIED);
    assert_int_equal(harness_end(&h, 1)->failure, CORE_FAILURE_DEVICE_OOM);
    assert_not_ended(&h, 2);
    harness_run(&h, 1100);
    assert_command_count(&h, CORE_COMMAND_SPAWN, 2);
    (void)harness_bring_up(&h, A, 3 * GIB);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_START_JOB)->job, 2);
    harness_close(&h);
}

static void test_crash_while_a_cancel_is_under_way_ends_it_cancelled(void **state)
{
    struct harness h;
    uint32_t worker;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    worker = harness_ready(&h, A, 100, 3 * GIB);
    harness_request(&h, A, 1);
    harness_cancel(&h, 1);
    harness_exit(&h, worker, CORE_FAILURE_CRASH);
    assert_ended(&h, 1, CORE_END_CANCELLED);
    harness_close(&h);
}

static void test_second_exit_of_a_worker_is_nothing(void **state)
{
    struct harness h;
    uint32_t worker;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    worker = harness_ready(&h, A, 100, 3 * GIB);
    harness_exit(&h, worker, CORE_FAILURE_CRASH);
    harness_skip(&h, 500);
    harness_exit(&h, worker, CORE_FAILURE_CRASH);
    assert_int_equal(harness_view(&h, A).backoff_until_ms, h.now_ms + 500);
    harness_close(&h);
}

/* ---- the breaker ---- */

static void break_model(struct harness *h)
{
    harness_open(h);
    harness_model(h, A, 4 * GIB);
    for (uint64_t job = 1; job <= 4; job++)
        crash_in_job(h, job);
}

static void test_breaker_opens_at_the_fifth_failure_and_ends_the_queue(void **state)
{
    struct harness h;
    uint32_t worker;

    (void)state;
    break_model(&h);
    harness_request(&h, A, 5);
    harness_run(&h, 61000);
    worker = harness_bring_up(&h, A, 3 * GIB);
    harness_request(&h, A, 6);
    harness_exit(&h, worker, CORE_FAILURE_CRASH);
    assert_ended(&h, 5, CORE_END_WORKER_DIED);
    assert_ended(&h, 6, CORE_END_MODEL_BROKEN);
    harness_run(&h, 100);
    assert_residency(&h, A, CORE_RESIDENCY_BROKEN);
    harness_request(&h, A, 7);
    assert_ended(&h, 7, CORE_END_MODEL_BROKEN);
    assert_int_equal(harness_end(&h, 7)->why.failure, CORE_FAILURE_CRASH);
    harness_forget(&h);
    harness_run(&h, 3600 * 1000);
    assert_command_count(&h, CORE_COMMAND_SPAWN, 0);
    harness_close(&h);
}

static void test_finished_job_resets_the_count_a_mere_load_does_not(void **state)
{
    struct harness h;

    (void)state;
    break_model(&h); /* each crash came after a load that went well */
    harness_request(&h, A, 5);
    harness_run(&h, 61000);
    harness_job_event(&h, CORE_EVENT_JOB_DONE, harness_bring_up(&h, A, 3 * GIB), 5);
    assert_int_equal(harness_view(&h, A).failure, CORE_FAILURE_NONE);
    harness_exit(&h, harness_view(&h, A).worker, CORE_FAILURE_CRASH);
    assert_int_equal(harness_view(&h, A).backoff_until_ms, h.now_ms + 1000); /* the first again */
    harness_close(&h);
}

static void test_person_who_asks_for_a_load_closes_the_breaker(void **state)
{
    struct harness h;

    (void)state;
    break_model(&h);
    crash_in_job(&h, 5);
    harness_run(&h, 100);
    assert_residency(&h, A, CORE_RESIDENCY_BROKEN);
    harness_load(&h, A, 6);
    harness_run(&h, 10); /* no back-off either */
    harness_bring_up(&h, A, 3 * GIB);
    assert_ended(&h, 6, CORE_END_DONE);
    harness_close(&h);
}

static void test_new_spec_closes_the_breaker(void **state)
{
    struct harness h;

    (void)state;
    break_model(&h);
    crash_in_job(&h, 5);
    harness_run(&h, 100);
    harness_model(&h, A, 4 * GIB);
    assert_residency(&h, A, CORE_RESIDENCY_COLD);
    harness_request(&h, A, 6);
    harness_run(&h, 10);
    assert_residency(&h, A, CORE_RESIDENCY_STARTING);
    harness_close(&h);
}

static void test_back_off_of_one_model_holds_no_other(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    harness_model(&h, B, 4 * GIB);
    harness_request(&h, A, 1);
    fail_load(&h, CORE_FAILURE_ERROR);
    harness_forget(&h);
    harness_request(&h, B, 2);
    harness_run(&h, 100);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_SPAWN)->model, B);
    harness_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_case_063_load_fails_first_and_works_after_the_back_off),
        cmocka_unit_test(test_job_outlives_one_failed_load_not_two),
        cmocka_unit_test(test_load_request_is_told_of_the_first_failure),
        cmocka_unit_test(test_permanent_failure_ends_all_who_wait),
        cmocka_unit_test(test_exit_in_load_is_a_failed_load),
        cmocka_unit_test(test_failed_load_counts_once_though_the_process_exits_later),
        cmocka_unit_test(test_back_off_doubles_up_to_a_minute),
        cmocka_unit_test(test_crash_ends_the_running_job_and_the_next_gets_a_fresh_worker),
        cmocka_unit_test(test_crash_while_a_cancel_is_under_way_ends_it_cancelled),
        cmocka_unit_test(test_second_exit_of_a_worker_is_nothing),
        cmocka_unit_test(test_breaker_opens_at_the_fifth_failure_and_ends_the_queue),
        cmocka_unit_test(test_finished_job_resets_the_count_a_mere_load_does_not),
        cmocka_unit_test(test_person_who_asks_for_a_load_closes_the_breaker),
        cmocka_unit_test(test_new_spec_closes_the_breaker),
        cmocka_unit_test(test_back_off_of_one_model_holds_no_other),
    };

    return cmocka_run_group_tests_name("core/failures", tests, NULL, NULL);
}

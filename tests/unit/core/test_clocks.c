/* Every phase has a limit of its own, and the end names the one that fired. */
#include "harness.h"

enum { A = 0 };

/* A ready worker of model A; clocks as given. */
static uint32_t open_ready(struct harness *h, const struct core_clocks *clocks, unsigned parallel)
{
    struct core_spec spec = harness_spec(4 * GIB);

    spec.clocks = *clocks;
    spec.parallel = parallel;
    spec.per_job_bytes = 1 * MIB;
    harness_open(h);
    harness_model_spec(h, A, &spec);
    return harness_ready(h, A, 100, 3 * GIB);
}

static const struct core_clocks SHORT_RUN = {.run_ms = 2000, .cancel_ms = 5000, .stop_ms = 15000};

static void test_queue_timeout_ends_the_waiting_job_only(void **state)
{
    const struct core_clocks clocks = {.queue_ms = 10000, .cancel_ms = 5000, .stop_ms = 15000};
    struct harness h;

    (void)state;
    open_ready(&h, &clocks, 1);
    harness_request(&h, A, 1);
    harness_request(&h, A, 2);
    harness_run(&h, 5000);
    harness_request(&h, A, 3);
    harness_run(&h, 4999);
    assert_not_ended(&h, 2);
    harness_run(&h, 1);
    assert_ended(&h, 2, CORE_END_QUEUE_TIMEOUT);
    assert_int_equal(harness_end(&h, 2)->why.clock, CORE_CLOCK_QUEUE);
    assert_int_equal(harness_end(&h, 2)->queue_ms, 10000);
    assert_not_ended(&h, 3);
    assert_not_ended(&h, 1);
    harness_close(&h);
}

static void test_queue_timeout_ends_a_job_that_no_memory_comes_for(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    h.foreign_bytes = 23 * GIB;
    harness_skip(&h, 1);
    harness_sample(&h);
    harness_model(&h, A, 4 * GIB);
    harness_request(&h, A, 1);
    harness_run(&h, 1800 * 1000 - 1);
    assert_not_ended(&h, 1);
    harness_run(&h, 1);
    assert_ended(&h, 1, CORE_END_QUEUE_TIMEOUT);
    harness_close(&h);
}

static void test_load_timeout_kills_the_worker_and_ends_a_load_request(void **state)
{
    struct core_spec spec = harness_spec(4 * GIB);
    struct harness h;

    (void)state;
    spec.clocks.load_ms = 3000;
    harness_open(&h);
    harness_model_spec(&h, A, &spec);
    harness_load(&h, A, 1);
    harness_request(&h, A, 2);
    harness_event(&h, CORE_EVENT_WORKER_STARTED, 1);
    harness_run(&h, 2999);
    assert_command_count(&h, CORE_COMMAND_KILL, 0);
    harness_run(&h, 1);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_KILL)->worker, 1);
    assert_ended(&h, 1, CORE_END_LOAD_TIMEOUT);
    assert_int_equal(harness_end(&h, 1)->why.clock, CORE_CLOCK_LOAD);
    assert_not_ended(&h, 2); /* a job outlives one failed load */
    assert_int_equal(harness_view(&h, A).failure, CORE_FAILURE_HANG);
    harness_close(&h);
}

static void test_start_that_says_nothing_falls_under_the_load_limit(void **state)
{
    struct core_spec spec = harness_spec(4 * GIB);
    struct harness h;

    (void)state;
    spec.clocks.load_ms = 3000;
    harness_open(&h);
    harness_model_spec(&h, A, &spec);
    harness_load(&h, A, 1);
    harness_run(&h, 3000);
    assert_command_count(&h, CORE_COMMAND_KILL, 1);
    assert_ended(&h, 1, CORE_END_LOAD_TIMEOUT);
    harness_close(&h);
}

static void test_case_055_run_limit_ends_the_job_and_then_the_worker(void **state)
{
    struct harness h;
    uint32_t worker;

    (void)state;
    worker = open_ready(&h, &SHORT_RUN, 1);
    harness_request(&h, A, 1);
    harness_request(&h, A, 2);
    harness_run(&h, 1999);
    assert_not_ended(&h, 1);
    harness_run(&h, 1);
    assert_ended(&h, 1, CORE_END_RUN_TIMEOUT);
    assert_int_equal(harness_end(&h, 1)->why.clock, CORE_CLOCK_RUN);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_CANCEL_JOB)->job, 1);
    harness_run(&h, 4999);
    assert_command_count(&h, CORE_COMMAND_KILL, 0);
    harness_run(&h, 1); /* limit + grace */
    assert_int_equal(harness_expect(&h, CORE_COMMAND_KILL)->worker, worker);
    harness_exit(&h, worker, CORE_FAILURE_CRASH);
    harness_run(&h, 100);
    harness_bring_up(&h, A, 3 * GIB);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_START_JOB)->job, 2);
    assert_int_not_equal(harness_last(&h, CORE_COMMAND_START_JOB)->worker, worker);
    harness_close(&h);
}

static void test_no_further_job_starts_beside_one_that_is_being_ended(void **state)
{
    struct harness h;
    uint32_t worker;

    (void)state;
    worker = open_ready(&h, &SHORT_RUN, 1);
    harness_request(&h, A, 1);
    harness_request(&h, A, 2);
    harness_run(&h, 2000);
    assert_command_count(&h, CORE_COMMAND_START_JOB, 1);
    harness_job_event(&h, CORE_EVENT_JOB_CANCELLED, worker, 1); /* it obeys: the slot is free */
    assert_int_equal(harness_expect(&h, CORE_COMMAND_START_JOB)->job, 2);
    harness_run(&h, 1000);
    assert_command_count(&h, CORE_COMMAND_KILL, 0);
    harness_close(&h);
}

static void test_case_056_late_result_is_dropped(void **state)
{
    const struct core_clocks clocks = {.stall_ms = 2000, .cancel_ms = 5000, .stop_ms = 15000};
    struct harness h;
    uint32_t worker;

    (void)state;
    worker = open_ready(&h, &clocks, 1);
    harness_request(&h, A, 1);
    harness_run(&h, 2000);
    assert_ended(&h, 1, CORE_END_STALL_TIMEOUT);
    harness_run(&h, 1000);
    harness_job_event(&h, CORE_EVENT_JOB_DONE, worker, 1);
    harness_job_event(&h, CORE_EVENT_JOB_DONE, worker, 1);
    assert_ended(&h, 1, CORE_END_STALL_TIMEOUT); /* exactly one end */
    assert_int_equal(harness_view(&h, A).running, 0);
    harness_run(&h, 10000);
    assert_command_count(&h, CORE_COMMAND_KILL, 0); /* it came back within its grace */
    harness_close(&h);
}

static void test_case_056_progress_keeps_the_job_alive(void **state)
{
    const struct core_clocks clocks = {
        .run_ms = 5000, .stall_ms = 2000, .cancel_ms = 5000, .stop_ms = 15000};
    struct harness h;
    uint32_t worker;

    (void)state;
    worker = open_ready(&h, &clocks, 1);
    harness_request(&h, A, 1);
    for (int i = 0; i < 10; i++) {
        harness_run(&h, 1000);
        harness_job_event(&h, CORE_EVENT_JOB_PROGRESS, worker, 1);
    }
    assert_command_count(&h, CORE_COMMAND_CANCEL_JOB, 0);
    harness_job_event(&h, CORE_EVENT_JOB_DONE, worker, 1);
    assert_ended(&h, 1, CORE_END_DONE);
    assert_int_equal(harness_end(&h, 1)->run_ms, 10000);
    harness_close(&h);
}

static void test_progress_counts_only_while_fresh(void **state)
{
    struct harness h;
    uint32_t worker;

    (void)state;
    worker = open_ready(&h, &SHORT_RUN, 1);
    harness_request(&h, A, 1);
    harness_run(&h, 1000);
    harness_job_event(&h, CORE_EVENT_JOB_PROGRESS, worker, 1);
    harness_run(&h, 299999);
    assert_not_ended(&h, 1);
    harness_run(&h, 1);
    assert_ended(&h, 1, CORE_END_RUN_TIMEOUT);
    harness_close(&h);
}

static void test_progress_adds_at_most_the_extra_time(void **state)
{
    struct harness h;
    uint32_t worker;

    (void)state;
    worker = open_ready(&h, &SHORT_RUN, 1);
    harness_request(&h, A, 1);
    for (int i = 0; i < 1801; i++) {
        harness_run(&h, 1000);
        harness_job_event(&h, CORE_EVENT_JOB_PROGRESS, worker, 1);
    }
    assert_not_ended(&h, 1);
    harness_run(&h, 1000); /* 2 s + 1800 s */
    assert_ended(&h, 1, CORE_END_RUN_TIMEOUT);
    harness_close(&h);
}

static void test_limit_of_zero_means_none(void **state)
{
    const struct core_clocks clocks = {.stop_ms = 15000};
    struct harness h;
    uint32_t worker;

    (void)state;
    worker = open_ready(&h, &clocks, 1);
    harness_request(&h, A, 1);
    harness_request(&h, A, 2);
    harness_run(&h, 3600 * 1000);
    assert_not_ended(&h, 1);
    assert_not_ended(&h, 2);
    harness_job_event(&h, CORE_EVENT_JOB_DONE, worker, 1);
    assert_ended(&h, 1, CORE_END_DONE);
    harness_close(&h);
}

/* ---- cancel_grace ---- */

static void test_case_067_job_that_ignores_its_cancel_is_killed(void **state)
{
    struct harness h;
    uint32_t worker;

    (void)state;
    worker = open_ready(&h, &SHORT_RUN, 1);
    harness_request(&h, A, 1);
    harness_run(&h, 1000);
    harness_cancel(&h, 1);
    harness_request(&h, A, 2);
    harness_run(&h, 4999);
    assert_not_ended(&h, 1);
    assert_command_count(&h, CORE_COMMAND_KILL, 0);
    harness_run(&h, 1);
    assert_ended(&h, 1, CORE_END_CANCELLED);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_KILL)->worker, worker);
    harness_exit(&h, worker, CORE_FAILURE_CRASH);
    harness_run(&h, 100);
    assert_int_equal(harness_view(&h, A).failure, CORE_FAILURE_NONE); /* we killed it */
    harness_bring_up(&h, A, 3 * GIB);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_START_JOB)->job, 2);
    assert_int_not_equal(harness_last(&h, CORE_COMMAND_START_JOB)->worker, worker);
    harness_close(&h);
}

static void test_worker_with_other_jobs_is_killed_only_when_they_have_ended(void **state)
{
    const struct core_clocks clocks = {.cancel_ms = 5000, .stop_ms = 15000};
    struct harness h;
    uint32_t worker;

    (void)state;
    worker = open_ready(&h, &clocks, 3);
    harness_request(&h, A, 1);
    harness_request(&h, A, 2);
    harness_cancel(&h, 1);
    harness_run(&h, 5000);
    assert_ended(&h, 1, CORE_END_CANCELLED); /* at once for its client */
    assert_command_count(&h, CORE_COMMAND_KILL, 0);
    harness_request(&h, A, 3);
    harness_run(&h, 60000);
    assert_command_count(&h, CORE_COMMAND_KILL, 0);
    assert_command_count(&h, CORE_COMMAND_START_JOB, 2); /* no new jobs in it */
    harness_job_event(&h, CORE_EVENT_JOB_DONE, worker, 2);
    assert_ended(&h, 2, CORE_END_DONE);
    harness_expect(&h, CORE_COMMAND_KILL);
    harness_close(&h);
}

static void test_two_jobs_that_ignore_their_cancel_both_end(void **state)
{
    const struct core_clocks clocks = {.cancel_ms = 5000, .stop_ms = 15000};
    struct harness h;

    (void)state;
    open_ready(&h, &clocks, 2);
    harness_request(&h, A, 1);
    harness_request(&h, A, 2);
    harness_cancel(&h, 1);
    harness_run(&h, 2000);
    harness_cancel(&h, 2);
    harness_run(&h, 5000);
    assert_ended(&h, 1, CORE_END_CANCELLED);
    assert_ended(&h, 2, CORE_END_CANCELLED);
    assert_command_count(&h, CORE_COMMAND_KILL, 1);
    harness_close(&h);
}

static void test_ghost_that_comes_back_lets_the_worker_stop_politely(void **state)
{
    const struct core_clocks clocks = {.cancel_ms = 5000, .stop_ms = 15000};
    struct harness h;
    uint32_t worker;

    (void)state;
    worker = open_ready(&h, &clocks, 2);
    harness_request(&h, A, 1);
    harness_request(&h, A, 2);
    harness_cancel(&h, 1);
    harness_run(&h, 10000);
    harness_job_event(&h, CORE_EVENT_JOB_DONE, worker, 1); /* late */
    harness_job_event(&h, CORE_EVENT_JOB_DONE, worker, 2);
    assert_ended(&h, 1, CORE_END_CANCELLED);
    assert_ended(&h, 2, CORE_END_DONE);
    harness_expect(&h, CORE_COMMAND_STOP);
    harness_run(&h, 1000);
    assert_command_count(&h, CORE_COMMAND_KILL, 0);
    harness_close(&h);
}

static void test_cancel_just_before_the_limit_stays_a_cancel(void **state)
{
    struct harness h;

    (void)state;
    open_ready(&h, &SHORT_RUN, 1);
    harness_request(&h, A, 1);
    harness_run(&h, 1999);
    harness_cancel(&h, 1);
    harness_run(&h, 4000);
    assert_not_ended(&h, 1);
    harness_run(&h, 1000);
    assert_ended(&h, 1, CORE_END_CANCELLED);
    harness_close(&h);
}

static void test_cancel_after_the_limit_changes_nothing(void **state)
{
    struct harness h;
    uint32_t worker;

    (void)state;
    worker = open_ready(&h, &SHORT_RUN, 1);
    harness_request(&h, A, 1);
    harness_run(&h, 2500);
    harness_cancel(&h, 1);
    harness_job_event(&h, CORE_EVENT_JOB_CANCELLED, worker, 1);
    assert_ended(&h, 1, CORE_END_RUN_TIMEOUT);
    assert_command_count(&h, CORE_COMMAND_CANCEL_JOB, 1);
    harness_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queue_timeout_ends_the_waiting_job_only),
        cmocka_unit_test(test_queue_timeout_ends_a_job_that_no_memory_comes_for),
        cmocka_unit_test(test_load_timeout_kills_the_worker_and_ends_a_load_request),
        cmocka_unit_test(test_start_that_says_nothing_falls_under_the_load_limit),
        cmocka_unit_test(test_case_055_run_limit_ends_the_job_and_then_the_worker),
        cmocka_unit_test(test_no_further_job_starts_beside_one_that_is_being_ended),
        cmocka_unit_test(test_case_056_late_result_is_dropped),
        cmocka_unit_test(test_case_056_progress_keeps_the_job_alive),
        cmocka_unit_test(test_progress_counts_only_while_fresh),
        cmocka_unit_test(test_progress_adds_at_most_the_extra_time),
        cmocka_unit_test(test_limit_of_zero_means_none),
        cmocka_unit_test(test_case_067_job_that_ignores_its_cancel_is_killed),
        cmocka_unit_test(test_worker_with_other_jobs_is_killed_only_when_they_have_ended),
        cmocka_unit_test(test_two_jobs_that_ignore_their_cancel_both_end),
        cmocka_unit_test(test_ghost_that_comes_back_lets_the_worker_stop_politely),
        cmocka_unit_test(test_cancel_just_before_the_limit_stays_a_cancel),
        cmocka_unit_test(test_cancel_after_the_limit_changes_nothing),
    };

    return cmocka_run_group_tests_name("core/clocks", tests, NULL, NULL);
}

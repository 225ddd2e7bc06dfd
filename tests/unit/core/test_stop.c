/* The daemon stops: nothing new, a grace for what runs, and nobody is left behind. */
#include "harness.h"

enum { A = 0, B = 1, C = 2 };

static void feed_kind(struct harness *h, enum core_event_kind kind)
{
    harness_feed(h, (struct core_event){.kind = kind});
}

static void test_stop_without_workers_is_done_at_once_and_told_once(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    feed_kind(&h, CORE_EVENT_STOP);
    harness_run(&h, 1000);
    feed_kind(&h, CORE_EVENT_STOP_NOW);
    assert_command_count(&h, CORE_COMMAND_STOPPED, 1);
    harness_close(&h);
}

static void test_new_requests_are_refused(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    feed_kind(&h, CORE_EVENT_STOP);
    harness_request(&h, A, 1);
    assert_ended(&h, 1, CORE_END_STOPPING);
    assert_command_count(&h, CORE_COMMAND_SPAWN, 0);
    harness_close(&h);
}

static void test_running_job_may_finish_within_the_grace(void **state)
{
    struct harness h;
    uint32_t worker;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    worker = harness_ready(&h, A, 100, 3 * GIB);
    harness_request(&h, A, 1);
    feed_kind(&h, CORE_EVENT_STOP);
    harness_run(&h, 14000);
    assert_command_count(&h, CORE_COMMAND_STOP, 0);
    harness_job_event(&h, CORE_EVENT_JOB_DONE, worker, 1);
    assert_ended(&h, 1, CORE_END_DONE);
    harness_expect(&h, CORE_COMMAND_STOP);
    harness_exit(&h, worker, CORE_FAILURE_NONE);
    assert_command_count(&h, CORE_COMMAND_STOPPED, 0);
    harness_run(&h, 100);
    assert_command_count(&h, CORE_COMMAND_STOPPED, 1);
    harness_close(&h);
}

static void test_job_beyond_the_grace_ends_and_its_worker_is_killed(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    harness_ready(&h, A, 100, 3 * GIB);
    harness_request(&h, A, 1);
    feed_kind(&h, CORE_EVENT_STOP);
    harness_run(&h, 14999);
    assert_not_ended(&h, 1);
    harness_run(&h, 1);
    assert_ended(&h, 1, CORE_END_STOPPING);
    assert_int_equal(harness_end(&h, 1)->why.clock, CORE_CLOCK_STOP);
    assert_command_count(&h, CORE_COMMAND_KILL, 1);
    harness_close(&h);
}

static void test_idle_and_loading_workers_go_at_once(void **state)
{
    struct harness h;
    uint32_t a;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    harness_model(&h, B, 4 * GIB);
    a = harness_ready(&h, A, 100, 3 * GIB);
    harness_load(&h, B, 1);
    harness_request(&h, B, 2);
    feed_kind(&h, CORE_EVENT_STOP);
    assert_command_count(&h, CORE_COMMAND_STOP, 2);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_KILL)->worker, a + 1);
    assert_ended(&h, 1, CORE_END_STOPPING);
    assert_ended(&h, 2, CORE_END_STOPPING); /* whoever waits is told at once */
    harness_close(&h);
}

static void test_waiting_jobs_do_not_start_any_more(void **state)
{
    struct harness h;
    uint32_t worker;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    worker = harness_ready(&h, A, 100, 3 * GIB);
    harness_request(&h, A, 1);
    harness_request(&h, A, 2);
    feed_kind(&h, CORE_EVENT_STOP);
    harness_job_event(&h, CORE_EVENT_JOB_DONE, worker, 1);
    harness_exit(&h, worker, CORE_FAILURE_NONE);
    harness_run(&h, 100);
    assert_command_count(&h, CORE_COMMAND_START_JOB, 1);
    assert_command_count(&h, CORE_COMMAND_SPAWN, 1);
    assert_command_count(&h, CORE_COMMAND_STOPPED, 1);
    harness_close(&h);
}

static void test_stop_now_ends_jobs_and_kills(void **state)
{
    struct harness h;
    uint32_t a;

    (void)state;
    harness_open(&h);
    for (uint32_t model = A; model <= C; model++)
        harness_model(&h, model, 4 * GIB);
    a = harness_ready(&h, A, 100, 3 * GIB);
    harness_ready(&h, B, 101, 3 * GIB);
    harness_load(&h, C, 102);
    harness_request(&h, A, 1);
    feed_kind(&h, CORE_EVENT_STOP);
    assert_not_ended(&h, 1);
    feed_kind(&h, CORE_EVENT_STOP_NOW); /* the second signal */
    assert_ended(&h, 1, CORE_END_STOPPING);
    assert_command_count(&h, CORE_COMMAND_KILL, 3);
    for (uint32_t worker = a; worker <= a + 2; worker++)
        harness_exit(&h, worker, CORE_FAILURE_CRASH);
    harness_run(&h, 100);
    assert_command_count(&h, CORE_COMMAND_STOPPED, 1);
    harness_close(&h);
}

static void test_grace_of_zero_means_at_once(void **state)
{
    struct core_config config;
    struct harness h;

    (void)state;
    harness_config(&config);
    config.stop_grace_ms = 0;
    harness_open_with(&h, &config);
    harness_model(&h, A, 4 * GIB);
    harness_ready(&h, A, 100, 3 * GIB);
    harness_request(&h, A, 1);
    feed_kind(&h, CORE_EVENT_STOP);
    assert_ended(&h, 1, CORE_END_STOPPING);
    assert_command_count(&h, CORE_COMMAND_KILL, 1);
    harness_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stop_without_workers_is_done_at_once_and_told_once),
        cmocka_unit_test(test_new_requests_are_refused),
        cmocka_unit_test(test_running_job_may_finish_within_the_grace),
        cmocka_unit_test(test_job_beyond_the_grace_ends_and_its_worker_is_killed),
        cmocka_unit_test(test_idle_and_loading_workers_go_at_once),
        cmocka_unit_test(test_waiting_jobs_do_not_start_any_more),
        cmocka_unit_test(test_stop_now_ends_jobs_and_kills),
        cmocka_unit_test(test_grace_of_zero_means_at_once),
    };

    return cmocka_run_group_tests_name("core/stop", tests, NULL, NULL);
}

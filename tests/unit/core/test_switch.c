/* The active model of Modly's routes: the next one loads when the last one's bytes are back. */
#include "harness.h"

enum { A = 0, B = 1, C = 2 };

/* Three models that would all fit together; A is active and ready. */
static uint32_t open_with_a_active(struct harness *h)
{
    harness_open(h);
    for (uint32_t model = A; model <= C; model++)
        harness_model(h, model, 4 * GIB);
    harness_switch(h, A);
    assert_int_equal(core_active(h->core), A);
    return harness_ready(h, A, 100, 3 * GIB);
}

static void test_no_model_is_active_at_first(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    assert_int_equal(core_active(h.core), CORE_NO_MODEL);
    harness_switch(&h, 42); /* unknown */
    assert_int_equal(core_active(h.core), CORE_NO_MODEL);
    assert_command_count(&h, CORE_COMMAND_ACTIVE, 0);
    harness_close(&h);
}

static void test_switch_ends_the_previous_model(void **state)
{
    struct harness h;
    uint32_t a;

    (void)state;
    a = open_with_a_active(&h);
    harness_switch(&h, B);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_ACTIVE)->model, B);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_STOP)->worker, a);
    assert_int_equal(harness_last(&h, CORE_COMMAND_WORKER_STATE)->why.kind, CORE_WHY_SWITCH);
    harness_close(&h);
}

static void test_next_loads_only_when_the_bytes_are_proven_back(void **state)
{
    struct harness h;
    uint32_t a;

    (void)state;
    a = open_with_a_active(&h);
    harness_switch(&h, B);
    harness_forget(&h);
    harness_request(&h, B, 1);
    harness_run(&h, 1000);
    assert_command_count(&h, CORE_COMMAND_SPAWN, 0);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_JOB_WAITS)->why.kind, CORE_WHY_RELEASE);
    assert_int_equal(harness_last(&h, CORE_COMMAND_JOB_WAITS)->why.other, A);
    harness_exit(&h, a, CORE_FAILURE_NONE);
    harness_skip(&h, 10);
    harness_sample_from(&h, h.now_ms - 11); /* begun before the exit */
    assert_command_count(&h, CORE_COMMAND_SPAWN, 0);
    harness_sample(&h);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_SPAWN)->model, B);
    harness_close(&h);
}

static void test_job_of_the_previous_model_finishes_however_long(void **state)
{
    struct harness h;
    uint32_t a;

    (void)state;
    a = open_with_a_active(&h);
    harness_request(&h, A, 1);
    harness_switch(&h, B);
    harness_request(&h, B, 2);
    harness_run(&h, 290000); /* far beyond drain_timeout */
    assert_not_ended(&h, 1);
    assert_command_count(&h, CORE_COMMAND_STOP, 0);
    harness_job_event(&h, CORE_EVENT_JOB_DONE, a, 1);
    assert_ended(&h, 1, CORE_END_DONE);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_STOP)->worker, a);
    harness_exit(&h, a, CORE_FAILURE_NONE);
    harness_run(&h, 100);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_SPAWN)->model, B);
    harness_close(&h);
}

static void test_jobs_stay_with_the_model_they_were_accepted_for(void **state)
{
    struct harness h;
    uint32_t a;

    (void)state;
    a = open_with_a_active(&h);
    harness_request(&h, A, 1);
    harness_request(&h, A, 2);
    harness_switch(&h, B);
    harness_job_event(&h, CORE_EVENT_JOB_DONE, a, 1);
    harness_exit(&h, a, CORE_FAILURE_NONE);
    harness_forget(&h);
    harness_run(&h, 100);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_SPAWN)->model, A);
    harness_bring_up(&h, A, 3 * GIB);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_START_JOB)->job, 2);
    harness_close(&h);
}

static void test_other_models_stay(void **state)
{
    struct harness h;

    (void)state;
    open_with_a_active(&h);
    harness_ready(&h, C, 101, 3 * GIB);
    harness_switch(&h, B);
    assert_command_count(&h, CORE_COMMAND_STOP, 1);
    assert_residency(&h, C, CORE_RESIDENCY_READY);
    harness_close(&h);
}

static void test_switch_to_the_active_model_is_nothing(void **state)
{
    struct harness h;

    (void)state;
    open_with_a_active(&h);
    harness_forget(&h);
    harness_switch(&h, A);
    assert_command_count(&h, CORE_COMMAND_ACTIVE, 0);
    assert_command_count(&h, CORE_COMMAND_STOP, 0);
    harness_close(&h);
}

static void test_second_switch_still_waits_for_the_first_model(void **state)
{
    struct harness h;
    uint32_t a;

    (void)state;
    a = open_with_a_active(&h);
    harness_switch(&h, B);
    harness_switch(&h, C);
    harness_forget(&h);
    harness_request(&h, C, 1);
    harness_run(&h, 1000);
    assert_command_count(&h, CORE_COMMAND_SPAWN, 0);
    harness_exit(&h, a, CORE_FAILURE_NONE);
    harness_run(&h, 100);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_SPAWN)->model, C);
    harness_close(&h);
}

static void test_switch_back_loads_the_model_again(void **state)
{
    struct harness h;
    uint32_t a;

    (void)state;
    a = open_with_a_active(&h);
    harness_switch(&h, B);
    harness_switch(&h, A);
    harness_forget(&h);
    harness_request(&h, A, 1);
    harness_exit(&h, a, CORE_FAILURE_NONE);
    harness_run(&h, 100);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_SPAWN)->model, A);
    harness_close(&h);
}

static void test_removed_model_is_not_active_any_more(void **state)
{
    struct harness h;

    (void)state;
    open_with_a_active(&h);
    harness_feed(&h, (struct core_event){.kind = CORE_EVENT_MODEL_REMOVED, .model = A});
    assert_int_equal(core_active(h.core), CORE_NO_MODEL);
    harness_close(&h);
}

static void test_removed_model_cannot_become_active(void **state)
{
    struct harness h;

    (void)state;
    open_with_a_active(&h);
    harness_ready(&h, B, 101, 3 * GIB);
    harness_request(&h, B, 1);
    harness_feed(&h, (struct core_event){.kind = CORE_EVENT_MODEL_REMOVED, .model = B});
    harness_switch(&h, B); /* its worker still drains */
    assert_int_equal(core_active(h.core), A);
    harness_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_model_is_active_at_first),
        cmocka_unit_test(test_switch_ends_the_previous_model),
        cmocka_unit_test(test_next_loads_only_when_the_bytes_are_proven_back),
        cmocka_unit_test(test_job_of_the_previous_model_finishes_however_long),
        cmocka_unit_test(test_jobs_stay_with_the_model_they_were_accepted_for),
        cmocka_unit_test(test_other_models_stay),
        cmocka_unit_test(test_switch_to_the_active_model_is_nothing),
        cmocka_unit_test(test_second_switch_still_waits_for_the_first_model),
        cmocka_unit_test(test_switch_back_loads_the_model_again),
        cmocka_unit_test(test_removed_model_cannot_become_active),
        cmocka_unit_test(test_removed_model_is_not_active_any_more),
    };

    return cmocka_run_group_tests_name("core/switch", tests, NULL, NULL);
}

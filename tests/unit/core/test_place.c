/* Which model loads next, and which idle ones leave for it. The device has 24 GiB. */
#include "harness.h"

enum { A = 0, B = 1, C = 2, D = 3 };

static void test_case_032_busy_model_is_never_evicted(void **state)
{
    struct harness h;
    uint32_t a;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 20 * GIB);
    harness_model(&h, B, 20 * GIB);
    a = harness_ready(&h, A, 100, 19 * GIB);
    harness_request(&h, A, 1);
    harness_run(&h, 1000);
    harness_request(&h, B, 2);
    harness_run(&h, 4000);
    assert_command_count(&h, CORE_COMMAND_STOP, 0);
    assert_command_count(&h, CORE_COMMAND_KILL, 0);
    harness_job_event(&h, CORE_EVENT_JOB_DONE, a, 1);
    assert_ended(&h, 1, CORE_END_DONE);
    harness_run(&h, 10);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_STOP)->worker, a);
    assert_int_equal(harness_last(&h, CORE_COMMAND_WORKER_STATE)->why.kind, CORE_WHY_ROOM);
    assert_int_equal(harness_last(&h, CORE_COMMAND_WORKER_STATE)->why.other, B);
    harness_exit(&h, a, CORE_FAILURE_NONE);
    harness_run(&h, 100);
    harness_bring_up(&h, B, 19 * GIB);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_START_JOB)->job, 2);
    harness_close(&h);
}

static void test_case_022_nobody_leaves_when_all_idle_are_not_enough(void **state)
{
    const struct core_why *why;
    struct harness h;

    (void)state;
    harness_open(&h);
    h.foreign_bytes = 16 * GIB;
    harness_skip(&h, 1);
    harness_sample(&h);
    harness_model(&h, A, 4 * GIB);
    harness_model(&h, C, 20 * GIB);
    harness_ready(&h, A, 100, 4 * GIB);
    harness_request(&h, C, 1);
    harness_run(&h, 60000);
    assert_command_count(&h, CORE_COMMAND_STOP, 0);
    assert_residency(&h, A, CORE_RESIDENCY_READY);
    assert_not_ended(&h, 1);
    why = &harness_expect(&h, CORE_COMMAND_JOB_WAITS)->why;
    assert_int_equal(why->kind, CORE_WHY_MEMORY);
    assert_int_equal(why->need_bytes, 20 * GIB);
    assert_int_equal(why->foreign_bytes, 16 * GIB);
    assert_in_range(why->available_bytes, 3 * GIB, 4 * GIB);
    harness_close(&h);
}

static void test_least_recently_used_leaves_first_and_no_more_than_needed(void **state)
{
    struct harness h;
    uint32_t a, b;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 8 * GIB);
    harness_model(&h, B, 8 * GIB);
    harness_model(&h, C, 10 * GIB);
    a = harness_ready(&h, A, 100, 7 * GIB);
    b = harness_ready(&h, B, 101, 7 * GIB);
    harness_run(&h, 1000);
    harness_request(&h, A, 1); /* used last, though loaded first */
    harness_job_event(&h, CORE_EVENT_JOB_DONE, a, 1);
    harness_run(&h, 1000);
    harness_request(&h, C, 2);
    harness_run(&h, 100);
    assert_command_count(&h, CORE_COMMAND_STOP, 1);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_STOP)->worker, b);
    harness_close(&h);
}

static void test_several_leave_when_one_is_not_enough(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    for (uint32_t model = A; model <= C; model++) {
        harness_model(&h, model, 7 * GIB);
        harness_ready(&h, model, 100 + model, 6 * GIB);
    }
    harness_model(&h, D, 16 * GIB);
    harness_request(&h, D, 1);
    harness_run(&h, 100);
    assert_command_count(&h, CORE_COMMAND_STOP, 2);
    assert_residency(&h, C, CORE_RESIDENCY_READY);
    harness_close(&h);
}

static void test_both_load_when_both_fit(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 10 * GIB);
    harness_model(&h, B, 10 * GIB);
    harness_request(&h, A, 1);
    harness_request(&h, B, 2);
    harness_run(&h, 100);
    assert_command_count(&h, CORE_COMMAND_SPAWN, 2);
    harness_close(&h);
}

static void test_second_load_counts_what_the_first_has_only_reserved(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 14 * GIB);
    harness_model(&h, B, 14 * GIB);
    harness_request(&h, A, 1);
    harness_request(&h, B, 2);
    harness_run(&h, 5000); /* every sample says 24 GiB free */
    assert_command_count(&h, CORE_COMMAND_SPAWN, 1);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_JOB_WAITS)->why.kind, CORE_WHY_MEMORY);
    harness_close(&h);
}

/* ---- the intent and its earmark ---- */

static uint32_t open_with_a_evicted_for_b(struct harness *h)
{
    uint32_t a;

    harness_open(h);
    harness_model(h, A, 16 * GIB);
    harness_model(h, B, 20 * GIB);
    harness_model(h, C, 3 * GIB);
    a = harness_ready(h, A, 100, 15 * GIB);
    harness_request(h, B, 1);
    harness_run(h, 10);
    assert_int_equal(harness_expect(h, CORE_COMMAND_STOP)->worker, a);
    harness_forget(h);
    return a;
}

static void test_bytes_being_freed_for_one_are_not_taken_by_another(void **state)
{
    struct harness h;
    uint32_t a;

    (void)state;
    a = open_with_a_evicted_for_b(&h);
    harness_request_as(&h, C, 2, CORE_INTERACTIVE); /* it would fit at once */
    harness_run(&h, 1000);
    assert_command_count(&h, CORE_COMMAND_SPAWN, 0);
    harness_exit(&h, a, CORE_FAILURE_NONE);
    harness_run(&h, 100);
    assert_int_equal(harness_view(&h, B).worker, a + 1);
    harness_run(&h, 1000); /* what B left, C may have */
    assert_command_count(&h, CORE_COMMAND_SPAWN, 1 + 1);
    harness_close(&h);
}

static void test_freed_bytes_go_to_others_when_the_last_waiter_has_left(void **state)
{
    struct harness h;
    uint32_t a;

    (void)state;
    a = open_with_a_evicted_for_b(&h);
    harness_request(&h, C, 2);
    harness_cancel(&h, 1);
    harness_exit(&h, a, CORE_FAILURE_NONE);
    harness_run(&h, 100);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_SPAWN)->model, C);
    assert_command_count(&h, CORE_COMMAND_SPAWN, 1);
    harness_close(&h);
}

static void test_no_job_slot_takes_bytes_that_are_being_freed(void **state)
{
    struct core_spec spec = harness_spec(2 * GIB);
    struct harness h;

    (void)state;
    spec.parallel = 4;
    spec.per_job_bytes = 1 * GIB;
    harness_open(&h);
    harness_model(&h, A, 16 * GIB);
    harness_model(&h, B, 20 * GIB);
    harness_model_spec(&h, C, &spec);
    harness_ready(&h, C, 101, 1 * GIB);
    harness_request(&h, C, 10);
    harness_ready(&h, A, 100, 15 * GIB);
    harness_request(&h, B, 1);
    harness_run(&h, 10);
    harness_expect(&h, CORE_COMMAND_STOP);
    harness_request(&h, C, 11);
    harness_run(&h, 1000);
    assert_int_equal(harness_view(&h, C).running, 1);
    harness_close(&h);
}

static void test_stranger_who_takes_the_freed_bytes_does_not_block_the_rest(void **state)
{
    struct harness h;
    uint32_t a;

    (void)state;
    a = open_with_a_evicted_for_b(&h);
    harness_request(&h, C, 2);
    h.foreign_bytes = 18 * GIB;
    harness_exit(&h, a, CORE_FAILURE_NONE);
    harness_run(&h, 100);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_SPAWN)->model, C);
    assert_not_ended(&h, 1);
    harness_close(&h);
}

static void test_release_that_is_never_proven_blocks_others_for_its_grace_only(void **state)
{
    struct harness h;
    uint32_t a;

    (void)state;
    a = open_with_a_evicted_for_b(&h);
    harness_exit(&h, a, CORE_FAILURE_NONE);
    h.is_listed[a] = true; /* it never goes */
    harness_request(&h, C, 2);
    harness_run(&h, 9000);
    assert_command_count(&h, CORE_COMMAND_SPAWN, 0);
    harness_run(&h, 3000);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_SPAWN)->model, C);
    assert_residency(&h, A, CORE_RESIDENCY_RELEASING); /* and is never called free */
    harness_close(&h);
}

static void test_job_in_a_draining_worker_does_not_keep_others_from_making_room(void **state)
{
    struct harness h;
    uint32_t b;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 8 * GIB);
    harness_model(&h, B, 8 * GIB);
    harness_model(&h, C, 12 * GIB);
    harness_ready(&h, A, 100, 7 * GIB);
    b = harness_ready(&h, B, 101, 7 * GIB);
    harness_request(&h, A, 1);
    harness_unload(&h, A, 9, false); /* drains as long as its job runs */
    harness_request(&h, C, 2);
    harness_run(&h, 100);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_STOP)->worker, b);
    harness_close(&h);
}

/* ---- headroom, too big, unknown ---- */

static void open_with_headroom(struct harness *h)
{
    struct core_config config;

    harness_config(&config);
    config.host_reserve_bytes = 4 * GIB;
    harness_open_with(h, &config);
}

static void test_headroom_limits_packing(void **state)
{
    struct harness h;

    (void)state;
    open_with_headroom(&h);
    harness_model(&h, A, 12 * GIB);
    harness_model(&h, B, 10 * GIB);
    harness_ready(&h, A, 100, 12 * GIB);
    harness_request(&h, A, 1);
    harness_request(&h, B, 2);
    harness_run(&h, 100);
    assert_command_count(&h, CORE_COMMAND_SPAWN, 1);
    harness_close(&h);
}

static void test_headroom_never_limits_possibility(void **state)
{
    struct harness h;
    uint32_t a;

    (void)state;
    open_with_headroom(&h);
    harness_model(&h, A, 4 * GIB);
    harness_model(&h, B, 22 * GIB);
    a = harness_ready(&h, A, 100, 4 * GIB);
    harness_request(&h, B, 1);
    harness_run(&h, 10);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_STOP)->worker, a);
    harness_exit(&h, a, CORE_FAILURE_NONE);
    harness_run(&h, 100);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_SPAWN)->model, B);
    harness_close(&h);
}

static void test_too_big_is_refused_with_the_numbers(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    harness_model(&h, B, 27 * GIB);
    harness_ready(&h, A, 100, 4 * GIB);
    harness_request(&h, B, 1);
    assert_ended(&h, 1, CORE_END_NEVER_FITS);
    assert_int_equal(harness_end(&h, 1)->why.kind, CORE_WHY_TOO_BIG);
    assert_int_equal(harness_end(&h, 1)->why.need_bytes, 27 * GIB);
    assert_int_equal(harness_end(&h, 1)->why.available_bytes, 24 * GIB);
    assert_command_count(&h, CORE_COMMAND_STOP, 0);
    harness_close(&h);
}

static void test_declared_size_a_little_above_the_device_is_not_refused(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 25 * GIB);
    harness_request(&h, A, 1);
    harness_run(&h, 10000);
    assert_not_ended(&h, 1);
    assert_command_count(&h, CORE_COMMAND_SPAWN, 0); /* it waits: it is more than is free */
    harness_close(&h);
}

static void test_unknown_size_loads_alone(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 0);
    harness_model(&h, B, 1 * GIB);
    harness_request(&h, A, 1);
    harness_request(&h, B, 2);
    harness_run(&h, 1000);
    assert_command_count(&h, CORE_COMMAND_SPAWN, 1);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_JOB_WAITS)->why.kind, CORE_WHY_ALONE);
    assert_int_equal(harness_last(&h, CORE_COMMAND_JOB_WAITS)->why.other, A);
    harness_bring_up(&h, A, 2 * GIB);
    harness_job_event(&h, CORE_EVENT_JOB_DONE, 1, 1);
    harness_run(&h, 1000);
    assert_command_count(&h, CORE_COMMAND_SPAWN, 2);
    harness_close(&h);
}

static void test_unknown_size_lets_others_load_during_its_first_job(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 0);
    harness_model(&h, B, 1 * GIB);
    harness_request(&h, A, 1);
    harness_bring_up(&h, A, 2 * GIB);
    harness_request(&h, B, 2);
    harness_run(&h, 200);
    assert_not_ended(&h, 1);
    assert_command_count(&h, CORE_COMMAND_SPAWN, 2);
    harness_close(&h);
}

static void test_models_behind_the_first_are_told_why_they_wait(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 0);
    harness_model(&h, B, 1 * GIB);
    harness_model(&h, C, 1 * GIB);
    harness_request(&h, A, 1);
    harness_request(&h, B, 2);
    harness_request(&h, C, 3);
    harness_run(&h, 100);
    assert_int_equal(harness_last(&h, CORE_COMMAND_JOB_WAITS)->job, 3);
    assert_int_equal(harness_last(&h, CORE_COMMAND_JOB_WAITS)->why.kind, CORE_WHY_ALONE);
    harness_close(&h);
}

static void test_unknown_size_waits_for_a_load_that_is_under_way(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 0);
    harness_model(&h, B, 1 * GIB);
    harness_request(&h, B, 1);
    harness_request(&h, A, 2);
    harness_run(&h, 1000);
    assert_command_count(&h, CORE_COMMAND_SPAWN, 1);
    harness_bring_up(&h, B, 1 * GIB);
    harness_run(&h, 100);
    assert_command_count(&h, CORE_COMMAND_SPAWN, 2);
    harness_close(&h);
}

/* ---- order, and not missing anything ---- */

static void test_better_priority_loads_first_then_the_older(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    for (uint32_t model = A; model <= C; model++)
        harness_model(&h, model, 20 * GIB);
    harness_skip(&h, 5000); /* no fresh sample: all three wait for it */
    harness_request_as(&h, A, 1, CORE_BATCH);
    harness_skip(&h, 1);
    harness_request_as(&h, C, 2, CORE_NORMAL);
    harness_skip(&h, 1);
    harness_request_as(&h, B, 3, CORE_NORMAL);
    harness_sample(&h);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_SPAWN)->model, C);
    assert_command_count(&h, CORE_COMMAND_SPAWN, 1);
    harness_close(&h);
}

static void test_smaller_model_passes_one_that_cannot_load_now(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 10 * GIB);
    harness_model(&h, B, 20 * GIB);
    harness_model(&h, C, 4 * GIB);
    harness_ready(&h, A, 100, 9 * GIB);
    harness_request(&h, A, 1);
    harness_request(&h, B, 2);
    harness_request(&h, C, 3);
    harness_run(&h, 100);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_SPAWN)->model, C);
    harness_close(&h);
}

static void test_memory_that_a_stranger_gives_back_is_noticed(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    h.foreign_bytes = 20 * GIB;
    harness_skip(&h, 1);
    harness_sample(&h);
    harness_model(&h, A, 10 * GIB);
    harness_request(&h, A, 1);
    harness_run(&h, 60000);
    assert_command_count(&h, CORE_COMMAND_SPAWN, 0);
    h.foreign_bytes = 0;
    harness_run(&h, 2000);
    assert_command_count(&h, CORE_COMMAND_SPAWN, 1);
    harness_close(&h);
}

static void test_model_with_waiting_jobs_is_no_victim(void **state)
{
    struct harness h;
    uint32_t a;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 20 * GIB);
    harness_model(&h, B, 20 * GIB);
    a = harness_ready(&h, A, 100, 19 * GIB);
    harness_request(&h, A, 1);
    harness_request(&h, A, 2);
    harness_request(&h, B, 3);
    harness_job_event(&h, CORE_EVENT_JOB_DONE, a, 1);
    harness_run(&h, 100);
    assert_command_count(&h, CORE_COMMAND_STOP, 0);
    harness_job_event(&h, CORE_EVENT_JOB_DONE, a, 2);
    harness_run(&h, 100);
    assert_command_count(&h, CORE_COMMAND_STOP, 1);
    harness_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_case_032_busy_model_is_never_evicted),
        cmocka_unit_test(test_case_022_nobody_leaves_when_all_idle_are_not_enough),
        cmocka_unit_test(test_least_recently_used_leaves_first_and_no_more_than_needed),
        cmocka_unit_test(test_several_leave_when_one_is_not_enough),
        cmocka_unit_test(test_both_load_when_both_fit),
        cmocka_unit_test(test_second_load_counts_what_the_first_has_only_reserved),
        cmocka_unit_test(test_bytes_being_freed_for_one_are_not_taken_by_another),
        cmocka_unit_test(test_freed_bytes_go_to_others_when_the_last_waiter_has_left),
        cmocka_unit_test(test_no_job_slot_takes_bytes_that_are_being_freed),
        cmocka_unit_test(test_stranger_who_takes_the_freed_bytes_does_not_block_the_rest),
        cmocka_unit_test(test_release_that_is_never_proven_blocks_others_for_its_grace_only),
        cmocka_unit_test(test_job_in_a_draining_worker_does_not_keep_others_from_making_room),
        cmocka_unit_test(test_headroom_limits_packing),
        cmocka_unit_test(test_headroom_never_limits_possibility),
        cmocka_unit_test(test_too_big_is_refused_with_the_numbers),
        cmocka_unit_test(test_declared_size_a_little_above_the_device_is_not_refused),
        cmocka_unit_test(test_unknown_size_loads_alone),
        cmocka_unit_test(test_unknown_size_lets_others_load_during_its_first_job),
        cmocka_unit_test(test_models_behind_the_first_are_told_why_they_wait),
        cmocka_unit_test(test_unknown_size_waits_for_a_load_that_is_under_way),
        cmocka_unit_test(test_better_priority_loads_first_then_the_older),
        cmocka_unit_test(test_smaller_model_passes_one_that_cannot_load_now),
        cmocka_unit_test(test_memory_that_a_stranger_gives_back_is_noticed),
        cmocka_unit_test(test_model_with_waiting_jobs_is_no_victim),
    };

    return cmocka_run_group_tests_name("core/place", tests, NULL, NULL);
}

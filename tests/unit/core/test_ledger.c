/* Who has how many bytes, and which samples may decide. */
#include "harness.h"

enum { A = 0, B = 1 };

static void test_spawn_reserves_before_anything_is_measured(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 10 * GIB);
    assert_int_equal(harness_device(&h).available_bytes, 24 * GIB - 1);
    harness_request(&h, A, 1);
    assert_int_equal(harness_device(&h).reserved_bytes, 10 * GIB);
    assert_int_equal(harness_device(&h).available_bytes, 14 * GIB - 1);
    harness_close(&h);
}

static void test_available_counts_what_a_load_has_not_taken_yet(void **state)
{
    struct core_device_view view;
    struct harness h;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 10 * GIB);
    harness_request(&h, A, 1);
    harness_bytes(&h, 1, 6 * GIB);
    h.foreign_bytes = 4 * GIB;
    harness_skip(&h, 50);
    harness_sample(&h);
    view = harness_device(&h);
    assert_int_equal(view.available_bytes, 10 * GIB - 1); /* 14 free, 4 still to come */
    assert_int_equal(view.foreign_bytes, 4 * GIB);
    assert_int_equal(view.ours_bytes, 6 * GIB);
    harness_close(&h);
}

static void test_bytes_not_attributed_count_as_not_yet_taken(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 10 * GIB);
    harness_request(&h, A, 1);
    harness_bytes(&h, 1, 6 * GIB);
    harness_skip(&h, 50);
    harness_sample(&h);
    h.is_listed[1] = false; /* its processes cannot be seen any more */
    h.foreign_bytes = 6 * GIB;
    harness_skip(&h, 50);
    harness_sample(&h);
    assert_int_equal(harness_device(&h).available_bytes, 8 * GIB - 1);
    harness_close(&h);
}

static void test_growth_beyond_the_reservation_raises_it(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    harness_request(&h, A, 1);
    harness_bytes(&h, 1, 5 * GIB);
    harness_skip(&h, 50);
    harness_sample(&h);
    assert_int_equal(harness_device(&h).reserved_bytes, 5 * GIB);
    harness_bytes(&h, 1, 3 * GIB); /* a load peak may come again: not lowered while loading */
    harness_skip(&h, 50);
    harness_sample(&h);
    assert_int_equal(harness_device(&h).reserved_bytes, 5 * GIB);
    harness_close(&h);
}

/* ---- which samples may decide ---- */

static void test_old_sample_admits_nothing(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    harness_skip(&h, 2001);
    harness_request(&h, A, 1);
    assert_command_count(&h, CORE_COMMAND_SPAWN, 0);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_JOB_WAITS)->why.kind, CORE_WHY_MEASURING);
    harness_expect(&h, CORE_COMMAND_SAMPLE);
    harness_sample(&h);
    assert_command_count(&h, CORE_COMMAND_SPAWN, 1);
    harness_close(&h);
}

static void test_sample_begun_before_a_spawn_admits_no_other(void **state)
{
    uint64_t spawned_ms;
    struct harness h;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    harness_model(&h, B, 4 * GIB);
    harness_skip(&h, 10);
    harness_request(&h, A, 1);
    spawned_ms = h.now_ms;
    harness_request(&h, B, 2);
    assert_command_count(&h, CORE_COMMAND_SPAWN, 1);
    harness_skip(&h, 10);
    harness_sample_from(&h, spawned_ms - 1);
    assert_command_count(&h, CORE_COMMAND_SPAWN, 1);
    harness_sample(&h);
    assert_command_count(&h, CORE_COMMAND_SPAWN, 2);
    harness_close(&h);
}

static void test_late_answer_does_not_replace_a_newer_sample(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    harness_skip(&h, 100);
    harness_sample(&h);
    h.foreign_bytes = 20 * GIB;
    harness_sample_from(&h, h.now_ms - 50);
    assert_int_equal(harness_device(&h).free_bytes, 24 * GIB);
    harness_close(&h);
}

static void test_lost_sample_is_asked_for_again(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    harness_skip(&h, 5000);
    harness_request(&h, A, 1);
    assert_command_count(&h, CORE_COMMAND_SAMPLE, 1);
    h.is_deaf = true;
    harness_run(&h, 4900);
    assert_command_count(&h, CORE_COMMAND_SAMPLE, 1);
    harness_run(&h, 200);
    assert_command_count(&h, CORE_COMMAND_SAMPLE, 2);
    h.is_deaf = false;
    harness_run(&h, 10);
    assert_command_count(&h, CORE_COMMAND_SPAWN, 1);
    harness_close(&h);
}

/* ---- how often ---- */

static size_t samples_in(struct harness *h, uint64_t ms)
{
    harness_forget(h);
    harness_run(h, ms);
    return harness_count(h, CORE_COMMAND_SAMPLE);
}

static void test_unlearned_load_is_sampled_20_times_a_second(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    harness_request(&h, A, 1);
    assert_in_range(samples_in(&h, 1000), 18, 21);
    harness_close(&h);
}

static void test_release_is_sampled_every_20_ms_and_slower_after_its_grace(void **state)
{
    struct harness h;
    uint32_t worker;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    worker = harness_ready(&h, A, 1, 3 * GIB);
    harness_unload(&h, A, 1, false);
    harness_exit(&h, worker, CORE_FAILURE_NONE);
    h.is_listed[worker] = true; /* it does not go */
    assert_in_range(samples_in(&h, 1000), 45, 52);
    harness_run(&h, 10000);
    assert_in_range(samples_in(&h, 10000), 8, 21);
    harness_close(&h);
}

static void test_idle_core_sleeps(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    harness_ready(&h, A, 1, 3 * GIB);
    harness_run(&h, 1000);
    assert_int_equal(samples_in(&h, 3600 * 1000), 0);
    harness_close(&h);
}

/* ---- headroom ---- */

static void test_headroom_is_a_fifth_at_first_and_shrinks_with_loads(void **state)
{
    struct core_config config;
    struct harness h;
    uint64_t first;

    (void)state;
    harness_config(&config);
    config.host_reserve_bytes = 0;
    harness_open_with(&h, &config);
    first = harness_device(&h).headroom_bytes;
    assert_int_equal(first, 24 * GIB / 100 * 20);
    harness_model(&h, A, 4 * GIB);
    for (uint64_t i = 1; i <= 10; i++) {
        uint32_t worker = harness_ready(&h, A, i, 3 * GIB);
        harness_unload(&h, A, i, false);
        harness_exit(&h, worker, CORE_FAILURE_NONE);
        harness_run(&h, 100);
        assert_true(harness_device(&h).headroom_bytes < first);
        first = harness_device(&h).headroom_bytes;
    }
    assert_in_range(first, 24 * GIB / 100 * 5, 24 * GIB / 100 * 5 + 10);
    harness_close(&h);
}

static void test_configured_reserve_replaces_the_headroom(void **state)
{
    struct core_config config;
    struct harness h;

    (void)state;
    harness_config(&config);
    config.host_reserve_bytes = 2 * GIB;
    harness_open_with(&h, &config);
    assert_int_equal(harness_device(&h).available_bytes, 22 * GIB);
    harness_close(&h);
}

/* ---- what is learned ---- */

static void test_unknown_size_gets_all_and_then_what_it_showed(void **state)
{
    struct harness h;
    uint32_t worker;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 0);
    harness_request(&h, A, 1);
    assert_int_equal(harness_view(&h, A).reserved_bytes, 24 * GIB - 1);
    worker = harness_bring_up(&h, A, 3 * GIB);
    harness_bytes(&h, worker, 4 * GIB); /* at its job's peak */
    harness_skip(&h, 50);
    harness_sample(&h);
    assert_int_equal(harness_view(&h, A).reserved_bytes, 4 * GIB); /* alone for the load only */
    harness_bytes(&h, worker, 3 * GIB);
    harness_job_event(&h, CORE_EVENT_JOB_DONE, worker, 1);
    harness_skip(&h, 50);
    harness_sample(&h);
    /* 3 × 1.05 + 1 × 1.25, not twice the model */
    assert_in_range(harness_view(&h, A).reserved_bytes, 4 * GIB, 4 * GIB + GIB / 2);
    harness_close(&h);
}

static void test_worker_that_never_rests_is_learned_all_the_same(void **state)
{
    struct harness h;
    uint32_t worker;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 0);
    for (uint64_t job = 1; job <= 3; job++)
        harness_request(&h, A, job);
    worker = harness_bring_up(&h, A, 4 * GIB);
    harness_job_event(&h, CORE_EVENT_JOB_DONE, worker, 1);
    harness_skip(&h, 50);
    harness_sample(&h);
    assert_in_range(harness_view(&h, A).reserved_bytes, 4 * GIB, 5 * GIB);
    harness_close(&h);
}

static void test_figure_of_the_worker_beats_the_samples(void **state)
{
    struct harness h;
    uint32_t worker;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    worker = harness_ready(&h, A, 100, 3 * GIB);
    harness_request(&h, A, 1);
    harness_feed(
        &h, (struct core_event){
                .kind = CORE_EVENT_JOB_DONE, .worker = worker, .job = 1, .peak_bytes = 7 * GIB});
    assert_int_equal(harness_end(&h, 1)->held_bytes, 7 * GIB);
    harness_skip(&h, 10);
    harness_sample(&h);
    assert_in_range(harness_view(&h, A).reserved_bytes, 8 * GIB, 8 * GIB + GIB / 2);
    harness_close(&h);
}

static void test_figure_above_the_whole_device_is_not_believed(void **state)
{
    struct harness h;
    uint32_t worker;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    worker = harness_ready(&h, A, 100, 3 * GIB);
    harness_request(&h, A, 1);
    harness_feed(
        &h, (struct core_event){
                .kind = CORE_EVENT_JOB_DONE, .worker = worker, .job = 1, .peak_bytes = 1ull << 50});
    assert_in_range(harness_end(&h, 1)->held_bytes, 0, 4 * GIB);
    harness_skip(&h, 10);
    harness_sample(&h);
    assert_in_range(harness_view(&h, A).reserved_bytes, 3 * GIB, 5 * GIB);
    harness_close(&h);
}

static void test_declared_need_is_the_floor_before_ten_jobs(void **state)
{
    struct harness h;
    uint32_t worker;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 8 * GIB);
    worker = harness_ready(&h, A, 100, 3 * GIB);
    for (uint64_t job = 1; job <= 10; job++) {
        assert_int_equal(harness_view(&h, A).reserved_bytes, 8 * GIB);
        harness_request(&h, A, job);
        harness_run(&h, 1200); /* long enough for a sample */
        harness_job_event(&h, CORE_EVENT_JOB_DONE, worker, job);
        harness_skip(&h, 10);
        harness_sample(&h);
    }
    assert_true(harness_view(&h, A).reserved_bytes < 4 * GIB);
    harness_close(&h);
}

static void test_second_job_is_charged_when_it_starts(void **state)
{
    struct core_spec spec = harness_spec(4 * GIB);
    struct harness h;

    (void)state;
    spec.parallel = 4;
    spec.per_job_bytes = 2 * GIB;
    harness_open(&h);
    harness_model_spec(&h, A, &spec);
    harness_ready(&h, A, 100, 2 * GIB);
    harness_request(&h, A, 1);
    assert_in_range(harness_view(&h, A).reserved_bytes, 4 * GIB, 4 * GIB + GIB / 4);
    harness_request(&h, A, 2);
    assert_command_count(&h, CORE_COMMAND_START_JOB, 2);
    assert_int_equal(harness_view(&h, A).reserved_bytes, 6 * GIB);
    harness_close(&h);
}

static void test_slots_end_where_the_free_bytes_end(void **state)
{
    struct core_spec spec = harness_spec(4 * GIB);
    struct harness h;

    (void)state;
    spec.parallel = 8;
    spec.per_job_bytes = 2 * GIB;
    harness_open(&h);
    harness_model_spec(&h, A, &spec);
    harness_ready(&h, A, 100, 2 * GIB);
    h.foreign_bytes = 16 * GIB; /* 6 free: the first job has its 2, two more fit */
    harness_skip(&h, 10);
    harness_sample(&h);
    for (uint64_t job = 1; job <= 5; job++)
        harness_request(&h, A, job);
    assert_int_equal(harness_view(&h, A).running, 2);
    harness_close(&h);
}

static void test_further_slot_needs_a_fresh_sample(void **state)
{
    struct core_spec spec = harness_spec(4 * GIB);
    struct harness h;

    (void)state;
    spec.parallel = 2;
    spec.per_job_bytes = 2 * GIB;
    harness_open(&h);
    harness_model_spec(&h, A, &spec);
    harness_ready(&h, A, 100, 2 * GIB);
    harness_skip(&h, 60000);
    harness_request(&h, A, 1);
    harness_request(&h, A, 2);
    assert_int_equal(harness_view(&h, A).running, 1);
    harness_run(&h, 10);
    assert_int_equal(harness_view(&h, A).running, 2);
    harness_close(&h);
}

static void test_without_declared_job_size_one_runs_until_three_were_seen(void **state)
{
    struct core_spec spec = harness_spec(4 * GIB);
    struct harness h;
    uint32_t worker;

    (void)state;
    spec.parallel = 2;
    harness_open(&h);
    harness_model_spec(&h, A, &spec);
    worker = harness_ready(&h, A, 100, 2 * GIB);
    for (uint64_t job = 1; job <= 6; job++)
        harness_request(&h, A, job);
    for (uint64_t job = 1; job <= 3; job++) {
        harness_run(&h, 1200);
        assert_int_equal(harness_view(&h, A).running, 1);
        harness_job_event(&h, CORE_EVENT_JOB_DONE, worker, job);
    }
    assert_int_equal(harness_view(&h, A).running, 2);
    harness_close(&h);
}

static void test_jobs_too_short_for_a_sample_teach_nothing(void **state)
{
    struct core_spec spec = harness_spec(4 * GIB);
    struct harness h;
    uint32_t worker;

    (void)state;
    spec.parallel = 2;
    harness_open(&h);
    harness_model_spec(&h, A, &spec);
    worker = harness_ready(&h, A, 100, 2 * GIB);
    for (uint64_t job = 1; job <= 22; job += 2) {
        harness_request(&h, A, job);
        harness_request(&h, A, job + 1);
        assert_int_equal(harness_view(&h, A).running, 1);
        harness_job_event(&h, CORE_EVENT_JOB_DONE, worker, job);
        harness_job_event(&h, CORE_EVENT_JOB_DONE, worker, job + 1);
    }
    assert_int_equal(harness_view(&h, A).reserved_bytes, 4 * GIB); /* still as declared */
    harness_close(&h);
}

static void test_samples_begun_before_a_job_or_before_its_end_teach_nothing(void **state)
{
    struct core_spec spec = harness_spec(0);
    uint64_t idle_ms;
    struct harness h;
    uint32_t worker;

    (void)state;
    harness_open(&h);
    harness_model_spec(&h, A, &spec);
    worker = harness_ready(&h, A, 100, 2 * GIB);
    harness_skip(&h, 10);
    harness_request(&h, A, 1);
    idle_ms = h.now_ms - 1;
    harness_skip(&h, 10);
    harness_sample_from(&h, idle_ms); /* shows no job: no peak of 0 */
    harness_bytes(&h, worker, 6 * GIB);
    harness_skip(&h, 10);
    harness_job_event(&h, CORE_EVENT_JOB_DONE, worker, 1);
    harness_skip(&h, 10);
    harness_sample_from(&h, h.now_ms - 15); /* shows the job: not what the model keeps */
    harness_bytes(&h, worker, 2 * GIB);
    harness_skip(&h, 10);
    harness_sample(&h);
    assert_in_range(harness_view(&h, A).reserved_bytes, 2 * GIB, 2 * GIB + GIB / 4);
    harness_close(&h);
}

static void test_sample_begun_before_a_job_is_no_peak_of_it(void **state)
{
    struct core_spec spec = harness_spec(4 * GIB);
    struct harness h;
    uint32_t worker;

    (void)state;
    spec.parallel = 2;
    harness_open(&h);
    harness_model_spec(&h, A, &spec);
    worker = harness_ready(&h, A, 100, 2 * GIB);
    for (uint64_t job = 1; job <= 8; job++)
        harness_request(&h, A, job);
    for (uint64_t job = 1; job <= 6; job++) {
        uint64_t started_ms = h.now_ms;
        harness_skip(&h, 10);
        harness_sample_from(&h, started_ms); /* shows the worker without it */
        harness_job_event(&h, CORE_EVENT_JOB_DONE, worker, job);
        assert_int_equal(harness_view(&h, A).running, 1); /* three such would allow two */
    }
    harness_close(&h);
}

static void test_bytes_left_by_a_kill_are_not_what_the_model_keeps(void **state)
{
    struct harness h;
    uint32_t worker;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 0);
    worker = harness_ready(&h, A, 100, 2 * GIB);
    harness_request(&h, A, 1);
    harness_bytes(&h, worker, 9 * GIB);
    harness_unload(&h, A, 1, true);
    harness_exit(&h, worker, CORE_FAILURE_CRASH);
    h.is_listed[worker] = true; /* slow to go */
    harness_run(&h, 100);
    h.is_listed[worker] = false;
    harness_run(&h, 100);
    harness_load(&h, A, 101);
    harness_run(&h, 10);
    assert_in_range(harness_view(&h, A).reserved_bytes, 2 * GIB, 2 * GIB + GIB / 4);
    harness_close(&h);
}

static void test_peaks_of_jobs_that_overlapped_teach_nothing(void **state)
{
    struct core_spec spec = harness_spec(0);
    struct harness h;
    uint32_t worker;

    (void)state;
    spec.parallel = 2;
    spec.per_job_bytes = 1 * MIB;
    harness_open(&h);
    harness_model_spec(&h, A, &spec);
    worker = harness_ready(&h, A, 100, 2 * GIB);
    harness_request(&h, A, 1);
    harness_request(&h, A, 2);
    harness_job_event(&h, CORE_EVENT_JOB_DONE, worker, 1);
    harness_bytes(&h, worker, 9 * GIB); /* left over by the first, perhaps */
    harness_skip(&h, 10);
    harness_sample(&h);
    harness_bytes(&h, worker, 2 * GIB);
    harness_job_event(&h, CORE_EVENT_JOB_DONE, worker, 2);
    harness_skip(&h, 10);
    harness_sample(&h);
    assert_true(harness_view(&h, A).reserved_bytes < 3 * GIB);
    harness_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spawn_reserves_before_anything_is_measured),
        cmocka_unit_test(test_available_counts_what_a_load_has_not_taken_yet),
        cmocka_unit_test(test_bytes_not_attributed_count_as_not_yet_taken),
        cmocka_unit_test(test_growth_beyond_the_reservation_raises_it),
        cmocka_unit_test(test_old_sample_admits_nothing),
        cmocka_unit_test(test_sample_begun_before_a_spawn_admits_no_other),
        cmocka_unit_test(test_late_answer_does_not_replace_a_newer_sample),
        cmocka_unit_test(test_lost_sample_is_asked_for_again),
        cmocka_unit_test(test_unlearned_load_is_sampled_20_times_a_second),
        cmocka_unit_test(test_release_is_sampled_every_20_ms_and_slower_after_its_grace),
        cmocka_unit_test(test_idle_core_sleeps),
        cmocka_unit_test(test_headroom_is_a_fifth_at_first_and_shrinks_with_loads),
        cmocka_unit_test(test_configured_reserve_replaces_the_headroom),
        cmocka_unit_test(test_unknown_size_gets_all_and_then_what_it_showed),
        cmocka_unit_test(test_worker_that_never_rests_is_learned_all_the_same),
        cmocka_unit_test(test_figure_of_the_worker_beats_the_samples),
        cmocka_unit_test(test_figure_above_the_whole_device_is_not_believed),
        cmocka_unit_test(test_declared_need_is_the_floor_before_ten_jobs),
        cmocka_unit_test(test_second_job_is_charged_when_it_starts),
        cmocka_unit_test(test_slots_end_where_the_free_bytes_end),
        cmocka_unit_test(test_further_slot_needs_a_fresh_sample),
        cmocka_unit_test(test_without_declared_job_size_one_runs_until_three_were_seen),
        cmocka_unit_test(test_jobs_too_short_for_a_sample_teach_nothing),
        cmocka_unit_test(test_samples_begun_before_a_job_or_before_its_end_teach_nothing),
        cmocka_unit_test(test_sample_begun_before_a_job_is_no_peak_of_it),
        cmocka_unit_test(test_bytes_left_by_a_kill_are_not_what_the_model_keeps),
        cmocka_unit_test(test_peaks_of_jobs_that_overlapped_teach_nothing),
    };

    return cmocka_run_group_tests_name("core/ledger", tests, NULL, NULL);
}

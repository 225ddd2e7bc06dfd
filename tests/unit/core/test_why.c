/* Reasons: a sentence with numbers for each kind, told once and again only when it changed. */
#include "harness.h"

#include <string.h>

enum { A = 0, B = 1 };

static const char *text_of(struct buf *buf, const struct core_why *why, const char *other)
{
    buf_reset(buf);
    assert_int_equal(core_why_text(why, other, buf), 0);
    return buf_str(buf);
}

static void test_every_reason_has_a_sentence(void **state)
{
    struct buf buf;

    (void)state;
    buf_init(&buf, 512);
    for (int kind = CORE_WHY_NONE + 1; kind <= CORE_WHY_QUEUE_FULL; kind++) {
        const struct core_why why = {.kind = (enum core_why_kind)kind, .other = CORE_NO_MODEL};
        assert_true(strlen(text_of(&buf, &why, NULL)) > 5);
        assert_null(strstr(buf_str(&buf), "(null)"));
    }
    buf_fini(&buf);
}

static void test_memory_sentence_carries_its_numbers(void **state)
{
    const struct core_why why = {.kind = CORE_WHY_MEMORY,
                                 .need_bytes = 20 * GIB,
                                 .available_bytes = 3 * GIB,
                                 .foreign_bytes = 16 * GIB,
                                 .reserved_bytes = 4 * GIB};
    struct buf buf;
    const char *text;

    (void)state;
    buf_init(&buf, 512);
    text = text_of(&buf, &why, NULL);
    assert_non_null(strstr(text, "20"));
    assert_non_null(strstr(text, "3"));
    assert_non_null(strstr(text, "16"));
    assert_non_null(strstr(text, "4"));
    buf_fini(&buf);
}

static void test_limit_sentence_names_the_clock(void **state)
{
    struct buf buf;

    (void)state;
    buf_init(&buf, 512);
    for (int clock = CORE_CLOCK_QUEUE; clock <= CORE_CLOCK_STOP; clock++) {
        const struct core_why why = {
            .kind = CORE_WHY_LIMIT, .clock = (enum core_clock)clock, .wait_ms = 2500};
        const char *text = text_of(&buf, &why, NULL);
        assert_non_null(strstr(text, core_clock_name((enum core_clock)clock)));
        assert_non_null(strstr(text, "2.5"));
    }
    buf_fini(&buf);
}

static void test_other_model_is_named(void **state)
{
    static const enum core_why_kind kinds[] = {CORE_WHY_RELEASE, CORE_WHY_ALONE, CORE_WHY_SWITCH,
                                               CORE_WHY_ROOM};
    struct buf buf;

    (void)state;
    buf_init(&buf, 512);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        const struct core_why why = {.kind = kinds[i], .other = B};
        assert_non_null(strstr(text_of(&buf, &why, "sf3d"), "sf3d"));
    }
    buf_fini(&buf);
}

static void test_names_are_complete_and_distinct(void **state)
{
    (void)state;
    for (int i = CORE_END_DONE; i <= CORE_END_STOPPING; i++) {
        assert_non_null(core_end_name((enum core_end)i));
        for (int k = CORE_END_DONE; k < i; k++)
            assert_string_not_equal(core_end_name((enum core_end)i),
                                    core_end_name((enum core_end)k));
    }
    for (int i = CORE_FAILURE_NONE; i <= CORE_FAILURE_CRASH; i++)
        assert_non_null(core_failure_name((enum core_failure)i));
    for (int i = CORE_RESIDENCY_COLD; i <= CORE_RESIDENCY_BROKEN; i++)
        assert_non_null(core_residency_name((enum core_residency)i));
    for (int i = CORE_WORKER_COLD; i <= CORE_WORKER_RELEASING; i++)
        assert_string_equal(core_worker_state_name((enum core_worker_state)i),
                            core_residency_name((enum core_residency)i));
}

static void test_buffer_that_is_too_small_is_an_error_not_half_a_sentence(void **state)
{
    const struct core_why why = {.kind = CORE_WHY_STOPPING};
    struct buf buf;

    (void)state;
    buf_init(&buf, 4);
    assert_true(core_why_text(&why, NULL, &buf) < 0);
    assert_int_equal(buf.len, 0);
    buf_fini(&buf);
}

static void test_same_reason_is_told_once(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    harness_request(&h, A, 1);
    harness_forget(&h);
    for (int i = 0; i < 50; i++) {
        harness_skip(&h, 10);
        harness_tick(&h);
    }
    assert_command_count(&h, CORE_COMMAND_JOB_WAITS, 0);
    harness_close(&h);
}

static void test_small_change_of_a_number_is_not_told(void **state)
{
    struct harness h;

    (void)state;
    harness_open(&h);
    h.foreign_bytes = 22 * GIB;
    harness_skip(&h, 1);
    harness_sample(&h);
    harness_model(&h, A, 4 * GIB);
    harness_request(&h, A, 1);
    harness_forget(&h);
    h.foreign_bytes += 1 * MIB;
    harness_skip(&h, 1000);
    harness_sample(&h);
    assert_in_range(harness_count(&h, CORE_COMMAND_JOB_WAITS), 0, 1);
    h.foreign_bytes += 512 * MIB;
    harness_forget(&h);
    harness_skip(&h, 1000);
    harness_sample(&h);
    assert_command_count(&h, CORE_COMMAND_JOB_WAITS, 1);
    harness_close(&h);
}

static void test_place_in_the_queue_is_told_and_moves_up(void **state)
{
    struct harness h;
    uint32_t worker;

    (void)state;
    harness_open(&h);
    harness_model(&h, A, 4 * GIB);
    worker = harness_ready(&h, A, 100, 3 * GIB);
    for (uint64_t job = 1; job <= 3; job++)
        harness_request(&h, A, job);
    assert_int_equal(harness_expect(&h, CORE_COMMAND_JOB_WAITS)->job, 3);
    assert_int_equal(harness_last(&h, CORE_COMMAND_JOB_WAITS)->why.kind, CORE_WHY_BUSY);
    assert_int_equal(harness_last(&h, CORE_COMMAND_JOB_WAITS)->why.ahead, 1);
    harness_job_event(&h, CORE_EVENT_JOB_DONE, worker, 1);
    assert_int_equal(harness_last(&h, CORE_COMMAND_JOB_WAITS)->job, 3);
    assert_int_equal(harness_last(&h, CORE_COMMAND_JOB_WAITS)->why.ahead, 0);
    harness_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_reason_has_a_sentence),
        cmocka_unit_test(test_memory_sentence_carries_its_numbers),
        cmocka_unit_test(test_limit_sentence_names_the_clock),
        cmocka_unit_test(test_other_model_is_named),
        cmocka_unit_test(test_names_are_complete_and_distinct),
        cmocka_unit_test(test_buffer_that_is_too_small_is_an_error_not_half_a_sentence),
        cmocka_unit_test(test_same_reason_is_told_once),
        cmocka_unit_test(test_small_change_of_a_number_is_not_told),
        cmocka_unit_test(test_place_in_the_queue_is_told_and_moves_up),
    };

    return cmocka_run_group_tests_name("core/why", tests, NULL, NULL);
}

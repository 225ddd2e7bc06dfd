/* ndjson: what a worker says becomes events; whatever else it says is logged and harmless. */
#include "ndjson_fixture.h"

#include "os/file.h"

/* ---- start and load ---- */

static void test_ready_carries_the_params_schema(void **state)
{
    struct fixture *fx = *state;

    fixture_open(fx, "echo '{\"type\":\"ready\",\"params_schema\":[{\"id\":\"a\"}]}';" LINGER);
    fixture_wait(fx, "ready [{\"id\":\"a\"}]\n");
    assert_true(worker_guard_pid(fx->worker) > 0);
}

static void test_the_pid_is_known_once_the_program_runs(void **state)
{
    struct fixture *fx = *state;

    fixture_open(fx, READY LINGER);
    fixture_wait(fx, "ready");
    fixture_run_ms(fx, 100); /* the shim tells it on another descriptor */
    assert_true(worker_pid(fx->worker) > 0);
    assert_int_not_equal(worker_pid(fx->worker), worker_guard_pid(fx->worker));
    fixture_log_has(fx, "[hotbunk] started, pid ");
}

static void test_a_schema_that_is_no_list_counts_as_none(void **state)
{
    struct fixture *fx = *state;

    fixture_open(fx, "echo '{\"type\":\"ready\",\"params_schema\":{}}';" LINGER);
    fixture_wait(fx, "ready -\n");
}

static void test_a_second_ready_is_ignored(void **state)
{
    struct fixture *fx = *state;

    fixture_open(fx, READY READY READ_LINE "echo '{\"type\":\"loaded\"}';" LINGER);
    fixture_wait(fx, "ready");
    worker_load(fx->worker);
    fixture_wait(fx, "loaded");
    assert_int_equal(fixture_count(fx, "ready"), 1);
}

static void test_loaded_without_a_load_is_ignored(void **state)
{
    struct fixture *fx = *state;

    fixture_open(fx, READY "echo '{\"type\":\"loaded\"}'; exit 3");
    fixture_wait(fx, "exit");
    assert_int_equal(fixture_count(fx, "loaded"), 0);
}

static void test_load_is_asked_with_an_id(void **state)
{
    struct fixture *fx = *state;

    fixture_open(fx, READY READ_LINE "echo \"$line\" >&2; echo '{\"type\":\"loaded\"}';" LINGER);
    fixture_wait(fx, "ready");
    worker_load(fx->worker);
    fixture_wait(fx, "loaded");
    fixture_run_ms(fx, 50); /* stderr is another pipe */
    fixture_log_has(fx, "{\"action\":\"load\",\"id\":\"load\"}");
}

static void test_a_failed_load_tells_its_class_and_words(void **state)
{
    struct fixture *fx = *state;

    fixture_open(fx, READY READ_LINE
                 "echo '{\"type\":\"error\",\"id\":\"load\",\"code\":\"out_of_memory\","
                 "\"message\":\"too big\",\"traceback\":\"line 1\"}';" LINGER);
    fixture_wait(fx, "ready");
    worker_load(fx->worker);
    fixture_wait(fx, "load_failed out_of_memory too big\n");
    fixture_log_has(fx, "line 1");
}

static void test_an_error_before_ready_is_a_failed_load(void **state)
{
    struct fixture *fx = *state;

    fixture_open(fx, "echo '{\"type\":\"error\",\"id\":null,\"message\":\"m\",\"traceback\":"
                     "\"ModuleNotFoundError: x\"}'; exit 1");
    fixture_wait(fx, "exit");
    assert_int_equal(fixture_count(fx, "load_failed missing_module m\n"), 1);
}

/* ---- jobs ---- */

static void test_done_tells_output_and_peak(void **state)
{
    struct fixture *fx = *state;

    fixture_open(fx,
                 READY READ_LINE "echo '{\"type\":\"done\",\"id\":\"j1\",\"output_path\":\"/o\","
                                 "\"rss_peak_bytes\":5}';" LINGER);
    fixture_start(fx, "j1");
    fixture_wait(fx, "done j1 /o 5\n");
}

static void test_case_083_the_first_end_of_a_job_counts(void **state)
{
    struct fixture *fx = *state;

    fixture_open(
        fx, READY READ_LINE DONE("j1") DONE(
                "j1") "echo '{\"type\":\"error\",\"id\":\"j1\",\"message\":\"late\"}'; exit 0");
    fixture_start(fx, "j1");
    fixture_wait(fx, "exit");
    assert_int_equal(fixture_count(fx, "done j1"), 1);
    assert_int_equal(fixture_count(fx, "error j1"), 0);
    fixture_log_has(fx, "the end of a job that does not run here");
}

static void test_case_083_answers_are_matched_by_id_only(void **state)
{
    struct fixture *fx = *state;

    fixture_open(fx, READY READ_LINE DONE("stranger") READ_LINE DONE("j2") DONE("j1") LINGER);
    fixture_start(fx, "j1");
    fixture_start(fx, "j2");
    fixture_wait(fx, "done j1 /out/j1");
    assert_int_equal(fixture_count(fx, "done j2 /out/j2"), 1);
    assert_int_equal(fixture_count(fx, "stranger"), 0);
}

static void test_case_083_an_answer_without_id_is_nobodys_once_ids_are_spoken(void **state)
{
    struct fixture *fx = *state;

    fixture_open(fx, READY READ_LINE "echo '{\"type\":\"done\",\"output_path\":\"/x\"}';" DONE("j1")
                         LINGER);
    fixture_start(fx, "j1");
    fixture_wait(fx, "done j1 /out/j1");
    assert_int_equal(fixture_count(fx, "/x"), 0);
}

static void test_a_foreign_runner_without_ids_means_its_only_job(void **state)
{
    struct fixture *fx = *state;

    fixture_open(fx, "echo '{\"type\":\"ready\",\"params_schema\":[]}';" READ_LINE
                     "echo '{\"type\":\"progress\",\"pct\":40,\"step\":\"s\"}';"
                     "echo '{\"type\":\"done\",\"output_path\":\"/x\"}';" LINGER);
    fixture_start(fx, "j1");
    fixture_wait(fx, "done j1 /x");
    assert_int_equal(fixture_count(fx, "progress j1 40 s"), 1);
}

static void test_a_foreign_answer_without_id_is_nobodys_when_two_run(void **state)
{
    struct fixture *fx = *state;

    fixture_open(fx, "echo '{\"type\":\"ready\"}';" READ_LINE READ_LINE
                     "echo '{\"type\":\"done\",\"output_path\":\"/x\"}'; exit 0");
    fixture_start(fx, "j1");
    fixture_start(fx, "j2");
    fixture_wait(fx, "exit");
    assert_int_equal(fixture_count(fx, "done"), 0);
}

static void test_an_error_tells_code_class_and_words(void **state)
{
    struct fixture *fx = *state;

    fixture_open(fx, READY READ_LINE
                 "echo '{\"type\":\"error\",\"id\":\"j1\",\"code\":"
                 "\"bad_input\",\"message\":\"no image\",\"loaded\":false}';" LINGER);
    fixture_start(fx, "j1");
    fixture_wait(fx, "error j1 bad_input error no image unloaded\n");
}

static void test_an_error_without_code_is_classified_by_its_traceback(void **state)
{
    struct fixture *fx = *state;

    fixture_open(fx,
                 READY READ_LINE "echo '{\"type\":\"error\",\"id\":\"j1\",\"message\":\"failed\","
                                 "\"traceback\":\"x: CUDA out of memory\"}';" LINGER);
    fixture_start(fx, "j1");
    fixture_wait(fx, "error j1 error out_of_memory failed\n");
}

static void test_a_cancel_reaches_the_worker_with_its_id(void **state)
{
    struct fixture *fx = *state;

    fixture_open(fx, READY READ_LINE READ_LINE
                 "case \"$line\" in '{\"action\":\"cancel\",\"id\":\"j1\"}')"
                 " echo '{\"type\":\"cancelled\",\"id\":\"j1\"}';; esac;" LINGER);
    fixture_start(fx, "j1");
    worker_cancel_job(fx->worker, "j1");
    fixture_wait(fx, "cancelled j1\n");
}

/* ---- progress ---- */

static void test_progress_is_told_ten_times_a_second_and_the_last_is_kept(void **state)
{
    struct fixture *fx = *state;

    fixture_open(fx, READY READ_LINE
                 "n=0; while [ $n -lt 60 ]; do n=$((n+1));"
                 "echo '{\"type\":\"progress\",\"id\":\"j1\",\"pct\":'$n',\"step\":\"s\"}';"
                 "sleep 0.005; done;" DONE("j1") LINGER);
    fixture_start(fx, "j1");
    fixture_wait(fx, "done j1");
    assert_contains(buf_str(&fx->seen), "progress j1 60 s\ndone j1");
    assert_true(fx->progress_count >= 3);
    assert_true(fx->progress_count < 40);
    /* The last one comes with the end, at once; the others keep their distance. */
    for (size_t i = 1; i + 1 < fx->progress_count && i < ARRAY_LEN(fx->progress_at); i++)
        assert_true(fx->progress_at[i] >= fx->progress_at[i - 1] + WORKER_PROGRESS_EVERY_MS);
}

static void test_the_last_progress_of_a_burst_is_told_without_more_to_come(void **state)
{
    struct fixture *fx = *state;

    fixture_open(fx, READY READ_LINE
                 "for n in 1 2 3; do "
                 "echo '{\"type\":\"progress\",\"id\":\"j1\",\"pct\":'$n'}'; done;" LINGER);
    fixture_start(fx, "j1");
    fixture_wait(fx, "progress j1 3 \n");
}

static void test_w27_progress_never_runs_backwards(void **state)
{
    struct fixture *fx = *state;

    fixture_open(
        fx, READY READ_LINE
        "echo '{\"type\":\"progress\",\"id\":\"j1\",\"pct\":50,\"step\":\"a\"}'; sleep 0.15;"
        "echo '{\"type\":\"progress\",\"id\":\"j1\",\"pct\":20,\"step\":\"b\"}';" LINGER);
    fixture_start(fx, "j1");
    fixture_wait(fx, "progress j1 50 b");
}

static void test_w27_progress_after_the_end_is_dropped(void **state)
{
    struct fixture *fx = *state;

    fixture_open(fx, READY READ_LINE DONE(
                         "j1") "sleep 0.15;"
                               "echo '{\"type\":\"progress\",\"id\":\"j1\",\"pct\":99}'; exit 0");
    fixture_start(fx, "j1");
    fixture_wait(fx, "exit");
    assert_int_equal(fixture_count(fx, "progress"), 0);
}

static void test_progress_of_a_stranger_does_not_displace_the_jobs_own(void **state)
{
    struct fixture *fx = *state;

    fixture_open(fx, READY READ_LINE
                 "echo '{\"type\":\"progress\",\"id\":\"j1\",\"pct\":1}';"
                 "echo '{\"type\":\"progress\",\"id\":\"j1\",\"pct\":7}';"
                 "echo '{\"type\":\"progress\",\"id\":\"other\",\"pct\":90}';" LINGER);
    fixture_start(fx, "j1");
    fixture_wait(fx, "progress j1 7");
    assert_int_equal(fixture_count(fx, " 90"), 0);
}

/* ---- what is no message ---- */

static void test_case_086_stray_lines_are_logged_and_harmless(void **state)
{
    struct fixture *fx = *state;

    fixture_open(fx, READY
                 "echo null; echo 42; echo '[1]'; echo '{'; echo;"
                 "printf '\\377\\376 no text\\n\\000\\n'; echo '{\"type\":\"what\"}';"
                 "echo 'Loading checkpoint shards'; echo '{\"type\":\"done\"}';" READ_LINE DONE(
                     "j1") LINGER);
    fixture_start(fx, "j1");
    fixture_wait(fx, "done j1");
    assert_int_equal(fixture_count(fx, "done"), 1);
    fixture_log_has(fx, "Loading checkpoint shards");
    fixture_log_has(fx, "without a known \"type\"");
}

static void test_case_151_a_flood_of_stray_lines_is_counted_not_logged(void **state)
{
    struct fixture *fx = *state;

    fixture_open(fx, READY READ_LINE "yes astray | head -n 20000;" DONE("j1") "exit 0");
    fixture_start(fx, "j1");
    fixture_wait(fx, "done j1");
    fixture_wait(fx, "exit");
    fixture_log_has(fx, "astray");
    fixture_log_has(fx, " more lines on stdout");
}

static void test_a_long_step_is_cut_between_characters(void **state)
{
    struct fixture *fx = *state;
    const char *line;

    fixture_open(fx, READY READ_LINE
                 "x=$(printf '%0300d' 0 | sed 's/0/\303\251/g');"
                 "echo '{\"type\":\"progress\",\"id\":\"j1\",\"step\":\"a'$x'\"}';" LINGER);
    fixture_start(fx, "j1");
    fixture_wait(fx, "progress j1 0 a\xc3\xa9");
    line = strstr(buf_str(&fx->seen), "progress j1 0 ") + strlen("progress j1 0 ");
    assert_int_equal(strcspn(line, "\n"), WORKER_STEP_MAX_BYTES - 1); /* 1 + 2 × 127 */
}

static void test_case_078_a_message_behind_a_progress_bar_is_recovered(void **state)
{
    struct fixture *fx = *state;

    fixture_open(fx, READY READ_LINE "printf '10%%\\r20%%\\r';" DONE("j1") LINGER);
    fixture_start(fx, "j1");
    fixture_wait(fx, "done j1");
}

static void test_half_a_line_is_completed_later(void **state)
{
    struct fixture *fx = *state;

    fixture_open(fx, READY READ_LINE "printf '{\"type\":\"done\",'; sleep 0.05;"
                                     "echo '\"id\":\"j1\"}';" LINGER);
    fixture_start(fx, "j1");
    fixture_wait(fx, "done j1 - 0");
}

static void test_a_line_without_its_end_counts_when_the_worker_exits(void **state)
{
    struct fixture *fx = *state;

    fixture_open(fx, READY READ_LINE "printf '{\"type\":\"done\",\"id\":\"j1\"}'; exit 0");
    fixture_start(fx, "j1");
    fixture_wait(fx, "exit");
    assert_contains(buf_str(&fx->seen), "done j1 - 0\nexit");
}

static void test_a_line_over_the_maximum_is_dropped_and_the_next_one_read(void **state)
{
    struct fixture *fx = *state;

    fixture_open(fx, READY READ_LINE "head -c 5000000 /dev/zero | tr '\\000' x; echo;" DONE("j1")
                         LINGER);
    fixture_start(fx, "j1");
    fixture_wait(fx, "done j1");
    fixture_log_has(fx, "dropped a line of over");
}

static void test_case_080_a_line_of_one_mebibyte_arrives_whole(void **state)
{
    struct fixture *fx = *state;

    fixture_open(fx,
                 READY READ_LINE "printf '{\"type\":\"done\",\"id\":\"j1\",\"output_path\":\"/';"
                                 "head -c 1048576 /dev/zero | tr '\\000' x; echo '\"}';" LINGER);
    fixture_start(fx, "j1");
    fixture_wait(fx, "done j1");
    assert_true(fx->seen.len > 1048576);
}

static void test_case_079_stderr_is_drained_all_the_time(void **state)
{
    struct fixture *fx = *state;

    fixture_open(fx, "head -c 300000 /dev/zero >&2;" READY READ_LINE
                     "head -c 3000000 /dev/zero >&2;" DONE("j1") LINGER);
    fixture_start(fx, "j1");
    fixture_wait(fx, "done j1");
}

/* ---- what is sent ---- */

static void test_the_image_goes_by_path_to_a_worker_that_takes_it(void **state)
{
    struct fixture *fx = *state;
    struct worker_job job = {.id = "j1", .image_path = "/in.png", .outputs_dir = "/o"};

    fixture_open(fx, READY READ_LINE "echo \"$line\" >&2;" DONE("j1") LINGER);
    fixture_wait(fx, "ready");
    worker_start_job(fx->worker, &job);
    fixture_wait(fx, "done j1");
    fixture_run_ms(fx, 50);
    fixture_log_has(fx, "\"image_path\":\"/in.png\"");
}

static void test_the_image_goes_inline_to_a_foreign_runner(void **state)
{
    struct fixture *fx = *state;
    auto_free char *image = file_join(fx->dir, "in");
    struct worker_job job = {.id = "j1", .image_path = image, .outputs_dir = "/o"};

    assert_int_equal(file_write_atomic(image, slice_str("ABC"), 0600, NULL), 0);
    fixture_open(fx,
                 "echo '{\"type\":\"ready\"}';" READ_LINE "echo \"$line\" >&2;" DONE("j1") LINGER);
    fixture_wait(fx, "ready");
    worker_start_job(fx->worker, &job);
    fixture_wait(fx, "done j1");
    fixture_run_ms(fx, 50);
    fixture_log_has(fx, "\"image_b64\":\"QUJD\"");
}

static void test_an_input_that_cannot_be_read_ends_its_job_as_bad_input(void **state)
{
    struct fixture *fx = *state;
    struct worker_job job = {.id = "j1", .image_path = "/no/such/image", .outputs_dir = "/o"};

    fixture_open(fx, "echo '{\"type\":\"ready\"}';" LINGER);
    fixture_wait(fx, "ready");
    worker_start_job(fx->worker, &job);
    fixture_wait(fx, "error j1 bad_input error the input cannot be read\n");
}

static void test_a_worker_may_go_while_its_input_is_encoded(void **state)
{
    struct fixture *fx = *state;
    auto_free char *image = file_join(fx->dir, "in");
    struct worker_job job = {.id = "j1", .image_path = image, .outputs_dir = "/o"};

    assert_int_equal(file_write_atomic(image, slice_str("ABC"), 0600, NULL), 0);
    fixture_open(fx, "echo '{\"type\":\"ready\"}';" LINGER);
    fixture_wait(fx, "ready");
    worker_start_job(fx->worker, &job);
    worker_free(fx->worker);
    fx->worker = NULL;
    fixture_run_ms(fx, 100);
    assert_int_equal(fixture_count(fx, "j1"), 0);
}

static void test_case_066_a_worker_that_never_reads_blocks_nobody(void **state)
{
    struct fixture *fx = *state;
    auto_free char *text = mem_new((2u << 20) + 1, 1);
    struct worker_job job = {.id = "j1", .text = text, .outputs_dir = "/o"};
    uint64_t before;

    memset(text, 'x', 2u << 20);
    fixture_open(fx, READY "exec sleep 1000");
    fixture_wait(fx, "ready");
    before = loop_now_ns();
    worker_start_job(fx->worker, &job);
    assert_true(loop_now_ns() - before < 500000000);
    worker_cancel_job(fx->worker, "j1");
    worker_kill(fx->worker);
    fixture_wait(fx, "exit crash the worker was ended by signal 9");
}

/* ---- the end ---- */

static void test_stop_says_shutdown_and_ends_the_input(void **state)
{
    struct fixture *fx = *state;

    fixture_open(fx, READY READ_LINE "echo \"$line\" >&2;" LINGER "exit 0");
    fixture_wait(fx, "ready");
    worker_stop(fx->worker);
    fixture_wait(fx, "exit crash the worker exited with code 0");
    fixture_log_has(fx, "{\"action\":\"shutdown\"}");
}

static void test_stop_ends_the_input_also_of_a_worker_that_reads_late(void **state)
{
    struct fixture *fx = *state;
    auto_free char *text = mem_new((1u << 20) + 1, 1);
    struct worker_job job = {.id = "j1", .text = text, .outputs_dir = "/o"};

    memset(text, 'x', 1u << 20);
    fixture_open(fx, READY "sleep 0.3; wc -c; exit 0");
    fixture_wait(fx, "ready");
    worker_start_job(fx->worker, &job);
    worker_stop(fx->worker);
    fixture_wait(fx, "exit");
    fixture_log_has(fx, "10486"); /* all of it arrived: wc's count, a stray line */
}

static void test_what_is_sent_after_a_stop_is_harmless(void **state)
{
    struct fixture *fx = *state;

    fixture_open(fx, READY LINGER "exit 0");
    fixture_wait(fx, "ready");
    worker_stop(fx->worker);
    worker_stop(fx->worker);
    worker_load(fx->worker);
    worker_cancel_job(fx->worker, "j1");
    fixture_wait(fx, "exit");
    worker_kill(fx->worker);
}

static void test_stop_before_ready_ends_it_by_sigterm(void **state)
{
    struct fixture *fx = *state;

    fixture_open(fx, "exec sleep 1000");
    fixture_run_ms(fx, 100);
    worker_stop(fx->worker);
    fixture_wait(fx, "exit crash the worker was ended by signal 15");
}

static void test_an_exit_is_explained_by_what_stderr_said_last(void **state)
{
    struct fixture *fx = *state;

    fixture_open(fx, READY "echo 'ModuleNotFoundError: No module named x' >&2; exit 1");
    fixture_wait(fx, "exit missing_module the worker exited with code 1");
}

static void test_a_signal_is_named(void **state)
{
    struct fixture *fx = *state;

    fixture_open(fx, READY "kill -SEGV $$");
    fixture_wait(fx, "exit crash the worker was ended by signal 11 (Segmentation fault)");
}

static void test_a_program_that_does_not_exist_is_named(void **state)
{
    static const char *const argv[] = {"/no/such/program", NULL};
    struct fixture *fx = *state;

    fixture_open_argv(fx, argv);
    fixture_wait(fx, "exit cannot_start /no/such/program could not be started: No such file");
}

static void test_case_085_a_helper_that_holds_stdout_does_not_delay_the_end(void **state)
{
    struct fixture *fx = *state;
    uint64_t before = loop_now_ns();

    fixture_open(fx, READY "sleep 1000 & exit 1");
    fixture_wait(fx, "exit crash the worker exited with code 1");
    assert_true(loop_now_ns() - before < 5000000000u);
}

static void test_a_freed_worker_says_nothing_more(void **state)
{
    struct fixture *fx = *state;

    fixture_open(fx, READY LINGER);
    fixture_wait(fx, "ready");
    worker_free(fx->worker);
    fx->worker = NULL;
    fixture_run_ms(fx, 100);
    assert_int_equal(fixture_count(fx, "exit"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_ready_carries_the_params_schema),
        TEST(test_the_pid_is_known_once_the_program_runs),
        TEST(test_a_schema_that_is_no_list_counts_as_none),
        TEST(test_a_second_ready_is_ignored),
        TEST(test_loaded_without_a_load_is_ignored),
        TEST(test_load_is_asked_with_an_id),
        TEST(test_a_failed_load_tells_its_class_and_words),
        TEST(test_an_error_before_ready_is_a_failed_load),
        TEST(test_done_tells_output_and_peak),
        TEST(test_case_083_the_first_end_of_a_job_counts),
        TEST(test_case_083_answers_are_matched_by_id_only),
        TEST(test_case_083_an_answer_without_id_is_nobodys_once_ids_are_spoken),
        TEST(test_a_foreign_runner_without_ids_means_its_only_job),
        TEST(test_a_foreign_answer_without_id_is_nobodys_when_two_run),
        TEST(test_an_error_tells_code_class_and_words),
        TEST(test_an_error_without_code_is_classified_by_its_traceback),
        TEST(test_a_cancel_reaches_the_worker_with_its_id),
        TEST(test_progress_is_told_ten_times_a_second_and_the_last_is_kept),
        TEST(test_the_last_progress_of_a_burst_is_told_without_more_to_come),
        TEST(test_w27_progress_never_runs_backwards),
        TEST(test_w27_progress_after_the_end_is_dropped),
        TEST(test_progress_of_a_stranger_does_not_displace_the_jobs_own),
        TEST(test_case_086_stray_lines_are_logged_and_harmless),
        TEST(test_case_151_a_flood_of_stray_lines_is_counted_not_logged),
        TEST(test_a_long_step_is_cut_between_characters),
        TEST(test_case_078_a_message_behind_a_progress_bar_is_recovered),
        TEST(test_half_a_line_is_completed_later),
        TEST(test_a_line_without_its_end_counts_when_the_worker_exits),
        TEST(test_a_line_over_the_maximum_is_dropped_and_the_next_one_read),
        TEST(test_case_080_a_line_of_one_mebibyte_arrives_whole),
        TEST(test_case_079_stderr_is_drained_all_the_time),
        TEST(test_the_image_goes_by_path_to_a_worker_that_takes_it),
        TEST(test_the_image_goes_inline_to_a_foreign_runner),
        TEST(test_an_input_that_cannot_be_read_ends_its_job_as_bad_input),
        TEST(test_a_worker_may_go_while_its_input_is_encoded),
        TEST(test_case_066_a_worker_that_never_reads_blocks_nobody),
        TEST(test_stop_says_shutdown_and_ends_the_input),
        TEST(test_stop_ends_the_input_also_of_a_worker_that_reads_late),
        TEST(test_what_is_sent_after_a_stop_is_harmless),
        TEST(test_stop_before_ready_ends_it_by_sigterm),
        TEST(test_an_exit_is_explained_by_what_stderr_said_last),
        TEST(test_a_signal_is_named),
        TEST(test_a_program_that_does_not_exist_is_named),
        TEST(test_case_085_a_helper_that_holds_stdout_does_not_delay_the_end),
        TEST(test_a_freed_worker_says_nothing_more),
    };

    return cmocka_run_group_tests_name("worker/ndjson", tests, NULL, NULL);
}

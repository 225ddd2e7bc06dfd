/* spawn: a program behind the real shim, from its start to the proven end of its whole tree. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/num.h"
#include "os/proc.h"
#include "os/spawn.h"

#define WAIT_LIMIT_MS 20000
#define OUTPUT_MAX    65536

struct fixture {
    struct loop *loop;
    struct timer *limit;
    struct child *child;
    struct stream *in, *out, *err_stream;
    struct buf text; /* its stdout */
    pid_t started;
    bool is_worker_gone, is_gone, is_out_ended;
    struct child_exit at_worker_exit, at_exit;
};

static void stop_if_over(struct fixture *fx)
{
    if (fx->is_gone && fx->is_out_ended)
        loop_stop(fx->loop);
}

static void child_on_started(void *data, pid_t pid)
{
    struct fixture *fx = data;

    fx->started = pid;
}

static void child_on_worker_exit(void *data, const struct child_exit *exit)
{
    struct fixture *fx = data;

    fx->is_worker_gone = true;
    fx->at_worker_exit = *exit;
}

static void child_on_exit(void *data, const struct child_exit *exit)
{
    struct fixture *fx = data;

    fx->child = NULL;
    fx->is_gone = true;
    fx->at_exit = *exit;
    stop_if_over(fx);
}

static void out_on_data(void *data, struct slice bytes)
{
    struct fixture *fx = data;

    assert_int_equal(buf_add_slice(&fx->text, bytes), 0);
    if (slice_index(buf_slice(&fx->text), '\n') < fx->text.len)
        loop_stop(fx->loop);
}

static void out_on_end(void *data, int status)
{
    struct fixture *fx = data;

    (void)status; /* the text tells */
    fx->is_out_ended = true;
    stop_if_over(fx);
}

static void on_limit(void *data)
{
    struct fixture *fx = data;

    loop_stop(fx->loop);
}

static const struct child_events CHILD_EVENTS = {child_on_started, child_on_worker_exit,
                                                 child_on_exit};
static const struct stream_events OUT_EVENTS = {out_on_data, out_on_end, NULL};

static int setup(void **state)
{
    struct fixture *fx = mem_new(1, sizeof(*fx));

    (void)signal(SIGPIPE, SIG_IGN); /* as the daemon does */
    fx->loop = loop_new();
    fx->limit = timer_new(fx->loop, on_limit, fx);
    buf_init(&fx->text, OUTPUT_MAX);
    *state = fx;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fx = *state;

    child_free(fx->child);
    stream_free(fx->in);
    stream_free(fx->out);
    stream_free(fx->err_stream);
    timer_free(fx->limit);
    loop_free(fx->loop);
    buf_fini(&fx->text);
    mem_free(fx);
    return 0;
}

static int open_with(struct fixture *fx, const struct child_options *options)
{
    struct err err;
    int rc = child_open(fx->loop, options, &CHILD_EVENTS, fx, &fx->child, &fx->in, &fx->out,
                        &fx->err_stream, &err);

    if (rc != 0)
        return rc;
    stream_listen(fx->out, &OUT_EVENTS, fx);
    stream_read_start(fx->out);
    return 0;
}

static struct child_options options_of(const char *const *argv)
{
    static const char *const ENV[] = {"PATH=/usr/bin:/bin", "ONLY=this", NULL};
    struct child_options options = {.shim = getenv("HOTBUNK_TEST_SHIM"), .argv = argv, .envp = ENV};

    assert_non_null(options.shim);
    return options;
}

static void run_loop(struct fixture *fx, uint64_t ms)
{
    timer_start(fx->limit, ms);
    loop_run(fx->loop);
    timer_stop(fx->limit);
}

/* Until the end of everything. */
static void wait_gone(struct fixture *fx)
{
    uint64_t until = loop_now_ns() / 1000000 + WAIT_LIMIT_MS;

    while (!(fx->is_gone && fx->is_out_ended) && loop_now_ns() / 1000000 < until)
        run_loop(fx, WAIT_LIMIT_MS);
    assert_true(fx->is_gone);
    assert_true(fx->is_out_ended);
}

static void open_script(struct fixture *fx, const char *script)
{
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};
    struct child_options options = options_of(argv);

    assert_int_equal(open_with(fx, &options), 0);
}

/* The number in the first line that it prints. */
static pid_t wait_number(struct fixture *fx)
{
    uint64_t number = 0;
    struct slice line;

    run_loop(fx, WAIT_LIMIT_MS);
    line = buf_slice(&fx->text);
    line.len = slice_index(line, '\n');
    assert_int_equal(num_parse_u64(line, INT32_MAX, &number), 0);
    return (pid_t)number;
}

static void check_gone(struct fixture *fx, pid_t pid)
{
    uint64_t until = loop_now_ns() / 1000000 + WAIT_LIMIT_MS;

    while (proc_is_alive(pid) && loop_now_ns() / 1000000 < until)
        run_loop(fx, 10);
    assert_false(proc_is_alive(pid));
}

static void test_output_exit_code_and_pid_are_told(void **state)
{
    struct fixture *fx = *state;

    open_script(fx, "echo $$; exit 7");
    wait_gone(fx);
    assert_true(fx->at_exit.was_started);
    assert_int_equal(fx->at_exit.code, 7);
    assert_int_equal(fx->at_exit.signo, 0);
    assert_false(fx->at_exit.is_stuck);
    assert_true(fx->is_worker_gone);
    assert_int_equal(fx->at_worker_exit.code, 7);
    assert_int_equal(fx->started, wait_number(fx));
}

static void test_a_signal_is_told_as_such(void **state)
{
    struct fixture *fx = *state;

    open_script(fx, "kill -SEGV $$");
    wait_gone(fx);
    assert_int_equal(fx->at_exit.signo, SIGSEGV);
}

static void test_a_program_that_cannot_be_executed_says_why(void **state)
{
    static const char *const MISSING[] = {"/no/such/program", NULL};
    struct child_options options = options_of(MISSING);
    struct fixture *fx = *state;

    assert_int_equal(open_with(fx, &options), 0);
    wait_gone(fx);
    assert_false(fx->at_exit.was_started);
    assert_int_equal(fx->at_exit.error, -ENOENT);
    assert_int_equal(fx->started, 0);
}

static void test_a_file_that_is_no_program_says_why(void **state)
{
    static const char *const NO_PROGRAM[] = {"/etc/passwd", NULL};
    struct child_options options = options_of(NO_PROGRAM);
    struct fixture *fx = *state;

    assert_int_equal(open_with(fx, &options), 0);
    wait_gone(fx);
    assert_false(fx->at_exit.was_started);
    assert_int_equal(fx->at_exit.error, -EACCES);
}

static void test_a_missing_directory_is_a_failed_start(void **state)
{
    static const char *const TRUE_ARGV[] = {"/bin/true", NULL};
    struct child_options options = options_of(TRUE_ARGV);
    struct fixture *fx = *state;

    options.dir = "/no/such/directory";
    assert_int_equal(open_with(fx, &options), 0);
    wait_gone(fx);
    assert_false(fx->at_exit.was_started);
    assert_int_equal(fx->at_exit.error, -ENOENT);
}

static void test_a_missing_shim_is_an_error_at_once(void **state)
{
    static const char *const TRUE_ARGV[] = {"/bin/true", NULL};
    struct child_options options = options_of(TRUE_ARGV);

    options.shim = "/no/such/shim";
    assert_int_equal(open_with(*state, &options), -ENOENT);
}

static void test_too_many_arguments_are_an_error_at_once(void **state)
{
    const char *argv[400] = {"/bin/true"};
    struct child_options options = options_of(argv);

    for (size_t i = 1; i + 1 < ARRAY_LEN(argv); i++)
        argv[i] = "x";
    assert_int_equal(open_with(*state, &options), -E2BIG);
}

static void test_it_gets_its_environment_and_nothing_else(void **state)
{
    static const char *const ARGV[] = {"/usr/bin/env", NULL};
    struct child_options options = options_of(ARGV);
    struct fixture *fx = *state;

    assert_int_equal(open_with(fx, &options), 0);
    wait_gone(fx);
    assert_string_equal(buf_str(&fx->text), "PATH=/usr/bin:/bin\nONLY=this\n");
}

static void test_it_runs_in_its_directory(void **state)
{
    static const char *const ARGV[] = {"/bin/pwd", NULL};
    struct child_options options = options_of(ARGV);
    struct fixture *fx = *state;

    options.dir = "/usr";
    assert_int_equal(open_with(fx, &options), 0);
    wait_gone(fx);
    assert_string_equal(buf_str(&fx->text), "/usr\n");
}

static void test_case_094_it_holds_no_descriptor_but_its_stdio(void **state)
{
    struct fixture *fx = *state;

    open_script(fx, "cd /proc/self/fd; echo *");
    wait_gone(fx);
    /* sh itself may hold the directory that it lists */
    assert_memory_equal(fx->text.data, "0 1 2", 5);
    assert_true(fx->text.len <= strlen("0 1 2 3\n"));
}

static void test_what_the_daemon_ignores_or_blocks_is_not_inherited(void **state)
{
    struct fixture *fx = *state;
    sigset_t pipe_set, before;

    (void)sigemptyset(&pipe_set);
    (void)sigaddset(&pipe_set, SIGPIPE);
    assert_int_equal(sigprocmask(SIG_BLOCK, &pipe_set, &before), 0);
    open_script(fx, "kill -PIPE $$; exit 3");
    assert_int_equal(sigprocmask(SIG_SETMASK, &before, NULL), 0);
    wait_gone(fx);
    assert_int_equal(fx->at_exit.signo, SIGPIPE);
}

static void test_its_stdin_can_be_written_and_ended(void **state)
{
    struct fixture *fx = *state;

    open_script(fx, "cat");
    assert_int_equal(stream_write(fx->in, "hello\n", 6), 0);
    stream_free_flushed(fx->in, 1000);
    fx->in = NULL;
    wait_gone(fx);
    assert_string_equal(buf_str(&fx->text), "hello\n");
    assert_int_equal(fx->at_exit.code, 0);
}

static void test_term_reaches_the_worker(void **state)
{
    struct fixture *fx = *state;

    open_script(fx, "trap 'exit 5' TERM; echo 1; while :; do sleep 0.05; done");
    (void)wait_number(fx);
    child_term(fx->child);
    wait_gone(fx);
    assert_int_equal(fx->at_exit.code, 5);
}

static void test_kill_ends_what_ignores_term(void **state)
{
    struct fixture *fx = *state;

    open_script(fx, "trap '' TERM; echo 1; while :; do sleep 0.05; done");
    (void)wait_number(fx);
    child_term(fx->child);
    run_loop(fx, 100);
    assert_false(fx->is_gone);
    child_kill(fx->child);
    wait_gone(fx);
    assert_int_equal(fx->at_exit.signo, SIGKILL);
}

static void test_case_004_a_descendant_in_a_session_of_its_own_ends_with_the_worker(void **state)
{
    struct fixture *fx = *state;
    pid_t descendant;

    open_script(fx, "setsid sh -c 'echo $$; exec sleep 1000' & sleep 0.2; exit 1");
    descendant = wait_number(fx);
    wait_gone(fx);
    assert_int_equal(fx->at_exit.code, 1);
    assert_false(proc_is_alive(descendant));
}

static void test_free_ends_the_tree_without_another_event(void **state)
{
    struct fixture *fx = *state;
    pid_t worker;

    open_script(fx, "echo $$; exec sleep 1000");
    worker = wait_number(fx);
    child_free(fx->child);
    fx->child = NULL;
    check_gone(fx, worker);
    run_loop(fx, 50);
    assert_false(fx->is_gone);
}

static void test_a_killed_shim_takes_the_worker_with_it_and_is_told(void **state)
{
    struct fixture *fx = *state;
    pid_t worker;

    open_script(fx, "echo $$; exec sleep 1000");
    worker = wait_number(fx);
    assert_int_equal(kill(child_guard_pid(fx->child), SIGKILL), 0);
    wait_gone(fx);
    assert_int_equal(fx->at_exit.signo, SIGKILL);
    check_gone(fx, worker);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_output_exit_code_and_pid_are_told),
        TEST(test_a_signal_is_told_as_such),
        TEST(test_a_program_that_cannot_be_executed_says_why),
        TEST(test_a_file_that_is_no_program_says_why),
        TEST(test_a_missing_directory_is_a_failed_start),
        TEST(test_a_missing_shim_is_an_error_at_once),
        TEST(test_too_many_arguments_are_an_error_at_once),
        TEST(test_it_gets_its_environment_and_nothing_else),
        TEST(test_it_runs_in_its_directory),
        TEST(test_case_094_it_holds_no_descriptor_but_its_stdio),
        TEST(test_what_the_daemon_ignores_or_blocks_is_not_inherited),
        TEST(test_its_stdin_can_be_written_and_ended),
        TEST(test_term_reaches_the_worker),
        TEST(test_kill_ends_what_ignores_term),
        TEST(test_case_004_a_descendant_in_a_session_of_its_own_ends_with_the_worker),
        TEST(test_free_ends_the_tree_without_another_event),
        TEST(test_a_killed_shim_takes_the_worker_with_it_and_is_told),
    };

    return cmocka_run_group_tests_name("os/spawn", tests, NULL, NULL);
}

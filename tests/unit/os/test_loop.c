#include "os/loop.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct loop *loop;
static unsigned calls;
static struct timer *timer;

static void count_cb(void *data)
{
    (void)data;
    calls++;
}

static int set_up(void **state)
{
    (void)state;
    calls = 0;
    loop = loop_new();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    loop_free(loop);
    return 0;
}

static void loop_ends_when_nothing_is_left(void **state)
{
    (void)state;
    loop_run(loop);
}

static void timer_fires_once_and_not_early(void **state)
{
    uint64_t before = loop_now_ns();

    (void)state;
    timer = timer_new(loop, count_cb, NULL);
    timer_start(timer, 20);
    loop_run(loop);
    assert_int_equal(calls, 1);
    assert_true(loop_now_ns() - before >= 19000000);
    timer_free(timer);
}

static void stopped_timer_does_not_fire(void **state)
{
    (void)state;
    timer = timer_new(loop, count_cb, NULL);
    timer_start(timer, 1);
    timer_stop(timer);
    loop_run(loop);
    assert_int_equal(calls, 0);
    timer_free(timer);
}

static void restarted_timer_moves(void **state)
{
    uint64_t before = loop_now_ns();

    (void)state;
    timer = timer_new(loop, count_cb, NULL);
    timer_start(timer, 1);
    timer_start(timer, 20);
    loop_run(loop);
    assert_int_equal(calls, 1);
    assert_true(loop_now_ns() - before >= 19000000);
    timer_free(timer);
}

static void free_self_cb(void *data)
{
    (void)data;
    calls++;
    timer_free(timer);
}

static void timer_may_free_itself(void **state)
{
    (void)state;
    timer = timer_new(loop, free_self_cb, NULL);
    timer_start(timer, 0);
    loop_run(loop);
    assert_int_equal(calls, 1);
}

static pthread_t work_thread;

static void work_cb(void *data)
{
    *(int *)data += 1;
    work_thread = pthread_self();
}

static void offload_works_elsewhere_and_ends_here(void **state)
{
    int value = 1;

    (void)state;
    assert_int_equal(loop_offload(loop, work_cb, count_cb, &value), 0);
    loop_run(loop);
    assert_int_equal(value, 2);
    assert_int_equal(calls, 1);
    assert_false(pthread_equal(work_thread, pthread_self()));
}

static void signal_cb(void *data, int signo)
{
    (void)data;
    calls += (unsigned)signo;
    loop_stop(loop);
}

static void signal_is_told(void **state)
{
    struct loop_signal *on_usr1 = loop_signal_new(loop, SIGUSR1, signal_cb, NULL);

    (void)state;
    timer = timer_new(loop, count_cb, NULL);
    timer_start(timer, 5000); /* a signal alone does not keep a loop running */
    assert_int_equal(kill(getpid(), SIGUSR1), 0);
    loop_run(loop);
    assert_int_equal(calls, SIGUSR1);
    timer_free(timer);
    loop_signal_free(on_usr1);
}

static int pipe_fds[2];

static void readable_cb(void *data)
{
    char byte;

    (void)data;
    calls++;
    if (read(pipe_fds[0], &byte, 1) == 0)
        loop_stop(loop);
}

static void descriptor_is_told_when_readable_and_at_its_end(void **state)
{
    struct loop_fd *watch;

    (void)state;
    assert_int_equal(pipe(pipe_fds), 0);
    watch = loop_fd_new(loop, pipe_fds[0], readable_cb, NULL);
    assert_non_null(watch);
    assert_int_equal(write(pipe_fds[1], "x", 1), 1);
    (void)close(pipe_fds[1]);
    loop_run(loop);
    assert_int_equal(calls, 2);
    loop_fd_free(watch);
    (void)close(pipe_fds[0]);
}

static void turn_cb(void *data)
{
    *(unsigned *)data += 1;
}

static void turn_follows_the_events_of_a_turn(void **state)
{
    unsigned turns = 0;

    (void)state;
    loop_on_turn(loop, turn_cb, &turns);
    timer = timer_new(loop, count_cb, NULL);
    timer_start(timer, 1);
    loop_run(loop);
    assert_true(turns >= 1);
    loop_on_turn(loop, NULL, NULL);
    timer_free(timer);
}

static void random_bytes_differ(void **state)
{
    uint8_t a[16], b[16];

    (void)state;
    loop_random(a);
    loop_random(b);
    assert_memory_not_equal(a, b, sizeof(a));
}

static void clocks_agree_roughly(void **state)
{
    (void)state;
    assert_true(loop_boot_ms() >= loop_now_ns() / 1000000);
    assert_true(loop_wall_ms() > 1500000000000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(loop_ends_when_nothing_is_left),
        TEST(timer_fires_once_and_not_early),
        TEST(stopped_timer_does_not_fire),
        TEST(restarted_timer_moves),
        TEST(timer_may_free_itself),
        TEST(offload_works_elsewhere_and_ends_here),
        TEST(signal_is_told),
        TEST(descriptor_is_told_when_readable_and_at_its_end),
        TEST(turn_follows_the_events_of_a_turn),
        TEST(random_bytes_differ),
        TEST(clocks_agree_roughly),
    };

    return cmocka_run_group_tests_name("os/loop", tests, NULL, NULL);
}

/* pace: a chatty stream is read a few times a slot, a quiet one at once. */
#include "unit.h"

#include <unistd.h>

#include "worker/pace.h"

#define RUN_MS 60

struct fixture {
    struct loop *loop;
    struct stream *stream;
    struct timer *end;
    struct pace pace;
    int pipe_end; /* to write into */
    unsigned reads;
    size_t bytes_in, bytes_out;
    bool answers_itself; /* each read causes the next byte */
};

static void put_byte(struct fixture *fx)
{
    assert_int_equal(write(fx->pipe_end, "x", 1), 1);
    fx->bytes_in++;
}

static void on_data(void *data, struct slice bytes)
{
    struct fixture *fx = data;

    fx->reads++;
    fx->bytes_out += bytes.len;
    pace_note(&fx->pace, bytes.len);
    if (fx->answers_itself)
        put_byte(fx);
}

static void on_end(void *data, int status)
{
    (void)data;
    (void)status;
}

static void stop(void *data)
{
    struct fixture *fx = data;

    loop_stop(fx->loop);
}

static void run(struct fixture *fx, uint64_t ms)
{
    timer_start(fx->end, ms);
    loop_run(fx->loop);
}

static int setup(void **state)
{
    static const struct stream_events EVENTS = {on_data, on_end, NULL};
    struct fixture *fx = mem_new(1, sizeof(*fx));
    int ends[2];

    if (pipe(ends) != 0)
        return -1;
    fx->pipe_end = ends[1];
    fx->loop = loop_new();
    fx->end = timer_new(fx->loop, stop, fx);
    fx->stream = stream_open_fd(fx->loop, ends[0]);
    stream_listen(fx->stream, &EVENTS, fx);
    stream_read_start(fx->stream);
    pace_init(&fx->pace, fx->loop, fx->stream);
    *state = fx;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fx = *state;

    pace_fini(&fx->pace);
    stream_free(fx->stream);
    timer_free(fx->end);
    loop_free(fx->loop);
    (void)close(fx->pipe_end);
    mem_free(fx);
    return 0;
}

static void test_a_chatty_stream_is_read_once_a_slot(void **state)
{
    struct fixture *fx = *state;

    fx->answers_itself = true;
    put_byte(fx);
    run(fx, RUN_MS);
    assert_in_range(fx->reads, 2, PACE_READS_MAX + RUN_MS / PACE_SLOT_MS + 1);
}

static void test_nothing_of_it_is_lost(void **state)
{
    struct fixture *fx = *state;

    fx->answers_itself = true;
    put_byte(fx);
    run(fx, RUN_MS);
    fx->answers_itself = false;
    run(fx, 3 * PACE_SLOT_MS);
    assert_int_equal(fx->bytes_out, fx->bytes_in);
}

static void test_one_that_calmed_down_is_read_at_once_again(void **state)
{
    struct fixture *fx = *state;

    fx->answers_itself = true;
    put_byte(fx);
    run(fx, RUN_MS);
    fx->answers_itself = false;
    run(fx, 5 * PACE_SLOT_MS);
    put_byte(fx);
    run(fx, PACE_SLOT_MS);
    assert_int_equal(fx->pace.allowed, PACE_READS_MAX);
    assert_int_equal(fx->bytes_out, fx->bytes_in);
}

static void test_large_reads_are_not_held_up(void **state)
{
    struct fixture *fx = *state;

    for (unsigned i = 0; i < 10 * PACE_READS_MAX; i++)
        pace_note(&fx->pace, PACE_BULK_BYTES);
    assert_false(fx->pace.is_chatty);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_chatty_stream_is_read_once_a_slot, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nothing_of_it_is_lost, setup, teardown),
        cmocka_unit_test_setup_teardown(test_one_that_calmed_down_is_read_at_once_again, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_large_reads_are_not_held_up, setup, teardown),
    };

    return cmocka_run_group_tests_name("worker/pace", tests, NULL, NULL);
}

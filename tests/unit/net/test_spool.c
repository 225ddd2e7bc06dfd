#include "net/spool.h"

#include <errno.h>
#include <stdio.h>

#include "fixture.h"
#include "os/file.h"

static struct fixture fx;

static void drain_cb(void *data)
{
    (void)data;
    fx.calls++;
    loop_stop(fx.loop);
}

static void done_cb(void *data, int status)
{
    (void)data;
    fx.ended++;
    fx.status = status;
    loop_stop(fx.loop);
}

static int set_up(void **state)
{
    struct server_options options = {0};

    (void)state;
    fixture_open(&fx, &options);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fixture_close(&fx);
    return 0;
}

static void bytes_arrive_in_order_with_back_pressure(void **state)
{
    char *path = fixture_path(&fx);
    char piece[65536];
    struct buf read;
    unsigned waits = 0;
    int rc = 0;
    struct spool *spool = spool_open(fx.loop, path, drain_cb, NULL, &rc);

    (void)state;
    assert_non_null(spool);
    for (unsigned i = 0; i < 64; i++) {
        memset(piece, (int)('0' + i % 64), sizeof(piece));
        rc = spool_write(spool, slice_of(piece, sizeof(piece)));
        assert_true(rc >= 0);
        while (rc == 1 && fx.calls == waits)
            loop_run(fx.loop);
        waits = fx.calls;
    }
    assert_true(waits > 0);
    spool_close(spool, done_cb, NULL);
    assert_int_equal(fx.ended, 0);
    while (!fx.ended)
        loop_run(fx.loop);
    assert_int_equal(fx.status, 0);
    buf_init(&read, 8u << 20);
    assert_int_equal(file_read(path, &read, NULL), 0);
    assert_int_equal(read.len, 64 * sizeof(piece));
    for (unsigned i = 0; i < 64; i++)
        assert_int_equal(read.data[i * sizeof(piece) + 17], '0' + i % 64);
    buf_fini(&read);
    mem_free(path);
}

static void closing_tells_who_waits_for_the_drain(void **state)
{
    static char piece[65536];
    char *path = fixture_path(&fx);
    int rc = 0;
    struct spool *spool = spool_open(fx.loop, path, drain_cb, NULL, &rc);

    (void)state;
    while (spool_write(spool, slice_of(piece, sizeof(piece))) == 0)
        ;
    spool_close(spool, done_cb, NULL);
    while (!fx.ended)
        loop_run(fx.loop);
    assert_int_equal(fx.status, 0);
    assert_int_equal(fx.calls, 1);
    mem_free(path);
}

static void existing_file_is_not_overwritten(void **state)
{
    char *path = fixture_path(&fx);
    int rc = 0;

    (void)state;
    assert_int_equal(file_write_atomic(path, slice_str("x"), 0600, NULL), 0);
    assert_null(spool_open(fx.loop, path, drain_cb, NULL, &rc));
    assert_int_equal(rc, -EEXIST);
    mem_free(path);
}

static void discarded_file_is_removed_without_a_callback(void **state)
{
    char *path = fixture_path(&fx);
    int rc = 0;
    struct spool *spool = spool_open(fx.loop, path, drain_cb, NULL, &rc);

    (void)state;
    assert_true(spool_write(spool, slice_str("x")) >= 0);
    spool_close(spool, done_cb, NULL);
    spool_discard(spool);
    fixture_run_ms(&fx, 30);
    assert_int_equal(fx.ended, 0);
    assert_int_equal(fixture_files(&fx), 0);
    mem_free(path);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(bytes_arrive_in_order_with_back_pressure),
        TEST(closing_tells_who_waits_for_the_drain),
        TEST(existing_file_is_not_overwritten),
        TEST(discarded_file_is_removed_without_a_callback),
    };

    return cmocka_run_group_tests_name("net/spool", tests, NULL, NULL);
}

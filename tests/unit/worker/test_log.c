/* log: the ring in memory and the file that is rotated once. */
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "os/file.h"
#include "worker/log.h"

#define FILE_MAX 1000

struct fixture {
    char dir[64];
    char *path, *old;
};

static int setup(void **state)
{
    struct fixture *fx = mem_new(1, sizeof(*fx));

    (void)snprintf(fx->dir, sizeof(fx->dir), "/tmp/hotbunk-log-XXXXXX");
    if (!mkdtemp(fx->dir))
        return -1;
    fx->path = file_join(fx->dir, "m.log");
    fx->old = file_join(fx->dir, "m.log.1");
    *state = fx;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fx = *state;
    int rc = file_remove_tree(fx->dir);

    mem_free(fx->path);
    mem_free(fx->old);
    mem_free(fx);
    return rc;
}

static void add_text(struct worker_log *log, const char *text)
{
    worker_log_add(log, slice_str(text));
}

static void check_tail(const struct worker_log *log, size_t max, const char *expected)
{
    auto_free char *tail = worker_log_tail(log, max);

    assert_string_equal(tail, expected);
}

static uint64_t size_of(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static void test_a_silent_worker_has_an_empty_log_and_no_file(void **state)
{
    struct fixture *fx = *state;
    struct worker_log *log = worker_log_new(fx->path, FILE_MAX);

    check_tail(log, 100, "");
    worker_log_add(log, (struct slice){0});
    assert_false(file_exists(fx->path));
    worker_log_free(log);
}

static void test_what_was_added_is_in_ring_and_file(void **state)
{
    struct fixture *fx = *state;
    struct worker_log *log = worker_log_new(fx->path, FILE_MAX);
    struct buf text;

    add_text(log, "one\n");
    worker_log_note(log, "pid %d", 7);
    check_tail(log, 1000, "one\n[hotbunk] pid 7\n");
    buf_init(&text, 1000);
    assert_int_equal(file_read(fx->path, &text, NULL), 0);
    assert_string_equal(buf_str(&text), "one\n[hotbunk] pid 7\n");
    buf_fini(&text);
    worker_log_free(log);
}

static void test_a_short_tail_begins_at_a_line(void **state)
{
    struct worker_log *log = worker_log_new(NULL, 0);

    (void)state;
    add_text(log, "first\nsecond\nthird\n");
    check_tail(log, 13, "third\n"); /* "second\nthird\n" would be 13: its start is not known */
    check_tail(log, 8, "third\n");
    check_tail(log, 3, "rd\n"); /* no line's start in it */
    check_tail(log, 0, "");
    worker_log_free(log);
}

static void test_the_ring_keeps_the_newest_bytes(void **state)
{
    struct worker_log *log = worker_log_new(NULL, 0);
    auto_free char *tail = NULL;
    char line[32];

    (void)state;
    for (int i = 0; i < 20000; i++) {
        (void)snprintf(line, sizeof(line), "line %d\n", i);
        add_text(log, line);
    }
    tail = worker_log_tail(log, 2 * WORKER_LOG_RING_BYTES);
    assert_true(strlen(tail) <= WORKER_LOG_RING_BYTES);
    assert_true(strlen(tail) > WORKER_LOG_RING_BYTES - 32);
    assert_memory_equal(tail, "line ", 5);
    assert_string_equal(tail + strlen(tail) - 11, "line 19999\n");
    worker_log_free(log);
}

static void test_more_than_the_ring_at_once_keeps_its_end(void **state)
{
    struct worker_log *log = worker_log_new(NULL, 0);
    size_t len = WORKER_LOG_RING_BYTES + 5000;
    auto_free char *big = mem_new(len + 1, 1);
    auto_free char *tail = NULL;

    (void)state;
    memset(big, 'x', len);
    big[len - 1] = 'z';
    worker_log_add(log, slice_of(big, len));
    tail = worker_log_tail(log, len);
    assert_int_equal(strlen(tail), WORKER_LOG_RING_BYTES);
    assert_int_equal(tail[WORKER_LOG_RING_BYTES - 1], 'z');
    worker_log_free(log);
}

static void test_case_151_the_file_is_rotated_once_and_bounded(void **state)
{
    struct fixture *fx = *state;
    struct worker_log *log = worker_log_new(fx->path, FILE_MAX);

    for (int i = 0; i < 1000; i++) {
        add_text(log, "0123456789012345678901234567890123456789\n");
        assert_true(size_of(fx->path) <= FILE_MAX + 41);
        assert_true(size_of(fx->old) <= FILE_MAX + 41);
    }
    assert_true(size_of(fx->path) > 0);
    assert_true(size_of(fx->old) > FILE_MAX - 41);
    worker_log_free(log);
}

static void test_a_new_daemon_goes_on_in_the_same_file(void **state)
{
    struct fixture *fx = *state;
    struct worker_log *log = worker_log_new(fx->path, FILE_MAX);

    add_text(log, "before\n");
    worker_log_free(log);
    log = worker_log_new(fx->path, FILE_MAX);
    add_text(log, "after\n");
    assert_int_equal(size_of(fx->path), 13);
    check_tail(log, 100, "after\n");
    worker_log_free(log);
}

static void test_without_a_disk_the_ring_still_works(void **state)
{
    struct worker_log *log = worker_log_new("/proc/no/such/m.log", FILE_MAX);

    (void)state;
    add_text(log, "kept\n");
    check_tail(log, 100, "kept\n");
    worker_log_free(log);
}

static void test_a_nul_byte_does_not_end_the_tail(void **state)
{
    struct worker_log *log = worker_log_new(NULL, 0);

    (void)state;
    worker_log_add(log, slice_of("a\0b\0\n\0", 6));
    check_tail(log, 100, "a?b?\n?");
    worker_log_free(log);
}

static void test_a_long_note_is_cut_and_still_ends_its_line(void **state)
{
    struct worker_log *log = worker_log_new(NULL, 0);
    auto_free char *big = mem_new(5000, 1);
    auto_free char *tail = NULL;

    (void)state;
    memset(big, 'x', 4999);
    worker_log_note(log, "%s", big);
    tail = worker_log_tail(log, 10000);
    assert_true(strlen(tail) < 1100);
    assert_int_equal(tail[strlen(tail) - 1], '\n');
    worker_log_free(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_silent_worker_has_an_empty_log_and_no_file, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_what_was_added_is_in_ring_and_file, setup, teardown),
        cmocka_unit_test(test_a_short_tail_begins_at_a_line),
        cmocka_unit_test(test_the_ring_keeps_the_newest_bytes),
        cmocka_unit_test(test_more_than_the_ring_at_once_keeps_its_end),
        cmocka_unit_test_setup_teardown(test_case_151_the_file_is_rotated_once_and_bounded, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_a_new_daemon_goes_on_in_the_same_file, setup,
                                        teardown),
        cmocka_unit_test(test_without_a_disk_the_ring_still_works),
        cmocka_unit_test(test_a_nul_byte_does_not_end_the_tail),
        cmocka_unit_test(test_a_long_note_is_cut_and_still_ends_its_line),
    };

    return cmocka_run_group_tests_name("worker/log", tests, NULL, NULL);
}

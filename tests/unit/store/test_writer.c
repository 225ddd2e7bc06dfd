/* The queue: one transaction for many writes, coalescing, limits, a full disk, the end. */
#include "store_fixture.h"

#include <errno.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/resource.h>

static void number_id(unsigned number, char out[40])
{
    (void)snprintf(out, 40, "00000000-0000-4000-8000-%012u", number);
}

static void put_many(struct fixture *fx, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        char id[40];
        struct store_job job = fixture_job(id);
        number_id(i, id);
        assert_int_equal(store_put_job(fx->store, &job, fixture_done, fx), 0);
    }
}

static void many_puts_share_few_transactions(void **state)
{
    struct fixture *fx = *state;
    struct store_stats stats;

    put_many(fx, 2000);
    fixture_wait_done(fx, 2000);
    store_stats(fx->store, &stats);

    assert_int_equal(stats.rows, 2000);
    assert_true(stats.transactions < 500);
}

static void progress_of_one_job_becomes_one_row(void **state)
{
    struct fixture *fx = *state;
    struct store_job job = fixture_job(ID_A), *back = NULL;
    struct store_stats stats;

    fixture_put(fx, &job);
    for (int i = 1; i <= 100; i++) {
        job.progress = i;
        store_note_progress(fx->store, &job);
    }
    fixture_wait_idle(fx, 5000);
    store_stats(fx->store, &stats);

    assert_int_equal(stats.transactions, 2);
    assert_int_equal(stats.coalesced, 99);
    assert_int_equal(store_get_job(fx->store, slice_str(ID_A), &back), 0);
    assert_int_equal(back->progress, 100);
    store_job_free(back);
}

static void an_end_takes_waiting_progress_with_it_at_once(void **state)
{
    struct fixture *fx = *state;
    struct store_job a = fixture_job(ID_A), b = fixture_job(ID_B);
    struct store_stats stats;
    uint64_t start_ns;

    fixture_put(fx, &a);
    fixture_put(fx, &b);
    store_note_progress(fx->store, &a);
    start_ns = loop_now_ns();
    b.state = STORE_JOB_DONE;
    assert_int_equal(store_update_job(fx->store, &b), 0);
    fixture_wait_idle(fx, 5000);
    store_stats(fx->store, &stats);

    assert_true(loop_now_ns() - start_ns < (uint64_t)STORE_LINGER_MS * 900000);
    assert_int_equal(stats.transactions, 3);
}

static void an_end_is_not_delayed_by_a_later_progress_note(void **state)
{
    struct fixture *fx = *state;
    struct store_job job = fixture_job(ID_A);
    uint64_t start_ns = loop_now_ns();

    fixture_put(fx, &job);
    assert_int_equal(store_update_job(fx->store, &job), 0);
    store_note_progress(fx->store, &job);
    assert_int_equal(store_update_job(fx->store, &job), 0);
    fixture_wait_idle(fx, 5000);

    assert_true(loop_now_ns() - start_ns < (uint64_t)STORE_LINGER_MS * 900000);
}

/* Another connection that keeps the writer from committing until it is closed. */
static sqlite3 *block_writes(const struct fixture *fx)
{
    sqlite3 *db = NULL;

    assert_int_equal(sqlite3_open(fx->path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
    return db;
}

static void a_full_queue_refuses_puts_but_takes_updates(void **state)
{
    struct fixture *fx = *state;
    struct store_job job = fixture_job(ID_A);
    sqlite3 *blocker = block_writes(fx);
    struct store_stats stats;
    char id[40];

    for (unsigned i = 0; i < STORE_QUEUE_MAX; i++) {
        struct store_job update = fixture_job(id);
        number_id(i, id);
        assert_int_equal(store_update_job(fx->store, &update), 0);
    }

    assert_int_equal(store_put_job(fx->store, &job, fixture_done, fx), -EAGAIN);
    store_note_progress(fx->store, &job); /* dropped */
    assert_int_equal(store_update_job(fx->store, &job), 0);
    store_stats(fx->store, &stats);
    assert_int_equal(stats.queued, STORE_QUEUE_MAX + 1);
    assert_int_equal(sqlite3_close(blocker), SQLITE_OK);
}

static void a_blocked_file_fails_the_put_in_time(void **state)
{
    struct fixture *fx = *state;
    struct store_job job = fixture_job(ID_A);
    sqlite3 *blocker = block_writes(fx);

    fixture_put(fx, &job);

    assert_int_equal(fx->last_status, -EBUSY);
    assert_int_equal(sqlite3_close(blocker), SQLITE_OK);
}

static void closing_writes_what_is_queued_and_answers(void **state)
{
    struct fixture *fx = *state;
    struct store_job *back = NULL;
    char id[40];

    put_many(fx, 500);
    fixture_close(fx);
    assert_int_equal(fx->done_calls, 500);
    assert_int_equal(fx->last_status, 0);

    fixture_open(fx);
    number_id(499, id);
    assert_int_equal(store_get_job(fx->store, slice_str(id), &back), 0);
    store_job_free(back);
}

static void limit_file_size(rlim_t bytes)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void a_refusing_disk_fails_the_put_and_keeps_the_update(void **state)
{
    struct fixture *fx = *state;
    struct store_job a = fixture_job(ID_A), b = fixture_job(ID_B), *back = NULL;
    struct store_stats stats;

    (void)signal(SIGXFSZ, SIG_IGN);
    fixture_put(fx, &a);
    limit_file_size(1);
    a.state = STORE_JOB_DONE;
    assert_int_equal(store_update_job(fx->store, &a), 0);
    fixture_put(fx, &b);
    assert_true(fx->last_status < 0);
    store_stats(fx->store, &stats);
    assert_true(stats.failures > 0);
    limit_file_size(RLIM_INFINITY);
    fixture_wait_idle(fx, 5000);
    fixture_close(fx);
    fixture_open(fx);

    assert_int_equal(store_get_job(fx->store, slice_str(ID_A), &back), 0);
    assert_int_equal(back->state, STORE_JOB_DONE);
    store_job_free(back);
    back = NULL;
    assert_int_equal(store_get_job(fx->store, slice_str(ID_B), &back), -ENOENT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup_open, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(many_puts_share_few_transactions),
        TEST(progress_of_one_job_becomes_one_row),
        TEST(an_end_takes_waiting_progress_with_it_at_once),
        TEST(an_end_is_not_delayed_by_a_later_progress_note),
        TEST(a_full_queue_refuses_puts_but_takes_updates),
        TEST(a_blocked_file_fails_the_put_in_time),
        TEST(closing_writes_what_is_queued_and_answers),
        TEST(a_refusing_disk_fails_the_put_and_keeps_the_update),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

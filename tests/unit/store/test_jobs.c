/* Rows in, rows out: put, update, get, list, load, prune. */
#include "store_fixture.h"

#include <errno.h>

struct seen {
    unsigned count;
    char ids[64][40];
};

static void see(void *data, const struct store_job *job)
{
    struct seen *seen = data;

    if (seen->count < 64)
        (void)snprintf(seen->ids[seen->count], sizeof(seen->ids[0]), "%s", job->id);
    seen->count++;
}

static void put_is_acknowledged_after_it_is_on_disk(void **state)
{
    struct fixture *fx = *state;
    struct store_job job = fixture_job(ID_A);
    struct store_stats stats;

    fixture_put(fx, &job);
    store_stats(fx->store, &stats);

    assert_int_equal(fx->last_status, 0);
    assert_int_equal(stats.transactions, 1);
    assert_int_equal(stats.rows, 1);
    assert_int_equal(stats.queued, 0);
}

static void every_field_survives_a_restart(void **state)
{
    struct fixture *fx = *state;
    struct store_job job = fixture_job(ID_A), *back = NULL;

    job.image_path = "/tmp/in.png";
    job.text = "h\xc3\xa9llo";
    job.is_scratch = job.is_bound = true;
    fixture_put(fx, &job);
    job.state = STORE_JOB_ERROR;
    job.progress = 55;
    job.step = "Meshing";
    job.why = "waits for memory";
    job.error_code = "out_of_memory";
    job.error = "it needs more";
    job.output_path = "/w/a.glb";
    job.workspace_path = "Default/a.glb";
    job.media_type = "model/gltf-binary";
    job.result_json = "{\"faces\":12}";
    job.started_ms = 2000;
    job.ended_ms = 3000;
    job.queue_ms = 1;
    job.load_ms = 2;
    job.run_ms = 3;
    job.held_bytes = (uint64_t)5 << 40;
    assert_int_equal(store_update_job(fx->store, &job), 0);
    fixture_close(fx);
    fixture_open(fx);

    assert_int_equal(store_get_job(fx->store, slice_str(ID_A), &back), 0);
    assert_string_equal(back->id, ID_A);
    assert_string_equal(back->model, "relief/mesh");
    assert_string_equal(back->params_json, "{\"depth\":1}");
    assert_string_equal(back->image_path, "/tmp/in.png");
    assert_string_equal(back->text, "h\xc3\xa9llo");
    assert_string_equal(back->collection, "Default");
    assert_true(back->is_scratch && back->is_bound);
    assert_int_equal(back->created_ms, 1000);
    assert_int_equal(back->state, STORE_JOB_ERROR);
    assert_int_equal(back->progress, 55);
    assert_string_equal(back->step, "Meshing");
    assert_string_equal(back->why, "waits for memory");
    assert_string_equal(back->error_code, "out_of_memory");
    assert_string_equal(back->error, "it needs more");
    assert_string_equal(back->output_path, "/w/a.glb");
    assert_string_equal(back->workspace_path, "Default/a.glb");
    assert_string_equal(back->media_type, "model/gltf-binary");
    assert_string_equal(back->result_json, "{\"faces\":12}");
    assert_int_equal(back->started_ms, 2000);
    assert_int_equal(back->ended_ms, 3000);
    assert_int_equal(back->queue_ms, 1);
    assert_int_equal(back->load_ms, 2);
    assert_int_equal(back->run_ms, 3);
    assert_int_equal(back->held_bytes, (uint64_t)5 << 40);
    store_job_free(back);
}

static void absent_strings_come_back_as_null_or_empty(void **state)
{
    struct fixture *fx = *state;
    struct store_job job = {.id = ID_A, .model = "m"}, *back = NULL;

    fixture_put(fx, &job);

    assert_int_equal(store_get_job(fx->store, slice_str(ID_A), &back), 0);
    assert_null(back->params_json);
    assert_null(back->error);
    assert_null(back->output_path);
    assert_string_equal(back->collection, "");
    assert_string_equal(back->step, "");
    assert_string_equal(back->why, "");
    store_job_free(back);
}

static void get_sees_what_is_still_queued(void **state)
{
    struct fixture *fx = *state;
    struct store_job job = fixture_job(ID_A), *back = NULL;

    fixture_put(fx, &job);
    job.params_json = NULL; /* an update does not carry the input */
    job.progress = 70;
    store_note_progress(fx->store, &job);

    assert_int_equal(store_get_job(fx->store, slice_str(ID_A), &back), 0);
    assert_int_equal(back->progress, 70);
    assert_string_equal(back->params_json, "{\"depth\":1}");
    store_job_free(back);
}

static void get_of_an_unknown_job_is_enoent(void **state)
{
    struct fixture *fx = *state;
    struct store_job *back = NULL;

    assert_int_equal(store_get_job(fx->store, slice_str(ID_A), &back), -ENOENT);
    assert_int_equal(store_get_job(fx->store, slice_str(""), &back), -ENOENT);
    assert_null(back);
}

static void put_without_id_or_model_is_refused(void **state)
{
    struct fixture *fx = *state;
    struct store_job no_id = {.model = "m"}, no_model = {.id = ID_A};

    assert_int_equal(store_put_job(fx->store, &no_id, fixture_done, fx), -EINVAL);
    assert_int_equal(store_put_job(fx->store, &no_model, fixture_done, fx), -EINVAL);
}

static void second_put_of_one_id_fails_alone(void **state)
{
    struct fixture *fx = *state;
    struct store_job a = fixture_job(ID_A), b = fixture_job(ID_B), *back = NULL;

    fixture_put(fx, &a);
    assert_int_equal(store_put_job(fx->store, &b, fixture_done, fx), 0);
    assert_int_equal(store_put_job(fx->store, &a, fixture_done, fx), 0);
    fixture_wait_done(fx, 3);

    assert_int_equal(fx->last_status, -EEXIST);
    assert_int_equal(store_get_job(fx->store, slice_str(ID_B), &back), 0);
    store_job_free(back);
}

static void list_is_newest_first_and_filtered(void **state)
{
    struct fixture *fx = *state;
    struct store_job a = fixture_job(ID_A), b = fixture_job(ID_B);
    enum store_job_state done = STORE_JOB_DONE;
    struct seen all = {0}, finished = {0}, one = {0};

    fixture_put(fx, &a);
    fixture_put(fx, &b);
    a.state = STORE_JOB_DONE;
    assert_int_equal(store_update_job(fx->store, &a), 0);
    fixture_wait_idle(fx, 5000);

    assert_int_equal(store_list_jobs(fx->store, NULL, 10, see, &all), 0);
    assert_int_equal(store_list_jobs(fx->store, &done, 10, see, &finished), 0);
    assert_int_equal(store_list_jobs(fx->store, NULL, 1, see, &one), 0);
    assert_int_equal(all.count, 2);
    assert_string_equal(all.ids[0], ID_B);
    assert_int_equal(finished.count, 1);
    assert_string_equal(finished.ids[0], ID_A);
    assert_int_equal(one.count, 1);
}

static void load_gives_only_unfinished_jobs_oldest_first(void **state)
{
    struct fixture *fx = *state;
    struct store_job a = fixture_job(ID_A), b = fixture_job(ID_B);
    struct store_job c = fixture_job("00000000-0000-4000-8000-00000000000c");
    struct seen seen = {0};

    a.state = STORE_JOB_RUNNING;
    b.state = STORE_JOB_CANCELLED;
    fixture_put(fx, &a);
    fixture_put(fx, &b);
    fixture_put(fx, &c);
    fixture_close(fx);
    fixture_open(fx);

    assert_int_equal(store_load_jobs(fx->store, see, &seen), 0);
    assert_int_equal(seen.count, 2);
    assert_string_equal(seen.ids[0], ID_A);
}

static void put_finished(struct fixture *fx, unsigned number)
{
    char id[40] = "";
    struct store_job job = fixture_job(id);

    (void)snprintf(id, sizeof(id), "00000000-0000-4000-8000-%012u", number);
    job.state = STORE_JOB_DONE;
    fixture_put(fx, &job);
}

static void history_is_pruned_and_unfinished_jobs_stay(void **state)
{
    struct fixture *fx = *state;
    struct store_job queued = fixture_job(ID_A), *back = NULL;
    struct seen seen = {0};

    fixture_close(fx);
    fx->options.job_history = 10;
    fixture_open(fx);
    fixture_put(fx, &queued);
    for (unsigned i = 0; i < 200; i++)
        put_finished(fx, i);

    assert_int_equal(store_list_jobs(fx->store, NULL, 1000, see, &seen), 0);
    assert_in_range(seen.count, 11, 11 + 64);
    assert_string_equal(seen.ids[0], "00000000-0000-4000-8000-000000000199");
    assert_int_equal(store_get_job(fx->store, slice_str(ID_A), &back), 0);
    store_job_free(back);
}

static void history_of_an_earlier_run_is_pruned_after_the_start(void **state)
{
    struct fixture *fx = *state;
    struct seen seen = {0};

    for (unsigned i = 0; i < 30; i++)
        put_finished(fx, i);
    fixture_close(fx);
    fx->options.job_history = 5;
    fixture_open(fx);
    put_finished(fx, 30);

    assert_int_equal(store_list_jobs(fx->store, NULL, 1000, see, &seen), 0);
    assert_int_equal(seen.count, 5);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup_open, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(put_is_acknowledged_after_it_is_on_disk),
        TEST(every_field_survives_a_restart),
        TEST(absent_strings_come_back_as_null_or_empty),
        TEST(get_sees_what_is_still_queued),
        TEST(get_of_an_unknown_job_is_enoent),
        TEST(put_without_id_or_model_is_refused),
        TEST(second_put_of_one_id_fails_alone),
        TEST(list_is_newest_first_and_filtered),
        TEST(load_gives_only_unfinished_jobs_oldest_first),
        TEST(history_is_pruned_and_unfinished_jobs_stay),
        TEST(history_of_an_earlier_run_is_pruned_after_the_start),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Our own routes against a scripted backend. */
#include "fixture.h"

#include <errno.h>

#include "os/file.h"

static int post(struct fixture *fx, const char *target)
{
    return fixture_post(fx, target, NULL, NULL);
}

static int submit(struct fixture *fx, const char *json)
{
    return fixture_post(fx, "/api/v1/jobs", "application/json", json);
}

static void test_version_says_who_it_is(void **state)
{
    struct fixture *fx = *state;

    assert_int_equal(fixture_get(fx, "/api/v1/version"), 200);
    assert_string_equal(fixture_str(fx, "name"), "hotbunk");
    assert_string_equal(fixture_str(fx, "version"), "1.2.3");
    assert_string_equal(fixture_str(fx, "state_dir"), fx->fake.config.state_dir);
}

static void test_models_come_with_errors_and_the_active_one(void **state)
{
    struct fixture *fx = *state;

    assert_int_equal(fixture_get(fx, "/api/v1/models"), 200);
    assert_int_equal(json_object_array_length(fixture_json(fx, "models")), 2);
    assert_int_equal(json_object_array_length(fixture_json(fx, "errors")), 1);
    assert_string_equal(fixture_str(fx, "active"), "pic/mesh");
}

static void test_one_model_and_its_log(void **state)
{
    struct fixture *fx = *state;

    assert_int_equal(fixture_get(fx, "/api/v1/models/pic/mesh"), 200);
    assert_string_equal(fixture_str(fx, "id"), "pic/mesh");
    assert_int_equal(fixture_get(fx, "/api/v1/models/pic%2Fmesh/log?bytes=9"), 200);
    assert_string_equal(buf_str(&fx->body), "pic/mesh 9\n");
    assert_int_equal(fixture_get(fx, "/api/v1/models/pic/mesh/log?bytes=x"), 400);
    assert_int_equal(fixture_get(fx, "/api/v1/models/none"), 404);
    assert_string_equal(fixture_str(fx, "code"), "unknown_model");
}

static void test_a_load_that_takes_longer_than_the_wait_is_202(void **state)
{
    struct fixture *fx = *state;

    assert_int_equal(post(fx, "/api/v1/models/pic/mesh/load"), 202);
    assert_string_equal(fixture_str(fx, "id"), "pic/mesh");
    assert_int_equal(fx->fake.drops, 1);
}

static void test_a_load_within_the_wait_is_200(void **state)
{
    struct fixture *fx = *state;

    fx->fake.load_ms = 50;
    assert_int_equal(post(fx, "/api/v1/models/pic/load?wait=5"), 200);
    assert_int_equal(fx->fake.drops, 0);
    fx->fake.is_at_once = true;
    assert_int_equal(post(fx, "/api/v1/models/pic/load"), 200);
}

static void test_a_load_that_fails_answers_by_its_code(void **state)
{
    struct fixture *fx = *state;

    fx->fake.load_ms = 5;
    (void)err_set(&fx->fake.load_err, -ECANCELED, "needs 4 GiB");
    (void)err_at(&fx->fake.load_err, "never_fits");
    assert_int_equal(post(fx, "/api/v1/models/pic/load?wait=5"), 413);
    assert_string_equal(fixture_str(fx, "code"), "never_fits");
    assert_string_equal(fixture_str(fx, "detail"), "needs 4 GiB");
}

static void test_unload_switch_and_what_is_no_action(void **state)
{
    struct fixture *fx = *state;

    assert_int_equal(post(fx, "/api/v1/models/pic/mesh/unload?force=1&wait=1.5"), 200);
    assert_string_equal(fixture_str(fx, "id"), "pic/mesh");
    assert_int_equal(fx->fake.within_ms, 1500);
    assert_int_equal(post(fx, "/api/v1/unload"), 200);
    assert_true(json_object_object_get_ex(fx->json, "id", NULL));
    assert_null(fx->fake.model);
    assert_int_equal(post(fx, "/api/v1/models/talk/say/switch"), 200);
    assert_string_equal(fixture_str(fx, "active"), "talk/say");
    assert_int_equal(post(fx, "/api/v1/models/talk/say/dance"), 404);
    assert_int_equal(post(fx, "/api/v1/models/none/load"), 404);
    assert_int_equal(post(fx, "/api/v1/models/pic/load?wait=-1"), 400);
    assert_int_equal(post(fx, "/api/v1/models/pic/unload?force=maybe"), 400);
}

static void test_workers_and_devices(void **state)
{
    struct fixture *fx = *state;

    assert_int_equal(fixture_get(fx, "/api/v1/workers"), 200);
    assert_contains(buf_str(&fx->body), "\"pid\":42");
    assert_int_equal(fixture_get(fx, "/api/v1/devices"), 200);
    assert_contains(buf_str(&fx->body), "\"total_bytes\":1099511627776");
}

static void test_a_job_from_json(void **state)
{
    struct fixture *fx = *state;

    assert_int_equal(submit(fx, "{\"model\":\"talk\",\"text\":\"Hi\",\"params\":{\"speed\":2,"
                                "\"own\":1},\"collection\":\"Box\"}"),
                     202);
    assert_string_equal(fixture_str(fx, "id"), JOB_ID);
    assert_string_equal(fx->fake.text, "Hi");
    assert_string_equal(fx->fake.params, "{\"speed\":2,\"own\":1}");
    assert_string_equal(fx->fake.collection, "Box");
}

static void test_a_job_from_a_form(void **state)
{
    struct fixture *fx = *state;

    assert_int_equal(fixture_post(fx, "/api/v1/jobs", FORM_TYPE,
                                  IMAGE FIELD("model", "pic/mesh") FIELD("params", "{\"depth\":3}")
                                      FORM_END),
                     202);
    assert_string_equal(fx->fake.image, "PIXELS");
    assert_string_equal(fx->fake.params, "{\"depth\":3}");
    assert_string_equal(fx->fake.collection, "Default");
}

static void test_bad_jobs_are_refused(void **state)
{
    static const struct {
        const char *json, *part;
    } rows[] = {
        {"{\"model\":\"none\",\"text\":\"x\"}", "pic/mesh, talk/say"},
        {"{\"model\":\"talk\"}", "takes a text"},
        {"{\"model\":\"pic\"}", "takes an image"},
        {"{\"model\":\"talk\",\"text\":7}", "text must be a text"},
        {"{\"model\":\"talk\",\"text\":\"x\",\"params\":[1]}", "params must be"},
        {"{\"model\":\"talk\",\"text\":\"x\",\"params\":{\"speed\":5}}", "at most 4"},
        {"{\"model\":\"talk\",\"text\":\"x\",\"collection\":\"../x\"}", "folder name"},
        {"{\"model\":\"talk\",\"text\":\"x\\u0000y\"}", "not accepted"},
    };
    struct fixture *fx = *state;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(submit(fx, rows[i].json), 400);
        assert_contains(fixture_str(fx, "detail"), rows[i].part);
        assert_non_null(fixture_str(fx, "code"));
    }
    assert_int_equal(submit(fx, "nonsense"), 400);
    assert_int_equal(fixture_post(fx, "/api/v1/jobs", "text/csv", "a,b"), 415);
    assert_int_equal(fx->fake.submits, 0);
}

static void test_jobs_are_listed_by_state(void **state)
{
    struct fixture *fx = *state;

    assert_int_equal(fixture_get(fx, "/api/v1/jobs?state=queued&limit=5"), 200);
    assert_int_equal(json_object_array_length(fixture_json(fx, "jobs")), 1);
    assert_int_equal(fixture_get(fx, "/api/v1/jobs?state=done"), 200);
    assert_int_equal(json_object_array_length(fixture_json(fx, "jobs")), 0);
    assert_int_equal(fixture_get(fx, "/api/v1/jobs?state=pending"), 400);
    assert_int_equal(fixture_get(fx, "/api/v1/jobs?limit=1001"), 400);
    assert_int_equal(fixture_get(fx, "/api/v1/jobs?limit=0"), 400);
}

static void test_a_job_is_waited_for(void **state)
{
    struct fixture *fx = *state;

    fx->fake.job_ms = 30;
    assert_int_equal(fixture_get(fx, "/api/v1/jobs/" JOB_ID "?wait=5"), 200);
    assert_int_equal(fx->fake.drops, 0);
    fx->fake.job_ms = 0;
    assert_int_equal(fixture_get(fx, "/api/v1/jobs/" JOB_ID "?wait=0.02"), 200);
    assert_int_equal(fx->fake.drops, 1);
    assert_int_equal(fixture_get(fx, "/api/v1/jobs/" OTHER_ID "?wait=1"), 404);
}

static void test_a_client_that_leaves_a_wait_is_forgotten(void **state)
{
    struct fixture *fx = *state;
    struct http_client_request request = {.method = "GET",
                                          .target = "/api/v1/jobs/" JOB_ID "?wait=60"};

    fixture_leave_after(fx, &request, 50);
    assert_int_equal(fx->fake.drops, 1);
}

static void test_a_jobs_output_is_sent(void **state)
{
    struct fixture *fx = *state;
    auto_free char *path = file_join(fx->dir, "x.glb");

    assert_int_equal(fixture_get(fx, "/api/v1/jobs/" JOB_ID "/output"), 404);
    fx->fake.job.output_path = path;
    assert_int_equal(fixture_get(fx, "/api/v1/jobs/" JOB_ID "/output"), 404);
    fixture_write(fx, "x.glb", "mesh");
    assert_int_equal(fixture_get(fx, "/api/v1/jobs/" JOB_ID "/output"), 200);
    assert_string_equal(fx->content_type, "model/gltf-binary");
}

static void test_a_cancel_answers_the_job(void **state)
{
    struct fixture *fx = *state;

    assert_int_equal(post(fx, "/api/v1/jobs/" JOB_ID "/cancel"), 200);
    assert_string_equal(fixture_str(fx, "state"), "cancelled");
    assert_int_equal(post(fx, "/api/v1/jobs/" OTHER_ID "/cancel"), 404);
}

static void test_events_are_replayed_and_follow(void **state)
{
    static const char *const headers[] = {"Last-Event-ID: 40", NULL};
    struct fixture *fx = *state;
    struct http_client_request request = {
        .method = "GET", .target = "/api/v1/events", .headers = headers};

    fx->fake.replayed = 2;
    fixture_leave_after(fx, &request, 50);
    assert_int_equal(fx->fake.replay_after, 40);
    assert_contains(buf_str(&fx->body), "id: 41\nevent: model\ndata: {\"id\":\"pic/mesh\"}\n\n");
    assert_contains(buf_str(&fx->body), "id: 42\n");
    assert_null(fx->fake.stream);
}

struct emitter {
    struct fake *fake;
    struct api *api;
};

static void emit_all(void *data)
{
    struct emitter *emitter = data;

    fake_emit(emitter->fake, 1, "job", "{\"id\":\"" JOB_ID "\",\"model\":\"pic/mesh\"}");
    fake_emit(emitter->fake, 2, "job", "{\"id\":\"" OTHER_ID "\",\"model\":\"talk/say\"}");
    fake_emit(emitter->fake, 3, "worker", "{\"worker\":1,\"model\":\"pic/mesh\"}");
    api_stop(emitter->api);
}

/* Opens the stream, lets the events come, and ends it as a stopping daemon does. */
static void stream(struct fixture *fx, const char *target)
{
    struct emitter emitter = {&fx->fake, fx->api};
    struct timer *timer = timer_new(fx->loop, emit_all, &emitter);

    timer_start(timer, 50);
    assert_int_equal(fixture_get(fx, target), 200);
    assert_string_equal(fx->content_type, "text/event-stream");
    timer_free(timer);
}

static void test_events_are_filtered_by_job_and_model(void **state)
{
    struct fixture *fx = *state;

    stream(fx, "/api/v1/events");
    assert_contains(buf_str(&fx->body), "id: 3\n");
    stream(fx, "/api/v1/events?job=" JOB_ID);
    assert_contains(buf_str(&fx->body), "id: 1\n");
    assert_null(strstr(buf_str(&fx->body), "id: 2\n"));
    assert_null(strstr(buf_str(&fx->body), "id: 3\n"));
    stream(fx, "/api/v1/events?model=pic/mesh");
    assert_contains(buf_str(&fx->body), "id: 1\n");
    assert_null(strstr(buf_str(&fx->body), "id: 2\n"));
    assert_contains(buf_str(&fx->body), "id: 3\n");
}

static void test_the_description_is_served(void **state)
{
    struct fixture *fx = *state;

    assert_int_equal(fixture_get(fx, "/openapi.yaml"), 200);
    assert_contains(buf_str(&fx->body), "openapi: 3.1.0");
}

static void test_unknown_paths_have_our_shape(void **state)
{
    struct fixture *fx = *state;

    assert_int_equal(fixture_get(fx, "/api/v1/nothing"), 404);
    assert_string_equal(fixture_str(fx, "code"), "not_found");
    assert_int_equal(post(fx, "/api/v1/workers"), 405);
    assert_string_equal(fixture_str(fx, "code"), "method_not_allowed");
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_version_says_who_it_is),
        T(test_models_come_with_errors_and_the_active_one),
        T(test_one_model_and_its_log),
        T(test_a_load_that_takes_longer_than_the_wait_is_202),
        T(test_a_load_within_the_wait_is_200),
        T(test_a_load_that_fails_answers_by_its_code),
        T(test_unload_switch_and_what_is_no_action),
        T(test_workers_and_devices),
        T(test_a_job_from_json),
        T(test_a_job_from_a_form),
        T(test_bad_jobs_are_refused),
        T(test_jobs_are_listed_by_state),
        T(test_a_job_is_waited_for),
        T(test_a_client_that_leaves_a_wait_is_forgotten),
        T(test_a_jobs_output_is_sent),
        T(test_a_cancel_answers_the_job),
        T(test_events_are_replayed_and_follow),
        T(test_events_are_filtered_by_job_and_model),
        T(test_the_description_is_served),
        T(test_unknown_paths_have_our_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

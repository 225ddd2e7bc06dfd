/* OpenAI's routes against a scripted backend. */
#include "fixture.h"

#include <errno.h>

#include "os/file.h"

static const char speech[] = "{\"model\":\"talk/say\",\"input\":\"Hello\"}";

static int say(struct fixture *fx, const char *body)
{
    return fixture_post(fx, "/v1/audio/speech", "application/json", body);
}

/* A job that is done after `ms` with the file `out.mp3`. */
static void given_a_spoken_file(struct fixture *fx, char **path)
{
    fixture_write(fx, "out.mp3", "sound");
    *path = file_join(fx->dir, "out.mp3");
    fx->fake.job.state = API_JOB_DONE;
    fx->fake.job.output_path = *path;
    fx->fake.job_ms = 5;
}

static void test_models_are_listed_in_openais_shape(void **state)
{
    struct fixture *fx = *state;

    assert_int_equal(fixture_get(fx, "/v1/models"), 200);
    assert_contains(buf_str(&fx->body), "{\"object\":\"list\",\"data\":[{\"id\":\"pic/mesh\","
                                        "\"object\":\"model\",\"created\":0,\"owned_by\":"
                                        "\"hotbunk\"}");
    assert_int_equal(fixture_get(fx, "/v1/models/talk%2Fsay"), 200);
    assert_string_equal(fixture_str(fx, "id"), "talk/say");
    assert_int_equal(fixture_get(fx, "/v1/models/gpt"), 404);
    assert_string_equal(fixture_str(fx, "error.code"), "unknown_model");
}

static void test_speech_answers_the_file(void **state)
{
    struct fixture *fx = *state;
    auto_free char *path = NULL;

    given_a_spoken_file(fx, &path);
    assert_int_equal(say(fx, speech), 200);
    assert_string_equal(fx->content_type, "audio/mpeg");
    assert_string_equal(buf_str(&fx->body), "sound");
    assert_string_equal(fx->job_header, JOB_ID);
    assert_string_equal(fx->fake.text, "Hello");
    assert_string_equal(fx->fake.params, "{\"response_format\":\"mp3\"}");
    assert_true(fx->fake.is_scratch && fx->fake.is_bound);
}

static void test_speech_from_a_backend_that_answers_at_once(void **state)
{
    struct fixture *fx = *state;
    auto_free char *path = NULL;

    given_a_spoken_file(fx, &path);
    fx->fake.is_at_once = true;
    assert_int_equal(say(fx, speech), 200);
    assert_string_equal(buf_str(&fx->body), "sound");
}

static void test_speech_passes_voice_speed_and_format(void **state)
{
    struct fixture *fx = *state;
    auto_free char *path = NULL;

    given_a_spoken_file(fx, &path);
    assert_int_equal(say(fx, "{\"model\":\"talk\",\"input\":\"x\",\"voice\":\"awb\",\"speed\":2,"
                             "\"response_format\":\"wav\",\"instructions\":\"calm\"}"),
                     200);
    assert_string_equal(fx->content_type, "audio/wav");
    assert_string_equal(fx->fake.params,
                        "{\"response_format\":\"wav\",\"speed\":2,\"voice\":\"awb\"}");
}

static void test_openais_voice_names_are_left_to_the_worker(void **state)
{
    struct fixture *fx = *state;
    auto_free char *path = NULL;

    given_a_spoken_file(fx, &path);
    assert_int_equal(say(fx, "{\"model\":\"talk\",\"input\":\"x\",\"voice\":\"alloy\"}"), 200);
    assert_contains(fx->fake.params, "\"voice\":\"alloy\"");
}

static void test_bad_speech_requests_are_400_and_name_the_parameter(void **state)
{
    static const struct {
        const char *body, *param, *part;
    } rows[] = {
        {"{\"input\":\"x\"}", "model", "required"},
        {"{\"model\":\"gpt\",\"input\":\"x\"}", "model", "pic/mesh, talk/say"},
        {"{\"model\":\"pic/mesh\",\"input\":\"x\"}", "model", "does not speak"},
        {"{\"model\":\"talk\"}", "input", "required"},
        {"{\"model\":\"talk\",\"input\":\"\"}", "input", "required"},
        {"{\"model\":\"talk\",\"input\":7}", "input", "text"},
        {"{\"model\":\"talk\",\"input\":\"x\",\"response_format\":\"opus\"}", "response_format",
         "mp3, wav, pcm"},
        {"{\"model\":\"talk\",\"input\":\"x\",\"voice\":\"bob\"}", "voice", "kal, awb"},
        {"{\"model\":\"talk\",\"input\":\"x\",\"speed\":9}", "speed", "at most 4"},
        {"{\"model\":\"talk\",\"input\":\"x\",\"speed\":\"fast\"}", "speed", "a number"},
    };
    struct fixture *fx = *state;

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_int_equal(say(fx, rows[i].body), 400);
        assert_string_equal(fixture_str(fx, "error.param"), rows[i].param);
        assert_string_equal(fixture_str(fx, "error.type"), "invalid_request_error");
        assert_contains(fixture_str(fx, "error.message"), rows[i].part);
    }
    assert_int_equal(say(fx, "[1]"), 400);
    assert_non_null(fixture_json(fx, "error.message"));
    assert_int_equal(fx->fake.submits, 0);
}

static void test_a_text_that_is_too_long_is_400(void **state)
{
    struct fixture *fx = *state;
    struct buf body;

    buf_init(&body, 1 << 20);
    assert_int_equal(buf_add_str(&body, "{\"model\":\"talk\",\"input\":\""), 0);
    for (int i = 0; i < 70000; i++)
        assert_int_equal(buf_add_char(&body, 'a'), 0);
    assert_int_equal(buf_add_str(&body, "\"}"), 0);
    assert_int_equal(say(fx, buf_str(&body)), 400);
    assert_contains(fixture_str(fx, "error.message"), "too long");
    buf_fini(&body);
}

static void test_a_failed_job_answers_by_its_code(void **state)
{
    static const struct {
        const char *code;
        int status;
    } rows[] = {{"bad_input", 400},
                {"run_timeout", 504},
                {"worker_died", 502},
                {"unloaded", 503},
                {"never_fits", 413}};
    struct fixture *fx = *state;

    fx->fake.job.state = API_JOB_ERROR;
    fx->fake.job.error = "boom";
    fx->fake.job_ms = 1;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        fx->fake.job.error_code = rows[i].code;
        assert_int_equal(say(fx, speech), rows[i].status);
        assert_string_equal(fixture_str(fx, "error.code"), rows[i].code);
        assert_string_equal(fixture_str(fx, "error.message"), "boom");
    }
}

static void test_a_client_that_leaves_gives_its_job_up(void **state)
{
    struct fixture *fx = *state;
    struct http_client_request request = {.method = "POST",
                                          .target = "/v1/audio/speech",
                                          .content_type = "application/json",
                                          .body = slice_str(speech)};

    fixture_leave_after(fx, &request, 100);
    assert_int_equal(fx->fake.submits, 1);
    assert_int_equal(fx->fake.drops, 1);
}

static void test_a_client_that_leaves_during_the_submit_gives_its_job_up(void **state)
{
    struct fixture *fx = *state;
    struct http_client_request request = {.method = "POST",
                                          .target = "/v1/audio/speech",
                                          .content_type = "application/json",
                                          .body = slice_str(speech)};

    fx->fake.submit_ms = 200;
    fixture_leave_after(fx, &request, 50);
    assert_int_equal(fx->fake.cancels, 0);
    fixture_run(fx, 300);
    assert_int_equal(fx->fake.cancels, 1);
}

static void test_the_wait_has_its_limit(void **state)
{
    struct fixture *fx = *state;

    fx->fake.config.sync_wait_limit_ms = 20;
    assert_int_equal(say(fx, speech), 504);
    assert_string_equal(fixture_str(fx, "error.code"), "sync_wait_limit");
    assert_int_equal(fx->fake.drops, 1);
}

static void test_a_submit_that_fails_has_openais_shape(void **state)
{
    struct fixture *fx = *state;

    (void)err_set(&fx->fake.submit_err, -EAGAIN, "full");
    assert_int_equal(say(fx, speech), 429);
    assert_string_equal(fixture_str(fx, "error.type"), "rate_limit_error");
}

static void test_unknown_paths_have_openais_shape(void **state)
{
    struct fixture *fx = *state;

    assert_int_equal(fixture_post(fx, "/v1/chat/completions", "application/json", "{}"), 404);
    assert_string_equal(fixture_str(fx, "error.code"), "not_found");
    assert_int_equal(fixture_get(fx, "/v1/audio/speech"), 405);
    assert_non_null(fixture_json(fx, "error"));
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_models_are_listed_in_openais_shape),
        T(test_speech_answers_the_file),
        T(test_speech_from_a_backend_that_answers_at_once),
        T(test_speech_passes_voice_speed_and_format),
        T(test_openais_voice_names_are_left_to_the_worker),
        T(test_bad_speech_requests_are_400_and_name_the_parameter),
        T(test_a_text_that_is_too_long_is_400),
        T(test_a_failed_job_answers_by_its_code),
        T(test_a_client_that_leaves_gives_its_job_up),
        T(test_a_client_that_leaves_during_the_submit_gives_its_job_up),
        T(test_the_wait_has_its_limit),
        T(test_a_submit_that_fails_has_openais_shape),
        T(test_unknown_paths_have_openais_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Jobs as JSON, for Modly's clients and for our own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/job_json.h"

#include <errno.h>

static struct api_job sample(enum api_job_state state)
{
    return (struct api_job){.id = "u",
                            .model = "a/b",
                            .state = state,
                            .progress = 40,
                            .step = "doing",
                            .why = "waits for memory",
                            .collection = "My box",
                            .workspace_path = "My box/a%b.glb",
                            .output_path = "/w/My box/a%b.glb",
                            .error = "boom",
                            .error_code = "bad_input"};
}

static void test_a_queued_job_is_pending_and_says_why_it_waits(void **state)
{
    struct api_job job = sample(API_JOB_QUEUED);
    auto_json struct json_object *json = job_json_modly(&job);

    (void)state;
    assert_string_equal(json_get_str(json, "status"), "pending");
    assert_string_equal(json_get_str(json, "step"), "waits for memory");
    assert_null(json_get(json, "output_url"));
    assert_null(json_get(json, "error"));
}

static void test_modlys_output_url_is_the_plain_path_below_the_workspace(void **state)
{
    struct api_job job = sample(API_JOB_DONE);
    auto_json struct json_object *json = job_json_modly(&job);

    (void)state;
    assert_string_equal(json_get_str(json, "output_url"), "/workspace/My box/a%b.glb");
    assert_string_equal(json_get_str(json, "step"), "doing");
    assert_null(json_get(json, "error"));
}

static void test_only_a_failed_job_shows_an_error_to_modly(void **state)
{
    struct api_job job = sample(API_JOB_ERROR);
    auto_json struct json_object *json = job_json_modly(&job);

    (void)state;
    assert_string_equal(json_get_str(json, "status"), "error");
    assert_string_equal(json_get_str(json, "error"), "boom");
    assert_null(json_get(json, "output_url"));
}

static void test_our_output_url_is_encoded(void **state)
{
    struct api_job job = sample(API_JOB_DONE);
    auto_json struct json_object *json = job_json_native(&job);

    (void)state;
    assert_string_equal(json_get_str(json, "output_url"), "/workspace/My%20box/a%25b.glb");
}

static void test_an_output_outside_the_workspace_has_the_jobs_url(void **state)
{
    struct api_job job = sample(API_JOB_DONE);
    auto_json struct json_object *json = NULL;

    (void)state;
    job.workspace_path = NULL;
    json = job_json_native(&job);
    assert_string_equal(json_get_str(json, "output_url"), "/api/v1/jobs/u/output");
}

static void test_invalid_utf8_of_a_worker_stays_valid_json(void **state)
{
    struct api_job job = sample(API_JOB_ERROR);
    auto_json struct json_object *json = NULL;

    (void)state;
    job.error = "bad \xff byte";
    json = job_json_native(&job);
    assert_string_equal(json_get_str(json, "error"), "bad \xef\xbf\xbd byte");
}

static void test_states_have_names_both_ways(void **state)
{
    enum api_job_state job_state;

    (void)state;
    for (int i = API_JOB_QUEUED; i <= API_JOB_CANCELLED; i++) {
        const char *name = job_state_name((enum api_job_state)i);
        assert_int_equal(job_state_parse(slice_str(name), &job_state), 0);
        assert_int_equal(job_state, i);
        assert_int_equal(job_state_is_end(job_state), i >= API_JOB_DONE);
    }
    assert_int_equal(job_state_parse(slice_str("pending"), &job_state), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_queued_job_is_pending_and_says_why_it_waits),
        cmocka_unit_test(test_modlys_output_url_is_the_plain_path_below_the_workspace),
        cmocka_unit_test(test_only_a_failed_job_shows_an_error_to_modly),
        cmocka_unit_test(test_our_output_url_is_encoded),
        cmocka_unit_test(test_an_output_outside_the_workspace_has_the_jobs_url),
        cmocka_unit_test(test_invalid_utf8_of_a_worker_stays_valid_json),
        cmocka_unit_test(test_states_have_names_both_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

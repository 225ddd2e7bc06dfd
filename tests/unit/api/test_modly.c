/* Modly's routes against a scripted backend. */
#include "fixture.h"

#include <errno.h>

#define FORM(parts) parts FORM_END

static int generate(struct fixture *fx, const char *body)
{
    return fixture_post(fx, "/generate/from-image", FORM_TYPE, body);
}

static void test_health_answers_ok(void **state)
{
    struct fixture *fx = *state;

    assert_int_equal(fixture_get(fx, "/health"), 200);
    assert_string_equal(buf_str(&fx->body), "{\"status\":\"ok\"}");
    assert_string_equal(fx->content_type, "application/json");
}

static void test_status_without_an_active_model_is_no_error(void **state)
{
    struct fixture *fx = *state;

    fx->fake.active = NULL;
    assert_int_equal(fixture_get(fx, "/model/status"), 200);
    assert_string_equal(buf_str(&fx->body),
                        "{\"id\":null,\"name\":null,\"downloaded\":false,\"loaded\":false}");
}

static void test_all_models_come_in_the_order_of_discovery(void **state)
{
    struct fixture *fx = *state;

    assert_int_equal(fixture_get(fx, "/model/all"), 200);
    assert_int_equal(json_object_array_length(fx->json), 2);
    assert_string_equal(json_get_str(json_object_array_get_idx(fx->json, 0), "id"), "pic/mesh");
    assert_contains(buf_str(&fx->body), "\"vram_gb\":6,");
}

static void test_params_is_a_bare_array(void **state)
{
    struct fixture *fx = *state;

    assert_int_equal(fixture_get(fx, "/model/params?model_id=pic%2Fmesh"), 200);
    assert_true(json_is(fx->json, json_type_array));
    assert_int_equal(fixture_get(fx, "/model/params"), 200);
    assert_int_equal(fixture_get(fx, "/model/params?model_id=nope"), 404);
}

static void test_switch_takes_query_json_and_form(void **state)
{
    struct fixture *fx = *state;

    assert_int_equal(fixture_post(fx, "/model/switch?model_id=talk", NULL, NULL), 200);
    assert_string_equal(fixture_str(fx, "active"), "talk/say");
    assert_int_equal(
        fixture_post(fx, "/model/switch", "application/json", "{\"model_id\":\"pic/mesh\"}"), 200);
    assert_int_equal(fixture_post(fx, "/model/switch", "application/x-www-form-urlencoded",
                                  "model_id=talk%2Fsay"),
                     200);
    assert_int_equal(
        fixture_post(fx, "/model/switch", FORM_TYPE, FORM(FIELD("model_id", "pic/mesh"))), 200);
    assert_string_equal(fixture_str(fx, "active"), "pic/mesh");
    assert_int_equal(fx->fake.switches, 4);
}

static void test_json_that_is_called_a_form_is_read_as_json(void **state)
{
    struct fixture *fx = *state;

    assert_int_equal(fixture_post(fx, "/model/switch", "application/x-www-form-urlencoded",
                                  " {\"model_id\":\"talk/say\"}"),
                     200);
}

static void test_switch_refuses_two_different_ids(void **state)
{
    struct fixture *fx = *state;

    assert_int_equal(fixture_post(fx, "/model/switch?model_id=pic", "application/json",
                                  "{\"model_id\":\"talk\"}"),
                     400);
    assert_contains(fixture_str(fx, "detail"), "query");
    assert_int_equal(fx->fake.switches, 0);
    assert_int_equal(fixture_post(fx, "/model/switch?model_id=pic", "application/json",
                                  "{\"model_id\":\"pic\"}"),
                     200);
}

static void test_switch_to_an_unknown_model_names_the_known_ones(void **state)
{
    struct fixture *fx = *state;

    assert_int_equal(fixture_post(fx, "/model/switch?model_id=sf3d", NULL, NULL), 400);
    assert_contains(fixture_str(fx, "detail"), "pic/mesh, talk/say");
}

static void test_switch_without_an_id_is_422(void **state)
{
    struct fixture *fx = *state;

    assert_int_equal(fixture_post(fx, "/model/switch", "application/json", "{}"), 422);
    assert_contains(buf_str(&fx->body), "\"loc\":[\"query\",\"model_id\"]");
    assert_int_equal(fixture_post(fx, "/model/switch", "application/json", "{"), 400);
}

static void test_unload_takes_raw_and_encoded_slashes(void **state)
{
    struct fixture *fx = *state;

    assert_int_equal(fixture_post(fx, "/model/unload/pic/mesh", NULL, NULL), 200);
    assert_string_equal(fx->fake.model->id, "pic/mesh");
    assert_int_equal(fixture_post(fx, "/model/unload/talk%2Fsay?force=1", NULL, NULL), 200);
    assert_string_equal(fx->fake.model->id, "talk/say");
    assert_true(fx->fake.is_forced);
    assert_int_equal(fx->fake.within_ms, 4000);
    assert_string_equal(buf_str(&fx->body),
                        "{\"unloaded\":true,\"freed_bytes\":4096,\"state\":\"cold\"}");
}

static void test_unload_of_an_unknown_model_is_done_already(void **state)
{
    struct fixture *fx = *state;

    assert_int_equal(fixture_post(fx, "/model/unload/a/b/c", NULL, NULL), 200);
    assert_true(json_get_bool(fx->json, "unloaded", false));
    assert_int_equal(fx->fake.unloads, 0);
}

static void test_unload_all_names_no_model(void **state)
{
    struct fixture *fx = *state;

    fx->fake.is_at_once = true;
    assert_int_equal(fixture_post(fx, "/model/unload-all", "application/json", "{\"force\":true}"),
                     200);
    assert_int_equal(fx->fake.unloads, 1);
    assert_null(fx->fake.model);
    assert_true(fx->fake.is_forced);
}

static void test_generate_gives_a_job_id(void **state)
{
    struct fixture *fx = *state;

    assert_int_equal(generate(fx, FORM(IMAGE FIELD("model_id", "pic"))), 200);
    assert_string_equal(buf_str(&fx->body), "{\"job_id\":\"" JOB_ID "\"}");
    assert_string_equal(fx->fake.image, "PIXELS");
    assert_string_equal(fx->fake.collection, "Default");
    assert_string_equal(fx->fake.params, "{\"remesh\":\"quad\",\"enable_texture\":false,"
                                         "\"texture_resolution\":1024}");
    assert_false(fx->fake.is_bound);
}

static void test_generate_without_a_model_takes_the_active_one(void **state)
{
    struct fixture *fx = *state;

    fx->fake.is_at_once = true;
    assert_int_equal(generate(fx, FORM(IMAGE)), 200);
    assert_string_equal(fx->fake.model->id, "pic/mesh");
    fx->fake.active = NULL;
    assert_int_equal(generate(fx, FORM(IMAGE)), 400);
}

static void test_the_users_params_win_over_the_fields(void **state)
{
    struct fixture *fx = *state;

    assert_int_equal(generate(fx, FORM(IMAGE FIELD("remesh", "none") FIELD("enable_texture", "On")
                                           FIELD("texture_resolution", "512")
                                               FIELD("params", "{\"remesh\":\"x\",\"n\":[1]}"))),
                     200);
    assert_string_equal(fx->fake.params, "{\"remesh\":\"x\",\"enable_texture\":true,"
                                         "\"texture_resolution\":512,\"n\":[1]}");
}

static void test_an_image_of_another_type_is_refused(void **state)
{
    struct fixture *fx = *state;

    assert_int_equal(generate(fx, FORM(IMAGE_AS("text/plain"))), 400);
    assert_contains(fixture_str(fx, "detail"), "File must be an image");
    assert_int_equal(generate(fx, FORM(IMAGE_AS("IMAGE/JPEG"))), 200);
}

static void test_fields_of_the_wrong_type_are_listed_as_422(void **state)
{
    struct fixture *fx = *state;

    assert_int_equal(
        generate(fx, FORM(FIELD("enable_texture", "maybe") FIELD("texture_resolution", "1k"))),
        422);
    assert_contains(buf_str(&fx->body), "{\"type\":\"missing\",\"loc\":[\"body\",\"image\"]");
    assert_contains(buf_str(&fx->body), "\"bool_parsing\"");
    assert_contains(buf_str(&fx->body), "\"input\":\"1k\"");
    assert_int_equal(generate(fx, FORM(FIELD("image", "text"))), 422);
    assert_int_equal(fx->fake.submits, 0);
}

static void test_params_that_are_no_object_are_refused(void **state)
{
    static const char *const bodies[] = {
        FORM(IMAGE FIELD("params", "[1]")), FORM(IMAGE FIELD("params", "{")),
        FORM(IMAGE FIELD("params", "null")), FORM(IMAGE FIELD("params", "{'a':1}"))};
    struct fixture *fx = *state;

    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        assert_int_equal(generate(fx, bodies[i]), 400);
        assert_contains(fixture_str(fx, "detail"), "params must be a JSON object");
    }
    assert_int_equal(fx->fake.submits, 0);
}

static void test_bad_values_are_refused_before_anything_is_queued(void **state)
{
    struct fixture *fx = *state;

    assert_int_equal(generate(fx, FORM(IMAGE FIELD("remesh", "hex"))), 400);
    assert_int_equal(generate(fx, FORM(IMAGE FIELD("collection", "../x"))), 400);
    assert_int_equal(generate(fx, FORM(IMAGE FIELD("model_id", "sf3d"))), 400);
    assert_contains(fixture_str(fx, "detail"), "pic/mesh");
    assert_int_equal(fixture_post(fx, "/generate/from-image", "text/plain", "x"), 415);
    assert_int_equal(fx->fake.submits, 0);
    assert_int_equal(generate(fx, FORM(IMAGE FIELD("collection", "a:b"))), 200);
    assert_string_equal(fx->fake.collection, "Default");
}

static void test_a_body_above_the_limit_or_broken_is_refused(void **state)
{
    struct fixture *fx = *state;

    fx->fake.config.max_body_bytes = 64;
    assert_int_equal(generate(fx, FORM(IMAGE)), 413);
    fx->fake.config.max_body_bytes = 1 << 20;
    assert_int_equal(generate(fx, IMAGE), 400);
    assert_int_equal(generate(fx, "nonsense"), 400);
    assert_int_equal(fx->fake.submits, 0);
}

static void test_a_submit_that_fails_has_its_status(void **state)
{
    struct fixture *fx = *state;

    (void)err_set(&fx->fake.submit_err, -EAGAIN, "256 jobs wait");
    assert_int_equal(generate(fx, FORM(IMAGE)), 429);
    assert_string_equal(fixture_str(fx, "detail"), "256 jobs wait");
    assert_non_null(fx->retry_after);
    (void)err_set(&fx->fake.submit_err, -ESHUTDOWN, "stopping");
    assert_int_equal(generate(fx, FORM(IMAGE)), 503);
    (void)err_set(&fx->fake.submit_err, -ENOSPC, "full");
    assert_int_equal(generate(fx, FORM(IMAGE)), 507);
}

static void test_a_jobs_status_and_cancel(void **state)
{
    struct fixture *fx = *state;

    assert_int_equal(fixture_get(fx, "/generate/status/" JOB_ID), 200);
    assert_string_equal(fixture_str(fx, "status"), "pending");
    assert_int_equal(fixture_post(fx, "/generate/cancel/" JOB_ID, NULL, NULL), 200);
    assert_string_equal(buf_str(&fx->body), "{\"cancelled\":true}");
    assert_int_equal(fixture_get(fx, "/generate/status/" OTHER_ID), 404);
    assert_int_equal(fixture_post(fx, "/generate/cancel/" OTHER_ID, NULL, NULL), 404);
}

static void test_broken_extensions_are_listed(void **state)
{
    struct fixture *fx = *state;

    assert_int_equal(fixture_get(fx, "/extensions/errors"), 200);
    assert_contains(fixture_str(fx, "wrong"), "manifest.json");
    assert_int_equal(fixture_post(fx, "/extensions/reload", "application/json", "{}"), 200);
    assert_int_equal(json_object_array_length(fixture_json(fx, "models")), 2);
    assert_non_null(fixture_json(fx, "errors.wrong"));
    assert_int_equal(fx->fake.reloads, 1);
}

static void test_the_workspace_is_served_and_nothing_else(void **state)
{
    static const char *const climbing[] = {"/workspace/../secret",
                                           "/workspace/%2e%2e/secret",
                                           "/workspace/..%2fsecret",
                                           "/workspace//etc/passwd",
                                           "/workspace/a/../../secret",
                                           "/workspace/%2Fetc%2Fpasswd",
                                           "/workspace/",
                                           "/workspace/x/",
                                           "/workspace/none.glb",
                                           "/workspace/a%00.glb"};
    struct fixture *fx = *state;

    fixture_write(fx, "secret", "no");
    fixture_write(fx, "workspace/a b.glb", "mesh");
    assert_int_equal(fixture_get(fx, "/workspace/a%20b.glb"), 200);
    assert_string_equal(buf_str(&fx->body), "mesh");
    assert_string_equal(fx->content_type, "model/gltf-binary");
    for (size_t i = 0; i < ARRAY_LEN(climbing); i++) {
        int status = fixture_get(fx, climbing[i]);
        if (status != 404 && status != 400 && status != 307)
            fail_msg("%s: %d", climbing[i], status);
        assert_null(strstr(buf_str(&fx->body), "root:"));
    }
}

static void test_paths_and_gpu_are_told(void **state)
{
    struct fixture *fx = *state;

    assert_int_equal(fixture_get(fx, "/settings/paths"), 200);
    assert_string_equal(fixture_str(fx, "workspace_dir"), fx->fake.config.workspace_dir);
    assert_int_equal(fixture_get(fx, "/system/gpu"), 200);
    assert_string_equal(buf_str(&fx->body), "{\"sm\":0,\"cudaVersion\":0,\"accelerator\":\"cpu\"}");
}

static void test_unknown_paths_and_methods_have_modlys_shape(void **state)
{
    struct fixture *fx = *state;

    assert_int_equal(fixture_get(fx, "/nothing"), 404);
    assert_string_equal(fixture_str(fx, "detail"), "Not Found");
    assert_null(fixture_json(fx, "code"));
    assert_int_equal(fixture_get(fx, "/model/switch"), 405);
    assert_string_equal(fixture_str(fx, "detail"), "Method Not Allowed");
    assert_non_null(fx->allow);
}

#define T(fn) cmocka_unit_test_setup_teardown(fn, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_health_answers_ok),
        T(test_status_without_an_active_model_is_no_error),
        T(test_all_models_come_in_the_order_of_discovery),
        T(test_params_is_a_bare_array),
        T(test_switch_takes_query_json_and_form),
        T(test_json_that_is_called_a_form_is_read_as_json),
        T(test_switch_refuses_two_different_ids),
        T(test_switch_to_an_unknown_model_names_the_known_ones),
        T(test_switch_without_an_id_is_422),
        T(test_unload_takes_raw_and_encoded_slashes),
        T(test_unload_of_an_unknown_model_is_done_already),
        T(test_unload_all_names_no_model),
        T(test_generate_gives_a_job_id),
        T(test_generate_without_a_model_takes_the_active_one),
        T(test_the_users_params_win_over_the_fields),
        T(test_an_image_of_another_type_is_refused),
        T(test_fields_of_the_wrong_type_are_listed_as_422),
        T(test_params_that_are_no_object_are_refused),
        T(test_bad_values_are_refused_before_anything_is_queued),
        T(test_a_body_above_the_limit_or_broken_is_refused),
        T(test_a_submit_that_fails_has_its_status),
        T(test_a_jobs_status_and_cancel),
        T(test_broken_extensions_are_listed),
        T(test_the_workspace_is_served_and_nothing_else),
        T(test_paths_and_gpu_are_told),
        T(test_unknown_paths_and_methods_have_modlys_shape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Outcomes to statuses, and media types by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>

#include "api/media.h"
#include "api/status.h"
#include "base/mem.h"

static void test_every_outcome_has_its_status(void **state)
{
    static const struct {
        const char *code;
        int status;
    } rows[] = {{"never_fits", 413},    {"queue_full", 429},   {"bad_input", 400},
                {"queue_timeout", 504}, {"load_timeout", 504}, {"run_timeout", 504},
                {"worker_died", 502},   {"load_failed", 502},  {"stopping", 503},
                {"disk_full", 507},     {"unloaded", 503},     {"cancelled", 409},
                {"stall_timeout", 504}, {"unknown_model", 400}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(api_status_of(rows[i].code), rows[i].status);
}

static void test_a_code_of_a_workers_own_is_502(void **state)
{
    (void)state;
    assert_int_equal(api_status_of("missing_module"), 502);
    assert_int_equal(api_status_of(NULL), 502);
}

static void test_errnos_of_the_backend_have_codes(void **state)
{
    (void)state;
    assert_string_equal(api_code_of_errno(-EAGAIN, "x"), "queue_full");
    assert_string_equal(api_code_of_errno(-EFBIG, "x"), "never_fits");
    assert_string_equal(api_code_of_errno(-ENOSPC, "x"), "disk_full");
    assert_string_equal(api_code_of_errno(-EXDEV, "x"), "x");
}

static void test_an_error_that_has_only_a_status_gets_a_code(void **state)
{
    (void)state;
    assert_string_equal(api_code_of_status(400), "bad_request");
    assert_string_equal(api_code_of_status(404), "not_found");
    assert_string_equal(api_code_of_status(405), "method_not_allowed");
    assert_string_equal(api_code_of_status(418), "error");
}

static void test_media_types_go_by_the_names_end(void **state)
{
    (void)state;
    assert_string_equal(media_type_of(slice_str("a/b.glb")), "model/gltf-binary");
    assert_string_equal(media_type_of(slice_str("A.WAV")), "audio/wav");
    assert_string_equal(media_type_of(slice_str("x.html")), "application/octet-stream");
    assert_string_equal(media_type_of(slice_str(".glb")), "application/octet-stream");
    assert_string_equal(media_type_of(slice_str("")), "application/octet-stream");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_outcome_has_its_status),
        cmocka_unit_test(test_a_code_of_a_workers_own_is_502),
        cmocka_unit_test(test_errnos_of_the_backend_have_codes),
        cmocka_unit_test(test_an_error_that_has_only_a_status_gets_a_code),
        cmocka_unit_test(test_media_types_go_by_the_names_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Parameters against a params_schema. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/params.h"

#include <errno.h>

static const char schema_text[] =
    "[{\"id\":\"depth\",\"type\":\"int\",\"min\":1,\"max\":10},"
    "{\"id\":\"scale\",\"type\":\"float\",\"min\":0.5},"
    "{\"id\":\"mode\",\"type\":\"select\",\"options\":[{\"value\":\"a\",\"label\":\"A\"},\"b\","
    "{\"value\":3},{\"value\":true}]},"
    "{\"id\":\"flag\",\"type\":\"boolean\"},{\"id\":\"name\",\"type\":\"string\"},"
    "{\"id\":\"odd\",\"type\":\"file-select\"},7,{\"type\":\"int\"}]";

static struct err last;
static char last_name[PARAMS_NAME_MAX];

static int check(const char *params)
{
    auto_json struct json_object *schema = NULL;
    auto_json struct json_object *given = NULL;

    last = (struct err){0};
    last_name[0] = '\0';
    assert_int_equal(json_parse(slice_str(schema_text), &schema, NULL), 0);
    assert_int_equal(json_parse_object(slice_str(params), &given, NULL), 0);
    return params_check(schema, given, last_name, &last);
}

static void test_values_inside_the_limits_pass(void **state)
{
    (void)state;
    assert_int_equal(
        check("{\"depth\":1,\"scale\":0.5,\"mode\":\"a\",\"flag\":true,\"name\":\"\"}"), 0);
    assert_int_equal(check("{\"depth\":10,\"scale\":1e9,\"mode\":\"b\"}"), 0);
    assert_int_equal(check("{\"depth\":3.0,\"scale\":2,\"mode\":3}"), 0);
    assert_int_equal(check("{\"mode\":true}"), 0);
    assert_int_equal(check("{}"), 0);
}

static void test_unknown_keys_and_types_are_the_workers_business(void **state)
{
    (void)state;
    assert_int_equal(check("{\"other\":[1,2],\"odd\":{\"a\":1}}"), 0);
}

static void test_null_stands_for_the_default(void **state)
{
    (void)state;
    assert_int_equal(check("{\"depth\":null,\"mode\":null}"), 0);
}

static void test_values_of_the_wrong_type_are_refused(void **state)
{
    static const char *const wrong[] = {"{\"depth\":\"3\"}", "{\"depth\":2.5}", "{\"scale\":true}",
                                        "{\"flag\":1}",      "{\"name\":4}",    "{\"mode\":\"3\"}",
                                        "{\"depth\":[1]}",   "{\"mode\":{}}"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
        assert_int_equal(check(wrong[i]), -EINVAL);
}

static void test_a_value_outside_its_limits_is_named_with_the_limit(void **state)
{
    (void)state;
    assert_int_equal(check("{\"depth\":11}"), -EINVAL);
    assert_string_equal(last.msg, "params.depth must be at most 10, but is 11");
    assert_string_equal(last_name, "depth");
    assert_int_equal(check("{\"depth\":0}"), -EINVAL);
    assert_string_equal(last.msg, "params.depth must be at least 1, but is 0");
    assert_int_equal(check("{\"scale\":0.49}"), -EINVAL);
}

static void test_a_wrong_choice_is_told_the_known_ones(void **state)
{
    (void)state;
    assert_int_equal(check("{\"mode\":\"c\"}"), -EINVAL);
    assert_string_equal(last.msg, "params.mode must be one of a, b, 3, true, but is \"c\"");
}

static void test_a_schema_that_is_no_list_checks_nothing(void **state)
{
    auto_json struct json_object *params = json_object_new_object();

    (void)state;
    json_put_int(params, "depth", 99);
    assert_int_equal(params_check(NULL, params, NULL, NULL), 0);
    assert_int_equal(params_check(params, params, NULL, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_inside_the_limits_pass),
        cmocka_unit_test(test_unknown_keys_and_types_are_the_workers_business),
        cmocka_unit_test(test_null_stands_for_the_default),
        cmocka_unit_test(test_values_of_the_wrong_type_are_refused),
        cmocka_unit_test(test_a_value_outside_its_limits_is_named_with_the_limit),
        cmocka_unit_test(test_a_wrong_choice_is_told_the_known_ones),
        cmocka_unit_test(test_a_schema_that_is_no_list_checks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

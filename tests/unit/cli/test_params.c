/* Parameters from the command line, typed by the model's schema. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include "cli/work.h"

static const char MODEL[] = "{\"id\":\"m\",\"params_schema\":["
                            "{\"id\":\"grid\",\"type\":\"int\",\"default\":256},"
                            "{\"id\":\"voice\",\"type\":\"select\",\"default\":\"1\"},"
                            "{\"id\":\"note\",\"type\":\"string\"}]}";

static void assert_params(const char *const *words, int code, const char *expected)
{
    static const struct cli_option param = {"param", 'p', "NAME=VALUE", "", true};
    struct cli cli = {0};
    struct work work = {.cli = &cli, .model_id = "m", .params = json_object_new_object()};

    assert_int_equal(json_parse_object(slice_str(MODEL), &work.model, NULL), 0);
    for (; *words; words++)
        cli.args.given[cli.args.given_count++] = (struct cli_given){&param, *words};
    assert_int_equal(work_read_params(&work), code);
    assert_string_equal(json_text(work.params), expected);
    json_object_put(work.model);
    json_object_put(work.params);
}

#define PARAMS(code, expected, ...)                                                                \
    assert_params((const char *const[]){__VA_ARGS__, NULL}, code, expected)

static void values_are_read_as_json_where_the_schema_has_no_text(void **state)
{
    (void)state;
    PARAMS(0, "{\"grid\":64}", "grid=64");
    PARAMS(0, "{\"grid\":true}", "grid=true");
    PARAMS(0, "{\"grid\":[1,2]}", "grid=[1,2]");
    PARAMS(0, "{\"grid\":\"high\"}", "grid=high");
    PARAMS(0, "{\"free\":\"a=b\"}", "free=a=b");
}

static void a_text_stays_a_text(void **state)
{
    (void)state;
    PARAMS(0, "{\"voice\":\"2\"}", "voice=2");
    PARAMS(0, "{\"note\":\"true\"}", "note=true");
    PARAMS(0, "{\"note\":\"\"}", "note=");
}

static void the_last_of_two_equal_names_wins(void **state)
{
    (void)state;
    PARAMS(0, "{\"grid\":2}", "grid=1", "grid=2");
}

static void what_is_no_pair_is_refused(void **state)
{
    (void)state;
    PARAMS(CLI_EXIT_USAGE, "{}", "grid");
    PARAMS(CLI_EXIT_USAGE, "{}", "=1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_read_as_json_where_the_schema_has_no_text),
        cmocka_unit_test(a_text_stays_a_text),
        cmocka_unit_test(the_last_of_two_equal_names_wins),
        cmocka_unit_test(what_is_no_pair_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

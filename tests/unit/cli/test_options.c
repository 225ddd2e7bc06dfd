/* The command line parser. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>
#include <errno.h>

#include "cli/options.h"

static const struct cli_option OWN[] = {
    {"model", 'm', "ID", "", false},
    {"force", 'f', NULL, "", false},
    {"all", 'a', NULL, "", false},
    {"param", 'p', "K=V", "", true},
    {.name = NULL},
};
static const struct cli_option COMMON[] = {
    {"json", 0, NULL, "", false},
    {"help", 'h', NULL, "", false},
    {.name = NULL},
};

static int parse(struct cli_args *out, struct err *err, char *const *argv)
{
    int argc = 0;

    while (argv[argc])
        argc++;
    return options_parse(argc, argv, OWN, COMMON, out, err);
}

#define PARSE(out, err, ...) parse(out, err, (char *[]){__VA_ARGS__, NULL})

static void values_come_in_four_ways(void **state)
{
    struct cli_args args;

    (void)state;
    assert_int_equal(PARSE(&args, NULL, "--model", "x"), 0);
    assert_string_equal(options_value(&args, "model"), "x");
    assert_int_equal(PARSE(&args, NULL, "--model=x=y"), 0);
    assert_string_equal(options_value(&args, "model"), "x=y");
    assert_int_equal(PARSE(&args, NULL, "-m", "x"), 0);
    assert_string_equal(options_value(&args, "model"), "x");
    assert_int_equal(PARSE(&args, NULL, "-mx"), 0);
    assert_string_equal(options_value(&args, "model"), "x");
}

static void switches_may_be_joined_and_stand_anywhere(void **state)
{
    struct cli_args args;

    (void)state;
    assert_int_equal(PARSE(&args, NULL, "one", "-fa", "two", "--json"), 0);
    assert_true(options_has(&args, "force"));
    assert_true(options_has(&args, "all"));
    assert_true(options_has(&args, "json"));
    assert_false(options_has(&args, "help"));
    assert_int_equal(args.operand_count, 2);
    assert_string_equal(args.operands[1], "two");
}

static void repeated_options_keep_their_order(void **state)
{
    struct cli_args args;
    size_t at = 0;

    (void)state;
    assert_int_equal(PARSE(&args, NULL, "-p", "a=1", "--param=b=2"), 0);
    assert_string_equal(options_next(&args, "param", &at), "a=1");
    assert_string_equal(options_next(&args, "param", &at), "b=2");
    assert_null(options_next(&args, "param", &at));
}

static void two_dashes_end_the_options(void **state)
{
    struct cli_args args;

    (void)state;
    assert_int_equal(PARSE(&args, NULL, "--", "--force", "-5"), 0);
    assert_int_equal(args.operand_count, 2);
    assert_string_equal(args.operands[0], "--force");
    assert_false(options_has(&args, "force"));
}

static void one_dash_is_an_operand(void **state)
{
    struct cli_args args;

    (void)state;
    assert_int_equal(PARSE(&args, NULL, "-"), 0);
    assert_string_equal(args.operands[0], "-");
}

static void an_empty_value_is_a_value(void **state)
{
    struct cli_args args;

    (void)state;
    assert_int_equal(PARSE(&args, NULL, "--model=", ""), 0);
    assert_string_equal(options_value(&args, "model"), "");
    assert_string_equal(args.operands[0], "");
}

static void an_unknown_option_names_the_nearest(void **state)
{
    struct cli_args args;
    struct err err = {0};

    (void)state;
    assert_int_equal(PARSE(&args, &err, "--modle=x"), -EINVAL);
    assert_non_null(strstr(err.msg, "--modle"));
    assert_non_null(strstr(err.msg, "did you mean --model?"));
    assert_int_equal(PARSE(&args, &err, "--jsno"), -EINVAL);
    assert_non_null(strstr(err.msg, "did you mean --json?"));
    assert_int_equal(PARSE(&args, &err, "--zzzzzzzz"), -EINVAL);
    assert_non_null(strstr(err.msg, "--help"));
    assert_int_equal(PARSE(&args, &err, "-x"), -EINVAL);
    assert_non_null(strstr(err.msg, "-x"));
}

static void wrong_use_is_refused(void **state)
{
    struct cli_args args;
    struct err err = {0};

    (void)state;
    assert_int_equal(PARSE(&args, &err, "--model"), -EINVAL);
    assert_non_null(strstr(err.msg, "--model ID"));
    assert_int_equal(PARSE(&args, &err, "--force=1"), -EINVAL);
    assert_non_null(strstr(err.msg, "no value"));
    assert_int_equal(PARSE(&args, &err, "-m", "a", "--model", "b"), -EINVAL);
    assert_non_null(strstr(err.msg, "twice"));
    assert_int_equal(PARSE(&args, &err, "1", "2", "3", "4", "5", "6", "7", "8", "9"), -EINVAL);
    assert_non_null(strstr(err.msg, "quotes"));
}

static void too_many_options_are_refused(void **state)
{
    char *argv[OPTIONS_GIVEN_MAX + 2] = {0};
    struct cli_args args;

    (void)state;
    for (size_t i = 0; i <= OPTIONS_GIVEN_MAX; i++)
        argv[i] = "--param=a=1";
    assert_int_equal(parse(&args, NULL, argv), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_come_in_four_ways),
        cmocka_unit_test(switches_may_be_joined_and_stand_anywhere),
        cmocka_unit_test(repeated_options_keep_their_order),
        cmocka_unit_test(two_dashes_end_the_options),
        cmocka_unit_test(one_dash_is_an_operand),
        cmocka_unit_test(an_empty_value_is_a_value),
        cmocka_unit_test(an_unknown_option_names_the_nearest),
        cmocka_unit_test(wrong_use_is_refused),
        cmocka_unit_test(too_many_options_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

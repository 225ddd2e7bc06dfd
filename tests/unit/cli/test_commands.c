/* The table of subcommands: what every row must have, and the program's way through it. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>
#include <errno.h>

#include "cli/cli.h"

static int run(char *const *argv)
{
    int argc = 0;

    while (argv[argc])
        argc++;
    return cli_main(argc, (char **)argv);
}

#define RUN(...) run((char *[]){"hotbunk", __VA_ARGS__, NULL})

static void every_row_is_complete(void **state)
{
    (void)state;
    for (const struct cli_command *row = CLI_COMMANDS; row->name; row++) {
        assert_true((row->run != NULL) != (row->run_raw != NULL));
        assert_non_null(row->operands);
        assert_in_range(row->summary[0], 'a', 'z');
        assert_true(row->operands_min <= row->operands_max);
        assert_ptr_equal(cli_find(slice_str(row->name)), row);
    }
}

static bool clashes(const struct cli_option *a, const struct cli_option *b)
{
    return a != b && (strcmp(a->name, b->name) == 0 || (a->letter && a->letter == b->letter));
}

static void no_two_options_of_a_subcommand_are_called_the_same(void **state)
{
    (void)state;
    for (const struct cli_command *row = CLI_COMMANDS; row->name; row++) {
        for (const struct cli_option *a = row->options; a && a->name; a++) {
            for (const struct cli_option *b = row->options; b->name; b++)
                assert_false(clashes(a, b));
            for (const struct cli_option *b = CLI_COMMON_OPTIONS; b->name; b++)
                assert_false(clashes(a, b));
        }
    }
}

static void help_names_every_option(void **state)
{
    (void)state;
    for (const struct cli_command *row = CLI_COMMANDS; row->name; row++) {
        struct buf text;
        buf_init(&text, 65536);
        cli_help_command(row, &text);
        assert_non_null(strstr(buf_str(&text), "--json"));
        assert_non_null(strstr(buf_str(&text), "--help"));
        for (const struct cli_option *opt = row->options; opt && opt->name; opt++) {
            auto_free char *flag = mem_printf("--%s", opt->name);
            assert_non_null(strstr(buf_str(&text), flag));
        }
        buf_fini(&text);
    }
}

static void wrong_use_ends_with_2(void **state)
{
    (void)state;
    assert_int_equal(run((char *[]){"hotbunk", NULL}), CLI_EXIT_USAGE);
    assert_int_equal(RUN("nonsense"), CLI_EXIT_USAGE);
    assert_int_equal(RUN("--nonsense"), CLI_EXIT_USAGE);
    assert_int_equal(RUN("load"), CLI_EXIT_USAGE);
    assert_int_equal(RUN("load", "a", "b"), CLI_EXIT_USAGE);
    assert_int_equal(RUN("unload"), CLI_EXIT_USAGE);
    assert_int_equal(RUN("unload", "a", "--all"), CLI_EXIT_USAGE);
    assert_int_equal(RUN("load", "a", "--wait", "soon"), CLI_EXIT_USAGE);
    assert_int_equal(RUN("load", "a", "--wait", "2h"), CLI_EXIT_USAGE);
    assert_int_equal(RUN("logs", "a", "--bytes", "0"), CLI_EXIT_USAGE);
    assert_int_equal(RUN("generate", "/no/such/picture.png"), CLI_EXIT_USAGE);
    assert_int_equal(RUN("say", "  "), CLI_EXIT_USAGE);
    assert_int_equal(RUN("say", "\xff"), CLI_EXIT_USAGE);
    assert_int_equal(RUN("help", "nonsense"), CLI_EXIT_USAGE);
    assert_int_equal(RUN("ps", "--url", "nonsense"), CLI_EXIT_USAGE);
    assert_int_equal(RUN("serve", "--nonsense"), CLI_EXIT_USAGE);
    assert_int_equal(RUN("serve", "nonsense"), CLI_EXIT_USAGE);
    assert_int_equal(RUN("serve", "--port"), CLI_EXIT_USAGE);
}

static void serve_hands_its_flags_to_the_daemon(void **state)
{
    (void)state;
    assert_int_equal(RUN("serve", "--port", "0", "--modly", "-c", "x.yaml"), 99);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_complete),
        cmocka_unit_test(no_two_options_of_a_subcommand_are_called_the_same),
        cmocka_unit_test(help_names_every_option),
        cmocka_unit_test(wrong_use_ends_with_2),
        cmocka_unit_test(serve_hands_its_flags_to_the_daemon),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The progress bar, drawn into a buffer. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include "cli/progress.h"
#include "cli/text.h"

static char *line(int percent, const char *text, size_t width, bool has_blocks)
{
    struct buf out;

    buf_init(&out, PROGRESS_LINE_MAX);
    assert_int_equal(progress_line(&out, percent, slice_str(text), width, has_blocks), 0);
    return buf_take(&out);
}

static void assert_line(int percent, const char *text, size_t width, bool has_blocks,
                        const char *expected)
{
    auto_free char *got = line(percent, text, width, has_blocks);

    assert_string_equal(got, expected);
}

static void the_bar_grows_in_ascii(void **state)
{
    (void)state;
    assert_line(0, "load", 24, false, "  0 % [............] loa");
    assert_line(35, "mesh", 40, false, " 35 % [#######.............] mesh");
    assert_line(100, "", 40, false, "100 % [####################] ");
}

static void the_bar_grows_in_eighths_of_a_block(void **state)
{
    (void)state;
    assert_line(0, "x", 40, true, "  0 % [                    ] x");
    assert_line(50, "x", 40, true,
                " 50 % [\xE2\x96\x88\xE2\x96\x88\xE2\x96\x88\xE2\x96\x88\xE2\x96\x88"
                "\xE2\x96\x88\xE2\x96\x88\xE2\x96\x88\xE2\x96\x88\xE2\x96\x88          ] x");
    assert_line(1, "x", 40, true, "  1 % [\xE2\x96\x8F                   ] x");
}

static void a_line_never_exceeds_the_width(void **state)
{
    static const char text[] =
        "a long step \xE6\xBC\xA2\xE5\xAD\x97 with wide letters in it, and more";

    (void)state;
    for (size_t width = 1; width < 120; width++) {
        for (int percent = PROGRESS_UNKNOWN; percent <= 100; percent += 7) {
            auto_free char *got = line(percent, text, width, width % 2);
            size_t least = percent == PROGRESS_UNKNOWN ? 0 : 6;
            assert_true(text_columns(slice_str(got)) <= (width > least ? width : least));
        }
    }
}

static void values_beyond_the_scale_are_held_at_its_ends(void **state)
{
    (void)state;
    assert_line(250, "", 40, false, "100 % [####################] ");
    assert_line(-5, "", 40, false, "  0 % [....................] ");
}

static void without_a_percentage_there_is_only_the_text(void **state)
{
    (void)state;
    assert_line(PROGRESS_UNKNOWN, "waiting: 2 jobs are ahead", 80, true,
                "waiting: 2 jobs are ahead");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bar_grows_in_ascii),
        cmocka_unit_test(the_bar_grows_in_eighths_of_a_block),
        cmocka_unit_test(a_line_never_exceeds_the_width),
        cmocka_unit_test(values_beyond_the_scale_are_held_at_its_ends),
        cmocka_unit_test(without_a_percentage_there_is_only_the_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

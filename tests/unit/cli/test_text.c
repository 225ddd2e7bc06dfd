/* Texts for a terminal. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include "cli/text.h"

static void assert_clean(const char *text, bool is_many_lines, const char *expected)
{
    struct buf out;

    buf_init(&out, 1024);
    text_add_clean(&out, slice_str(text), is_many_lines);
    assert_string_equal(buf_str(&out), expected);
    buf_fini(&out);
}

static void control_bytes_become_question_marks(void **state)
{
    (void)state;
    assert_clean("a\x1b[31mb\x07\x7f", false, "a?[31mb??");
    assert_clean("a\xC2\x9B"
                 "b",
                 false, "a?b"); /* CSI as one C1 code */
    assert_clean("a\xE2\x80\xAE"
                 "b",
                 false, "a?b"); /* right to left from here */
    assert_clean("a\nb\tc\rd", false, "a b c?d");
    assert_clean("a\nb\tc\rd", true, "a\nb\tc?d");
}

static void bad_utf8_becomes_the_replacement(void **state)
{
    (void)state;
    assert_clean("a\xffz", false, "a\xEF\xBF\xBDz");
    assert_clean("gr\xC3\xBC\xC3\x9F", false, "gr\xC3\xBC\xC3\x9F");
}

static void what_does_not_fit_is_cut(void **state)
{
    struct buf out;

    (void)state;
    buf_init(&out, 3);
    text_add_clean(&out, slice_str("abcdef"), false);
    assert_string_equal(buf_str(&out), "abc");
    buf_fini(&out);
}

static void clipping_never_splits_a_letter(void **state)
{
    struct slice text = slice_str("a\xE6\xBC\xA2"
                                  "b");

    (void)state;
    assert_int_equal(text_columns(text), 4);
    assert_int_equal(text_clip(text, 0).len, 0);
    assert_int_equal(text_clip(text, 1).len, 1);
    assert_int_equal(text_clip(text, 2).len, 1);
    assert_int_equal(text_clip(text, 3).len, 4);
    assert_int_equal(text_clip(text, 9).len, 5);
}

static void times_are_written_in_their_own_unit(void **state)
{
    static const struct {
        uint64_t ms;
        const char *text;
    } cases[] = {
        {0, "0 ms"},           {999, "999 ms"},          {1000, "1.0 s"},        {59999, "59.9 s"},
        {60000, "1 min 00 s"}, {3599999, "59 min 59 s"}, {3600000, "1 h 00 min"}};
    char out[TEXT_MS_MAX];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_string_equal(text_ms(cases[i].ms, out), cases[i].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(control_bytes_become_question_marks),
        cmocka_unit_test(bad_utf8_becomes_the_replacement),
        cmocka_unit_test(what_does_not_fit_is_cut),
        cmocka_unit_test(clipping_never_splits_a_letter),
        cmocka_unit_test(times_are_written_in_their_own_unit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

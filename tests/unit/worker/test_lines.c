/* lines: what comes out must not depend on how the bytes came in. */
#include "unit.h"

#include "worker/lines.h"

#define MAX_LINE 16

struct seen {
    struct buf text; /* the lines, each with a '|' behind it */
    size_t count;
};

static void note(void *data, struct slice line)
{
    struct seen *seen = data;

    assert_int_equal(buf_add_slice(&seen->text, line), 0);
    assert_int_equal(buf_add_char(&seen->text, '|'), 0);
    seen->count++;
}

/* Feeds `text` in two pieces cut at `cut`, then ends; the lines that came out. */
static struct seen feed(const char *text, size_t len, size_t cut, uint64_t *out_dropped)
{
    struct seen seen = {0};
    struct lines lines;

    buf_init(&seen.text, 65536);
    lines_init(&lines, MAX_LINE);
    lines_feed(&lines, slice_of(text, cut), note, &seen);
    lines_feed(&lines, slice_of(text + cut, len - cut), note, &seen);
    lines_finish(&lines, note, &seen);
    if (out_dropped)
        *out_dropped = lines.dropped;
    lines_fini(&lines);
    return seen;
}

static void check_all_cuts(const char *text, const char *expected, uint64_t dropped)
{
    for (size_t cut = 0; cut <= strlen(text); cut++) {
        uint64_t found;
        struct seen seen = feed(text, strlen(text), cut, &found);
        assert_string_equal(buf_str(&seen.text), expected);
        assert_int_equal(found, dropped);
        buf_fini(&seen.text);
    }
}

static void test_lines_are_cut_at_newlines(void **state)
{
    (void)state;
    check_all_cuts("one\ntwo\nthree\n", "one|two|three|", 0);
}

static void test_the_rest_without_newline_comes_at_the_end(void **state)
{
    (void)state;
    check_all_cuts("one\ntw", "one|tw|", 0);
}

static void test_empty_lines_are_left_out(void **state)
{
    (void)state;
    check_all_cuts("\n\na\n\r\n\nb\n", "a|b|", 0);
}

static void test_crlf_ends_a_line_like_lf(void **state)
{
    (void)state;
    check_all_cuts("one\r\ntwo\r\r\n", "one|two|", 0);
}

static void test_case_078_what_a_progress_bar_overwrote_is_left_out(void **state)
{
    (void)state;
    check_all_cuts("10%\r20%\r{\"a\":1}\n", "{\"a\":1}|", 0);
}

static void test_case_078_text_glued_without_cr_stays_one_line(void **state)
{
    (void)state;
    check_all_cuts("50%{\"a\":1}\nb\n", "50%{\"a\":1}|b|", 0);
}

static void test_a_line_of_exactly_the_maximum_passes(void **state)
{
    (void)state;
    check_all_cuts("0123456789abcdef\nz\n", "0123456789abcdef|z|", 0);
}

static void test_a_longer_line_is_dropped_whole_and_counted(void **state)
{
    (void)state;
    check_all_cuts("0123456789abcdefg\nz\n", "z|", 1);
}

static void test_a_longer_rest_is_dropped_at_the_end(void **state)
{
    (void)state;
    check_all_cuts("a\n0123456789abcdefg", "a|", 1);
}

static void test_two_longer_lines_count_twice(void **state)
{
    (void)state;
    check_all_cuts("aaaaaaaaaaaaaaaaaaaa\nok\nbbbbbbbbbbbbbbbbbbbbbbb\nok\n", "ok|ok|", 2);
}

static void test_nul_bytes_are_bytes_like_others(void **state)
{
    static const char text[] = "a\0b\nc\n";

    (void)state;
    for (size_t cut = 0; cut < sizeof(text); cut++) {
        struct seen seen = feed(text, sizeof(text) - 1, cut, NULL);
        assert_int_equal(seen.count, 2);
        assert_memory_equal(seen.text.data, "a\0b|c|", 6);
        buf_fini(&seen.text);
    }
}

static void test_bytes_one_at_a_time_give_the_same_lines(void **state)
{
    static const char text[] = "one\r\ntwo\n0123456789abcdefg\nthree";
    struct seen seen = {0};
    struct lines lines;

    (void)state;
    buf_init(&seen.text, 65536);
    lines_init(&lines, MAX_LINE);
    for (size_t i = 0; i < sizeof(text) - 1; i++)
        lines_feed(&lines, slice_of(text + i, 1), note, &seen);
    lines_finish(&lines, note, &seen);
    assert_string_equal(buf_str(&seen.text), "one|two|three|");
    lines_fini(&lines);
    buf_fini(&seen.text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines_are_cut_at_newlines),
        cmocka_unit_test(test_the_rest_without_newline_comes_at_the_end),
        cmocka_unit_test(test_empty_lines_are_left_out),
        cmocka_unit_test(test_crlf_ends_a_line_like_lf),
        cmocka_unit_test(test_case_078_what_a_progress_bar_overwrote_is_left_out),
        cmocka_unit_test(test_case_078_text_glued_without_cr_stays_one_line),
        cmocka_unit_test(test_a_line_of_exactly_the_maximum_passes),
        cmocka_unit_test(test_a_longer_line_is_dropped_whole_and_counted),
        cmocka_unit_test(test_a_longer_rest_is_dropped_at_the_end),
        cmocka_unit_test(test_two_longer_lines_count_twice),
        cmocka_unit_test(test_nul_bytes_are_bytes_like_others),
        cmocka_unit_test(test_bytes_one_at_a_time_give_the_same_lines),
    };

    return cmocka_run_group_tests_name("worker/lines", tests, NULL, NULL);
}

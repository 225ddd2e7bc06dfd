#include "unit.h"

#include <errno.h>

#include "base/log.h"

struct sink {
    unsigned lines;
    enum log_level level;
    char text[LOG_LINE_MAX];
    size_t len;
};

static void sink_write(void *data, enum log_level level, const char *line, size_t len)
{
    struct sink *sink = data;

    sink->lines++;
    sink->level = level;
    sink->len = len;
    memcpy(sink->text, line, len + 1);
}

static void a_line_has_level_event_and_fields(void **state)
{
    struct sink sink = {0};
    struct log log = {.sink = sink_write, .data = &sink, .level = LOG_LEVEL_INFO};

    (void)state;
    log_write(&log, LOG_LEVEL_WARN, "worker.exit", "model=%s pid=%d", "a/b", 7);
    assert_string_equal(sink.text, "warn worker.exit model=a/b pid=7");
    assert_int_equal(sink.level, LOG_LEVEL_WARN);
    assert_int_equal(sink.len, strlen(sink.text));
    log_write(&log, LOG_LEVEL_ERROR, "bare", "%s", "");
    assert_string_equal(sink.text, "error bare ");
}

static void lower_levels_are_dropped(void **state)
{
    struct sink sink = {0};
    struct log log = {.sink = sink_write, .data = &sink, .level = LOG_LEVEL_WARN};
    struct log nowhere = {0};

    (void)state;
    log_write(&log, LOG_LEVEL_INFO, "x", "%s", "y");
    log_write(&nowhere, LOG_LEVEL_ERROR, "x", "%s", "y");
    log_write(NULL, LOG_LEVEL_ERROR, "x", "%s", "y");
    assert_int_equal(sink.lines, 0);
}

static void control_bytes_cannot_forge_a_line(void **state)
{
    struct sink sink = {0};
    struct log log = {.sink = sink_write, .data = &sink};

    (void)state;
    log_write(&log, LOG_LEVEL_INFO, "e", "m=%s", "a\nerror fake\x1b[0m\x7f\xc3\xa9");
    assert_string_equal(sink.text, "info e m=a\\x0aerror fake\\x1b[0m\\x7f\xc3\xa9");
}

static void long_lines_are_cut(void **state)
{
    static char huge[3 * LOG_LINE_MAX];
    struct sink sink = {0};
    struct log log = {.sink = sink_write, .data = &sink};

    (void)state;
    memset(huge, 'x', sizeof(huge) - 1);
    log_write(&log, LOG_LEVEL_INFO, "e", "%s", huge);
    assert_true(sink.len > LOG_LINE_MAX - 16 && sink.len < LOG_LINE_MAX);
    memset(huge, '\n', sizeof(huge) - 1);
    log_write(&log, LOG_LEVEL_INFO, "e", "%s", huge);
    assert_true(sink.len > LOG_LINE_MAX - 16 && sink.len < LOG_LINE_MAX);
    assert_null(strchr(sink.text, '\n'));
    log_write(&log, LOG_LEVEL_INFO, huge, "%s", "dropped");
    assert_int_equal(sink.lines, 2);
}

static void level_names_go_both_ways(void **state)
{
    enum log_level level = LOG_LEVEL_DEBUG;

    (void)state;
    for (int i = LOG_LEVEL_DEBUG; i <= LOG_LEVEL_ERROR; i++) {
        assert_int_equal(log_level_parse(slice_str(log_level_name((enum log_level)i)), &level), 0);
        assert_int_equal(level, i);
    }
    assert_int_equal(log_level_parse(slice_str("WARN"), &level), 0);
    assert_int_equal(level, LOG_LEVEL_WARN);
    assert_int_equal(log_level_parse(slice_str("warning"), &level), -EINVAL);
    assert_int_equal(log_level_parse(slice_str(""), &level), -EINVAL);
}

static void quoted_text_cannot_end_its_quotes(void **state)
{
    char out[LOG_VALUE_MAX];

    (void)state;
    assert_string_equal(log_quote("x\" end=done \\", out), "\"x\\\" end=done \\\\\"");
}

static void long_quoted_text_is_cut_and_closed(void **state)
{
    char text[2 * LOG_VALUE_MAX], out[LOG_VALUE_MAX];

    (void)state;
    memset(text, '"', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    assert_true(strlen(log_quote(text, out)) < LOG_VALUE_MAX);
    assert_int_equal(out[strlen(out) - 1], '"');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_has_level_event_and_fields),
        cmocka_unit_test(lower_levels_are_dropped),
        cmocka_unit_test(control_bytes_cannot_forge_a_line),
        cmocka_unit_test(long_lines_are_cut),
        cmocka_unit_test(level_names_go_both_ways),
        cmocka_unit_test(quoted_text_cannot_end_its_quotes),
        cmocka_unit_test(long_quoted_text_is_cut_and_closed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

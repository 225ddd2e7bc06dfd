/* Tables: aligned, cut to the width, harmless. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>

#include "cli/table.h"

static const struct table_column COLUMNS[] = {
    {"ID", false, true}, {"SIZE", true, false}, {"NAME", false, true}};

static char *render(struct table *table, size_t width, bool has_blocks)
{
    struct buf out;
    char *text;

    buf_init(&out, 1u << 20);
    assert_int_equal(table_render(table, width, has_blocks, &out), 0);
    text = buf_take(&out);
    table_fini(table);
    return text;
}

static void row(struct table *table, const char *id, const char *size, const char *name)
{
    table_add(table, id);
    table_add(table, size);
    table_add(table, name);
}

static void columns_are_as_wide_as_their_widest_cell(void **state)
{
    struct table table;
    auto_free char *text = NULL;

    (void)state;
    table_init(&table, COLUMNS, ARRAY_LEN(COLUMNS));
    row(&table, "a", "1", "first");
    row(&table, "longer", "12345", NULL);
    text = render(&table, 0, false);
    assert_string_equal(text, "ID       SIZE  NAME\n"
                              "a           1  first\n"
                              "longer  12345\n");
}

static void letters_beyond_ascii_are_counted_in_columns(void **state)
{
    struct table table;
    auto_free char *text = NULL;

    (void)state;
    table_init(&table, COLUMNS, ARRAY_LEN(COLUMNS));
    row(&table, "\xC3\xA4\xC3\xB6", "1", "x");         /* two columns in four bytes */
    row(&table, "\xE6\xBC\xA2\xE5\xAD\x97", "1", "y"); /* four columns in six bytes */
    text = render(&table, 0, true);
    assert_string_equal(text, "ID    SIZE  NAME\n"
                              "\xC3\xA4\xC3\xB6       1  x\n"
                              "\xE6\xBC\xA2\xE5\xAD\x97     1  y\n");
}

static void a_narrow_terminal_cuts_texts_and_not_numbers(void **state)
{
    struct table table;
    auto_free char *text = NULL;

    (void)state;
    table_init(&table, COLUMNS, ARRAY_LEN(COLUMNS));
    row(&table, "short", "123456789", "a name that is far too long");
    text = render(&table, 30, false);
    assert_string_equal(text, "ID          SIZE  NAME\n"
                              "short  123456789  a name that~\n");
}

static void what_cannot_shrink_any_more_is_clipped(void **state)
{
    struct table table;
    auto_free char *text = NULL;

    (void)state;
    table_init(&table, COLUMNS, ARRAY_LEN(COLUMNS));
    row(&table, "0123456789", "1234567890", "0123456789");
    text = render(&table, 20, true);
    assert_string_equal(text, "ID              SIZE\n"
                              "0123456\xE2\x80\xA6  1234567890\n");
}

static void control_bytes_cannot_steer_the_terminal(void **state)
{
    struct table table;
    auto_free char *text = NULL;

    (void)state;
    table_init(&table, COLUMNS, ARRAY_LEN(COLUMNS));
    row(&table, "a\x1b[2Jb", "1\n2", "\xff");
    text = render(&table, 0, false);
    assert_string_equal(text, "ID      SIZE  NAME\n"
                              "a?[2Jb   1 2  \xEF\xBF\xBD\n");
}

static void an_empty_table_is_its_titles(void **state)
{
    struct table table;
    auto_free char *text = NULL;

    (void)state;
    table_init(&table, COLUMNS, ARRAY_LEN(COLUMNS));
    text = render(&table, 80, false);
    assert_string_equal(text, "ID  SIZE  NAME\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_as_wide_as_their_widest_cell),
        cmocka_unit_test(letters_beyond_ascii_are_counted_in_columns),
        cmocka_unit_test(a_narrow_terminal_cuts_texts_and_not_numbers),
        cmocka_unit_test(what_cannot_shrink_any_more_is_clipped),
        cmocka_unit_test(control_bytes_cannot_steer_the_terminal),
        cmocka_unit_test(an_empty_table_is_its_titles),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

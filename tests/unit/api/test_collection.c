/* Which folder a collection's name becomes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api/collection.h"

#include <errno.h>

static void assert_becomes(const char *name, const char *wanted)
{
    char out[ID_NAME_MAX + 1];

    assert_int_equal(collection_of_modly(slice_str(name), out, NULL), 0);
    assert_string_equal(out, wanted);
}

static void assert_refused(const char *name)
{
    char out[ID_NAME_MAX + 1];
    struct err err = {0};

    assert_int_equal(collection_of_modly(slice_str(name), out, &err), -EINVAL);
    assert_true(err.msg[0] != '\0');
}

static void test_a_plain_name_is_kept_without_its_blanks(void **state)
{
    (void)state;
    assert_becomes("Chairs", "Chairs");
    assert_becomes("  My chairs \n", "My chairs");
    assert_becomes("St\xc3\xbchle", "St\xc3\xbchle");
    assert_becomes(".hidden", ".hidden");
}

static void test_a_name_that_no_folder_can_have_becomes_default(void **state)
{
    static const char *const names[] = {"",   " ",     "a/b",  "a:b",   "a*",
                                        "a?", "\"a\"", "<a>",  "a|b",   "a\\b",
                                        "a.", ".",     "a\tb", "a\x7f", "\xff"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        assert_becomes(names[i], "Default");
}

static void test_a_name_that_climbs_is_refused(void **state)
{
    static const char *const names[] = {"..",    "../x", "a/../b",   "/etc",    "a/..",
                                        "..\\x", "\\x",  " ../../x", "a\\..\\b"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        assert_refused(names[i]);
}

static void test_dots_inside_a_name_do_not_climb(void **state)
{
    (void)state;
    assert_becomes("a..b", "a..b");
    assert_becomes("..a", "..a");
}

static void test_a_name_that_is_too_long_is_refused(void **state)
{
    char name[ID_NAME_MAX + 2];

    (void)state;
    memset(name, 'a', sizeof(name));
    name[ID_NAME_MAX + 1] = '\0';
    assert_refused(name);
    assert_becomes(name + 1, name + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_plain_name_is_kept_without_its_blanks),
        cmocka_unit_test(test_a_name_that_no_folder_can_have_becomes_default),
        cmocka_unit_test(test_a_name_that_climbs_is_refused),
        cmocka_unit_test(test_dots_inside_a_name_do_not_climb),
        cmocka_unit_test(test_a_name_that_is_too_long_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

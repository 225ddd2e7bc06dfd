#include "unit.h"

#include <errno.h>

#include "base/err.h"

static void set_fills_and_returns_the_code(void **state)
{
    struct err err;

    (void)state;
    assert_int_equal(err_set(&err, -ENOENT, "no %s", "file"), -ENOENT);
    assert_int_equal(err.code, -ENOENT);
    assert_string_equal(err.msg, "no file");
    assert_string_equal(err.where, "");
}

static void no_err_is_fine(void **state)
{
    (void)state;
    assert_int_equal(err_set(NULL, -EIO, "x"), -EIO);
    assert_int_equal(err_at(NULL, "x"), 0);
}

static void long_text_is_cut(void **state)
{
    char text[2000];
    struct err err;

    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    (void)err_set(&err, -EINVAL, "%s", text);
    (void)err_at(&err, "%s", text);
    assert_int_equal(strlen(err.msg), ERR_MSG_MAX - 1);
    assert_int_equal(strlen(err.where), ERR_WHERE_MAX - 1);
}

static void the_first_place_is_kept(void **state)
{
    struct err err;

    (void)state;
    (void)err_set(&err, -EINVAL, "x");
    assert_int_equal(err_at(&err, "a:%d", 1), -EINVAL);
    assert_int_equal(err_at(&err, "b:2"), -EINVAL);
    assert_string_equal(err.where, "a:1");
    (void)err_set(&err, -EIO, "y"); /* a new error has no place yet */
    assert_string_equal(err.where, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_fills_and_returns_the_code),
        cmocka_unit_test(no_err_is_fine),
        cmocka_unit_test(long_text_is_cut),
        cmocka_unit_test(the_first_place_is_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

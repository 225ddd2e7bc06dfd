#include "net/http.h"

#include <errno.h>
#include <stdio.h>

#include "cmocka_all.h"

static int query(const char *text, const char *name, char out[32])
{
    struct buf value;
    int rc;

    buf_init(&value, 16);
    rc = http_query_get(slice_str(text), name, &value);
    (void)snprintf(out, 32, "%s", buf_str(&value));
    buf_fini(&value);
    return rc;
}

static void query_gives_the_first_decoded_value(void **state)
{
    char out[32];

    (void)state;
    assert_int_equal(query("a=1&b=x+y%2Fz&b=2", "b", out), 0);
    assert_string_equal(out, "x y/z");
    assert_int_equal(query("%61=7", "a", out), 0);
    assert_string_equal(out, "7");
    assert_int_equal(query("a", "a", out), 0);
    assert_string_equal(out, "");
}

static void query_refuses_what_is_broken_or_too_long(void **state)
{
    char out[32];

    (void)state;
    assert_int_equal(query("a=1", "b", out), -ENOENT);
    assert_int_equal(query("", "b", out), -ENOENT);
    assert_int_equal(query("a=%4", "a", out), -EINVAL);
    assert_int_equal(query("a=%zz", "a", out), -EINVAL);
    assert_int_equal(query("a=%00", "a", out), -EINVAL);
    assert_int_equal(query("a=0123456789abcdefg", "a", out), -EMSGSIZE);
}

static void path_is_decoded_once(void **state)
{
    char out[16];

    (void)state;
    assert_int_equal(http_path_decode(slice_str("a%2fb%2520"), out, sizeof(out)), 6);
    assert_string_equal(out, "a/b%20");
    assert_int_equal(http_path_decode(slice_str("%00"), out, sizeof(out)), -EINVAL);
    assert_int_equal(http_path_decode(slice_str("%"), out, sizeof(out)), -EINVAL);
    assert_int_equal(http_path_decode(slice_str("%1"), out, sizeof(out)), -EINVAL);
    assert_int_equal(http_path_decode(slice_str("0123456789abcdef"), out, sizeof(out)), -EMSGSIZE);
}

static int param(const char *text, const char *name, char out[32])
{
    struct buf value;
    int rc;

    buf_init(&value, 16);
    rc = http_param_get(slice_str(text), name, &value);
    (void)snprintf(out, 32, "%s", buf_str(&value));
    buf_fini(&value);
    return rc;
}

static void param_is_unquoted(void **state)
{
    char out[32];

    (void)state;
    assert_int_equal(param("form-data; name=\"a;b\"; filename=\"c\\\"d\"", "name", out), 0);
    assert_string_equal(out, "a;b");
    assert_int_equal(param("form-data; name=\"a;b\"; filename=\"c\\\"d\"", "filename", out), 0);
    assert_string_equal(out, "c\"d");
    assert_int_equal(param("x; Boundary=abc ; y=1", "boundary", out), 0);
    assert_string_equal(out, "abc");
    assert_int_equal(param("x; filename=\"C:\\dir\\a\"", "filename", out), 0);
    assert_string_equal(out, "C:\\dir\\a");
}

static void param_refuses_broken_quoting_and_doubles(void **state)
{
    static const char *const bad[] = {
        "x; name=\"a",    "x; name=a; name=b", "x; name",  "x; =a",
        "x; name=\"a\"b", "x; name=a b",       "x; name=",
    };
    char out[32];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_int_equal(param(bad[i], "name", out), -EINVAL);
    assert_int_equal(param("x", "name", out), -ENOENT);
    assert_int_equal(param("x;", "name", out), -ENOENT);
    assert_int_equal(param("x; name=\"0123456789abcdefg\"", "name", out), -EMSGSIZE);
}

static void date_is_an_imf_fixdate(void **state)
{
    char out[HTTP_DATE_LEN + 1];

    (void)state;
    http_date(784111777000, out);
    assert_string_equal(out, "Sun, 06 Nov 1994 08:49:37 GMT");
}

static void token_knows_every_byte(void **state)
{
    (void)state;
    for (int c = 0; c < 256; c++) {
        char byte = (char)c;
        bool is_alnum = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool want = is_alnum || (c && c < 128 && strchr("!#$%&'*+-.^_`|~", c));
        assert_int_equal(http_is_token(slice_of(&byte, 1)), want);
    }
    assert_false(http_is_token(slice_str("")));
}

static void list_has_compares_whole_members(void **state)
{
    (void)state;
    assert_true(http_list_has(slice_str("a , Close"), "close"));
    assert_false(http_list_has(slice_str("closed, x"), "close"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(query_gives_the_first_decoded_value),
        cmocka_unit_test(query_refuses_what_is_broken_or_too_long),
        cmocka_unit_test(path_is_decoded_once),
        cmocka_unit_test(param_is_unquoted),
        cmocka_unit_test(param_refuses_broken_quoting_and_doubles),
        cmocka_unit_test(date_is_an_imf_fixdate),
        cmocka_unit_test(token_knows_every_byte),
        cmocka_unit_test(list_has_compares_whole_members),
    };

    return cmocka_run_group_tests_name("net/http", tests, NULL, NULL);
}

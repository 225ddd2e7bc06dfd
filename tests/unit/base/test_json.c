/* What is JSON for us and what is not; members, texts. */
#include "unit.h"

#include <errno.h>
#include <math.h>

#include "base/json.h"

#define S(text)                                                                                    \
    {                                                                                              \
        text, sizeof(text) - 1                                                                     \
    }

static void assert_accepted(struct slice text)
{
    struct json_object *root = NULL;
    struct err err = {0};

    if (json_parse(text, &root, &err) != 0)
        fail_msg("%.*s: %s", SLICE_ARG(text), err.msg);
    json_object_put(root);
}

static void assert_refused(struct slice text)
{
    struct json_object *root = NULL;
    struct err err = {0};

    if (json_parse(text, &root, &err) != -EINVAL)
        fail_msg("accepted: %.*s", SLICE_ARG(text));
    assert_null(root);
    assert_true(err.msg[0] != '\0');
}

static void valid_texts_are_accepted(void **state)
{
    static const struct slice CASES[] = {
        S("null"),
        S("true"),
        S("false"),
        S("0"),
        S("-0"),
        S("1"),
        S("-1"),
        S("1.5"),
        S("1e5"),
        S("1E+5"),
        S("1e-5"),
        S("0.5"),
        S("0e0"),
        S(" \t\r\n1 \t\r\n"),
        S("\"\""),
        S("\"a\""),
        S("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""),
        S("\"\\u0041\""),
        S("\"\\ud83d\\ude00\""),
        S("\"\xf0\x9f\x98\x80\""),
        S("\"\x7f\""),
        S("[]"),
        S("{}"),
        S("[1,2,[3]]"),
        S("{\"a\":{\"b\":[]}}"),
        S("{\"\":1}"),
        S("9223372036854775807"),
        S("18446744073709551615"),
        S("-9223372036854775808"),
        S("{\"gr\\u00f6\\u00dfe\":1}"),
        S("{\"a\\\\u0041\":1,\"aA\":2}"),
        S("1.7976931348623157e308"),
        S("1e-400"),
        S("123456789012345678901234567890.5"),
        S("{\"a\":1,\"A\":2}"),
        S("[{\"a\":1},{\"a\":2}]"),
        S("0.000e999"),
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
        assert_accepted(CASES[i]);
}

static void assert_all_refused(const struct slice *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_refused(cases[i]);
}

static void what_is_not_json_is_refused(void **state)
{
    static const struct slice CASES[] = {
        S(""),
        S(" "),
        S("nul"),
        S("True"),
        S("nan"),
        S("NaN"),
        S("Infinity"),
        S("-Infinity"),
        S("'a'"),
        S("\"a"),
        S("[1,]"),
        S("[,1]"),
        S("[1 2]"),
        S("{\"a\"}"),
        S("{\"a\":}"),
        S("{\"a\":1,}"),
        S("{a:1}"),
        S("{'a':1}"),
        S("{1:1}"),
        S("[1"),
        S("{\"a\":1"),
        S("1 2"),
        S("// x\n1"),
        S("/* x */1"),
        S("[1]x"),
        S("\xef\xbb\xbf"
          "1"),
        S("1\0"),
    };

    (void)state;
    assert_all_refused(CASES, ARRAY_LEN(CASES));
}

static void bad_numbers_are_refused(void **state)
{
    static const struct slice CASES[] = {
        S("01"),
        S("-01"),
        S("00"),
        S("+1"),
        S(".5"),
        S("5."),
        S("1e"),
        S("1e+"),
        S("-"),
        S("0x1"),
        S("1_0"),
        S("18446744073709551616"),
        S("-9223372036854775809"),
        S("1e309"),
        S("-1e400"),
        S("123456789e305"),
        S("1e99999999999999999999"),
        S("1.8e308"),
    };

    (void)state;
    assert_all_refused(CASES, ARRAY_LEN(CASES));
}

static void bad_strings_are_refused(void **state)
{
    static const struct slice CASES[] = {
        S("\"\n\""),
        S("\"\t\""),
        S("\"\x01\""),
        S("\"\\x\""),
        S("\"\\u12\""),
        S("\"\\u12g4\""),
        S("\"\\u0000\""),
        S("\"\\ud83d\""),
        S("\"\\ude00\""),
        S("\"\\ud83dx\""),
        S("\"\\ud83d\\u0041\""),
        S("\"\\ud83d\\\""),
        S("{\"\\u0000\":1}"),
        S("\"a\0b\""),
        S("\"\xff\""),
        S("\"\xc0\x80\""),
        S("\"\xed\xa0\x80\""),
        S("\"\xf4\x90\x80\x80\""),
    };

    (void)state;
    assert_all_refused(CASES, ARRAY_LEN(CASES));
}

static void equal_keys_are_refused_however_they_are_written(void **state)
{
    static const struct slice CASES[] = {
        S("{\"a\":1,\"a\":2}"),
        S("{\"x\":{\"a\":1,\"b\":2,\"a\":3}}"),
        S("{\"\":1,\"\":2}"),
        S("{\"a/b\":1,\"a\\/b\":2}"),
        S("{\"A\":1,\"\\u0041\":2}"),
        S("{\"\xc3\xb6\":1,\"\\u00f6\":2}"),
        S("{\"\xf0\x9f\x98\x80\":1,\"\\ud83d\\ude00\":2}"),
        S("{\"\\n\":1,\"\\u000a\":2}"),
    };

    (void)state;
    assert_all_refused(CASES, ARRAY_LEN(CASES));
}

static void nesting_is_bounded_and_json_c_agrees(void **state)
{
    char text[2 * (JSON_DEPTH_MAX + 2)];

    (void)state;
    for (size_t depth = 1; depth <= JSON_DEPTH_MAX; depth++) {
        memset(text, '[', depth);
        memset(text + depth, ']', depth);
        assert_accepted(slice_of(text, 2 * depth));
    }
    memset(text, '[', JSON_DEPTH_MAX + 2);
    memset(text + JSON_DEPTH_MAX + 2, ']', JSON_DEPTH_MAX + 2);
    assert_refused(slice_of(text, sizeof(text)));
}

static void the_fault_is_named_by_its_byte(void **state)
{
    struct err err;

    (void)state;
    assert_int_equal(json_prescan(slice_str("{\"a\": nope}"), &err), -EINVAL);
    assert_contains(err.msg, "byte 6");
    assert_int_equal(json_prescan(slice_str("{\"a\":1,\"a\":2}"), &err), -EINVAL);
    assert_contains(err.msg, "\"a\" stands twice");
}

static void seeds_of_64_bits_are_kept(void **state)
{
    auto_json struct json_object *root = NULL;

    (void)state;
    assert_int_equal(
        json_parse(slice_str("[18446744073709551615,-9223372036854775808]"), &root, NULL), 0);
    assert_string_equal(json_text(root), "[18446744073709551615,-9223372036854775808]");
}

static void objects_only_takes_objects_only(void **state)
{
    struct json_object *root = NULL;

    (void)state;
    assert_int_equal(json_parse_object(slice_str("[1]"), &root, NULL), -EINVAL);
    assert_int_equal(json_parse_object(slice_str("null"), &root, NULL), -EINVAL);
    assert_null(root);
    assert_int_equal(json_parse_object(slice_str("{}"), &root, NULL), 0);
    json_object_put(root);
}

static void members_of_another_type_are_the_default(void **state)
{
    auto_json struct json_object *root = NULL;
    static const char TEXT[] = "{\"s\":\"x\",\"i\":7,\"d\":1.5,\"b\":true,\"n\":null}";

    (void)state;
    assert_int_equal(json_parse(slice_str(TEXT), &root, NULL), 0);
    assert_string_equal(json_get_str(root, "s"), "x");
    assert_null(json_get_str(root, "i"));
    assert_null(json_get_str(root, "n"));
    assert_null(json_get_str(root, "absent"));
    assert_int_equal(json_get_int(root, "i", -1), 7);
    assert_int_equal(json_get_int(root, "s", -1), -1);
    assert_int_equal(json_get_int(root, "d", -1), -1);
    assert_true(json_get_double(root, "d", 0) > 1.4);
    assert_true(json_get_double(root, "i", 0) > 6.9);
    assert_true(json_get_double(root, "s", 2) > 1.9);
    assert_true(json_get_bool(root, "b", false));
    assert_true(json_get_bool(root, "i", true));
    assert_null(json_get(NULL, "x"));
    assert_null(json_get(json_get(root, "s"), "x"));
}

static void what_is_written_is_json(void **state)
{
    auto_json struct json_object *root = json_object_new_object();
    struct json_object *again = NULL;

    (void)state;
    json_put_str(root, "s", "a/b\xff");
    json_put_str(root, "none", NULL);
    json_put_int(root, "i", -3);
    json_put_u64(root, "u", UINT64_MAX);
    json_put_double(root, "d", 0.5);
    json_put_double(root, "nan", (double)NAN);
    json_put_double(root, "inf", (double)INFINITY);
    json_put_bool(root, "b", true);
    assert_string_equal(json_text(root),
                        "{\"s\":\"a/b\xef\xbf\xbd\",\"none\":null,\"i\":-3,"
                        "\"u\":18446744073709551615,\"d\":0.5,\"nan\":null,\"inf\":null,"
                        "\"b\":true}");
    assert_int_equal(json_parse(slice_str(json_text(root)), &again, NULL), 0);
    json_object_put(again);
}

static void quoting_escapes_and_repairs(void **state)
{
    static const struct {
        struct slice in;
        const char *out;
    } CASES[] = {
        {S(""), "\"\""},
        {S("a\"b\\c"), "\"a\\\"b\\\\c\""},
        {S("\n\r\t\x01\x1f"), "\"\\n\\r\\t\\u0001\\u001f\""},
        {S("\0"), "\"\\u0000\""},
        {S("h\xc3\xa9"), "\"h\xc3\xa9\""},
        {S("\xff"
           "a\xc3"),
         "\"\xef\xbf\xbd"
         "a\xef\xbf\xbd\""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct buf out;
        buf_init(&out, 256);
        assert_int_equal(json_quote(&out, CASES[i].in), 0);
        assert_string_equal(buf_str(&out), CASES[i].out);
        buf_fini(&out);
    }
}

static void quoting_stops_at_the_limit(void **state)
{
    struct buf out;

    (void)state;
    buf_init(&out, 4);
    assert_int_equal(json_quote(&out, slice_str("abcdef")), -EMSGSIZE);
    buf_fini(&out);
}

static void many_keys_are_quick(void **state)
{
    struct buf text;
    int rc;

    (void)state;
    buf_init(&text, 1 << 20);
    assert_int_equal(buf_add_char(&text, '{'), 0);
    for (int i = 0; i < 20000; i++)
        assert_int_equal(buf_printf(&text, "%s\"\\u0041%d\":0", i ? "," : "", i), 0);
    assert_int_equal(buf_add_char(&text, '}'), 0);
    rc = json_prescan(buf_slice(&text), NULL);
    buf_fini(&text);
    assert_int_equal(rc, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(valid_texts_are_accepted),
        cmocka_unit_test(what_is_not_json_is_refused),
        cmocka_unit_test(bad_numbers_are_refused),
        cmocka_unit_test(bad_strings_are_refused),
        cmocka_unit_test(equal_keys_are_refused_however_they_are_written),
        cmocka_unit_test(nesting_is_bounded_and_json_c_agrees),
        cmocka_unit_test(the_fault_is_named_by_its_byte),
        cmocka_unit_test(seeds_of_64_bits_are_kept),
        cmocka_unit_test(objects_only_takes_objects_only),
        cmocka_unit_test(members_of_another_type_are_the_default),
        cmocka_unit_test(what_is_written_is_json),
        cmocka_unit_test(quoting_escapes_and_repairs),
        cmocka_unit_test(quoting_stops_at_the_limit),
        cmocka_unit_test(many_keys_are_quick),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

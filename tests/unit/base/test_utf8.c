#include "unit.h"

#include <errno.h>

#include "base/utf8.h"

#define S(text)                                                                                    \
    {                                                                                              \
        text, sizeof(text) - 1                                                                     \
    }
#define BAD "\xef\xbf\xbd"

static void the_valid_prefix_is_measured(void **state)
{
    static const struct {
        struct slice text;
        size_t valid;
    } CASES[] = {
        {S(""), 0},
        {S("abc"), 3},
        {S("\0a"), 2},
        {S("\xc3\xa9"), 2},
        {S("\xe2\x82\xac"), 3},
        {S("\xf0\x9f\x98\x80"), 4},
        {S("\xf4\x8f\xbf\xbf"), 4}, /* U+10FFFF */
        {S("\xed\x9f\xbf"), 3},     /* U+D7FF */
        {S("\xee\x80\x80"), 3},     /* U+E000 */
        {S("a\xff"), 1},
        {S("\x80"), 0},
        {S("\xc0\x80"), 0}, /* overlong */
        {S("\xc1\xbf"), 0},
        {S("\xe0\x80\x80"), 0},
        {S("\xe0\x9f\xbf"), 0},
        {S("\xf0\x80\x80\x80"), 0},
        {S("\xf0\x8f\xbf\xbf"), 0},
        {S("\xed\xa0\x80"), 0}, /* surrogate */
        {S("\xed\xbf\xbf"), 0},
        {S("\xf4\x90\x80\x80"), 0}, /* above U+10FFFF */
        {S("\xf5\x80\x80\x80"), 0},
        {S("ab\xc3"), 2}, /* cut */
        {S("ab\xe2\x82"), 2},
        {S("ab\xf0\x9f\x98"), 2},
        {S("\xc3"
           "a"),
         0},
        {S("\xe2\x82"
           "a"),
         0},
        {S("\xe2"
           "a\xac"),
         0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
        assert_int_equal(utf8_valid_len(CASES[i].text), CASES[i].valid);
}

static void bad_bytes_are_replaced_one_by_one(void **state)
{
    static const struct {
        struct slice in;
        const char *out;
    } CASES[] = {
        {S("abc"), "abc"},
        {S("a\xff"
           "b"),
         "a" BAD "b"},
        {S("\xff\xfe"), BAD BAD},
        {S("\xe2\x82"), BAD BAD},
        {S("\xc3\xa9\xc3"), "\xc3\xa9" BAD},
        {S(""), ""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct buf out;
        buf_init(&out, 64);
        assert_int_equal(utf8_add_lossy(&out, CASES[i].in), 0);
        assert_string_equal(buf_str(&out), CASES[i].out);
        assert_true(utf8_is_valid(buf_slice(&out)));
        buf_fini(&out);
    }
}

static void the_limit_of_the_buffer_is_reported(void **state)
{
    struct buf out;

    (void)state;
    buf_init(&out, 2);
    assert_int_equal(utf8_add_lossy(&out, slice_str("\xff")), -EMSGSIZE);
    assert_int_equal(utf8_add_lossy(&out, slice_str("abc")), -EMSGSIZE);
    buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_valid_prefix_is_measured),
        cmocka_unit_test(bad_bytes_are_replaced_one_by_one),
        cmocka_unit_test(the_limit_of_the_buffer_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

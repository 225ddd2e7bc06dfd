#include "unit.h"

#include <errno.h>

#include "base/base64.h"

static void vectors_of_the_rfc_are_encoded(void **state)
{
    static const struct {
        struct slice in;
        const char *out;
    } CASES[] = {
        {{"", 0}, ""},
        {{"f", 1}, "Zg=="},
        {{"fo", 2}, "Zm8="},
        {{"foo", 3}, "Zm9v"},
        {{"foob", 4}, "Zm9vYg=="},
        {{"fooba", 5}, "Zm9vYmE="},
        {{"foobar", 6}, "Zm9vYmFy"},
        {{"\0\0\0", 3}, "AAAA"},
        {{"\xff\xff\xff", 3}, "////"},
        {{"\xfb\xef\xbe", 3}, "++++"},
        {{NULL, 0}, ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct buf out;
        buf_init(&out, 64);
        assert_int_equal(base64_encode(&out, CASES[i].in), 0);
        assert_string_equal(buf_str(&out), CASES[i].out);
        buf_fini(&out);
    }
}

static void text_is_added_behind_what_is_there(void **state)
{
    struct buf out;

    (void)state;
    buf_init(&out, 64);
    assert_int_equal(buf_add_str(&out, "x:"), 0);
    assert_int_equal(base64_encode(&out, slice_str("foo")), 0);
    assert_string_equal(buf_str(&out), "x:Zm9v");
    buf_fini(&out);
}

static void what_does_not_fit_changes_nothing(void **state)
{
    struct buf out;

    (void)state;
    buf_init(&out, 3);
    assert_int_equal(base64_encode(&out, slice_str("a")), -EMSGSIZE);
    assert_int_equal(out.len, 0);
    buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vectors_of_the_rfc_are_encoded),
        cmocka_unit_test(text_is_added_behind_what_is_there),
        cmocka_unit_test(what_does_not_fit_changes_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

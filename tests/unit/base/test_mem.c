#include "unit.h"

#include "base/mem.h"

static void new_memory_is_zeroed_and_never_null(void **state)
{
    auto_free unsigned char *bytes = mem_new(64, 1);
    auto_free void *nothing = mem_new(0, 0);

    (void)state;
    for (size_t i = 0; i < 64; i++)
        assert_int_equal(bytes[i], 0);
    assert_non_null(nothing);
}

static void copies_of_nothing_are_nothing(void **state)
{
    auto_free char *part = mem_strndup("abcdef", 3);
    auto_free char *whole = mem_strdup("");

    (void)state;
    assert_null(mem_strdup(NULL));
    assert_null(mem_strndup(NULL, 3));
    assert_string_equal(part, "abc");
    assert_string_equal(whole, "");
    mem_free(NULL);
}

static void resizing_keeps_the_bytes(void **state)
{
    char *text = mem_strdup("abc");

    (void)state;
    text = mem_resize(text, 1000);
    assert_string_equal(text, "abc");
    mem_free(text);
}

static void an_impossible_size_can_fail(void **state)
{
    (void)state;
    assert_null(mem_try_resize(NULL, SIZE_MAX / 4));
}

static void printing_gives_a_string(void **state)
{
    auto_free char *text = mem_printf("%s-%d", "a", 7);

    (void)state;
    assert_string_equal(text, "a-7");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_memory_is_zeroed_and_never_null),
        cmocka_unit_test(copies_of_nothing_are_nothing),
        cmocka_unit_test(resizing_keeps_the_bytes),
        cmocka_unit_test(an_impossible_size_can_fail),
        cmocka_unit_test(printing_gives_a_string),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "unit.h"

#include <errno.h>

#include "base/buf.h"

static void additions_are_joined_and_terminated(void **state)
{
    struct buf buf;

    (void)state;
    buf_init(&buf, 100);
    assert_int_equal(buf_add_str(&buf, "ab"), 0);
    assert_int_equal(buf_add_char(&buf, 'c'), 0);
    assert_int_equal(buf_add_slice(&buf, slice_of("def", 2)), 0);
    assert_int_equal(buf_printf(&buf, "%d-%s", 7, "x"), 0);
    assert_string_equal(buf.data, "abcde7-x");
    assert_int_equal(buf.len, 8);
    buf_fini(&buf);
}

static void the_maximum_is_exact_and_refusal_changes_nothing(void **state)
{
    struct buf buf;

    (void)state;
    buf_init(&buf, 4);
    assert_int_equal(buf_add_str(&buf, "abc"), 0);
    assert_int_equal(buf_add_str(&buf, "de"), -EMSGSIZE);
    assert_int_equal(buf_printf(&buf, "%s", "de"), -EMSGSIZE);
    assert_string_equal(buf_str(&buf), "abc");
    assert_int_equal(buf_add_char(&buf, 'd'), 0);
    assert_int_equal(buf_add_char(&buf, 'e'), -EMSGSIZE);
    assert_int_equal(buf_add(&buf, NULL, 0), 0);
    assert_string_equal(buf_str(&buf), "abcd");
    buf_fini(&buf);
}

static void a_zeroed_buffer_holds_nothing(void **state)
{
    struct buf buf = {0};

    (void)state;
    assert_int_equal(buf_add_char(&buf, 'x'), -EMSGSIZE);
    assert_string_equal(buf_str(&buf), "");
    buf_reset(&buf);
    buf_consume(&buf, 3);
    buf_fini(&buf);
    buf_fini(&buf);
}

static void it_grows_past_its_first_size(void **state)
{
    struct buf buf;

    (void)state;
    buf_init(&buf, 100000);
    for (int i = 0; i < 100000; i++)
        assert_int_equal(buf_add_char(&buf, (char)('a' + i % 26)), 0);
    assert_int_equal(buf.data[99999], 'a' + 99999 % 26);
    assert_int_equal(strlen(buf.data), 100000);
    buf_fini(&buf);
}

static void a_limit_of_all_memory_does_not_overflow(void **state)
{
    struct buf buf;

    (void)state;
    buf_init(&buf, SIZE_MAX);
    assert_int_equal(buf_add_str(&buf, "abc"), 0);
    assert_int_equal(buf_reserve(&buf, SIZE_MAX - 1), -EMSGSIZE);
    assert_string_equal(buf_str(&buf), "abc");
    buf_fini(&buf);
}

static void consume_drops_the_front(void **state)
{
    struct buf buf;

    (void)state;
    buf_init(&buf, 100);
    assert_int_equal(buf_add_str(&buf, "abcdef"), 0);
    buf_consume(&buf, 2);
    assert_string_equal(buf_str(&buf), "cdef");
    buf_consume(&buf, 0);
    assert_string_equal(buf_str(&buf), "cdef");
    buf_consume(&buf, 100);
    assert_string_equal(buf_str(&buf), "");
    assert_int_equal(buf.len, 0);
    buf_fini(&buf);
}

static void reserve_gives_room_without_length(void **state)
{
    struct buf buf;

    (void)state;
    buf_init(&buf, 1000);
    assert_int_equal(buf_reserve(&buf, 1000), 0);
    memset(buf.data, 'x', 1000);
    assert_int_equal(buf.len, 0);
    assert_int_equal(buf_reserve(&buf, 1001), -EMSGSIZE);
    buf_fini(&buf);
}

static void take_hands_the_memory_over(void **state)
{
    struct buf buf;
    char *text;

    (void)state;
    buf_init(&buf, 10);
    assert_int_equal(buf_add_str(&buf, "abc"), 0);
    text = buf_take(&buf);
    assert_string_equal(text, "abc");
    assert_int_equal(buf.len, 0);
    assert_int_equal(buf_add_str(&buf, "next"), 0); /* it stays usable */
    mem_free(text);
    buf_fini(&buf);
    text = buf_take(&buf);
    assert_string_equal(text, "");
    mem_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(additions_are_joined_and_terminated),
        cmocka_unit_test(the_maximum_is_exact_and_refusal_changes_nothing),
        cmocka_unit_test(a_zeroed_buffer_holds_nothing),
        cmocka_unit_test(it_grows_past_its_first_size),
        cmocka_unit_test(a_limit_of_all_memory_does_not_overflow),
        cmocka_unit_test(consume_drops_the_front),
        cmocka_unit_test(reserve_gives_room_without_length),
        cmocka_unit_test(take_hands_the_memory_over),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "unit.h"

#include "base/mem.h"
#include "base/slice.h"

static const struct slice NONE = {0};

static void slices_are_compared_by_their_bytes(void **state)
{
    (void)state;
    assert_true(slice_eq(slice_str("ab"), slice_of("abc", 2)));
    assert_false(slice_eq(slice_str("ab"), slice_str("abc")));
    assert_false(slice_eq(slice_str("ab"), slice_str("aB")));
    assert_true(slice_eq(NONE, slice_str("")));
    assert_true(slice_eq_str(slice_of("a\0b", 1), "a"));
    assert_false(slice_eq_str(slice_of("a\0b", 3), "a"));
    assert_true(slice_ieq_str(slice_str("KiB"), "kIb"));
    assert_false(slice_ieq_str(slice_str("Ki"), "kib"));
    assert_true(slice_ieq_str(NONE, ""));
}

static void beginnings_and_ends(void **state)
{
    (void)state;
    assert_true(slice_starts_with(slice_str("abc"), "ab"));
    assert_true(slice_starts_with(slice_str("abc"), ""));
    assert_true(slice_starts_with(NONE, ""));
    assert_false(slice_starts_with(slice_str("a"), "ab"));
    assert_true(slice_ends_with(slice_str("abc"), "bc"));
    assert_true(slice_ends_with(slice_str("abc"), "abc"));
    assert_false(slice_ends_with(slice_str("c"), "bc"));
    assert_true(slice_ends_with(NONE, ""));
}

static void searching_gives_the_length_when_absent(void **state)
{
    (void)state;
    assert_int_equal(slice_index(slice_str("abcb"), 'b'), 1);
    assert_int_equal(slice_index(slice_str("abc"), 'x'), 3);
    assert_int_equal(slice_index(NONE, 'x'), 0);
    assert_int_equal(slice_find(slice_str("abcbc"), slice_str("bc")), 1);
    assert_int_equal(slice_find(slice_str("abc"), slice_str("bd")), 3);
    assert_int_equal(slice_find(slice_str("abc"), slice_str("")), 0);
    assert_int_equal(slice_find(slice_str("a"), slice_str("abc")), 1);
    assert_int_equal(slice_find(NONE, slice_str("a")), 0);
}

static void skipping_stops_at_the_end(void **state)
{
    (void)state;
    assert_true(slice_eq_str(slice_skip(slice_str("abc"), 1), "bc"));
    assert_int_equal(slice_skip(slice_str("abc"), 3).len, 0);
    assert_int_equal(slice_skip(slice_str("abc"), 99).len, 0);
    assert_null(slice_skip(NONE, 1).ptr);
}

static void trimming_takes_spaces_and_tabs(void **state)
{
    (void)state;
    assert_true(slice_eq_str(slice_trim(slice_str(" \ta b\t ")), "a b"));
    assert_int_equal(slice_trim(slice_str(" \t ")).len, 0);
    assert_true(slice_eq_str(slice_trim(slice_str("\na")), "\na"));
    assert_int_equal(slice_trim(NONE).len, 0);
}

static void splitting_gives_every_part(void **state)
{
    static const struct {
        const char *text, *parts;
    } CASES[] = {
        {"a,b", "<a><b>"}, {"a,,b", "<a><><b>"}, {",", "<><>"},
        {"a", "<a>"},      {"", "<>"},           {"a,", "<a><>"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct slice rest = slice_str(CASES[i].text), part;
        char got[64] = "";
        while (slice_split(&rest, ',', &part))
            (void)snprintf(got + strlen(got), sizeof(got) - strlen(got), "<%.*s>", SLICE_ARG(part));
        assert_string_equal(got, CASES[i].parts);
    }
}

static void nothing_has_no_parts(void **state)
{
    struct slice rest = NONE, part;

    (void)state;
    assert_false(slice_split(&rest, ',', &part));
}

static void copies_are_strings(void **state)
{
    auto_free char *some = slice_dup(slice_of("abcdef", 3));
    auto_free char *none = slice_dup(NONE);

    (void)state;
    assert_string_equal(some, "abc");
    assert_string_equal(none, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_are_compared_by_their_bytes),
        cmocka_unit_test(beginnings_and_ends),
        cmocka_unit_test(searching_gives_the_length_when_absent),
        cmocka_unit_test(skipping_stops_at_the_end),
        cmocka_unit_test(trimming_takes_spaces_and_tabs),
        cmocka_unit_test(splitting_gives_every_part),
        cmocka_unit_test(nothing_has_no_parts),
        cmocka_unit_test(copies_are_strings),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

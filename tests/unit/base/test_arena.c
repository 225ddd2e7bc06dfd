#include "unit.h"

#include "base/arena.h"

static void memory_is_zeroed_aligned_and_distinct(void **state)
{
    struct arena arena;
    char *a, *b;

    (void)state;
    arena_init(&arena, 4096);
    a = arena_new(&arena, 3, 1);
    b = arena_new(&arena, 1, 8);

    assert_non_null(a);
    assert_int_equal((uintptr_t)b % _Alignof(max_align_t), 0);
    assert_true(b >= a + 3);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(b[i], 0);
    arena_fini(&arena);
}

static void the_maximum_is_kept(void **state)
{
    struct arena arena;

    (void)state;
    arena_init(&arena, 100);
    assert_non_null(arena_new(&arena, 1, 64));
    assert_null(arena_new(&arena, 1, 64));
    assert_non_null(arena_new(&arena, 1, 16));
    arena_fini(&arena);
}

static void overflowing_sizes_are_refused(void **state)
{
    struct arena arena;

    (void)state;
    arena_init(&arena, SIZE_MAX);
    assert_null(arena_new(&arena, SIZE_MAX, 2));
    assert_null(arena_new(&arena, SIZE_MAX, 1));
    arena_fini(&arena);
}

static void large_requests_get_a_chunk_of_their_own(void **state)
{
    struct arena arena;
    char *large;

    (void)state;
    arena_init(&arena, 1 << 20);
    assert_non_null(arena_new(&arena, 1, 8));
    large = arena_new(&arena, 100000, 1);
    assert_non_null(large);
    memset(large, 1, 100000);
    assert_non_null(arena_new(&arena, 1, 8));
    arena_fini(&arena);
}

static void copies_are_terminated(void **state)
{
    struct arena arena;

    (void)state;
    arena_init(&arena, 4096);
    assert_string_equal(arena_dup(&arena, slice_of("abcdef", 3)), "abc");
    assert_string_equal(arena_dup(&arena, (struct slice){0}), "");
    arena_fini(&arena);
}

static void a_zeroed_arena_gives_nothing(void **state)
{
    struct arena arena = {0};

    (void)state;
    assert_null(arena_new(&arena, 1, 1));
    arena_fini(&arena);
    arena_fini(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed_aligned_and_distinct),
        cmocka_unit_test(the_maximum_is_kept),
        cmocka_unit_test(overflowing_sizes_are_refused),
        cmocka_unit_test(large_requests_get_a_chunk_of_their_own),
        cmocka_unit_test(copies_are_terminated),
        cmocka_unit_test(a_zeroed_arena_gives_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

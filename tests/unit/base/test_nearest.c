#include "unit.h"

#include "base/mem.h"
#include "base/nearest.h"

static void distances_count_typing_errors(void **state)
{
    static const struct {
        const char *a, *b;
        size_t distance;
    } CASES[] = {
        {"", "", 0},         {"a", "", 1},      {"", "abc", 3},           {"port", "port", 0},
        {"prot", "port", 1}, {"tll", "ttl", 1}, {"porz", "port", 1},      {"pport", "port", 1},
        {"PORT", "port", 0}, {"abc", "xyz", 3}, {"kitten", "sitting", 3}, {"ab", "ba", 1},
        {"abcd", "badc", 2},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct slice a = slice_str(CASES[i].a), b = slice_str(CASES[i].b);
        assert_int_equal(nearest_distance(a, b), CASES[i].distance);
        assert_int_equal(nearest_distance(b, a), CASES[i].distance);
    }
}

static void long_words_are_never_near(void **state)
{
    char word[NEAREST_WORD_MAX + 1];

    (void)state;
    memset(word, 'a', sizeof(word));
    assert_int_equal(nearest_distance(slice_of(word, sizeof(word)), slice_str("a")), SIZE_MAX);
    assert_int_equal(
        nearest_distance(slice_of(word, NEAREST_WORD_MAX), slice_of(word, NEAREST_WORD_MAX)), 0);
}

static void the_nearest_candidate_is_kept(void **state)
{
    struct nearest near = {.word = slice_str("modles_dir")};
    struct nearest far = {.word = slice_str("qqqqqqqq")};

    (void)state;
    nearest_offer(&near, "port");
    assert_null(near.best);
    nearest_offer(&near, "modes_dirs");
    nearest_offer(&near, "models_dir");
    nearest_offer(&near, "model_dir");
    assert_string_equal(near.best, "models_dir");
    nearest_offer(&far, "models_dir");
    assert_null(far.best);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_count_typing_errors),
        cmocka_unit_test(long_words_are_never_near),
        cmocka_unit_test(the_nearest_candidate_is_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

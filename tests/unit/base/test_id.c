#include "unit.h"

#include "base/id.h"
#include "base/mem.h"

static void uuids_carry_version_and_variant(void **state)
{
    uint8_t zeros[16] = {0}, ones[16];
    char text[ID_UUID_LEN + 1];

    (void)state;
    memset(ones, 0xff, sizeof(ones));
    id_uuid4(zeros, text);
    assert_string_equal(text, "00000000-0000-4000-8000-000000000000");
    id_uuid4(ones, text);
    assert_string_equal(text, "ffffffff-ffff-4fff-bfff-ffffffffffff");
    assert_true(id_is_uuid(slice_str(text)));
}

static void uuids_are_recognised(void **state)
{
    static const struct {
        const char *text;
        bool is_uuid;
    } CASES[] = {
        {"00000000-0000-4000-8000-000000000000", true},
        {"0123abcd-0000-4000-8000-0123456789ab", true},
        {"0123ABCD-0000-4000-8000-0123456789ab", false},
        {"00000000-0000-4000-8000-00000000000", false},
        {"00000000-0000-4000-8000-0000000000000", false},
        {"000000000000-4000-8000-0000-00000000", false},
        {"00000000-0000-4000-8000-00000000000g", false},
        {"", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
        assert_int_equal(id_is_uuid(slice_str(CASES[i].text)), CASES[i].is_uuid);
}

static void extension_ids_are_checked(void **state)
{
    static const struct {
        const char *text;
        bool is_good;
    } CASES[] = {
        {"a", true},    {"sf3d", true}, {"a.b_c-d", true},   {"0x", true},  {"", false},
        {"A", false},   {".a", false},  {"-a", false},       {"_a", false}, {"a/b", false},
        {"a b", false}, {"a\n", false}, {"\xc3\xa9", false}, {"..", false}, {"a..b", true},
    };
    char longest[ID_NAME_MAX + 2];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        if (id_is_extension(slice_str(CASES[i].text)) != CASES[i].is_good)
            fail_msg("%s", CASES[i].text);
    }
    memset(longest, 'a', sizeof(longest));
    assert_true(id_is_extension(slice_of(longest, ID_NAME_MAX)));
    assert_false(id_is_extension(slice_of(longest, ID_NAME_MAX + 1)));
}

static void path_components_are_checked(void **state)
{
    static const struct {
        struct slice text;
        bool is_good;
    } CASES[] = {
        {{"a", 1}, true},        {{"createSplat", 11}, true},
        {{"Default", 7}, true},  {{"a b", 3}, true},
        {{"...", 3}, true},      {{".hidden", 7}, true},
        {{"\xc3\xa9", 2}, true}, {{"", 0}, false},
        {{".", 1}, false},       {{"..", 2}, false},
        {{"a/b", 3}, false},     {{"/", 1}, false},
        {{"a\\b", 3}, false},    {{"a\0b", 3}, false},
        {{"a\n", 2}, false},     {{"\x7f", 1}, false},
        {{NULL, 0}, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
        assert_int_equal(id_is_component(CASES[i].text), CASES[i].is_good);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uuids_carry_version_and_variant),
        cmocka_unit_test(uuids_are_recognised),
        cmocka_unit_test(extension_ids_are_checked),
        cmocka_unit_test(path_components_are_checked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

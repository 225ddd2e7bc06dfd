#include "unit.h"

#include <errno.h>

#include "base/num.h"

static void whole_numbers_are_strict(void **state)
{
    static const struct {
        const char *text;
        uint64_t max;
        int rc;
        uint64_t value;
    } CASES[] = {
        {"0", 10, 0, 0},
        {"10", 10, 0, 10},
        {"007", 10, 0, 7},
        {"18446744073709551615", UINT64_MAX, 0, UINT64_MAX},
        {"11", 10, -ERANGE, 0},
        {"18446744073709551616", UINT64_MAX, -ERANGE, 0},
        {"99999999999999999999999", UINT64_MAX, -ERANGE, 0},
        {"", 10, -EINVAL, 0},
        {" 1", 10, -EINVAL, 0},
        {"1 ", 10, -EINVAL, 0},
        {"+1", 10, -EINVAL, 0},
        {"-1", 10, -EINVAL, 0},
        {"1.0", 10, -EINVAL, 0},
        {"0x1", 10, -EINVAL, 0},
        {"1e1", 10, -EINVAL, 0},
        {"\xd9\xa1", 10, -EINVAL, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        uint64_t value = 0;
        int rc = num_parse_u64(slice_str(CASES[i].text), CASES[i].max, &value);
        if (rc != CASES[i].rc || value != CASES[i].value)
            fail_msg("\"%s\": %d", CASES[i].text, rc);
    }
}

static void signed_numbers_reach_both_ends(void **state)
{
    static const struct {
        const char *text;
        int64_t min, max;
        int rc;
        int64_t value;
    } CASES[] = {
        {"-9223372036854775808", INT64_MIN, INT64_MAX, 0, INT64_MIN},
        {"9223372036854775807", INT64_MIN, INT64_MAX, 0, INT64_MAX},
        {"-0", INT64_MIN, INT64_MAX, 0, 0},
        {"9223372036854775808", INT64_MIN, INT64_MAX, -ERANGE, 0},
        {"-9223372036854775809", INT64_MIN, INT64_MAX, -ERANGE, 0},
        {"5", -3, 3, -ERANGE, 0},
        {"-5", -3, 3, -ERANGE, 0},
        {"-3", -3, 3, 0, -3},
        {"-", -3, 3, -EINVAL, 0},
        {"--1", -3, 3, -EINVAL, 0},
        {"+1", -3, 3, -EINVAL, 0},
        {"", -3, 3, -EINVAL, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        int64_t value = 0;
        int rc = num_parse_i64(slice_str(CASES[i].text), CASES[i].min, CASES[i].max, &value);
        if (rc != CASES[i].rc || value != CASES[i].value)
            fail_msg("\"%s\": %d", CASES[i].text, rc);
    }
}

static void decimals_are_finite(void **state)
{
    static const struct {
        const char *text;
        int rc;
        double value;
    } CASES[] = {
        {"0", 0, 0},           {"1.5", 0, 1.5},       {"-1.5", 0, -1.5},
        {"1e3", 0, 1000},      {"2.5E-1", 0, 0.25},   {".5", 0, 0.5},
        {"5.", 0, 5},          {"1e999", -ERANGE, 0}, {"1e-999", -ERANGE, 0},
        {"", -EINVAL, 0},      {"+1", -EINVAL, 0},    {"nan", -EINVAL, 0},
        {"inf", -EINVAL, 0},   {"0x1p3", -EINVAL, 0}, {"1,5", -EINVAL, 0},
        {"1.5.2", -EINVAL, 0}, {"--1", -EINVAL, 0},   {" 1", -EINVAL, 0},
        {".", -EINVAL, 0},     {"e5", -EINVAL, 0},    {"-", -EINVAL, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        double value = 0;
        int rc = num_parse_double(slice_str(CASES[i].text), &value);
        if (rc != CASES[i].rc || value < CASES[i].value || value > CASES[i].value)
            fail_msg("\"%s\": %d %g", CASES[i].text, rc, value);
    }
}

static void overlong_decimals_are_refused(void **state)
{
    char text[600];
    double value;

    (void)state;
    memset(text, '1', sizeof(text));
    assert_int_equal(num_parse_double(slice_of(text, sizeof(text)), &value), -EINVAL);
}

static void hexadecimal_has_digits_only(void **state)
{
    static const struct {
        const char *text;
        int rc;
        uint64_t value;
    } CASES[] = {
        {"0", 0, 0},        {"fF", 0, 255},      {"ffffffffffffffff", 0, UINT64_MAX},
        {"", -EINVAL, 0},   {"0x1", -EINVAL, 0}, {"g", -EINVAL, 0},
        {"-1", -EINVAL, 0}, {" 1", -EINVAL, 0},  {"10000000000000000", -ERANGE, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        uint64_t value = 0;
        int rc = num_parse_hex(slice_str(CASES[i].text), &value);
        if (rc != CASES[i].rc || value != CASES[i].value)
            fail_msg("\"%s\": %d", CASES[i].text, rc);
    }
}

static void sizes_are_powers_of_1024(void **state)
{
    static const struct {
        const char *text;
        int rc;
        uint64_t value;
    } CASES[] = {
        {"0", 0, 0},
        {"512", 0, 512},
        {"512B", 0, 512},
        {"1K", 0, 1024},
        {"1kb", 0, 1024},
        {"64KiB", 0, 65536},
        {"512MiB", 0, 512u << 20},
        {"12GB", 0, UINT64_C(12) << 30},
        {"1.5G", 0, UINT64_C(3) << 29},
        {"2 TiB", 0, UINT64_C(2) << 40},
        {"", -EINVAL, 0},
        {"GB", -EINVAL, 0},
        {"-1GB", -EINVAL, 0},
        {"1XB", -EINVAL, 0},
        {"1GBB", -EINVAL, 0},
        {"1 2", -EINVAL, 0},
        {"1e3", -EINVAL, 0},
        {" 1G", -EINVAL, 0},
        {".", -EINVAL, 0},
        {"1.2.3G", -EINVAL, 0},
        {"9999999TiB", -ERANGE, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        uint64_t value = 0;
        int rc = num_parse_size(slice_str(CASES[i].text), &value);
        if (rc != CASES[i].rc || value != CASES[i].value)
            fail_msg("\"%s\": %d %llu", CASES[i].text, rc, (unsigned long long)value);
    }
}

static void durations_are_milliseconds(void **state)
{
    static const struct {
        const char *text;
        int rc;
        uint64_t value;
    } CASES[] = {
        {"0", 0, 0},         {"30", 0, 30000},          {"250ms", 0, 250},    {"30s", 0, 30000},
        {"1.5s", 0, 1500},   {"5m", 0, 300000},         {"1.5h", 0, 5400000}, {"1d", 0, 86400000},
        {"0.4ms", 0, 0},     {"0.5ms", 0, 1},           {"", -EINVAL, 0},     {"s", -EINVAL, 0},
        {"-1s", -EINVAL, 0}, {"5 minutes", -EINVAL, 0}, {"1:30", -EINVAL, 0}, {"1h30m", -EINVAL, 0},
        {"inf", -EINVAL, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        uint64_t value = 0;
        int rc = num_parse_duration(slice_str(CASES[i].text), &value);
        if (rc != CASES[i].rc || value != CASES[i].value)
            fail_msg("\"%s\": %d %llu", CASES[i].text, rc, (unsigned long long)value);
    }
}

static void sizes_are_shown_with_a_fitting_unit(void **state)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } CASES[] = {
        {0, "0 B"},
        {1023, "1023 B"},
        {1024, "1.0 KiB"},
        {1536, "1.5 KiB"},
        {1048575, "1.0 MiB"},
        {UINT64_C(12) << 30, "12.0 GiB"},
        {UINT64_MAX, "16777216.0 TiB"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        char text[NUM_SIZE_TEXT_MAX];
        assert_string_equal(num_size_text(CASES[i].bytes, text), CASES[i].text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_numbers_are_strict),
        cmocka_unit_test(signed_numbers_reach_both_ends),
        cmocka_unit_test(decimals_are_finite),
        cmocka_unit_test(overlong_decimals_are_refused),
        cmocka_unit_test(hexadecimal_has_digits_only),
        cmocka_unit_test(sizes_are_powers_of_1024),
        cmocka_unit_test(durations_are_milliseconds),
        cmocka_unit_test(sizes_are_shown_with_a_fitting_unit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "base/num.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define NUM_TEXT_MAX 512

int num_parse_u64(struct slice text, uint64_t max, uint64_t *out_value)
{
    uint64_t value = 0;

    if (text.len == 0)
        return -EINVAL;
    for (size_t i = 0; i < text.len; i++) {
        unsigned digit = (unsigned char)text.ptr[i] - (unsigned)'0';
        if (digit > 9)
            return -EINVAL;
        if (value > (UINT64_MAX - digit) / 10)
            return -ERANGE;
        value = value * 10 + digit;
    }
    if (value > max)
        return -ERANGE;
    *out_value = value;
    return 0;
}

int num_parse_i64(struct slice text, int64_t min, int64_t max, int64_t *out_value)
{
    bool is_negative = text.len > 0 && text.ptr[0] == '-';
    uint64_t magnitude;
    uint64_t limit = is_negative ? (uint64_t)INT64_MAX + 1 : (uint64_t)INT64_MAX;
    int64_t value;
    int rc = num_parse_u64(slice_skip(text, is_negative), limit, &magnitude);

    if (rc != 0)
        return rc;
    value = is_negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
    if (value < min || value > max)
        return -ERANGE;
    *out_value = value;
    return 0;
}

int num_parse_double(struct slice text, double *out_value)
{
    char copy[NUM_TEXT_MAX];
    char *end;
    double value;

    if (text.len == 0 || text.len >= sizeof(copy))
        return -EINVAL;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if ((c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E')
            return -EINVAL;
        copy[i] = c;
    }
    copy[text.len] = '\0';
    /* The daemon never calls setlocale, so the decimal point is a point. */
    errno = 0;
    value = strtod(copy, &end);
    if (*end != '\0' || copy[0] == '+')
        return -EINVAL;
    if (!isfinite(value) || errno == ERANGE)
        return -ERANGE;
    *out_value = value;
    return 0;
}

int num_parse_hex(struct slice text, uint64_t *out_value)
{
    uint64_t value = 0;

    if (text.len == 0)
        return -EINVAL;
    if (text.len > 16)
        return -ERANGE;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        unsigned digit;
        if (c >= '0' && c <= '9')
            digit = (unsigned)(c - '0');
        else if (c >= 'a' && c <= 'f')
            digit = (unsigned)(c - 'a') + 10;
        else if (c >= 'A' && c <= 'F')
            digit = (unsigned)(c - 'A') + 10;
        else
            return -EINVAL;
        value = value << 4 | digit;
    }
    *out_value = value;
    return 0;
}

struct unit {
    const char *name;
    double factor;
};

/* Splits `text` into a non-negative number and a unit of the table. */
static int num_parse_unit(struct slice text, const struct unit *units, size_t count, double *out)
{
    size_t digits = 0;
    struct slice suffix;
    double value;
    int rc;

    while (digits < text.len &&
           ((text.ptr[digits] >= '0' && text.ptr[digits] <= '9') || text.ptr[digits] == '.'))
        digits++;
    rc = num_parse_double(slice_of(text.ptr, digits), &value);
    if (rc != 0)
        return rc;
    suffix = slice_trim(slice_skip(text, digits));
    for (size_t i = 0; i < count; i++) {
        if (!slice_ieq_str(suffix, units[i].name))
            continue;
        value *= units[i].factor;
        if (value >= 9.2e18)
            return -ERANGE;
        *out = value;
        return 0;
    }
    return -EINVAL;
}

#define KIB 1024.0
#define MIB (1024.0 * KIB)
#define GIB (1024.0 * MIB)
#define TIB (1024.0 * GIB)

int num_parse_size(struct slice text, uint64_t *out_bytes)
{
    static const struct unit UNITS[] = {
        {"", 1},      {"B", 1},    {"K", KIB},   {"KB", KIB},  {"KiB", KIB},
        {"M", MIB},   {"MB", MIB}, {"MiB", MIB}, {"G", GIB},   {"GB", GIB},
        {"GiB", GIB}, {"T", TIB},  {"TB", TIB},  {"TiB", TIB},
    };
    double value;
    int rc = num_parse_unit(text, UNITS, ARRAY_LEN(UNITS), &value);

    if (rc != 0)
        return rc;
    *out_bytes = (uint64_t)value;
    return 0;
}

int num_parse_duration(struct slice text, uint64_t *out_ms)
{
    static const struct unit UNITS[] = {
        {"", 1000}, {"ms", 1}, {"s", 1000}, {"m", 60e3}, {"h", 3600e3}, {"d", 86400e3},
    };
    double value;
    int rc = num_parse_unit(text, UNITS, ARRAY_LEN(UNITS), &value);

    if (rc != 0)
        return rc;
    *out_ms = (uint64_t)(value + 0.5);
    return 0;
}

const char *num_size_text(uint64_t bytes, char out[NUM_SIZE_TEXT_MAX])
{
    static const char *const NAMES[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    size_t i = 0;

    while (value >= (i ? 1023.95 : 1024) && i + 1 < ARRAY_LEN(NAMES)) { /* never "1024.0 KiB" */
        value /= 1024;
        i++;
    }
    (void)snprintf(out, NUM_SIZE_TEXT_MAX, i ? "%.1f %s" : "%.0f %s", value, NAMES[i]);
    return out;
}

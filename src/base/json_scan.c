/* The pre-scan of json.h: RFC 8259 by hand, depth-bounded, no tree. */
#include "base/json.h"

#include <errno.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/num.h"
#include "base/utf8.h"

#define SCAN_KEYS_MAX 65536 /* members of one object that are checked for repeats */

struct scan {
    struct slice text;
    size_t at;
    struct err *err;
};

/* A stack of the keys of the objects that are open: slices of the text, or of `decoded`. */
struct scan_keys {
    struct slice *items;
    size_t count, cap;
    struct arena decoded; /* of keys with escapes */
};

static int scan_fail(struct scan *scan, const char *what)
{
    return err_set(scan->err, -EINVAL, "not valid JSON at byte %zu: %s", scan->at, what);
}

static int scan_peek(const struct scan *scan)
{
    return scan->at < scan->text.len ? (unsigned char)scan->text.ptr[scan->at] : -1;
}

static void scan_space(struct scan *scan)
{
    int c = scan_peek(scan);

    while (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
        scan->at++;
        c = scan_peek(scan);
    }
}

static bool scan_is_digit(int c)
{
    return c >= '0' && c <= '9';
}

static void scan_digits(struct scan *scan)
{
    while (scan_is_digit(scan_peek(scan)))
        scan->at++;
}

static int scan_hex4(struct scan *scan, unsigned *out)
{
    unsigned value = 0;

    for (int i = 0; i < 4; i++, scan->at++) {
        int c = scan_peek(scan);
        if (scan_is_digit(c))
            value = value * 16 + (unsigned)(c - '0');
        else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))
            value = value * 16 + (unsigned)((c | 0x20) - 'a') + 10;
        else
            return scan_fail(scan, "four hex digits must follow \\u");
    }
    *out = value;
    return 0;
}

/* After "\u": refuses \u0000 and lone surrogates. */
static int scan_unicode(struct scan *scan)
{
    unsigned high, low;
    int rc = scan_hex4(scan, &high);

    if (rc != 0)
        return rc;
    if (high == 0)
        return scan_fail(scan, "\\u0000 is not accepted");
    if (high < 0xd800 || high > 0xdfff)
        return 0;
    if (high > 0xdbff || scan->text.len - scan->at < 6 || scan->text.ptr[scan->at] != '\\' ||
        scan->text.ptr[scan->at + 1] != 'u')
        return scan_fail(scan, "a surrogate without its other half");
    scan->at += 2;
    rc = scan_hex4(scan, &low);
    if (rc != 0)
        return rc;
    return low >= 0xdc00 && low <= 0xdfff ? 0
                                          : scan_fail(scan, "a surrogate without its other half");
}

static int scan_escape(struct scan *scan)
{
    int c = scan_peek(scan);

    scan->at++;
    if (c == 'u')
        return scan_unicode(scan);
    if (c > 0 && strchr("\"\\/bfnrt", c))
        return 0;
    scan->at--;
    return scan_fail(scan, "unknown escape");
}

/* At the opening quote. *out_raw = what stands between the quotes, escapes kept. */
static int scan_string(struct scan *scan, struct slice *out_raw)
{
    size_t start = ++scan->at;
    int c;

    while ((c = scan_peek(scan)) != '"') {
        if (c < 0)
            return scan_fail(scan, "the text ends inside a string");
        if (c < 0x20)
            return scan_fail(scan, "control byte in a string");
        scan->at++;
        if (c == '\\') {
            int rc = scan_escape(scan);
            if (rc != 0)
                return rc;
        }
    }
    *out_raw = slice_of(scan->text.ptr + start, scan->at - start);
    scan->at++;
    return 0;
}

/* Integers must fit into int64 or uint64: json-c would saturate them silently. */
static bool scan_integer_fits(struct slice digits, bool is_negative)
{
    const char *limit = is_negative ? "9223372036854775808" : "18446744073709551615";
    size_t len = strlen(limit);

    if (digits.len != len)
        return digits.len < len;
    return memcmp(digits.ptr, limit, len) <= 0;
}

/* The power of ten of a decimal number's first digit that is not 0, saturating. */
static long scan_magnitude(struct slice number)
{
    size_t at = number.ptr[0] == '-', end = at;
    long magnitude, exponent = 0;
    bool is_negative;

    while (end < number.len && scan_is_digit(number.ptr[end]))
        end++;
    magnitude = (long)(end - at) - 1;
    if (number.ptr[at] == '0') {
        for (magnitude = -1, end++; end < number.len && number.ptr[end] == '0'; end++)
            magnitude--;
    }
    for (at = end; at < number.len && (number.ptr[at] | 0x20) != 'e';)
        at++;
    at++;
    is_negative = at < number.len && number.ptr[at] == '-';
    at += at < number.len && !scan_is_digit(number.ptr[at]);
    for (; at < number.len && exponent < 1000000; at++)
        exponent = exponent * 10 + (number.ptr[at] - '0');
    return magnitude + (is_negative ? -exponent : exponent);
}

#define SCAN_MAGNITUDE_MAX 307 /* surely finite as a double */

/* json-c would make Infinity of a number that is too big, which is not JSON any more. */
static bool scan_is_finite(struct slice number)
{
    double value;

    return scan_magnitude(number) <= SCAN_MAGNITUDE_MAX || num_parse_double(number, &value) == 0;
}

/* At the point or the exponent, of which at least one must be there. */
static int scan_fraction(struct scan *scan)
{
    if (scan_peek(scan) == '.') {
        scan->at++;
        if (!scan_is_digit(scan_peek(scan)))
            return scan_fail(scan, "a digit must follow the point");
        scan_digits(scan);
    }
    if (scan_peek(scan) == 'e' || scan_peek(scan) == 'E') {
        scan->at++;
        if (scan_peek(scan) == '+' || scan_peek(scan) == '-')
            scan->at++;
        if (!scan_is_digit(scan_peek(scan)))
            return scan_fail(scan, "a digit must follow the exponent");
        scan_digits(scan);
    }
    return 0;
}

static int scan_number(struct scan *scan)
{
    size_t start = scan->at;
    bool is_negative = scan_peek(scan) == '-';
    struct slice digits;
    int c, rc;

    scan->at += is_negative;
    if (!scan_is_digit(scan_peek(scan)))
        return scan_fail(scan, "expected a value");
    digits = slice_skip(scan->text, scan->at);
    if (scan_peek(scan) == '0')
        scan->at++;
    else
        scan_digits(scan);
    digits.len = scan->at - start - is_negative;
    c = scan_peek(scan);
    if (scan_is_digit(c))
        return scan_fail(scan, "a number with a leading zero");
    if (c != '.' && c != 'e' && c != 'E')
        return scan_integer_fits(digits, is_negative) ? 0
                                                      : scan_fail(scan, "an integer over 64 bits");
    rc = scan_fraction(scan);
    if (rc == 0 && !scan_is_finite(slice_of(scan->text.ptr + start, scan->at - start)))
        rc = scan_fail(scan, "a number that is too big");
    return rc;
}

static int scan_word(struct scan *scan, const char *word)
{
    if (!slice_starts_with(slice_skip(scan->text, scan->at), word))
        return scan_fail(scan, "expected a value");
    scan->at += strlen(word);
    return 0;
}

static int scan_key_compare(const void *a, const void *b)
{
    const struct slice *x = a, *y = b;
    int order = memcmp(x->ptr, y->ptr, x->len < y->len ? x->len : y->len);

    if (order != 0)
        return order;
    return (x->len > y->len) - (x->len < y->len);
}

/* Four hex digits that were checked before. */
static unsigned decode_hex4(const char *at)
{
    uint64_t value;

    return num_parse_hex(slice_of(at, 4), &value) == 0 ? (unsigned)value : 0;
}

static size_t decode_put_utf8(unsigned code, char *out)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 63));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 63));
        out[2] = (char)(0x80 | (code & 63));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 63));
    out[2] = (char)(0x80 | (code >> 6 & 63));
    out[3] = (char)(0x80 | (code & 63));
    return 4;
}

/* One checked escape at raw.ptr[0] == '\\'. Returns its length, adds its bytes to out. */
static size_t decode_escape(struct slice raw, char *out, size_t *used)
{
    static const char NAMES[] = "bfnrt", BYTES[] = "\b\f\n\r\t";
    const char *name;
    unsigned code;

    if (raw.ptr[1] != 'u') {
        name = strchr(NAMES, raw.ptr[1]);
        out[(*used)++] = name ? BYTES[name - NAMES] : raw.ptr[1];
        return 2;
    }
    code = decode_hex4(raw.ptr + 2);
    if (code < 0xd800 || code > 0xdbff) {
        *used += decode_put_utf8(code, out + *used);
        return 6;
    }
    code = 0x10000 + ((code - 0xd800) << 10) + (decode_hex4(raw.ptr + 8) - 0xdc00);
    *used += decode_put_utf8(code, out + *used);
    return 12;
}

/* The bytes of a key with escapes, so that "a\/b" and "a/b" are seen to be the same. */
static int decode_key(struct scan_keys *keys, struct slice raw, struct slice *out_key)
{
    char *out = arena_new(&keys->decoded, raw.len, 1); /* it never grows */
    size_t used = 0;

    if (!out)
        return -ENOMEM;
    while (raw.len) {
        size_t taken = 1;
        if (raw.ptr[0] == '\\')
            taken = decode_escape(raw, out, &used);
        else
            out[used++] = raw.ptr[0];
        raw = slice_skip(raw, taken);
    }
    *out_key = slice_of(out, used);
    return 0;
}

static int scan_keys_push(struct scan *scan, struct scan_keys *keys, struct slice key)
{
    if (keys->count == SCAN_KEYS_MAX)
        return scan_fail(scan, "too many keys");
    if (slice_index(key, '\\') < key.len && decode_key(keys, key, &key) != 0)
        return err_set(scan->err, -ENOMEM, "out of memory while reading JSON");
    if (keys->count == keys->cap) {
        size_t cap = keys->cap ? keys->cap * 2 : 32;
        struct slice *grown = mem_try_resize(keys->items, cap * sizeof(*grown));
        if (!grown)
            return err_set(scan->err, -ENOMEM, "out of memory while reading JSON");
        keys->items = grown;
        keys->cap = cap;
    }
    keys->items[keys->count++] = key;
    return 0;
}

/* Refuses an object whose keys, from `base` on the stack, repeat; pops them. */
static int scan_keys_pop(struct scan *scan, struct scan_keys *keys, size_t base)
{
    size_t count = keys->count - base;

    keys->count = base;
    if (count < 2)
        return 0;
    qsort(keys->items + base, count, sizeof(keys->items[0]), scan_key_compare);
    for (size_t i = base + 1; i < base + count; i++) {
        if (slice_eq(keys->items[i - 1], keys->items[i]))
            return err_set(scan->err, -EINVAL, "not valid JSON: the key \"%.*s\" stands twice",
                           SLICE_ARG(slice_of(keys->items[i].ptr,
                                              keys->items[i].len < 64 ? keys->items[i].len : 64)));
    }
    return 0;
}

static int scan_value(struct scan *scan, struct scan_keys *keys, unsigned depth);

static int scan_array(struct scan *scan, struct scan_keys *keys, unsigned depth)
{
    scan->at++;
    scan_space(scan);
    if (scan_peek(scan) == ']') {
        scan->at++;
        return 0;
    }
    for (;;) {
        int rc = scan_value(scan, keys, depth);
        if (rc != 0)
            return rc;
        scan_space(scan);
        if (scan_peek(scan) == ']')
            break;
        if (scan_peek(scan) != ',')
            return scan_fail(scan, "expected , or ]");
        scan->at++;
    }
    scan->at++;
    return 0;
}

static int scan_member(struct scan *scan, struct scan_keys *keys, unsigned depth)
{
    struct slice key = {0};
    int rc;

    scan_space(scan);
    if (scan_peek(scan) != '"')
        return scan_fail(scan, "expected a key in double quotes");
    rc = scan_string(scan, &key);
    if (rc == 0)
        rc = scan_keys_push(scan, keys, key);
    if (rc != 0)
        return rc;
    scan_space(scan);
    if (scan_peek(scan) != ':')
        return scan_fail(scan, "expected :");
    scan->at++;
    return scan_value(scan, keys, depth);
}

static int scan_object(struct scan *scan, struct scan_keys *keys, unsigned depth)
{
    size_t base = keys->count;

    scan->at++;
    scan_space(scan);
    if (scan_peek(scan) == '}') {
        scan->at++;
        return 0;
    }
    for (;;) {
        int rc = scan_member(scan, keys, depth);
        if (rc != 0)
            return rc;
        scan_space(scan);
        if (scan_peek(scan) == '}')
            break;
        if (scan_peek(scan) != ',')
            return scan_fail(scan, "expected , or }");
        scan->at++;
    }
    scan->at++;
    return scan_keys_pop(scan, keys, base);
}

static int scan_value(struct scan *scan, struct scan_keys *keys, unsigned depth)
{
    struct slice raw;

    if (depth > JSON_DEPTH_MAX)
        return scan_fail(scan, "nested too deeply");
    scan_space(scan);
    switch (scan_peek(scan)) {
    case '{':
        return scan_object(scan, keys, depth + 1);
    case '[':
        return scan_array(scan, keys, depth + 1);
    case '"':
        return scan_string(scan, &raw);
    case 't':
        return scan_word(scan, "true");
    case 'f':
        return scan_word(scan, "false");
    case 'n':
        return scan_word(scan, "null");
    default:
        return scan_number(scan);
    }
}

int json_prescan(struct slice text, struct err *err)
{
    struct scan scan = {.text = text, .err = err};
    struct scan_keys keys = {0};
    int rc;

    if (text.len > INT32_MAX)
        return err_set(err, -EINVAL, "JSON over 2 GiB");
    arena_init(&keys.decoded, (text.len + 1) * 8); /* with the padding of the shortest keys */
    scan.at = utf8_valid_len(text);
    if (scan.at < text.len)
        return scan_fail(&scan, "invalid UTF-8");
    scan.at = 0;
    rc = scan_value(&scan, &keys, 0);
    if (rc == 0) {
        scan_space(&scan);
        if (scan.at < text.len)
            rc = scan_fail(&scan, "something follows the value");
    }
    mem_free(keys.items);
    arena_fini(&keys.decoded);
    return rc;
}

#include "net/guard.h"

#include <errno.h>

#include "base/buf.h"
#include "cmocka_all.h"
#include "net/http.h"

#define HOST "Host: h\r\n"

static int scan(struct slice bytes)
{
    struct guard_head guard = {0};
    const char *why = NULL;
    int rc = guard_head_scan(&guard, bytes, &why);

    if (rc < 0)
        assert_non_null(why);
    return rc;
}

/* The bytes arrive one by one; the verdict must not depend on that. */
static int scan_slowly(struct slice bytes)
{
    struct guard_head guard = {0};
    const char *why = NULL;
    int rc = 0;

    for (size_t len = 1; rc == 0 && len <= bytes.len; len++)
        rc = guard_head_scan(&guard, slice_of(bytes.ptr, len), &why);
    return rc;
}

struct head_row {
    const char *text;
    size_t len;
    int want; /* a negative errno, 0 = incomplete, 1 = the whole text */
};

#define ROW(text, want)                                                                            \
    {                                                                                              \
        text, sizeof(text) - 1, want                                                               \
    }

static const struct head_row head_rows[] = {
    ROW("GET / HTTP/1.1\r\n" HOST "\r\n", 1),
    ROW("GET / HTTP/1.0\r\n\r\n", 1),
    ROW("GET / HTTP/1.1\r\nX: \xe4\t b\r\n\r\n", 1),
    ROW("GET / HTTP/1.1\r\n" HOST, 0),
    ROW("GET / HTTP/1.1\r\n" HOST "\r", 0),
    ROW("G", 0),
    ROW("GET / HTTP/1.1\n\n", -EBADMSG),
    ROW("GET / HTTP/1.1\r\n" HOST "\n", -EBADMSG),
    ROW("GET / HTTP/1.1\r\nX: a\rb\r\n\r\n", -EBADMSG),
    ROW("GET / HTTP/1.1\r\nX: a\0b\r\n\r\n", -EBADMSG),
    ROW("GET / HTTP/1.1\r\nX: a\x7f\r\n\r\n", -EBADMSG),
    ROW("GET / HTTP/1.1\r\nX: a\r\n b\r\n\r\n", -EBADMSG),
    ROW("GET / HTTP/1.1\r\nX : a\r\n\r\n", -EBADMSG),
    ROW("GET / HTTP/1.1\r\nX\r\n\r\n", -EBADMSG),
    ROW("GET / HTTP/1.1\r\n: a\r\n\r\n", -EBADMSG),
    ROW("\r\nGET / HTTP/1.1\r\n\r\n", -EBADMSG),
    ROW("GET  / HTTP/1.1\r\n\r\n", -EBADMSG),
    ROW("GET /\r\n\r\n", -EBADMSG),
    ROW("GET /# HTTP/1.1\r\n\r\n", -EBADMSG),
    ROW("GET / HTTP/1.1 \r\n\r\n", -EBADMSG),
    ROW("GET / RTSP/1.0\r\n\r\n", -EBADMSG),
    ROW("SOURCE / ICE/1.0\r\n\r\n", -EBADMSG),
    ROW("GET / HTTP/2.0\r\n\r\n", -EPROTONOSUPPORT),
    ROW("GET / HTTP/1.2\r\n\r\n", -EPROTONOSUPPORT),
};

static void heads_are_judged_by_the_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(head_rows); i++) {
        struct slice bytes = slice_of(head_rows[i].text, head_rows[i].len);
        int want = head_rows[i].want == 1 ? (int)bytes.len : head_rows[i].want;
        if (scan(bytes) != want || scan_slowly(bytes) != want)
            fail_msg("row %zu: %d and %d instead of %d", i, scan(bytes), scan_slowly(bytes), want);
    }
}

static void bytes_behind_the_head_are_left_alone(void **state)
{
    static const char text[] = "GET / HTTP/1.1\r\n" HOST "\r\n\0\1\n";

    (void)state;
    assert_int_equal(scan(slice_of(text, sizeof(text) - 1)), (int)sizeof(text) - 1 - 3);
}

static void head_over_16_kib_is_too_large(void **state)
{
    struct buf text;

    (void)state;
    buf_init(&text, 1u << 20);
    assert_int_equal(buf_add_str(&text, "GET / HTTP/1.1\r\nX: "), 0);
    while (text.len < HTTP_HEAD_MAX_BYTES - 4)
        assert_int_equal(buf_add_char(&text, 'y'), 0);
    assert_int_equal(buf_add_str(&text, "\r\n\r\n"), 0);
    assert_int_equal(scan(buf_slice(&text)), (int)HTTP_HEAD_MAX_BYTES);
    text.data[text.len - 4] = 'y';
    assert_int_equal(scan(slice_of(text.data, text.len)), -EBADMSG);
    text.data[text.len - 3] = text.data[text.len - 2] = text.data[text.len - 1] = 'y';
    assert_int_equal(scan(buf_slice(&text)), -EMSGSIZE);
    buf_fini(&text);
}

static void the_101st_field_is_too_much(void **state)
{
    struct buf text;

    (void)state;
    buf_init(&text, 1u << 20);
    assert_int_equal(buf_add_str(&text, "GET / HTTP/1.1\r\n"), 0);
    for (int i = 0; i < HTTP_FIELDS_MAX; i++)
        assert_int_equal(buf_add_str(&text, "X: y\r\n"), 0);
    assert_int_equal(scan(buf_slice(&text)), 0);
    assert_int_equal(buf_add_str(&text, "X: y\r\n"), 0);
    assert_int_equal(scan(buf_slice(&text)), -EMSGSIZE);
    buf_fini(&text);
}

/* ---- chunks ---- */

/* Feeds pieces of `step` bytes. 1 = ended, 0 = more, or a negative errno. *out_rest: unused. */
static int decode(struct slice in, size_t step, struct buf *out, size_t *out_rest)
{
    struct guard_chunk chunk = {0};
    const char *why = NULL;
    int rc = 0;

    buf_reset(out);
    while (rc == 0 && in.len) {
        struct slice piece = slice_of(in.ptr, in.len < step ? in.len : step);
        while (rc == 0 && piece.len) {
            struct slice data;
            size_t used;
            rc = guard_chunk_step(&chunk, piece, &used, &data, &why);
            if (rc < 0)
                return rc;
            assert_int_equal(buf_add_slice(out, data), 0);
            piece = slice_skip(piece, used);
            in = slice_skip(in, used);
        }
    }
    *out_rest = in.len;
    return rc;
}

static const struct head_row chunk_rows[] = {
    ROW("5\r\nhello\r\n0\r\n\r\n", 1),
    ROW("5;a=\"b c\";d\r\nhello\r\n0\r\n\r\n", 1),
    ROW("0000000000000005\r\nhello\r\n000\r\n\r\n", 1),
    ROW("5\r\nhello\r\n0\r\nX-Sum: 1\r\nY:\r\n\r\n", 1),
    ROW("5\r\nhello\r\n0\r\n", 0),
    ROW("5\r\nhelloXX0\r\n\r\n", -EBADMSG),
    ROW("5\r\nhello\n0\r\n\r\n", -EBADMSG),
    ROW("5\nhello\r\n0\r\n\r\n", -EBADMSG),
    ROW("\r\nhello\r\n0\r\n\r\n", -EBADMSG),
    ROW("+5\r\nhello\r\n0\r\n\r\n", -EBADMSG),
    ROW("-5\r\nhello\r\n0\r\n\r\n", -EBADMSG),
    ROW("0x5\r\nhello\r\n0\r\n\r\n", -EBADMSG),
    ROW("5 \r\nhello\r\n0\r\n\r\n", -EBADMSG),
    ROW("00000000000000005\r\nhello\r\n0\r\n\r\n", -EBADMSG),
    ROW("5;\n\r\nhello\r\n0\r\n\r\n", -EBADMSG),
    ROW("5;\0\r\nhello\r\n0\r\n\r\n", -EBADMSG),
    ROW("0\r\nContent-Length: 5\r\n\r\n", -EBADMSG),
    ROW("0\r\ntransfer-ENCODING: chunked\r\n\r\n", -EBADMSG),
    ROW("0\r\nX : y\r\n\r\n", -EBADMSG),
    ROW("0\r\n: y\r\n\r\n", -EBADMSG),
    ROW("0\r\nX: y\n\r\n", -EBADMSG),
    ROW("0\r\nX: y\r\n z\r\n\r\n", -EBADMSG),
    ROW("0\r\n\n", -EBADMSG),
};

static void chunks_are_judged_by_the_table(void **state)
{
    struct buf out;

    (void)state;
    buf_init(&out, 100);
    for (size_t i = 0; i < ARRAY_LEN(chunk_rows); i++) {
        struct slice in = slice_of(chunk_rows[i].text, chunk_rows[i].len);
        for (size_t step = 1; step <= in.len; step++) {
            size_t rest = 0;
            int rc = decode(in, step, &out, &rest);
            if (rc != chunk_rows[i].want)
                fail_msg("row %zu in pieces of %zu: %d", i, step, rc);
            if (rc >= 0)
                assert_true(slice_eq_str(buf_slice(&out), "hello"));
            if (rc == 1)
                assert_int_equal(rest, 0);
        }
    }
    buf_fini(&out);
}

static void next_message_is_not_touched(void **state)
{
    struct buf out;
    size_t rest = 0;

    (void)state;
    buf_init(&out, 100);
    assert_int_equal(decode(slice_str("1\r\na\r\n0\r\n\r\nGET /"), 100, &out, &rest), 1);
    assert_int_equal(rest, 5);
    buf_fini(&out);
}

static void extensions_end_at_256_bytes(void **state)
{
    struct buf in, out;
    size_t rest = 0;

    (void)state;
    buf_init(&in, 1000);
    buf_init(&out, 100);
    for (size_t len = 256; len <= 257; len++) {
        buf_reset(&in);
        assert_int_equal(buf_add_str(&in, "1;"), 0);
        for (size_t i = 0; i < len; i++)
            assert_int_equal(buf_add_char(&in, 'e'), 0);
        assert_int_equal(buf_add_str(&in, "\r\na\r\n0\r\n\r\n"), 0);
        assert_int_equal(decode(buf_slice(&in), 1000, &out, &rest), len == 256 ? 1 : -EBADMSG);
    }
    buf_fini(&in);
    buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads_are_judged_by_the_table),
        cmocka_unit_test(bytes_behind_the_head_are_left_alone),
        cmocka_unit_test(head_over_16_kib_is_too_large),
        cmocka_unit_test(the_101st_field_is_too_much),
        cmocka_unit_test(chunks_are_judged_by_the_table),
        cmocka_unit_test(next_message_is_not_touched),
        cmocka_unit_test(extensions_end_at_256_bytes),
    };

    return cmocka_run_group_tests_name("net/guard", tests, NULL, NULL);
}

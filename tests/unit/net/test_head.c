#include "net/head.h"

#include "cmocka_all.h"

static struct http_head head;

static int parse(const char *text)
{
    const char *why = NULL;
    int status = head_parse(slice_str(text), &head, &why);

    if (status != 0)
        assert_non_null(why);
    return status;
}

static void all_parts_are_found(void **state)
{
    (void)state;
    assert_int_equal(parse("POST /a%20b/c?x=1&y HTTP/1.1\r\nHost: h:80\r\nEmpty:\r\n"
                           "X-Y: \t v w\t \r\nContent-Length: 12\r\n\r\n"),
                     0);
    assert_int_equal(head.method, HTTP_METHOD_POST);
    assert_true(slice_eq_str(head.target, "/a%20b/c?x=1&y"));
    assert_true(slice_eq_str(head.raw_path, "/a%20b/c"));
    assert_true(slice_eq_str(head.path, "/a b/c"));
    assert_true(slice_eq_str(head.query, "x=1&y"));
    assert_true(slice_eq_str(head.host, "h:80"));
    assert_true(slice_eq_str(*http_head_field(&head, "x-y"), "v w"));
    assert_true(slice_eq_str(*http_head_field(&head, "EMPTY"), ""));
    assert_null(http_head_field(&head, "x"));
    assert_int_equal(head.field_count, 4);
    assert_int_equal(head.content_length, 12);
    assert_true(head.has_body && head.keep_alive && !head.is_chunked && !head.expects_continue);
}

static void absolute_target_is_split(void **state)
{
    (void)state;
    assert_int_equal(parse("GET HTTP://H/x?y HTTP/1.1\r\nHost: h\r\n\r\n"), 0);
    assert_true(slice_eq_str(head.path, "/x"));
    assert_true(slice_eq_str(head.query, "y"));
    assert_int_equal(parse("GET http://h HTTP/1.1\r\nHost: h\r\n\r\n"), 0);
    assert_true(slice_eq_str(head.path, "/"));
    assert_int_equal(parse("GET http://h?q HTTP/1.1\r\nHost: h\r\n\r\n"), 0);
    assert_true(slice_eq_str(head.path, "/"));
    assert_true(slice_eq_str(head.query, "q"));
}

static void connection_tokens_decide_on_keep_alive(void **state)
{
    (void)state;
    assert_int_equal(parse("GET / HTTP/1.0\r\n\r\n"), 0);
    assert_false(head.keep_alive);
    assert_int_equal(parse("GET / HTTP/1.0\r\nConnection: x, Keep-Alive\r\n\r\n"), 0);
    assert_true(head.keep_alive);
    assert_int_equal(parse("GET / HTTP/1.1\r\nHost: h\r\nConnection: keep-alive\r\n"
                           "Connection: close\r\n\r\n"),
                     0);
    assert_false(head.keep_alive);
}

static void continue_is_expected_only_with_a_body(void **state)
{
    (void)state;
    assert_int_equal(parse("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\n"
                           "Expect: 100-Continue\r\n\r\n"),
                     0);
    assert_true(head.expects_continue && head.is_chunked);
    assert_int_equal(parse("GET / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n\r\n"), 0);
    assert_false(head.expects_continue);
}

static void refusals_carry_their_status(void **state)
{
    static const struct {
        const char *text;
        int status;
    } rows[] = {
        {"GET / HTTP/1.1\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", 400},
        {"GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400},
        {"GET http://a/ HTTP/1.1\r\nHost: b\r\n\r\n", 400},
        {"GET x HTTP/1.1\r\nHost: b\r\n\r\n", 400},
        {"GET * HTTP/1.1\r\nHost: b\r\n\r\n", 400},
        {"CONNECT b:1 HTTP/1.1\r\nHost: b:1\r\n\r\n", 400},
        {"GET /%0 HTTP/1.1\r\nHost: b\r\n\r\n", 400},
        {"GET /%00 HTTP/1.1\r\nHost: b\r\n\r\n", 400},
        {"POST / HTTP/1.1\r\nHost: b\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n", 400},
        {"POST / HTTP/1.1\r\nHost: b\r\nContent-Length: 1,1\r\n\r\n", 400},
        {"POST / HTTP/1.1\r\nHost: b\r\nContent-Length: 9223372036854775808\r\n\r\n", 400},
        {"POST / HTTP/1.1\r\nHost: b\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
         400},
        {"POST / HTTP/1.1\r\nHost: b\r\nTransfer-Encoding: gzip\r\n\r\n", 400},
        {"POST / HTTP/1.1\r\nHost: b\r\nTransfer-Encoding: chunked, chunked\r\n\r\n", 400},
        {"POST / HTTP/1.0\r\nHost: b\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
        {"POST / HTTP/1.1\r\nHost: b\r\nContent-Length: 1\r\nExpect: x\r\n\r\n", 417},
        {"FROB / HTTP/1.1\r\nHost: b\r\n\r\n", 501},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int status = parse(rows[i].text);
        if (status != rows[i].status)
            fail_msg("row %zu: %d", i, status);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_parts_are_found),
        cmocka_unit_test(absolute_target_is_split),
        cmocka_unit_test(connection_tokens_decide_on_keep_alive),
        cmocka_unit_test(continue_is_expected_only_with_a_body),
        cmocka_unit_test(refusals_carry_their_status),
    };

    return cmocka_run_group_tests_name("net/head", tests, NULL, NULL);
}

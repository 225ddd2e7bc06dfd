#include "net/server.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "fixture.h"
#include "net/form.h"
#include "net/sse.h"
#include "os/file.h"

static struct fixture fx;

#define CLOSE "Host: h\r\nConnection: close\r\n"

/* ---- handlers, chosen by path ---- */

static void gone_cb(void *data)
{
    (void)data;
    fx.gone++;
}

static void body_cb(void *data, int status, const struct body *body)
{
    struct exchange *ex = data;
    char text[128];

    fx.ended++;
    fx.status = status;
    if (status != 0)
        return;
    (void)snprintf(text, sizeof(text), "%s %zu %llu %u", body->path ? "file" : "memory",
                   body->bytes.len, (unsigned long long)body->len, fixture_files(&fx));
    exchange_respond(ex, 200, "text/plain", slice_str(text));
}

static void json_cb(void *data, int status, struct json_object *root)
{
    fx.ended++;
    fx.status = status;
    if (status == 0)
        exchange_respond_json(data, 200, json_object_get(root));
}

static void form_cb(void *data, int status, const struct form *form)
{
    char text[128];

    fx.ended++;
    fx.status = status;
    if (status != 0)
        return;
    (void)snprintf(text, sizeof(text), "%zu parts, a=%s, file %llu bytes, %u files", form->count,
                   form_text(form, "a"),
                   form_get(form, "f") ? (unsigned long long)form_get(form, "f")->len : 0,
                   fixture_files(&fx));
    exchange_respond(data, 200, "text/plain", slice_str(text));
}

static void serve_file(struct exchange *ex)
{
    char *path = mem_printf("%s/served", fx.dir);
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    assert_true(fd >= 0);
    mem_free(path);
    exchange_respond_file(ex, fd, "text/plain", "a\"\xc3\xa4.txt");
}

static void serve_events(struct exchange *ex)
{
    struct sse *sse = sse_open(ex, gone_cb, NULL);

    assert_int_equal(sse_send(sse, 7, "tick", slice_str("a\nb\r\n\rid: 9")), 0);
    assert_int_equal(sse_send(sse, 0, NULL, slice_str("c")), 0);
    sse_close(sse);
}

static void serve_headers(struct exchange *ex)
{
    assert_int_equal(exchange_add_header(ex, "X-A", "1"), 0);
    assert_int_equal(exchange_add_header(ex, "X-B", "1\r\nX-C: 2"), -EINVAL);
    assert_int_equal(exchange_add_header(ex, "X B", "1"), -EINVAL);
    exchange_respond(ex, 204, NULL, slice_str(""));
}

static void serve_broken(struct exchange *ex)
{
    exchange_begin(ex, 200, "text/plain");
    assert_int_equal(exchange_write(ex, slice_str("half")), 0);
    exchange_abort(ex);
}

static void request_cb(void *data, struct exchange *ex)
{
    const struct body_limits limits = {
        .max_bytes = 1u << 20, .make_path = fixture_path, .path_data = &fx};
    const struct form_limits form_limits = {1u << 20, fixture_path, &fx};
    struct slice path = exchange_head(ex)->path;

    (void)data;
    fx.calls++;
    if (slice_eq_str(path, "/body"))
        exchange_read_body(ex, &limits, body_cb, ex);
    else if (slice_eq_str(path, "/json"))
        exchange_read_json(ex, 1u << 20, json_cb, ex);
    else if (slice_eq_str(path, "/form"))
        form_read(ex, &form_limits, form_cb, ex);
    else if (slice_eq_str(path, "/file"))
        serve_file(ex);
    else if (slice_eq_str(path, "/events"))
        serve_events(ex);
    else if (slice_eq_str(path, "/headers"))
        serve_headers(ex);
    else if (slice_eq_str(path, "/broken"))
        serve_broken(ex);
    else if (slice_eq_str(path, "/hold") || slice_eq_str(path, "/hold-told"))
        fx.held = ex;
    else
        exchange_error(ex, 404, "nothing at %.*s", SLICE_ARG(path));
    if (slice_eq_str(path, "/hold-told"))
        exchange_on_gone(ex, gone_cb, NULL);
}

static int set_up(void **state)
{
    struct server_options options = {.on_request = request_cb};

    (void)state;
    fixture_open(&fx, &options);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fixture_close(&fx);
    return 0;
}

/* A POST with `len` bytes of body, Connection: close. */
static struct buf post_of(const char *path, const char *type, const char *body, size_t len)
{
    struct buf out;

    buf_init(&out, 32u << 20);
    assert_int_equal(buf_printf(&out,
                                "POST %s HTTP/1.1\r\n" CLOSE
                                "Content-Type: %s\r\nContent-Length: %zu\r\n\r\n",
                                path, type, len),
                     0);
    for (size_t i = 0; !body && i < len; i++)
        assert_int_equal(buf_add_char(&out, 'x'), 0);
    if (body)
        assert_int_equal(buf_add(&out, body, len), 0);
    return out;
}

static const char *ask_post(const char *path, const char *type, const char *body, size_t len)
{
    struct buf request = post_of(path, type, body, len);

    fixture_send(&fx, buf_slice(&request));
    buf_fini(&request);
    return fixture_read_all(&fx);
}

/* ---- bodies ---- */

static void small_body_stays_in_memory(void **state)
{
    (void)state;
    assert_non_null(strstr(ask_post("/body", "x/y", NULL, EXCHANGE_MEMORY_BYTES),
                           "\r\n\r\nmemory 65536 65536 0"));
}

static void large_body_goes_to_a_file_that_is_removed(void **state)
{
    (void)state;
    assert_non_null(strstr(ask_post("/body", "x/y", NULL, 1000000), "\r\n\r\nfile 0 1000000 1"));
    assert_int_equal(fixture_files(&fx), 0);
}

static void body_above_the_maximum_is_413_and_told_once(void **state)
{
    (void)state;
    assert_non_null(strstr(ask_post("/body", "x/y", NULL, (1u << 20) + 1), "HTTP/1.1 413 "));
    assert_int_equal(fx.ended, 1);
    assert_int_equal(fx.status, -EMSGSIZE);
    assert_int_equal(fixture_files(&fx), 0);
}

static void absent_body_is_empty(void **state)
{
    (void)state;
    assert_non_null(strstr(fixture_ask(&fx, "GET /body HTTP/1.1\r\n" CLOSE "\r\n"), "memory 0 0"));
}

static void client_that_leaves_in_its_body_is_told_once(void **state)
{
    (void)state;
    fixture_send(&fx, slice_str("POST /body HTTP/1.1\r\nHost: h\r\nContent-Length: 9\r\n\r\nabc"));
    fixture_run_ms(&fx, 30);
    stream_free(fx.client);
    fx.client = NULL;
    fixture_run_ms(&fx, 30);
    assert_int_equal(fx.ended, 1);
    assert_int_equal(fx.status, -ECONNRESET);
    assert_int_equal(server_connections(fx.server), 0);
}

static void json_body_must_be_an_object(void **state)
{
    (void)state;
    assert_non_null(
        strstr(ask_post("/json", "application/json", "{\"a\":1}", 7), "\r\n\r\n{\"a\":1}"));
    assert_non_null(strstr(ask_post("/json", "application/json", "[1]", 3), "HTTP/1.1 400 "));
    assert_int_equal(fx.status, -EINVAL);
    assert_non_null(strstr(ask_post("/json", "application/json", "", 0), "\r\n\r\n{}"));
}

static void large_json_is_parsed_off_the_loop(void **state)
{
    struct buf text;

    (void)state;
    buf_init(&text, 1u << 20);
    assert_int_equal(buf_add_str(&text, "{\"a\":\""), 0);
    while (text.len < 100000)
        assert_int_equal(buf_add_str(&text, "yyyyyyyyyy"), 0);
    assert_int_equal(buf_add_str(&text, "\"}"), 0);
    assert_non_null(strstr(ask_post("/json", "application/json", text.data, text.len), "yy\"}"));
    text.data[text.len - 1] = ']';
    assert_non_null(
        strstr(ask_post("/json", "application/json", text.data, text.len), "HTTP/1.1 400 "));
    assert_int_equal(fx.ended, 2);
    buf_fini(&text);
}

static void form_parts_go_to_memory_and_files(void **state)
{
    static const char body[] =
        "--B\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1 2\r\n"
        "--B\r\nContent-Disposition: form-data; name=\"f\"; filename=\"x\"\r\n\r\nabcde\r\n--B--";

    (void)state;
    assert_non_null(
        strstr(ask_post("/form", "multipart/form-data; boundary=B", body, sizeof(body) - 1),
               "2 parts, a=1 2, file 5 bytes, 1 files"));
    assert_int_equal(fixture_files(&fx), 0);
    assert_non_null(
        strstr(ask_post("/form", "application/x-www-form-urlencoded", "a=x%2By&b=2", 11),
               "2 parts, a=x+y"));
}

static void form_of_another_type_or_shape_is_refused(void **state)
{
    (void)state;
    assert_non_null(strstr(ask_post("/form", "text/plain", "a", 1), "HTTP/1.1 415 "));
    assert_non_null(strstr(ask_post("/form", "multipart/form-data; boundary=B", "--B\r\nx", 6),
                           "HTTP/1.1 400 "));
    assert_non_null(
        strstr(ask_post("/form", "application/x-www-form-urlencoded", "a=%", 3), "HTTP/1.1 400 "));
    assert_int_equal(fx.ended, 3);
}

/* ---- answers ---- */

static void error_has_the_detail_shape(void **state)
{
    (void)state;
    assert_non_null(strstr(fixture_ask(&fx, "GET /%22 HTTP/1.1\r\n" CLOSE "\r\n"),
                           "\r\n\r\n{\"detail\":\"nothing at /\\\"\"}"));
}

static void added_fields_cannot_break_the_head(void **state)
{
    const char *answer = fixture_ask(&fx, "GET /headers HTTP/1.1\r\n" CLOSE "\r\n");

    (void)state;
    assert_non_null(strstr(answer, "\r\nX-A: 1\r\n\r\n"));
    assert_null(strstr(answer, "X-B"));
    assert_null(strstr(answer, "Content-Length"));
}

static void event_stream_has_its_lines(void **state)
{
    const char *answer = fixture_ask(&fx, "GET /events HTTP/1.0\r\n\r\n");

    (void)state;
    assert_non_null(strstr(answer, "X-Accel-Buffering: no\r\n"));
    assert_non_null(
        strstr(answer,
               "\r\n\r\nid: 7\nevent: tick\ndata: a\ndata: b\ndata: \ndata: id: 9\n\ndata: c\n\n"));
    assert_int_equal(fx.gone, 0);
}

static void aborted_answer_has_no_end(void **state)
{
    const char *answer = fixture_ask(&fx, "GET /broken HTTP/1.1\r\nHost: h\r\n\r\n");

    (void)state;
    assert_non_null(strstr(answer, "4\r\nhalf\r\n"));
    assert_null(strstr(answer, "\r\n0\r\n"));
}

static void held_request_delays_the_next_one(void **state)
{
    (void)state;
    fixture_send(&fx, slice_str("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n"
                                "GET /x HTTP/1.1\r\n" CLOSE "\r\n"));
    fixture_run_ms(&fx, 30);
    assert_int_equal(fx.calls, 1);
    exchange_respond(fx.held, 200, "text/plain", slice_str("first"));
    assert_int_equal(fx.calls, 1); /* no handler is called from inside a call */
    assert_non_null(strstr(fixture_read_all(&fx), "firstHTTP/1.1 404"));
    assert_int_equal(fx.calls, 2);
}

static void leaving_is_told_or_the_answer_is_dropped(void **state)
{
    (void)state;
    fixture_send(&fx, slice_str("GET /hold-told HTTP/1.1\r\nHost: h\r\n\r\n"));
    fixture_run_ms(&fx, 30);
    fixture_send(&fx, slice_str("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n"));
    fixture_run_ms(&fx, 30);
    assert_int_equal(fx.gone, 1);
    stream_free(fx.client);
    fx.client = NULL;
    fixture_run_ms(&fx, 30);
    assert_int_equal(server_connections(fx.server), 0);
    exchange_respond(fx.held, 200, "text/plain", slice_str("into the void"));
    assert_int_equal(fx.gone, 1);
}

/* ---- files ---- */

static void write_served(size_t len)
{
    char *path = mem_printf("%s/served", fx.dir);
    char *bytes = mem_new(len + 1, 1);

    for (size_t i = 0; i < len; i++)
        bytes[i] = (char)('a' + i % 26);
    assert_int_equal(file_write_atomic(path, slice_of(bytes, len), 0600, NULL), 0);
    mem_free(bytes);
    mem_free(path);
}

static void file_is_sent_whole(void **state)
{
    const char *answer;

    (void)state;
    write_served(700000);
    answer = fixture_ask(&fx, "GET /file HTTP/1.1\r\n" CLOSE "\r\n");
    assert_non_null(strstr(answer, "Content-Length: 700000\r\n"));
    assert_non_null(strstr(answer, "filename=\"a___.txt\"; filename*=UTF-8''a%22%C3%A4.txt\r\n"));
    assert_int_equal(strlen(strstr(answer, "\r\n\r\n") + 4), 700000);
}

static void ranges_are_served(void **state)
{
    static const struct {
        const char *range, *want;
    } rows[] = {
        {"bytes=0-2", "bytes 0-2/26"},  {"bytes=24-", "bytes 24-25/26"},
        {"bytes=-2", "bytes 24-25/26"}, {"bytes=20-99", "bytes 20-25/26"},
        {"bytes=26-", "HTTP/1.1 416 "}, {"bytes=-0", "HTTP/1.1 416 "},
        {"bytes=5-2", "HTTP/1.1 200 "}, {"bytes=0-1,3-4", "HTTP/1.1 200 "},
        {"lines=0-1", "HTTP/1.1 200 "}, {"bytes=x-", "HTTP/1.1 200 "},
        {"bytes=-99", "bytes 0-25/26"},
    };
    char request[256];

    (void)state;
    write_served(26);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        (void)snprintf(request, sizeof(request), "GET /file HTTP/1.1\r\n" CLOSE "Range: %s\r\n\r\n",
                       rows[i].range);
        if (!strstr(fixture_ask(&fx, request), rows[i].want))
            fail_msg("%s: %s", rows[i].range, buf_str(&fx.answer));
    }
    assert_non_null(
        strstr(fixture_ask(&fx, "GET /file HTTP/1.1\r\n" CLOSE "Range: bytes=1-3\r\n\r\n"),
               "\r\n\r\nbcd"));
}

static void known_etag_is_304(void **state)
{
    char request[256], etag[80];
    const char *at;

    (void)state;
    write_served(26);
    at = strstr(fixture_ask(&fx, "HEAD /file HTTP/1.1\r\n" CLOSE "\r\n"), "ETag: ") + 6;
    (void)snprintf(etag, sizeof(etag), "%.*s", (int)(strchr(at, '\r') - at), at);
    (void)snprintf(request, sizeof(request),
                   "GET /file HTTP/1.1\r\n" CLOSE "If-None-Match: \"x\", W/%s\r\n\r\n", etag);
    assert_non_null(strstr(fixture_ask(&fx, request), "HTTP/1.1 304 "));
    (void)snprintf(request, sizeof(request),
                   "GET /file HTTP/1.1\r\n" CLOSE "If-Range: \"x\"\r\nRange: bytes=0-1\r\n\r\n");
    assert_non_null(strstr(fixture_ask(&fx, request), "HTTP/1.1 200 "));
}

/* ---- stopping ---- */

static void stopped_cb(void *data)
{
    (void)data;
    fx.ended++;
    loop_stop(fx.loop);
}

static void stop_waits_for_the_answer_in_progress(void **state)
{
    (void)state;
    fixture_send(&fx, slice_str("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n"));
    fixture_run_ms(&fx, 30);
    server_stop(fx.server, 5000, stopped_cb, NULL);
    fixture_run_ms(&fx, 30);
    assert_int_equal(fx.ended, 0);
    exchange_respond(fx.held, 200, "text/plain", slice_str("done"));
    assert_non_null(strstr(fixture_read_all(&fx), "Connection: close\r\n"));
    stream_free(fx.client);
    fx.client = NULL;
    fixture_run_ms(&fx, 2000);
    assert_int_equal(fx.ended, 1);
}

static void stop_gives_up_in_time(void **state)
{
    (void)state;
    fixture_send(&fx, slice_str("GET /hold-told HTTP/1.1\r\nHost: h\r\n\r\n"));
    fixture_run_ms(&fx, 30);
    server_stop(fx.server, 50, stopped_cb, NULL);
    fixture_run_ms(&fx, 2000);
    assert_int_equal(fx.ended, 1);
    assert_int_equal(fx.gone, 1);
}

static void server_with_open_exchange_can_be_freed(void **state)
{
    (void)state;
    fixture_send(&fx, slice_str("GET /hold HTTP/1.1\r\nHost: h\r\n\r\n"));
    fixture_run_ms(&fx, 30);
    server_free(fx.server);
    fx.server = NULL;
    exchange_begin(fx.held, 200, "text/plain");
    assert_int_equal(exchange_write(fx.held, slice_str("x")), -EPIPE);
    exchange_end(fx.held);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(small_body_stays_in_memory),
        TEST(large_body_goes_to_a_file_that_is_removed),
        TEST(body_above_the_maximum_is_413_and_told_once),
        TEST(absent_body_is_empty),
        TEST(client_that_leaves_in_its_body_is_told_once),
        TEST(json_body_must_be_an_object),
        TEST(large_json_is_parsed_off_the_loop),
        TEST(form_parts_go_to_memory_and_files),
        TEST(form_of_another_type_or_shape_is_refused),
        TEST(error_has_the_detail_shape),
        TEST(added_fields_cannot_break_the_head),
        TEST(event_stream_has_its_lines),
        TEST(aborted_answer_has_no_end),
        TEST(held_request_delays_the_next_one),
        TEST(leaving_is_told_or_the_answer_is_dropped),
        TEST(file_is_sent_whole),
        TEST(ranges_are_served),
        TEST(known_etag_is_304),
        TEST(stop_waits_for_the_answer_in_progress),
        TEST(stop_gives_up_in_time),
        TEST(server_with_open_exchange_can_be_freed),
    };

    return cmocka_run_group_tests_name("net/server", tests, NULL, NULL);
}

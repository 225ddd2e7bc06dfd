#include "net/http_client.h"

#include <errno.h>
#include <stdio.h>

#include "fixture.h"
#include "net/form.h"
#include "os/file.h"

static struct fixture fx;
static struct http_client *client;
static bool cancels_in_body;

static void form_cb(void *data, int status, const struct form *form)
{
    const struct form_part *file;
    char text[256];

    if (status != 0)
        return;
    file = form_get(form, "image");
    (void)snprintf(text, sizeof(text), "%s|%.*s|%.*s|%llu", form_text(form, "id"),
                   SLICE_ARG(file->filename), SLICE_ARG(file->content_type),
                   (unsigned long long)file->len);
    exchange_respond(data, 201, "text/plain", slice_str(text));
}

static void body_done_cb(void *data, int status, const struct body *body)
{
    if (status == 0)
        exchange_respond(data, 200, "text/plain", body->bytes);
}

static void serve_stream(struct exchange *ex)
{
    exchange_begin(ex, 200, "text/plain");
    (void)exchange_write(ex, slice_str("one "));
    (void)exchange_write(ex, slice_str("two"));
    exchange_end(ex);
}

static void request_cb(void *data, struct exchange *ex)
{
    const struct form_limits form_limits = {8u << 20, fixture_path, &fx};
    const struct body_limits limits = {.max_bytes = 1000};
    struct slice path = exchange_head(ex)->path;

    (void)data;
    if (slice_eq_str(path, "/form")) {
        form_read(ex, &form_limits, form_cb, ex);
    } else if (slice_eq_str(path, "/echo")) {
        exchange_read_body(ex, &limits, body_done_cb, ex);
    } else if (slice_eq_str(path, "/stream")) {
        serve_stream(ex);
    } else if (slice_eq_str(path, "/broken")) {
        exchange_begin(ex, 200, "text/plain");
        exchange_abort(ex);
    } else {
        const struct slice *field = http_head_field(exchange_head(ex), "x-in");
        (void)exchange_add_header(ex, "X-Out", field && field->len ? "yes" : "no");
        exchange_respond(ex, 404, "text/plain", slice_str("nothing"));
    }
}

static void head_cb(void *data, const struct http_client_answer *answer)
{
    (void)data;
    fx.status = answer->status;
    for (size_t i = 0; i < answer->field_count; i++) {
        if (slice_ieq_str(answer->fields[i].name, "x-out"))
            (void)snprintf(fx.note, sizeof(fx.note), "%.*s", SLICE_ARG(answer->fields[i].value));
    }
}

static void body_cb(void *data, struct slice bytes)
{
    (void)data;
    assert_int_equal(buf_add_slice(&fx.answer, bytes), 0);
    if (cancels_in_body) {
        http_client_cancel(client);
        loop_stop(fx.loop);
    }
}

static void end_cb(void *data, int status)
{
    (void)data;
    fx.ended++;
    fx.serial = (unsigned)-status;
    loop_stop(fx.loop);
}

static const struct http_client_events events = {head_cb, body_cb, end_cb};

/* Returns the status that on_end got. */
static int ask(const struct http_client_request *request)
{
    struct err err = {0};

    buf_reset(&fx.answer);
    fx.ended = 0;
    client = http_client_open(fx.loop, "127.0.0.1", server_port(fx.server), request, &events, NULL,
                              &err);
    assert_non_null(client);
    timer_start(fx.limit, FIXTURE_LIMIT_MS);
    while (!fx.ended)
        loop_run(fx.loop);
    timer_stop(fx.limit);
    return -(int)fx.serial;
}

static int set_up(void **state)
{
    struct server_options options = {.on_request = request_cb};

    (void)state;
    cancels_in_body = false;
    fixture_open(&fx, &options);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fixture_close(&fx);
    return 0;
}

static void answer_comes_with_status_fields_and_body(void **state)
{
    static const char *const headers[] = {"X-In: 1", NULL};
    const struct http_client_request request = {
        .method = "GET", .target = "/x", .headers = headers};

    (void)state;
    assert_int_equal(ask(&request), 0);
    assert_int_equal(fx.status, 404);
    assert_string_equal(fx.note, "yes");
    assert_string_equal(buf_str(&fx.answer), "nothing");
}

static void chunked_answer_is_joined(void **state)
{
    const struct http_client_request request = {.method = "GET", .target = "/stream"};

    (void)state;
    assert_int_equal(ask(&request), 0);
    assert_string_equal(buf_str(&fx.answer), "one two");
}

static void head_request_has_no_body(void **state)
{
    const struct http_client_request request = {.method = "HEAD", .target = "/x"};

    (void)state;
    assert_int_equal(ask(&request), 0);
    assert_int_equal(fx.answer.len, 0);
}

static void body_from_memory_is_sent(void **state)
{
    const struct http_client_request request = {.method = "POST",
                                                .target = "/echo",
                                                .content_type = "text/plain",
                                                .body = slice_str("hello")};

    (void)state;
    assert_int_equal(ask(&request), 0);
    assert_string_equal(buf_str(&fx.answer), "hello");
}

static void file_is_sent_as_multipart(void **state)
{
    char *path = mem_printf("%s/pic\".png", fx.dir);
    char *bytes = mem_new(3000000, 1);
    const struct http_client_part parts[] = {
        {.name = "id", .value = "a/b"},
        {.name = "image", .path = path, .content_type = "image/png"},
    };
    const struct http_client_request request = {
        .method = "POST", .target = "/form", .parts = parts, .part_count = 2};

    (void)state;
    assert_int_equal(file_write_atomic(path, slice_of(bytes, 3000000), 0600, NULL), 0);
    assert_int_equal(ask(&request), 0);
    assert_int_equal(fx.status, 201);
    assert_string_equal(buf_str(&fx.answer), "a/b|pic%22.png|image/png|3000000");
    mem_free(bytes);
    mem_free(path);
}

static void broken_answer_is_an_error(void **state)
{
    const struct http_client_request request = {.method = "GET", .target = "/broken"};

    (void)state;
    assert_int_equal(ask(&request), -ECONNRESET);
}

static void refused_connection_is_told(void **state)
{
    const struct http_client_request request = {.method = "GET", .target = "/"};
    uint16_t port = server_port(fx.server);

    (void)state;
    server_free(fx.server);
    fx.server = NULL;
    fixture_run_ms(&fx, 10);
    client = http_client_open(fx.loop, "127.0.0.1", port, &request, &events, NULL, NULL);
    assert_non_null(client);
    while (!fx.ended)
        loop_run(fx.loop);
    assert_int_equal(fx.serial, ECONNREFUSED);
}

static void cancelled_request_says_nothing_more(void **state)
{
    const struct http_client_request request = {.method = "GET", .target = "/x"};

    (void)state;
    cancels_in_body = true;
    client = http_client_open(fx.loop, "127.0.0.1", server_port(fx.server), &request, &events, NULL,
                              NULL);
    loop_run(fx.loop);
    fixture_run_ms(&fx, 30);
    assert_int_equal(fx.ended, 0);
    client = http_client_open(fx.loop, "127.0.0.1", server_port(fx.server), &request, &events, NULL,
                              NULL);
    http_client_cancel(client);
    fixture_run_ms(&fx, 30);
    assert_int_equal(fx.ended, 0);
}

static void what_cannot_be_sent_is_refused(void **state)
{
    const struct http_client_part part = {.name = "image", .path = "/nowhere/x.png"};
    const struct http_client_request upload = {
        .method = "POST", .target = "/form", .parts = &part, .part_count = 1};
    const struct http_client_request plain = {.method = "GET", .target = "/"};
    struct err err = {0};

    (void)state;
    assert_null(http_client_open(fx.loop, "127.0.0.1", 1, &upload, &events, NULL, &err));
    assert_non_null(strstr(err.msg, "/nowhere/x.png"));
    assert_null(http_client_open(fx.loop, "name.example", 1, &plain, &events, NULL, &err));
    assert_non_null(strstr(err.msg, "numeric"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(answer_comes_with_status_fields_and_body),
        TEST(chunked_answer_is_joined),
        TEST(head_request_has_no_body),
        TEST(body_from_memory_is_sent),
        TEST(file_is_sent_as_multipart),
        TEST(broken_answer_is_an_error),
        TEST(refused_connection_is_told),
        TEST(cancelled_request_says_nothing_more),
        TEST(what_cannot_be_sent_is_refused),
    };

    return cmocka_run_group_tests_name("net/http_client", tests, NULL, NULL);
}

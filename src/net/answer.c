#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>

#include "net/conn.h"

#define ANSWER_DETAIL_MAX 1024
#define ANSWER_ERROR_MAX  4096
#define ANSWER_JOIN_MAX   (64u << 10) /* head and body up to here go out in one write */

/* Fits by construction (SERVER_OUT_MAX_BYTES): a failure is lack of memory, and the client sees a
 * broken connection. */
static void out_add(struct exchange *ex, const char *ptr, size_t len)
{
    if (buf_add(&ex->conn->server->out, ptr, len) != 0)
        ex->conn->is_broken = true;
}

#define OUT_LITERAL(ex, text) out_add(ex, text, sizeof(text) - 1)

static void out_str(struct exchange *ex, const char *text)
{
    out_add(ex, text, strlen(text));
}

static void out_number(struct exchange *ex, uint64_t value)
{
    char text[20];
    size_t at = sizeof(text);

    do {
        text[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    out_add(ex, text + at, sizeof(text) - at);
}

/* Closing is due when the client or the stop asks for it, or when too much body is unread. */
static bool answer_closes(const struct exchange *ex)
{
    const struct exchange_body *body = &ex->body;

    if (ex->must_close || !ex->head.keep_alive || ex->conn->server->is_stopping)
        return true;
    if (!body_is_on_wire(ex))
        return false;
    return body->state == BODY_FAILED || ex->head.is_chunked ||
           body->left > CONN_DISCARD_MAX_BYTES ||
           (ex->head.expects_continue && !body->sent_continue && body->got == 0);
}

static bool status_has_body(int status)
{
    return status >= 200 && status != 204 && status != 304;
}

static void out_cors(struct exchange *ex)
{
    OUT_LITERAL(ex, "Access-Control-Allow-Origin: ");
    out_add(ex, ex->cors_origin.ptr, ex->cors_origin.len);
    OUT_LITERAL(ex, "\r\nAccess-Control-Expose-Headers: Content-Length\r\nVary: Origin\r\n");
}

static void out_status_line(struct exchange *ex, int status)
{
    if (status == 200) {
        OUT_LITERAL(ex, "HTTP/1.1 200 OK\r\nDate: ");
    } else {
        OUT_LITERAL(ex, "HTTP/1.1 ");
        out_number(ex, (uint64_t)status);
        OUT_LITERAL(ex, " ");
        out_str(ex, http_status_text(status));
        OUT_LITERAL(ex, "\r\nDate: ");
    }
    out_add(ex, server_date(ex->conn->server), HTTP_DATE_LEN);
    OUT_LITERAL(ex, "\r\n");
}

void answer_head(struct exchange *ex, int status, const char *content_type, int64_t length)
{
    buf_reset(&ex->conn->server->out);
    ex->status = status;
    out_status_line(ex, status);
    if (content_type) {
        OUT_LITERAL(ex, "Content-Type: ");
        out_str(ex, content_type);
        OUT_LITERAL(ex, "\r\n");
    }
    if (length >= 0 && status_has_body(status)) {
        OUT_LITERAL(ex, "Content-Length: ");
        out_number(ex, (uint64_t)length);
        OUT_LITERAL(ex, "\r\n");
    } else if (length < 0 && ex->head.minor >= 1) {
        ex->is_chunked = ex->head.method != HTTP_METHOD_HEAD;
        OUT_LITERAL(ex, "Transfer-Encoding: chunked\r\n");
    } else if (length < 0) {
        ex->is_unframed = ex->head.method != HTTP_METHOD_HEAD;
        ex->must_close = true;
    }
    ex->must_close = answer_closes(ex);
    if (ex->must_close)
        OUT_LITERAL(ex, "Connection: close\r\n");
    else if (ex->head.minor == 0)
        OUT_LITERAL(ex, "Connection: keep-alive\r\n");
    if (ex->cors_origin.ptr)
        out_cors(ex);
    out_add(ex, ex->headers.data, ex->headers.len);
    OUT_LITERAL(ex, "\r\n");
}

static void out_send(struct exchange *ex)
{
    conn_write(ex->conn, buf_slice(&ex->conn->server->out));
    buf_reset(&ex->conn->server->out);
}

void answer_write(struct exchange *ex, int status, const char *content_type, struct slice body)
{
    if (!ex->conn->server)
        return; /* the client left */
    answer_head(ex, status, content_type, (int64_t)body.len);
    ex->answer = ANSWER_DONE;
    if (ex->head.method == HTTP_METHOD_HEAD || !status_has_body(status)) {
        out_send(ex);
    } else if (body.len <= ANSWER_JOIN_MAX) {
        out_add(ex, body.ptr, body.len);
        out_send(ex);
    } else {
        out_send(ex);
        conn_write(ex->conn, body);
    }
}

static void error_json(struct buf *out, const char *detail)
{
    int rc = buf_add_str(out, "{\"detail\":");

    if (rc == 0)
        rc = json_quote(out, slice_str(detail));
    if (rc == 0)
        rc = buf_add_char(out, '}');
    if (rc != 0)
        buf_reset(out);
}

static void error_body(struct conn *conn, const struct http_head *head, int status,
                       const char *detail, struct buf *out)
{
    const struct server_options *options = &conn->server->options;

    if (options->error_body)
        options->error_body(options->data, head, status, detail, out);
    else
        error_json(out, detail);
}

void answer_error(struct exchange *ex, int status, const char *detail)
{
    struct buf body;

    if (!ex->conn->server)
        return;
    buf_init(&body, ANSWER_ERROR_MAX);
    error_body(ex->conn, &ex->head, status, detail, &body);
    answer_write(ex, status, "application/json", buf_slice(&body));
    buf_fini(&body);
}

void answer_refusal(struct conn *conn, int status, const char *detail)
{
    struct exchange *ex = &conn->ex;
    struct buf body;

    ex->head.method = HTTP_METHOD_OTHER;
    ex->head.minor = 1;
    ex->head.is_chunked = ex->head.has_body = false;
    ex->must_close = true;
    ex->cors_origin = slice_of(NULL, 0);
    ex->body.state = BODY_COMPLETE;
    buf_reset(&ex->headers);
    if (status == 503)
        (void)!exchange_add_header(ex, "Retry-After", "1"); /* an empty list has room for it */
    buf_init(&body, ANSWER_ERROR_MAX);
    error_body(conn, NULL, status, detail, &body);
    answer_write(ex, status, "application/json", buf_slice(&body));
    buf_fini(&body);
}

void answer_preflight(struct exchange *ex, struct slice asked_headers)
{
    char *names = slice_dup(asked_headers);

    /* Constants and a value that the guard has seen: only size can refuse them. */
    (void)!exchange_add_header(ex, "Access-Control-Allow-Methods",
                               "DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT");
    (void)!exchange_add_header(ex, "Access-Control-Max-Age", "600");
    if (asked_headers.len)
        (void)!exchange_add_header(ex, "Access-Control-Allow-Headers", names);
    mem_free(names);
    exchange_respond(ex, 200, "text/plain; charset=utf-8", slice_str("OK"));
}

/* ---- calls of handlers ---- */

static bool is_field_value(const char *value)
{
    for (const char *at = value; *at; at++) {
        if (((unsigned char)*at < 0x20 && *at != '\t') || *at == 0x7f)
            return false;
    }
    return true;
}

int exchange_add_header(struct exchange *ex, const char *name, const char *value)
{
    size_t before = ex->headers.len;
    int rc;

    if (!http_is_token(slice_str(name)) || !is_field_value(value))
        return -EINVAL;
    rc = buf_add_str(&ex->headers, name);
    if (rc == 0)
        rc = buf_add_str(&ex->headers, ": ");
    if (rc == 0)
        rc = buf_add_str(&ex->headers, value);
    if (rc == 0)
        rc = buf_add_str(&ex->headers, "\r\n");
    if (rc != 0)
        ex->headers.len = before;
    return rc;
}

void exchange_respond(struct exchange *ex, int status, const char *content_type, struct slice body)
{
    struct conn *conn = ex->conn;

    conn_enter(conn);
    answer_write(ex, status, content_type, body);
    exchange_finish(ex);
    conn_leave_call(conn);
}

void exchange_respond_json(struct exchange *ex, int status, struct json_object *root_take)
{
    exchange_respond(ex, status, "application/json", slice_str(json_text(root_take)));
    json_object_put(root_take);
}

void exchange_error(struct exchange *ex, int status, const char *fmt, ...)
{
    struct conn *conn = ex->conn;
    char detail[ANSWER_DETAIL_MAX];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(detail, sizeof(detail), fmt, args); /* cut is fine */
    va_end(args);
    conn_enter(conn);
    answer_error(ex, status, detail);
    exchange_finish(ex);
    conn_leave_call(conn);
}

/* ---- answers of unknown length ---- */

void exchange_begin(struct exchange *ex, int status, const char *content_type)
{
    conn_enter(ex->conn);
    ex->answer = ANSWER_BEGUN;
    if (ex->conn->server) {
        answer_head(ex, status, content_type, -1);
        out_send(ex);
    }
    conn_leave_call(ex->conn);
}

static int write_chunk(struct exchange *ex, struct slice bytes)
{
    struct buf *out = &ex->conn->server->out;
    char size[24];
    int len = snprintf(size, sizeof(size), "%zx\r\n", bytes.len);
    int rc;

    buf_reset(out);
    out_add(ex, size, (size_t)len);
    if (bytes.len <= ANSWER_JOIN_MAX) {
        out_add(ex, bytes.ptr, bytes.len);
        OUT_LITERAL(ex, "\r\n");
        rc = conn_write_stream(ex->conn, buf_slice(out));
        buf_reset(out);
        return rc;
    }
    out_send(ex);
    rc = conn_write_stream(ex->conn, bytes);
    return rc < 0 ? rc : conn_write_stream(ex->conn, slice_str("\r\n"));
}

int exchange_write(struct exchange *ex, struct slice bytes)
{
    if (!ex->conn->server)
        return -EPIPE;
    if (ex->head.method == HTTP_METHOD_HEAD || !bytes.len)
        return 0;
    return ex->is_chunked ? write_chunk(ex, bytes) : conn_write_stream(ex->conn, bytes);
}

size_t exchange_queued(const struct exchange *ex)
{
    return ex->conn->stream ? stream_queued(ex->conn->stream) : 0;
}

void exchange_end(struct exchange *ex)
{
    struct conn *conn = ex->conn;

    conn_enter(conn);
    if (ex->is_chunked)
        conn_write(conn, slice_str("0\r\n\r\n"));
    ex->answer = ANSWER_DONE;
    exchange_finish(ex);
    conn_leave_call(conn);
}

void exchange_abort(struct exchange *ex)
{
    struct conn *conn = ex->conn;

    conn_enter(conn);
    if (conn->stream && ex->is_unframed) {
        /* Only a reset tells a client of HTTP/1.0 that the end is not the end. */
        struct linger reset = {.l_onoff = 1, .l_linger = 0};
        (void)setsockopt(stream_fd(conn->stream), SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    }
    conn->is_broken = ex->must_close = true; /* closed without lingering */
    exchange_finish(ex);
    conn_leave_call(conn);
}

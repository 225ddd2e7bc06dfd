#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "net/conn.h"
#include "net/spool.h"

/* ---- off the wire ---- */

bool body_is_on_wire(const struct exchange *ex)
{
    return !ex->body.is_ended;
}

/* Decodes the next run of payload from conn->input. 0, or -EBADMSG. */
static int body_decode(struct exchange *ex, struct slice *out_data, const char **out_why)
{
    struct exchange_body *body = &ex->body;
    struct slice *input = &ex->conn->input;
    size_t used;
    int rc;

    if (ex->head.is_chunked) {
        rc = guard_chunk_step(&body->chunk, *input, &used, out_data, out_why);
        if (rc < 0)
            return rc;
        body->is_ended = rc == 1;
    } else {
        used = input->len < body->left ? input->len : (size_t)body->left;
        *out_data = slice_of(input->ptr, used);
        body->left -= used;
        body->is_ended = body->left == 0;
    }
    *input = slice_skip(*input, used);
    body->got += out_data->len;
    return 0;
}

bool body_discard(struct conn *conn)
{
    struct exchange *ex = &conn->ex;
    const char *why = NULL;
    struct slice data;

    if (body_is_on_wire(ex) && !conn->input.len)
        return false;
    if (body_is_on_wire(ex) &&
        (body_decode(ex, &data, &why) != 0 || data.len > conn->discard_left)) {
        conn_close(conn); /* an answer was sent already; what follows cannot be trusted */
        return false;
    }
    if (!body_is_on_wire(ex))
        conn->state = CONN_HEAD;
    else
        conn->discard_left -= data.len;
    return true;
}

void body_lost(struct exchange *ex, int status)
{
    ex->body.state = BODY_FAILED;
    ex->body.sink->on_end(ex->body.data, status, true);
}

void body_fail(struct exchange *ex, int http_status, int status, const char *detail)
{
    ex->must_close = true;
    ex->body.state = BODY_FAILED;
    answer_error(ex, http_status, detail);
    ex->body.sink->on_end(ex->body.data, status, true);
    exchange_finish(ex);
}

static void body_ask(struct exchange *ex)
{
    if (!ex->head.expects_continue || ex->body.sent_continue || ex->body.got)
        return;
    ex->body.sent_continue = true;
    conn_write(ex->conn, slice_str("HTTP/1.1 100 Continue\r\n\r\n"));
}

static void body_too_large(struct exchange *ex)
{
    char detail[96];

    (void)snprintf(detail, sizeof(detail), "the request body is over %llu bytes",
                   (unsigned long long)ex->body.max_bytes);
    body_fail(ex, 413, -EMSGSIZE, detail);
}

/* One run of payload to the sink. */
static void body_pass(struct exchange *ex)
{
    struct exchange_body *body = &ex->body;
    const char *why = NULL;
    struct slice data;
    int rc = 0;

    if (body_decode(ex, &data, &why) != 0) {
        body_fail(ex, 400, -EBADMSG, why);
        return;
    }
    if (body->got > body->max_bytes) {
        body_too_large(ex);
        return;
    }
    if (data.len)
        rc = body->sink->on_bytes(body->data, data);
    body->is_paused = rc > 0;
    if (rc < 0) {
        body->state = BODY_FAILED;
        body->sink->on_end(body->data, rc, false);
    }
}

bool body_step(struct exchange *ex)
{
    struct exchange_body *body = &ex->body;

    if (body->is_paused)
        return false;
    if (ex->head.content_length > body->max_bytes) {
        body_too_large(ex);
    } else if (body->is_ended) {
        body->state = BODY_COMPLETE;
        body->sink->on_end(body->data, 0, false);
    } else if (!ex->conn->input.len) {
        body_ask(ex);
        return false;
    } else {
        body_pass(ex);
    }
    return true;
}

/* ---- what handlers may ask ---- */

void exchange_stream_body(struct exchange *ex, uint64_t max_bytes, const struct body_sink *sink,
                          void *data)
{
    conn_enter(ex->conn);
    ex->body.max_bytes = max_bytes;
    ex->body.sink = sink;
    ex->body.data = data;
    ex->body.state = BODY_READING;
    if (!ex->conn->server)
        exchange_lost_later(ex);
    conn_leave_call(ex->conn);
}

void exchange_resume_body(struct exchange *ex)
{
    conn_enter(ex->conn);
    ex->body.is_paused = false;
    conn_leave_call(ex->conn);
}

/* ---- a whole body ---- */

struct body_read {
    struct exchange *ex;
    struct body_limits limits;
    void (*done)(void *data, int status, const struct body *body);
    void *data;
    struct body body;
    struct buf memory;
    struct spool *spool;
    char *path;
};

static void read_release_cb(void *data)
{
    struct body_read *read = data;

    spool_discard(read->spool);
    if (read->path)
        (void)unlink(read->path); /* gone already when it was renamed away */
    mem_free(read->path);
    buf_fini(&read->memory);
}

/* The exchange is answered here, then the handler hears of it. */
static void read_fail(struct body_read *read, int status)
{
    struct exchange *ex = read->ex;

    answer_error(ex, status == -ENOSPC || status == -EDQUOT ? 507 : 500,
                 status == -ENOSPC || status == -EDQUOT
                     ? "no space is left on the disk for the request body"
                     : "the request body could not be stored");
    read->done(read->data, status, NULL);
    exchange_finish(ex);
}

static void read_drained_cb(void *data)
{
    struct body_read *read = data;

    exchange_resume_body(read->ex);
}

static int read_to_file(struct body_read *read)
{
    int rc = 0;

    read->path = read->limits.make_path(read->limits.path_data);
    read->spool = spool_open(exchange_loop(read->ex), read->path, read_drained_cb, read, &rc);
    if (!read->spool)
        return rc;
    rc = spool_write(read->spool, buf_slice(&read->memory));
    buf_fini(&read->memory);
    return rc;
}

static int read_bytes_cb(void *data, struct slice bytes)
{
    struct body_read *read = data;
    int rc = 0;

    read->body.len += bytes.len;
    if (!read->spool && read->memory.len + bytes.len <= read->memory.max)
        return buf_add_slice(&read->memory, bytes);
    if (!read->spool)
        rc = read_to_file(read);
    return rc < 0 ? rc : spool_write(read->spool, bytes);
}

static void read_gone_cb(void *data)
{
    struct body_read *read = data;

    read->done(read->data, -ECONNRESET, NULL);
}

static void read_stored_cb(void *data, int status)
{
    struct body_read *read = data;
    struct conn *conn = read->ex->conn;

    conn_enter(conn);
    read->spool = NULL;
    read->ex->on_gone_inner = (struct exchange_callback){NULL, NULL};
    if (status != 0) {
        read_fail(read, status);
    } else {
        read->body.path = read->path;
        read->done(read->data, 0, &read->body);
    }
    conn_leave(conn);
}

static void read_end_cb(void *data, int status, bool is_over)
{
    struct body_read *read = data;

    if (is_over) {
        read->done(read->data, status, NULL);
    } else if (status != 0) {
        read_fail(read, status);
    } else if (read->spool) {
        read->ex->on_gone_inner = (struct exchange_callback){read_gone_cb, read};
        spool_close(read->spool, read_stored_cb, read);
    } else {
        read->body.bytes = buf_slice(&read->memory);
        read->done(read->data, 0, &read->body);
    }
}

void exchange_read_body(struct exchange *ex, const struct body_limits *limits,
                        void (*done)(void *data, int status, const struct body *body), void *data)
{
    static const struct body_sink sink = {read_bytes_cb, read_end_cb};
    struct body_read *read = exchange_scratch(ex, sizeof(*read));
    size_t memory = limits->memory_bytes ? limits->memory_bytes : EXCHANGE_MEMORY_BYTES;

    read->ex = ex;
    read->limits = *limits;
    read->done = done;
    read->data = data;
    buf_init(&read->memory, limits->make_path ? memory : (size_t)limits->max_bytes);
    exchange_defer(ex, read_release_cb, read);
    exchange_stream_body(ex, limits->max_bytes, &sink, read);
}

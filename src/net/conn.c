#include "net/conn.h"

#include <errno.h>
#include <stdio.h>

#include "net/head.h"

/* A read may bring 64 KiB when the limit is almost reached. */
#define CONN_IN_CAP (2 * CONN_INPUT_MAX_BYTES + 1)

struct scratch {
    struct scratch *next;
    max_align_t bytes[];
};

struct deferred {
    struct deferred *next;
    void (*fn)(void *data);
    void *data;
};

/* ---- closing ---- */

static void exchange_release(struct exchange *ex)
{
    while (ex->deferred) {
        struct deferred *first = ex->deferred;
        ex->deferred = first->next;
        first->fn(first->data);
        mem_free(first);
    }
    while (ex->scratch) {
        struct scratch *first = ex->scratch;
        ex->scratch = first->next;
        mem_free(first);
    }
    timer_free(ex->late);
    ex->late = NULL;
    ex->is_open = false;
    ex->on_gone = ex->on_gone_inner = ex->on_drain = (struct exchange_callback){NULL, NULL};
}

void exchange_lost(struct exchange *ex, int status)
{
    struct exchange_callback gone = ex->on_gone_inner.fn ? ex->on_gone_inner : ex->on_gone;

    if (ex->body.state == BODY_READING) {
        body_lost(ex, status);
        exchange_release(ex);
    } else if (gone.fn) {
        gone.fn(gone.data);
        exchange_release(ex);
    } /* else: a handler will answer into the void */
}

static void lost_later_cb(void *data)
{
    struct exchange *ex = data;
    struct conn *conn = ex->conn;

    conn_enter(conn);
    exchange_lost(ex, -ECONNRESET);
    conn_leave(conn);
}

void exchange_lost_later(struct exchange *ex)
{
    if (!ex->late)
        ex->late = timer_new(ex->conn->loop, lost_later_cb, ex);
    timer_start(ex->late, 0);
}

void conn_close(struct conn *conn)
{
    struct server *server = conn->server;

    if (conn->state == CONN_CLOSED)
        return;
    conn_enter(conn);
    conn->state = CONN_CLOSED;
    list_del(&conn->node);
    stream_free(conn->stream);
    conn->stream = NULL;
    conn->server = NULL;
    if (conn->ex.is_open)
        exchange_lost(&conn->ex, -ECONNRESET);
    server_conn_closed(server);
    conn_leave(conn);
}

/* As conn_close, but what was written still goes out. */
static void conn_close_flushed(struct conn *conn)
{
    struct stream *stream = conn->stream;

    conn->stream = NULL;
    conn_close(conn);
    stream_free_flushed(stream, CONN_FLUSH_MS);
}

static void conn_linger(struct conn *conn)
{
    if (conn->is_ended || conn->is_broken) {
        conn_close_flushed(conn);
        return;
    }
    conn->state = CONN_LINGER;
    stream_shutdown(conn->stream);
}

static void conn_free(struct conn *conn)
{
    buf_fini(&conn->in);
    buf_fini(&conn->head_bytes);
    buf_fini(&conn->ex.headers);
    mem_free(conn);
}

void exchange_finish(struct exchange *ex)
{
    struct conn *conn = ex->conn;

    exchange_release(ex);
    if (conn->state == CONN_CLOSED)
        return;
    if (ex->must_close) {
        conn_linger(conn);
    } else if (body_is_on_wire(ex)) {
        conn->state = CONN_DISCARD;
        conn->discard_left = CONN_DISCARD_MAX_BYTES;
    } else {
        conn->state = CONN_HEAD;
    }
}

/* ---- requests ---- */

static void exchange_init(struct exchange *ex)
{
    ex->is_open = true;
    ex->must_close = ex->is_unframed = ex->is_chunked = false;
    ex->answer = ANSWER_NONE;
    ex->status = 0;
    ex->cors_origin = slice_of(NULL, 0);
    buf_reset(&ex->headers);
    memset(&ex->body, 0, sizeof(ex->body));
    ex->body.left = ex->head.content_length;
    ex->body.is_ended = !ex->head.has_body;
    if (!ex->head.has_body)
        ex->body.state = BODY_COMPLETE;
}

static void exchange_dispatch(struct exchange *ex)
{
    const struct server_options *options = &ex->conn->server->options;
    struct access_verdict verdict = {.result = ACCESS_OK};

    if (options->access)
        verdict = access_check(options->access, &ex->head, ex->conn->peer);
    ex->cors_origin = verdict.cors_origin;
    switch (verdict.result) {
    case ACCESS_OK:
        options->on_request(options->data, ex);
        break;
    case ACCESS_PREFLIGHT:
        answer_preflight(ex, verdict.cors_headers);
        break;
    case ACCESS_UNAUTHORIZED:
        (void)exchange_add_header(ex, "WWW-Authenticate", "Bearer"); /* a valid constant */
        exchange_error(ex, 401, "%s", verdict.detail);
        break;
    case ACCESS_FORBIDDEN:
        exchange_error(ex, 403, "%s", verdict.detail);
        break;
    }
}

static void conn_refuse(struct conn *conn, int status, const char *why)
{
    answer_refusal(conn, status, why);
    conn_linger(conn);
}

/* A head in conn->input: true when one was taken off. */
static bool conn_take_head(struct conn *conn)
{
    const char *why = "";
    int len, status;

    if (!conn->input.len)
        return false;
    len = guard_head_scan(&conn->guard, conn->input, &why);
    if (len == 0)
        return false;
    if (len < 0) {
        conn_refuse(conn, len == -EMSGSIZE ? 431 : len == -EPROTONOSUPPORT ? 505 : 400, why);
        return false;
    }
    buf_reset(&conn->head_bytes);
    (void)!buf_add(&conn->head_bytes, conn->input.ptr, (size_t)len); /* the guard bounds it */
    conn->input = slice_skip(conn->input, (size_t)len);
    conn->guard = (struct guard_head){0};
    status = head_parse(buf_slice(&conn->head_bytes), &conn->ex.head, &why);
    if (status != 0) {
        conn_refuse(conn, status, why);
        return false;
    }
    conn->state = CONN_HANDLING;
    exchange_init(&conn->ex);
    exchange_dispatch(&conn->ex);
    return true;
}

/* ---- the state machine ---- */

static bool conn_step(struct conn *conn)
{
    switch (conn->state) {
    case CONN_HEAD:
        if (stream_queued(conn->stream) > STREAM_HIGH_WATER_BYTES)
            return false; /* it pipelines without reading */
        return conn_take_head(conn);
    case CONN_HANDLING:
        return conn->ex.body.state == BODY_READING && body_step(&conn->ex);
    case CONN_DISCARD:
        return body_discard(conn);
    case CONN_LINGER:
        conn->input.len = 0;
        return false;
    case CONN_CLOSED:
    default:
        return false;
    }
}

static enum conn_wait conn_wait_of(const struct conn *conn)
{
    switch (conn->state) {
    case CONN_HEAD:
        return conn->in.len ? CONN_WAIT_HEAD : CONN_WAIT_REQUEST;
    case CONN_HANDLING:
        if (conn->ex.body.state == BODY_READING && !conn->ex.body.is_paused)
            return CONN_WAIT_BODY;
        return CONN_WAIT_NOTHING;
    case CONN_DISCARD:
        return CONN_WAIT_BODY;
    case CONN_LINGER:
        return CONN_WAIT_PEER;
    case CONN_CLOSED:
    default:
        return CONN_WAIT_NOTHING;
    }
}

static uint64_t conn_limit_ms(const struct conn *conn, enum conn_wait wait)
{
    const struct server_options *options = &conn->server->options;

    switch (wait) {
    case CONN_WAIT_REQUEST:
        return options->idle_timeout_ms;
    case CONN_WAIT_HEAD:
        return options->head_timeout_ms;
    case CONN_WAIT_BODY:
        return options->body_timeout_ms;
    case CONN_WAIT_PEER:
        return CONN_LINGER_MS;
    case CONN_WAIT_NOTHING:
    default:
        return 0;
    }
}

static void conn_set_deadline(struct conn *conn, bool has_consumed)
{
    enum conn_wait wait = conn_wait_of(conn);

    if (wait == conn->wait && (!has_consumed || wait == CONN_WAIT_PEER))
        return;
    conn->wait = wait;
    conn->deadline_ms = loop_now_ms(conn->loop) + conn_limit_ms(conn, wait);
    if (wait == CONN_WAIT_REQUEST && conn->in.cap > CONN_INPUT_KEEP_BYTES) {
        buf_fini(&conn->in);
        buf_init(&conn->in, CONN_IN_CAP);
    }
}

static void conn_set_reading(struct conn *conn)
{
    if (conn->in.len > CONN_INPUT_MAX_BYTES)
        stream_read_stop(conn->stream);
    else
        stream_read_start(conn->stream);
}

/* Consumes what it can of conn->input; the rest is kept in conn->in. */
static void conn_advance(struct conn *conn)
{
    bool is_borrowed = conn->input.ptr && conn->in.len == 0;
    size_t before, consumed;

    if (!is_borrowed)
        conn->input = buf_slice(&conn->in);
    before = conn->input.len;
    while (conn_step(conn))
        ;
    if (conn->state == CONN_CLOSED) {
        conn->input = slice_of(NULL, 0);
        return;
    }
    consumed = before - conn->input.len;
    if (!is_borrowed)
        buf_consume(&conn->in, consumed);
    else if (conn->input.len && buf_add_slice(&conn->in, conn->input) != 0)
        conn->is_broken = true; /* no memory: the sweep closes it */
    conn->input = slice_of(NULL, 0);
    conn_set_deadline(conn, consumed > 0);
    if (conn->is_ended && conn->state == CONN_HEAD)
        conn_close_flushed(conn);
    else if (conn->is_broken)
        server_kick(conn->server);
    else
        conn_set_reading(conn);
}

void conn_enter(struct conn *conn)
{
    conn->depth++;
}

static void conn_left(struct conn *conn)
{
    if (--conn->depth == 0 && conn->state == CONN_CLOSED && !conn->ex.is_open)
        conn_free(conn);
}

void conn_leave(struct conn *conn)
{
    if (conn->depth == 1 && conn->state != CONN_CLOSED)
        conn_advance(conn);
    conn_left(conn);
}

void conn_leave_call(struct conn *conn)
{
    if (conn->depth == 1 && conn->state != CONN_CLOSED) {
        if (conn->in.len || conn->ex.body.state == BODY_READING)
            server_kick(conn->server);
        else
            conn_advance(conn); /* has nothing to consume: sets deadline and reading */
    }
    conn_left(conn);
}

/* ---- stream events ---- */

static void data_cb(void *data, struct slice bytes)
{
    struct conn *conn = data;

    conn_enter(conn);
    if (conn->in.len == 0)
        conn->input = bytes;
    else if (buf_add_slice(&conn->in, bytes) != 0)
        conn_close(conn);
    conn_leave(conn);
}

static void end_cb(void *data, int status)
{
    struct conn *conn = data;

    conn_enter(conn);
    conn->is_ended = true;
    if (status == 0 && conn->state != CONN_HANDLING)
        conn_close_flushed(conn);
    else
        conn_close(conn); /* a client that ends its side while it waits is taken as gone */
    conn_leave(conn);
}

static void drain_cb(void *data)
{
    struct conn *conn = data;
    struct exchange_callback drain = conn->ex.on_drain;

    conn_enter(conn);
    if (conn->state == CONN_HANDLING && drain.fn)
        drain.fn(drain.data);
    conn_leave(conn);
}

static const struct stream_events conn_events = {
    .on_data = data_cb, .on_end = end_cb, .on_drain = drain_cb};

void conn_open(struct server *server, struct stream *stream, bool is_too_many)
{
    struct conn *conn = mem_new(1, sizeof(*conn));

    conn->server = server;
    conn->loop = server->loop;
    conn->stream = stream;
    conn->ex.conn = conn;
    buf_init(&conn->in, CONN_IN_CAP);
    buf_init(&conn->head_bytes, HTTP_HEAD_MAX_BYTES);
    buf_init(&conn->ex.headers, EXCHANGE_HEADERS_MAX_BYTES);
    (void)snprintf(conn->peer, sizeof(conn->peer), "%s", stream_peer(stream, NULL));
    list_add_tail(&server->conns, &conn->node);
    stream_listen(stream, &conn_events, conn);
    conn->stall_ms = loop_now_ms(conn->loop);
    conn_enter(conn);
    if (is_too_many)
        conn_refuse(conn, 503, "too many connections; close some and retry");
    conn_leave(conn);
}

int conn_write_stream(struct conn *conn, struct slice bytes)
{
    int rc;

    if (!conn->stream)
        return -EPIPE;
    rc = conn->is_broken ? -EPIPE : stream_write(conn->stream, bytes.ptr, bytes.len);
    if (rc < 0) {
        conn->is_broken = true;
        server_kick(conn->server);
        return rc;
    }
    conn->sent_total += bytes.len;
    return rc;
}

void conn_write(struct conn *conn, struct slice bytes)
{
    (void)conn_write_stream(conn, bytes); /* a failure is noted and swept */
}

/* ---- time-outs ---- */

/* True when the peer took nothing of what is queued for too long. */
static bool conn_is_stalled(struct conn *conn, uint64_t now_ms)
{
    size_t queued = stream_queued(conn->stream);
    uint64_t taken = conn->sent_total - queued;

    if (queued == 0 || taken != conn->stall_mark) {
        conn->stall_mark = taken;
        conn->stall_ms = now_ms;
        return false;
    }
    return now_ms - conn->stall_ms > conn->server->options.write_timeout_ms;
}

static void conn_timed_out(struct conn *conn)
{
    switch (conn->state) {
    case CONN_HEAD:
        if (conn->wait == CONN_WAIT_HEAD)
            conn_refuse(conn, 408, "the request head did not arrive in time");
        else
            conn_close_flushed(conn);
        break;
    case CONN_HANDLING:
        body_fail(&conn->ex, 408, -ETIMEDOUT, "the request body did not arrive in time");
        break;
    case CONN_DISCARD:
        conn_linger(conn);
        break;
    case CONN_LINGER:
        if (stream_queued(conn->stream))
            break; /* the write time-out decides */
        conn_close(conn);
        break;
    case CONN_CLOSED:
        break;
    }
}

void conn_sweep(struct conn *conn, uint64_t now_ms)
{
    conn_enter(conn);
    if (conn->is_broken || conn_is_stalled(conn, now_ms))
        conn_close(conn);
    else if (conn->server->is_stopping && (conn->state == CONN_HEAD || conn->state == CONN_LINGER))
        conn_close_flushed(conn);
    else if (conn->wait != CONN_WAIT_NOTHING && now_ms >= conn->deadline_ms)
        conn_timed_out(conn);
    conn_leave(conn);
}

/* ---- what handlers may ask ---- */

const struct http_head *exchange_head(const struct exchange *ex)
{
    return &ex->head;
}

struct loop *exchange_loop(const struct exchange *ex)
{
    return ex->conn->loop;
}

const char *exchange_peer(const struct exchange *ex)
{
    return ex->conn->peer;
}

void *exchange_scratch(struct exchange *ex, size_t size)
{
    struct scratch *scratch = mem_new(1, sizeof(*scratch) + size);

    scratch->next = ex->scratch;
    ex->scratch = scratch;
    return scratch->bytes;
}

void exchange_defer(struct exchange *ex, void (*fn)(void *data), void *data)
{
    struct deferred *deferred = mem_new(1, sizeof(*deferred));

    deferred->next = ex->deferred;
    deferred->fn = fn;
    deferred->data = data;
    ex->deferred = deferred;
}

void exchange_on_gone(struct exchange *ex, void (*fn)(void *data), void *data)
{
    ex->on_gone = (struct exchange_callback){fn, data};
    if (fn && !ex->conn->server)
        exchange_lost_later(ex);
}

void exchange_on_drain(struct exchange *ex, void (*fn)(void *data), void *data)
{
    ex->on_drain = (struct exchange_callback){fn, data};
}

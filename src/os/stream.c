#include "os/stream.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/list.h"
#include "os/loop_internal.h"
#include "os/stream_internal.h"

struct write_chunk {
    uv_write_t req;
    size_t len;
    char bytes[];
};

struct stream *stream_new_tcp(struct loop *loop)
{
    struct stream *stream = mem_new(1, sizeof(*stream));

    stream->loop = loop;
    (void)uv_tcp_init(&loop->uv, &stream->uv.tcp); /* cannot fail without a socket */
    stream->uv.handle.data = stream;
    return stream;
}

struct stream *stream_new_pipe(struct loop *loop)
{
    struct stream *stream = mem_new(1, sizeof(*stream));

    stream->loop = loop;
    (void)uv_pipe_init(&loop->uv, &stream->uv.pipe, 0); /* cannot fail */
    stream->uv.handle.data = stream;
    return stream;
}

static void stream_closed_cb(uv_handle_t *handle)
{
    mem_free(handle->data);
}

static void flush_timer_closed_cb(uv_handle_t *handle)
{
    mem_free(handle);
}

static void stream_close(struct stream *stream)
{
    if (stream->is_closing)
        return;
    stream->is_closing = true;
    if (stream->flush_timer) {
        uv_close((uv_handle_t *)stream->flush_timer, flush_timer_closed_cb);
        stream->flush_timer = NULL;
    }
    uv_close(&stream->uv.handle, stream_closed_cb);
}

void stream_free(struct stream *stream)
{
    if (!stream)
        return;
    stream->events = NULL;
    stream->on_connect = NULL;
    stream_close(stream);
}

static void stream_end(struct stream *stream, int status)
{
    const struct stream_events *events = stream->events;

    if (status < 0)
        stream->is_broken = true; /* after a mere end-of-file the other direction goes on */
    uv_read_stop(&stream->uv.stream);
    if (stream->is_ended || !events)
        return;
    stream->is_ended = true;
    events->on_end(stream->data, status);
}

/* ---- opening ---- */

static bool fd_is_tcp(int fd)
{
    struct sockaddr_storage addr = {0};
    socklen_t len = sizeof(addr);

    return getsockname(fd, (struct sockaddr *)&addr, &len) == 0 &&
           (addr.ss_family == AF_INET || addr.ss_family == AF_INET6);
}

struct stream *stream_open_fd(struct loop *loop, int fd)
{
    struct stream *stream;
    int rc;

    if (fd_is_tcp(fd)) {
        stream = stream_new_tcp(loop);
        rc = uv_tcp_open(&stream->uv.tcp, fd);
    } else {
        stream = stream_new_pipe(loop);
        rc = uv_pipe_open(&stream->uv.pipe, fd);
    }
    if (rc == 0)
        return stream;
    (void)close(fd); /* nothing to do about a failure */
    stream_free(stream);
    return NULL;
}

static void connect_cb(uv_connect_t *req, int status)
{
    struct stream *stream = req->handle->data;
    void (*fn)(void *, int) = stream->on_connect;

    stream->on_connect = NULL;
    if (fn)
        fn(stream->connect_data, status);
}

int stream_address(const char *host, uint16_t port, struct sockaddr_storage *out)
{
    if (uv_ip4_addr(host, port, (struct sockaddr_in *)out) == 0)
        return 0;
    return uv_ip6_addr(host, port, (struct sockaddr_in6 *)out);
}

struct stream *stream_connect_tcp(struct loop *loop, const char *host, uint16_t port,
                                  void (*on_connect)(void *data, int status), void *data)
{
    struct stream *stream;
    struct sockaddr_storage addr;

    if (stream_address(host, port, &addr) != 0)
        return NULL;
    stream = stream_new_tcp(loop);
    (void)uv_tcp_nodelay(&stream->uv.tcp, 1);
    stream->on_connect = on_connect;
    stream->connect_data = data;
    if (uv_tcp_connect(&stream->connect_req, &stream->uv.tcp, (struct sockaddr *)&addr,
                       connect_cb) != 0) {
        stream_free(stream);
        return NULL;
    }
    return stream;
}

uint16_t stream_address_port(const struct sockaddr_storage *addr)
{
    if (addr->ss_family == AF_INET6)
        return ntohs(((const struct sockaddr_in6 *)addr)->sin6_port);
    return ntohs(((const struct sockaddr_in *)addr)->sin_port);
}

void stream_note_peer(struct stream *stream, bool is_unix)
{
    struct sockaddr_storage addr;
    int len = sizeof(addr);

    (void)snprintf(stream->peer, sizeof(stream->peer), "%s", is_unix ? "unix" : "?");
    if (is_unix || uv_tcp_getpeername(&stream->uv.tcp, (struct sockaddr *)&addr, &len) != 0)
        return;
    (void)uv_tcp_nodelay(&stream->uv.tcp, 1);
    (void)uv_ip_name((struct sockaddr *)&addr, stream->peer, sizeof(stream->peer));
    stream->peer_port = stream_address_port(&addr);
}

void stream_listen(struct stream *stream, const struct stream_events *events, void *data)
{
    stream->events = events;
    stream->data = data;
}

const char *stream_peer(const struct stream *stream, uint16_t *out_port)
{
    if (out_port)
        *out_port = stream->peer_port;
    return stream->peer;
}

int stream_fd(const struct stream *stream)
{
    uv_os_fd_t fd = -1;

    (void)uv_fileno(&stream->uv.handle, &fd); /* -1 when closed */
    return fd;
}

/* ---- reading ---- */

static void alloc_cb(uv_handle_t *handle, size_t suggested, uv_buf_t *buf)
{
    struct stream *stream = handle->data;

    (void)suggested;
    *buf = uv_buf_init(stream->loop->read_buf, sizeof(stream->loop->read_buf));
}

static void read_cb(uv_stream_t *uv, ssize_t got, const uv_buf_t *buf)
{
    struct stream *stream = uv->data;

    if (got > 0 && stream->events)
        stream->events->on_data(stream->data, slice_of(buf->base, (size_t)got));
    else if (got < 0)
        stream_end(stream, got == UV_EOF ? 0 : (int)got);
}

void stream_read_start(struct stream *stream)
{
    int rc;

    if (stream->is_ended || stream->is_broken || stream->is_closing)
        return;
    rc = uv_read_start(&stream->uv.stream, alloc_cb, read_cb);
    if (rc != 0 && rc != UV_EALREADY)
        stream_end(stream, rc);
}

void stream_read_stop(struct stream *stream)
{
    uv_read_stop(&stream->uv.stream);
}

/* ---- writing ---- */

static void write_cb(uv_write_t *req, int status)
{
    struct write_chunk *chunk = list_entry(req, struct write_chunk, req);
    struct stream *stream = req->handle->data;

    stream->queued_bytes -= chunk->len;
    mem_free(chunk);
    if (stream->is_flushing && (status < 0 || stream->queued_bytes == 0)) {
        stream_close(stream); /* sent, or nobody is left to take it */
    } else if (status < 0 && status != UV_ECANCELED) {
        stream_end(stream, status);
    } else if (stream->is_high && stream->queued_bytes <= STREAM_HIGH_WATER_BYTES / 2) {
        stream->is_high = false;
        if (stream->events && stream->events->on_drain && !stream->is_broken)
            stream->events->on_drain(stream->data);
    }
}

static int stream_queue(struct stream *stream, const char *ptr, size_t len)
{
    struct write_chunk *chunk = mem_try_resize(NULL, sizeof(*chunk) + len);
    uv_buf_t buf;
    int rc;

    if (!chunk)
        return -ENOMEM;
    memcpy(chunk->bytes, ptr, len);
    chunk->len = len;
    buf = uv_buf_init(chunk->bytes, (unsigned)len);
    rc = uv_write(&chunk->req, &stream->uv.stream, &buf, 1, write_cb);
    if (rc != 0) {
        mem_free(chunk);
        return rc;
    }
    stream->queued_bytes += len;
    if (stream->queued_bytes > STREAM_HIGH_WATER_BYTES)
        stream->is_high = true;
    return stream->is_high ? 1 : 0;
}

int stream_write(struct stream *stream, const void *ptr, size_t len)
{
    const char *bytes = ptr;

    if (stream->is_closing || stream->is_shutting || stream->is_broken)
        return -EPIPE;
    if (stream->queued_bytes == 0 && len) {
        uv_buf_t buf = uv_buf_init((char *)(uintptr_t)bytes, (unsigned)len);
        int rc = uv_try_write(&stream->uv.stream, &buf, 1);
        if (rc < 0 && rc != UV_EAGAIN)
            return rc;
        if (rc > 0) {
            bytes += rc;
            len -= (size_t)rc;
        }
    }
    return len ? stream_queue(stream, bytes, len) : 0;
}

size_t stream_queued(const struct stream *stream)
{
    return stream->queued_bytes;
}

static void shutdown_cb(uv_shutdown_t *req, int status)
{
    (void)req; /* the read side, or the peer's reset, tells what matters */
    (void)status;
}

void stream_shutdown(struct stream *stream)
{
    if (stream->is_closing || stream->is_shutting)
        return;
    stream->is_shutting = true;
    (void)uv_shutdown(&stream->shutdown_req, &stream->uv.stream, shutdown_cb);
}

static void flush_timeout_cb(uv_timer_t *timer)
{
    stream_close(timer->data);
}

void stream_free_flushed(struct stream *stream, uint64_t within_ms)
{
    if (!stream)
        return;
    stream->events = NULL;
    stream->on_connect = NULL;
    uv_read_stop(&stream->uv.stream);
    if (stream->queued_bytes == 0 || stream->is_broken) {
        stream_close(stream);
        return;
    }
    stream->is_flushing = true;
    stream->flush_timer = mem_new(1, sizeof(*stream->flush_timer));
    (void)uv_timer_init(&stream->loop->uv, stream->flush_timer);
    stream->flush_timer->data = stream;
    (void)uv_timer_start(stream->flush_timer, flush_timeout_cb, within_ms, 0);
}

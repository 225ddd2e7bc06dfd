#include <errno.h>
#include <stdio.h>

#include "os/loop_internal.h"
#include "os/stream.h"
#include "os/stream_internal.h"

#define LISTENER_BACKLOG 256

struct listener {
    union stream_handle uv;
    struct loop *loop;
    void (*on_accept)(void *data, struct stream *stream);
    void *data;
    bool is_unix;
};

static void listener_closed_cb(uv_handle_t *handle)
{
    mem_free(handle->data);
}

static struct listener *
listener_new(struct loop *loop, void (*on_accept)(void *data, struct stream *stream), void *data)
{
    struct listener *listener = mem_new(1, sizeof(*listener));

    listener->loop = loop;
    listener->on_accept = on_accept;
    listener->data = data;
    return listener;
}

static void connection_cb(uv_stream_t *server, int status)
{
    struct listener *listener = server->data;
    struct stream *stream;

    if (status < 0)
        return; /* out of descriptors: the client waits in the backlog */
    stream = listener->is_unix ? stream_new_pipe(listener->loop) : stream_new_tcp(listener->loop);
    if (uv_accept(server, &stream->uv.stream) != 0) {
        stream_free(stream);
        return;
    }
    stream_note_peer(stream, listener->is_unix);
    listener->on_accept(listener->data, stream);
}

static struct listener *listener_start(struct listener *listener, int rc, const char *where,
                                       struct err *err)
{
    listener->uv.handle.data = listener;
    if (rc == 0)
        rc = uv_listen(&listener->uv.stream, LISTENER_BACKLOG, connection_cb);
    if (rc == 0)
        return listener;
    (void)err_set(err, rc, "cannot listen on %s: %s", where, uv_strerror(rc));
    listener_free(listener);
    return NULL;
}

struct listener *listener_open_tcp(struct loop *loop, const char *host, uint16_t port,
                                   void (*on_accept)(void *data, struct stream *stream), void *data,
                                   struct err *err)
{
    struct listener *listener;
    struct sockaddr_storage addr;
    char where[128];
    int rc;

    if (stream_address(host, port, &addr) != 0) {
        (void)err_set(err, -EINVAL, "\"%s\" is not a numeric address to listen on; use e.g. %s",
                      host, "127.0.0.1");
        return NULL;
    }
    (void)snprintf(where, sizeof(where), "%s port %u", host, port);
    listener = listener_new(loop, on_accept, data);
    (void)uv_tcp_init(&loop->uv, &listener->uv.tcp);
    rc = uv_tcp_bind(&listener->uv.tcp, (struct sockaddr *)&addr, 0);
    return listener_start(listener, rc, where, err);
}

struct listener *listener_open_unix(struct loop *loop, const char *path,
                                    void (*on_accept)(void *data, struct stream *stream),
                                    void *data, struct err *err)
{
    struct listener *listener = listener_new(loop, on_accept, data);
    int rc;

    listener->is_unix = true;
    (void)uv_pipe_init(&loop->uv, &listener->uv.pipe, 0);
    rc = uv_pipe_bind(&listener->uv.pipe, path);
    return listener_start(listener, rc, path, err);
}

uint16_t listener_port(const struct listener *listener)
{
    struct sockaddr_storage addr;
    int len = sizeof(addr);

    if (listener->is_unix ||
        uv_tcp_getsockname(&listener->uv.tcp, (struct sockaddr *)&addr, &len) != 0)
        return 0;
    return stream_address_port(&addr);
}

void listener_free(struct listener *listener)
{
    if (listener)
        uv_close(&listener->uv.handle, listener_closed_cb);
}

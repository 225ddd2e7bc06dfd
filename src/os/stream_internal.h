/* What stream.c and listener.c share; nobody else includes it. */
#ifndef HOTBUNK_OS_STREAM_INTERNAL_H
#define HOTBUNK_OS_STREAM_INTERNAL_H

#include <sys/socket.h>

#include "os/loop_internal.h"
#include "os/stream.h"

#define STREAM_PEER_MAX 64

union stream_handle {
    uv_handle_t handle;
    uv_stream_t stream;
    uv_tcp_t tcp;
    uv_pipe_t pipe;
};

struct stream {
    union stream_handle uv;
    struct loop *loop;
    const struct stream_events *events;
    void *data;
    void (*on_connect)(void *data, int status);
    void *connect_data;
    uv_connect_t connect_req;
    uv_shutdown_t shutdown_req;
    uv_timer_t *flush_timer;
    size_t queued_bytes;
    bool is_high;     /* the queue went above the mark and has not drained */
    bool is_shutting; /* end-of-file was asked for */
    bool is_flushing; /* close when the queue is empty */
    bool is_ended;    /* on_end was called */
    bool is_broken;   /* with an error: nothing can be written any more */
    bool is_closing;
    uint16_t peer_port;
    char peer[STREAM_PEER_MAX];
};

struct stream *stream_new_tcp(struct loop *loop);
struct stream *stream_new_pipe(struct loop *loop);

/* Fills peer and peer_port of an accepted stream. */
void stream_note_peer(struct stream *stream, bool is_unix);

/* A numeric IPv4 or IPv6 host. 0 or a negative errno. */
int stream_address(const char *host, uint16_t port, struct sockaddr_storage *out) MUSTCHECK;
uint16_t stream_address_port(const struct sockaddr_storage *addr);

#endif

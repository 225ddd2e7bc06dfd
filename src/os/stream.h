/* stream: one byte stream (TCP, Unix socket, pipe) and the listener that accepts them.
 *
 * Reading is started and stopped by the owner; writing tries the socket first and queues the
 * rest, up to a maximum. Above the high-water mark stream_write says so, and on_drain tells when
 * half of it is left: nothing queues without bound. Loop thread. No callback after stream_free;
 * a callback may free its own stream. */
#ifndef HOTBUNK_OS_STREAM_H
#define HOTBUNK_OS_STREAM_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/slice.h"
#include "os/loop.h"

#define STREAM_HIGH_WATER_BYTES (256u << 10)

struct stream;
struct listener;

struct stream_events {
    /* Bytes are valid during the call only. */
    void (*on_data)(void *data, struct slice bytes);
    /* Once: the peer ended its side (0), or the stream broke (negative errno). */
    void (*on_end)(void *data, int status);
    /* The queue fell to half of the high-water mark after it was above it. May be NULL. */
    void (*on_drain)(void *data);
};

/* Takes the descriptor (a pipe end or a connected socket), in every case. NULL on failure. */
struct stream *stream_open_fd(struct loop *loop, int fd);

/* Connects to a Unix socket or to host:port (numeric host); `on_connect` comes once. */
struct stream *stream_connect_tcp(struct loop *loop, const char *host, uint16_t port,
                                  void (*on_connect)(void *data, int status), void *data);

/* The descriptor, still owned by the stream. */
int stream_fd(const struct stream *stream);

/* Must be set before reading starts. `events` must outlive the stream. */
void stream_listen(struct stream *stream, const struct stream_events *events, void *data);

void stream_read_start(struct stream *stream);
void stream_read_stop(struct stream *stream);

/* Writes or queues a copy. 0; 1 when the queue is now above the high-water mark (the bytes are
 * accepted, stop producing until on_drain); negative errno when the stream is broken. */
int stream_write(struct stream *stream, const void *ptr, size_t len);

/* Bytes that were accepted and not yet given to the kernel. */
size_t stream_queued(const struct stream *stream);

/* Sends end-of-file after what is queued; reading goes on. */
void stream_shutdown(struct stream *stream);

/* Closes at once (queued bytes are dropped) and frees. NULL is fine. */
void stream_free(struct stream *stream);

/* Closes after the queue was sent, or after `within_ms` at the latest; no callbacks. */
void stream_free_flushed(struct stream *stream, uint64_t within_ms);

/* The peer's address text ("127.0.0.1", "unix"), and its port or 0. */
const char *stream_peer(const struct stream *stream, uint16_t *out_port);

/* `on_accept` owns the new stream. */
struct listener *listener_open_tcp(struct loop *loop, const char *host, uint16_t port,
                                   void (*on_accept)(void *data, struct stream *stream), void *data,
                                   struct err *err);
struct listener *listener_open_unix(struct loop *loop, const char *path,
                                    void (*on_accept)(void *data, struct stream *stream),
                                    void *data, struct err *err);

/* The port that was bound (for port 0). */
uint16_t listener_port(const struct listener *listener);
void listener_free(struct listener *listener);

#endif

/* exchange: one request and its answer, as a handler sees it.
 *
 * Lifetime: an exchange is the handler's from on_request until it was answered: exchange_respond*,
 * exchange_error, exchange_end and exchange_abort end it, as does a body read that fails; do not
 * touch it afterwards. When the client leaves first: with exchange_on_gone set, that function is
 * called once and the exchange is over; without it the exchange stays valid, and its answer is
 * dropped. No callback is ever made from inside a call of these functions. Loop thread. */
#ifndef HOTBUNK_NET_EXCHANGE_H
#define HOTBUNK_NET_EXCHANGE_H

#include "base/json.h"
#include "net/http.h"
#include "os/loop.h"

#define EXCHANGE_HEADERS_MAX_BYTES 8192        /* of all added fields */
#define EXCHANGE_MEMORY_BYTES      (64u << 10) /* bodies above it go to a file */

struct exchange;

/* ---- the request ---- */

const struct http_head *exchange_head(const struct exchange *ex);
struct loop *exchange_loop(const struct exchange *ex);
const char *exchange_peer(const struct exchange *ex);

/* Zeroed memory that is freed with the exchange. */
void *exchange_scratch(struct exchange *ex, size_t size) __attribute__((returns_nonnull));

/* `fn` is called once, last set first, when the exchange is over, however it ended. */
void exchange_defer(struct exchange *ex, void (*fn)(void *data), void *data);

/* The client left (or was dropped) before the answer was complete. NULL takes it back. */
void exchange_on_gone(struct exchange *ex, void (*fn)(void *data), void *data);

/* ---- the request's body: at most one of these three is used ---- */

/* A whole body: in memory, or (path not NULL) in a file, which is removed when the exchange ends
 * unless it was renamed away. */
struct body {
    struct slice bytes;
    const char *path;
    uint64_t len;
};

struct body_limits {
    uint64_t max_bytes;             /* above it: 413 */
    size_t memory_bytes;            /* above it: a file; 0 = EXCHANGE_MEMORY_BYTES */
    char *(*make_path)(void *data); /* new path for the file (mem_free); NULL = memory only, */
    void *path_data;                /* then max_bytes should be small */
};

/* `done` comes once. status 0: *body lives until the exchange ends; answer now. Negative (gone,
 * too large, malformed, too slow, disk): the exchange was already answered and is over; body is
 * NULL. on_gone is not called while a body is being read. */
void exchange_read_body(struct exchange *ex, const struct body_limits *limits,
                        void (*done)(void *data, int status, const struct body *body), void *data);

/* Like it, for a JSON object: 400 when it is none (an absent body is an empty object). A text
 * above EXCHANGE_MEMORY_BYTES is parsed on a pool thread. *root is borrowed until the exchange
 * ends. */
void exchange_read_json(struct exchange *ex, size_t max_bytes,
                        void (*done)(void *data, int status, struct json_object *root), void *data);

/* The body in pieces. on_bytes: 0 = go on, 1 = pause until exchange_resume_body, negative = stop:
 * on_end follows with that status and the exchange is still to be answered. on_end: once; 0 =
 * the body is complete, answer now; another negative status: as with exchange_read_body. Called
 * from the loop, also for an empty body. */
struct body_sink {
    int (*on_bytes)(void *data, struct slice bytes);
    void (*on_end)(void *data, int status, bool is_over);
};
void exchange_stream_body(struct exchange *ex, uint64_t max_bytes, const struct body_sink *sink,
                          void *data);
void exchange_resume_body(struct exchange *ex);

/* ---- the answer ---- */

/* A field of the coming answer. 0, -EINVAL (not a token, CR or LF inside) or -EMSGSIZE. */
int exchange_add_header(struct exchange *ex, const char *name, const char *value);

/* content_type NULL = none (no body). The bytes are copied or sent before it returns. */
void exchange_respond(struct exchange *ex, int status, const char *content_type, struct slice body);
void exchange_respond_json(struct exchange *ex, int status, struct json_object *root_take);

/* An error in the server's error shape, e.g. {"detail": "…"}. */
void exchange_error(struct exchange *ex, int status, const char *fmt, ...) PRINTF(3, 4);

/* Sends a regular file and closes `fd_take` in every case; Last-Modified, ETag, If-None-Match,
 * one Range. `download_name` (UTF-8) adds Content-Disposition: attachment; NULL does not. */
void exchange_respond_file(struct exchange *ex, int fd_take, const char *content_type,
                           const char *download_name);

/* An answer whose length is not known: chunked on 1.1, ended by closing on 1.0. HEAD is taken care
 * of. Set on_gone first: nothing else tells a writer that waits for on_drain. exchange_write: 0;
 * 1 = above the high-water mark (accepted; stop until on_drain); negative when the client is gone
 * (on_gone follows from the loop). */
void exchange_begin(struct exchange *ex, int status, const char *content_type);
int exchange_write(struct exchange *ex, struct slice bytes);
void exchange_on_drain(struct exchange *ex, void (*fn)(void *data), void *data);
size_t exchange_queued(const struct exchange *ex);
void exchange_end(struct exchange *ex);

/* Ends the answer visibly broken, so that the client cannot take it for complete. */
void exchange_abort(struct exchange *ex);

#endif

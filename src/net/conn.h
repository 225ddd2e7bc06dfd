/* conn: what server.c, conn.c, answer.c, file_answer.c and body.c share; nobody else includes it.
 *
 * A connection carries one exchange at a time. Every entry from outside is wrapped in conn_enter
 * and, for events of the loop, conn_leave: the last one moves the state machine on and frees the
 * connection, so that no function sees it vanish. Calls of handlers end in conn_leave_call, which
 * leaves that to the next turn of the loop: a handler is never called from inside its own call. */
#ifndef HOTBUNK_NET_CONN_H
#define HOTBUNK_NET_CONN_H

#include "base/list.h"
#include "net/exchange.h"
#include "net/guard.h"
#include "net/server.h"
#include "os/stream.h"

#define CONN_INPUT_MAX_BYTES   (64u << 10)  /* above it a peer is not read */
#define CONN_DISCARD_MAX_BYTES (256u << 10) /* of an unread body; above it: close */
#define CONN_LINGER_MS         5000u
#define CONN_INPUT_KEEP_BYTES  4096u /* more is given back when a connection is idle */
#define CONN_FLUSH_MS          10000u

/* CONN_HEAD ──head complete──▶ CONN_HANDLING ──answered──▶ CONN_HEAD | CONN_DISCARD | CONN_LINGER
 * CONN_DISCARD ──body read──▶ CONN_HEAD            any ──end, error, time-out──▶ CONN_CLOSED */
enum conn_state {
    CONN_HEAD = 0,     /* idle, or a head is arriving */
    CONN_HANDLING = 1, /* the exchange is open */
    CONN_DISCARD = 2,  /* answered; the rest of its body is dropped */
    CONN_LINGER = 3,   /* end-of-file was sent; input is dropped until the peer's (RFC 9112 9.6) */
    CONN_CLOSED = 4,   /* no stream; freed when the exchange is over */
};

/* What the deadline stands for; it is set anew when this changes or when bytes were consumed. */
enum conn_wait {
    CONN_WAIT_NOTHING = 0,
    CONN_WAIT_REQUEST = 1,
    CONN_WAIT_HEAD = 2, /* the rest of a head */
    CONN_WAIT_BODY = 3,
    CONN_WAIT_PEER = 4, /* its end-of-file */
};

enum answer_state {
    ANSWER_NONE = 0,
    ANSWER_BEGUN = 1, /* the head was sent, the body is being written */
    ANSWER_DONE = 2,
};

enum body_state {
    BODY_UNREAD = 0,
    BODY_READING = 1,
    BODY_COMPLETE = 2, /* nothing of it is left on the wire */
    BODY_FAILED = 3,
};

struct exchange_body {
    enum body_state state;
    bool is_paused;
    bool is_ended; /* the last byte was decoded */
    bool sent_continue;
    uint64_t left; /* with Content-Length: bytes to come */
    uint64_t got;
    uint64_t max_bytes;
    struct guard_chunk chunk;
    const struct body_sink *sink;
    void *data;
};

struct exchange_callback {
    void (*fn)(void *data);
    void *data;
};

struct exchange {
    struct conn *conn;
    bool is_open;     /* a handler owns it */
    bool must_close;  /* no further request on this connection */
    bool is_unframed; /* the answer's end is the connection's end */
    bool is_chunked;  /* the answer's body is */
    enum answer_state answer;
    int status;
    struct exchange_body body;
    struct exchange_callback on_gone;
    struct exchange_callback on_gone_inner; /* of net itself, wins over on_gone */
    struct exchange_callback on_drain;
    struct slice cors_origin;
    struct buf headers; /* added fields as they go out */
    struct timer *late; /* of exchange_lost_later */
    struct scratch *scratch;
    struct deferred *deferred;
    struct http_head head;
};

struct conn {
    struct list node;      /* in server->conns */
    struct server *server; /* NULL once closed */
    struct loop *loop;
    struct stream *stream; /* NULL once closed */
    enum conn_state state;
    unsigned depth; /* of conn_enter */
    bool is_broken; /* a write failed: the sweep closes it */
    bool is_ended;  /* the peer sent end-of-file */
    enum conn_wait wait;
    uint64_t deadline_ms; /* of `wait` */
    uint64_t sent_total;  /* bytes given to the stream */
    uint64_t stall_mark;  /* bytes the peer had taken at the last sweep that saw progress */
    uint64_t stall_ms;    /* when that was */
    uint64_t discard_left;
    struct guard_head guard;
    struct slice input; /* during conn_advance: what is to be consumed */
    struct buf in;      /* bytes that wait between turns */
    struct buf head_bytes;
    char peer[64];
    struct exchange ex;
};

struct server {
    struct loop *loop;
    struct server_options options;
    struct listener *listener;
    struct timer *sweep;
    struct timer *stop_timer;
    struct list conns;
    unsigned conn_count;
    bool is_kicked; /* a sweep is due in the next turn */
    bool is_stopping, stop_is_due;
    void (*on_stopped)(void *data);
    void *stop_data;
    struct buf out;        /* the answer being put together; empty between calls */
    uint64_t date_turn_ms; /* when the clock was last asked */
    int64_t date_second;
    char date[HTTP_DATE_LEN + 1];
};

/* conn.c */
void conn_open(struct server *server, struct stream *stream, bool is_too_many);
void conn_enter(struct conn *conn);
void conn_leave(struct conn *conn);
void conn_leave_call(struct conn *conn);
void conn_close(struct conn *conn); /* at once; an open exchange is told */
void conn_sweep(struct conn *conn, uint64_t now_ms);
void conn_write(struct conn *conn, struct slice bytes);
int conn_write_stream(struct conn *conn, struct slice bytes);

/* The exchange is over: frees what it held and decides what becomes of the connection. */
void exchange_finish(struct exchange *ex);

/* The client of an open exchange is gone: exactly one of the waiting callbacks hears of it. */
void exchange_lost(struct exchange *ex, int status);
void exchange_lost_later(struct exchange *ex); /* from the loop */

/* server.c */
void server_kick(struct server *server); /* sweep soon */
void server_conn_closed(struct server *server);
const char *server_date(struct server *server);

/* answer.c */
void answer_error(struct exchange *ex, int status, const char *detail);
void answer_refusal(struct conn *conn, int status, const char *detail);
void answer_preflight(struct exchange *ex, struct slice asked_headers);
/* Puts status line and fields into server->out; length < 0 = not known. */
void answer_head(struct exchange *ex, int status, const char *content_type, int64_t length);
void answer_write(struct exchange *ex, int status, const char *content_type, struct slice body);

/* body.c */
bool body_step(struct exchange *ex);  /* false when more input is needed or it is paused */
bool body_discard(struct conn *conn); /* the same without a reader */
void body_lost(struct exchange *ex, int status);
void body_fail(struct exchange *ex, int http_status, int status, const char *detail);
bool body_is_on_wire(const struct exchange *ex);

#endif

/* server: HTTP/1.1 and 1.0 on a listening socket; hands each request over as an exchange.
 *
 * Keep-alive; one request of a connection at a time (pipelined ones wait, bounded). Malformed
 * requests are answered 400 and closed without a handler call. Loop thread. */
#ifndef HOTBUNK_NET_SERVER_H
#define HOTBUNK_NET_SERVER_H

#include "base/err.h"
#include "net/access.h"
#include "net/exchange.h"
#include "os/loop.h"

#define SERVER_MAX_CONNECTIONS  512
#define SERVER_HEAD_TIMEOUT_MS  10000u
#define SERVER_IDLE_TIMEOUT_MS  75000u
#define SERVER_BODY_TIMEOUT_MS  30000u /* without a byte of the body */
#define SERVER_WRITE_TIMEOUT_MS 60000u /* without a byte taken by the client */

struct server;

struct server_options {
    const char *host; /* numeric */
    uint16_t port;    /* 0 = any free one */

    /* Called when a head is complete and access is granted. Must lead to exactly one answer, now
     * or later (exchange.h). */
    void (*on_request)(void *data, struct exchange *ex);

    /* Writes the JSON body of an error answer; NULL = {"detail": "…"}. `head` is NULL when the
     * request could not be parsed. */
    void (*error_body)(void *data, const struct http_head *head, int status, const char *detail,
                       struct buf *out);
    void *data;

    const struct access_policy *access; /* NULL = no checks (tests) */
    unsigned max_connections;           /* 0 = SERVER_MAX_CONNECTIONS; above it: 503 */
    uint64_t head_timeout_ms, idle_timeout_ms, body_timeout_ms, write_timeout_ms; /* 0 = default */
};

/* The options are copied, what they point to is borrowed. NULL on failure (err says why). */
struct server *server_open(struct loop *loop, const struct server_options *options,
                           struct err *err);

uint16_t server_port(const struct server *server);
unsigned server_connections(const struct server *server);

/* Stops accepting, closes idle connections, lets answers in progress finish, closes what is left
 * after `within_ms`; then calls `done` once, from the loop. Only then server_free. */
void server_stop(struct server *server, uint64_t within_ms, void (*done)(void *data), void *data);

/* Closes everything at once. NULL is fine. Handlers with on_gone are told. */
void server_free(struct server *server);

#endif

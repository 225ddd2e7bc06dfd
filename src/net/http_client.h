/* http_client: one asynchronous HTTP/1.1 request to a numeric host, for libhotbunk and the CLI.
 *
 * One connection a request (Connection: close). The answer's body comes in pieces, chunked or not,
 * so that event streams work. No time-out of its own: the waiter has a timer and calls
 * http_client_cancel. Loop thread. */
#ifndef HOTBUNK_NET_HTTP_CLIENT_H
#define HOTBUNK_NET_HTTP_CLIENT_H

#include "net/http.h"
#include "os/loop.h"

struct http_client;

/* One part of a multipart/form-data body: `value`, or the file at `path`. */
struct http_client_part {
    const char *name;
    const char *value;
    const char *path;
    const char *filename;     /* with path; NULL = its last component */
    const char *content_type; /* NULL = application/octet-stream for files */
};

struct http_client_request {
    const char *method;         /* "GET" */
    const char *target;         /* "/health?x=1", already encoded */
    const char *const *headers; /* NULL-terminated "Name: value" texts, or NULL */
    const char *content_type;   /* of `body` */
    struct slice body;          /* in memory, copied; or: */
    const struct http_client_part *parts;
    size_t part_count;
};

struct http_client_answer {
    int status;
    size_t field_count;
    struct http_field fields[HTTP_FIELDS_MAX];
};

struct http_client_events {
    /* The head is complete; borrowed for the call. May be NULL. */
    void (*on_head)(void *data, const struct http_client_answer *answer);
    void (*on_body)(void *data, struct slice bytes);
    /* Once, the last callback: 0 = complete; negative = no or a broken answer. The request is
     * freed after it. */
    void (*on_end)(void *data, int status);
};

/* NULL when the host is not numeric or a part's file cannot be read (err). `events` must outlive
 * the request; everything else is copied. */
struct http_client *http_client_open(struct loop *loop, const char *host, uint16_t port,
                                     const struct http_client_request *request,
                                     const struct http_client_events *events, void *data,
                                     struct err *err);

/* No callback comes any more. NULL is fine. */
void http_client_cancel(struct http_client *client);

#endif

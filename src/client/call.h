/* call: one asynchronous request of a client, with its time-outs; the blocking calls are made of
 * it. Internal to src/client.
 *
 * Embedded: call_open, then call_close in every case. No callback after call_close, which a
 * callback must not call for its own call. Loop thread. */
#ifndef HOTBUNK_CLIENT_CALL_H
#define HOTBUNK_CLIENT_CALL_H

#include "client/client.h"

struct client {
    struct loop *loop;
    struct address address;
    char *auth; /* "Authorization: Bearer …", or NULL */
    struct loop_signal *signals[3];
    int signal; /* the last one, or 0 */
};

struct call_options {
    struct http_client_request request;
    size_t body_max;   /* of an answer that is collected (also of every error's) */
    uint64_t first_ms; /* until the head of the answer; 0 = no limit, also below */
    uint64_t idle_ms;  /* between two pieces of the body */
    uint64_t total_ms;
    /* Bytes of a good answer as they come; NULL = collect. Non-zero ends the call with it. */
    int (*on_body)(void *data, struct slice bytes);
    void (*on_end)(void *data); /* the call is_done; may be NULL */
    void *data;
};

struct call {
    struct client *client;
    struct call_options options; /* `request` is over once it was opened */
    char *target;                /* for messages */
    struct http_client *http;
    struct timer *silence, *total;
    struct buf body;
    char media_type[CLIENT_MEDIA_TYPE_MAX];
    int status; /* of HTTP, 0 = no answer yet */
    bool is_done;
    int rc;
    struct err err;
};

/* Without an answer from the start the call is done at once; on_end comes from the loop only. */
void call_open(struct call *call, struct client *client, const struct call_options *options);
void call_close(struct call *call);

/* Runs the loop until the call is done or a signal came. What call->rc is then. */
int call_wait(struct call *call, struct err *err) MUSTCHECK;

/* The answer as a JSON object. */
int call_json(const struct call *call, struct json_object **out_root, struct err *err) MUSTCHECK;

#endif

#include "client/client.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "client/call.h"

#define CLIENT_KEY_MAX 4096

static int client_read_key(struct client *client, struct err *err)
{
    const char *key = getenv("HOTBUNK_API_KEY");

    if (!key || !key[0])
        return 0;
    if (strlen(key) > CLIENT_KEY_MAX)
        return err_set(err, -EINVAL, "HOTBUNK_API_KEY is over %d bytes", CLIENT_KEY_MAX);
    for (const char *at = key; *at; at++) {
        if (*at <= ' ' || *at > '~') /* it becomes part of a header line */
            return err_set(err, -EINVAL,
                           "HOTBUNK_API_KEY holds a space, a control byte or a "
                           "letter beyond ASCII; set the daemon's api_key to one "
                           "without, and this to the same");
    }
    client->auth = mem_printf("Authorization: Bearer %s", key);
    return 0;
}

int client_new(const char *url, struct client **out_client, struct err *err)
{
    struct client *client = mem_new(1, sizeof(*client));
    int rc = address_find(url, &client->address, err);

    if (rc == 0)
        rc = client_read_key(client, err);
    if (rc != 0) {
        mem_free(client);
        return rc;
    }
    client->loop = loop_new();
    *out_client = client;
    return 0;
}

void client_free(struct client *client)
{
    if (!client)
        return;
    for (size_t i = 0; i < ARRAY_LEN(client->signals); i++)
        loop_signal_free(client->signals[i]);
    loop_free(client->loop);
    mem_free(client->auth);
    mem_free(client);
}

static void client_signal_cb(void *data, int signo)
{
    struct client *client = data;

    client->signal = signo;
    loop_stop(client->loop);
}

void client_catch_signals(struct client *client)
{
    static const int numbers[ARRAY_LEN(client->signals)] = {SIGINT, SIGTERM, SIGHUP};

    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        if (!client->signals[i])
            client->signals[i] = loop_signal_new(client->loop, numbers[i], client_signal_cb,
                                                 client);
    }
}

int client_signal(const struct client *client)
{
    return client->signal;
}

void client_clear_signal(struct client *client)
{
    client->signal = 0;
}

const char *client_url(const struct client *client)
{
    return client->address.url;
}

int client_encode(struct buf *target, const char *text)
{
    int rc = 0;

    for (; rc == 0 && *text; text++) {
        unsigned char c = (unsigned char)*text;
        bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (c >= '0' && c <= '9') || memchr("-._~", c, 4);
        rc = is_plain ? buf_add_char(target, *text) : buf_printf(target, "%%%02X", c);
    }
    return rc;
}

static int client_run_json(struct client *client, const struct http_client_request *request,
                           uint64_t timeout_ms, struct json_object **out_root, struct err *err)
{
    struct call_options options = {
        .request = *request, .body_max = CLIENT_ANSWER_MAX, .total_ms = timeout_ms};
    struct call call;
    int rc;

    call_open(&call, client, &options);
    rc = call_wait(&call, err);
    if (rc == 0)
        rc = call_json(&call, out_root, err);
    call_close(&call);
    return rc;
}

int client_get_json(struct client *client, const char *target, uint64_t timeout_ms,
                    struct json_object **out_root, struct err *err)
{
    const struct http_client_request request = {.method = "GET", .target = target};

    return client_run_json(client, &request, timeout_ms, out_root, err);
}

int client_post_json(struct client *client, const char *target, struct json_object *body,
                     uint64_t timeout_ms, struct json_object **out_root, struct err *err)
{
    struct http_client_request request = {.method = "POST", .target = target};

    if (body) {
        request.content_type = "application/json";
        request.body = slice_str(json_text(body));
    }
    return client_run_json(client, &request, timeout_ms, out_root, err);
}

int client_post_multipart(struct client *client, const char *target,
                          const struct http_client_part *parts, size_t part_count,
                          uint64_t timeout_ms, struct json_object **out_root, struct err *err)
{
    const struct http_client_request request = {
        .method = "POST", .target = target, .parts = parts, .part_count = part_count};

    return client_run_json(client, &request, timeout_ms, out_root, err);
}

int client_get_text(struct client *client, const char *target, uint64_t timeout_ms, struct buf *out,
                    struct err *err)
{
    struct call_options options = {.request = {.method = "GET", .target = target},
                                   .body_max = out->max,
                                   .total_ms = timeout_ms};
    struct call call;
    int rc;

    call_open(&call, client, &options);
    rc = call_wait(&call, err);
    if (rc == 0)
        rc = buf_add_slice(out, buf_slice(&call.body));
    call_close(&call);
    return rc;
}

/* ---- event streams ---- */

struct event_reader {
    struct sse_parse parse;
    int (*fn)(void *data, const struct sse_event *event);
    void *data;
    bool is_stopped;
};

static int reader_event_cb(void *user, const struct sse_event *event)
{
    struct event_reader *reader = user;

    if (reader->fn(reader->data, event) == 0)
        return 0;
    reader->is_stopped = true;
    return -ECANCELED;
}

static int reader_body_cb(void *data, struct slice bytes)
{
    struct event_reader *reader = data;

    return sse_parse_feed(&reader->parse, bytes);
}

int client_events(struct client *client, const char *target, uint64_t idle_ms, uint64_t total_ms,
                  int (*fn)(void *data, const struct sse_event *event), void *data, struct err *err)
{
    struct event_reader reader = {.fn = fn, .data = data};
    struct call_options options = {.request = {.method = "GET", .target = target},
                                   .first_ms = CLIENT_TIMEOUT_MS,
                                   .idle_ms = idle_ms,
                                   .total_ms = total_ms,
                                   .on_body = reader_body_cb,
                                   .data = &reader};
    struct call call;
    int rc;

    sse_parse_init(&reader.parse, reader_event_cb, &reader);
    call_open(&call, client, &options);
    rc = call_wait(&call, err);
    call_close(&call);
    sse_parse_fini(&reader.parse);
    if (reader.is_stopped)
        return 0;
    return rc != 0 ? rc : err_set(err, -ENODATA, "the event stream ended");
}

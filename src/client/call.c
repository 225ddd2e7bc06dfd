#include "client/call.h"

#include <errno.h>

#define CALL_ERROR_BODY_MAX (64u << 10)

static void call_finish(struct call *call, int rc)
{
    if (call->is_done)
        return;
    call->is_done = true;
    call->rc = rc;
    timer_stop(call->silence);
    timer_stop(call->total);
    if (call->options.on_end)
        call->options.on_end(call->options.data);
    loop_stop(call->client->loop);
}

static void call_timeout_cb(void *data)
{
    struct call *call = data;
    const char *url = client_url(call->client);

    call_finish(call, err_set(&call->err, -ETIMEDOUT,
                              "the daemon at %s did not answer in time; it may be busy: look with "
                              "`hotbunk ps`",
                              url));
}

static void call_quiet_start(struct call *call, uint64_t ms)
{
    if (ms)
        timer_start(call->silence, ms);
    else
        timer_stop(call->silence);
}

static bool call_is_good(const struct call *call)
{
    return call->status >= 200 && call->status < 300;
}

static void call_head_cb(void *data, const struct http_client_answer *answer)
{
    struct call *call = data;

    if (call->is_done)
        return;
    call->status = answer->status;
    for (size_t i = 0; i < answer->field_count; i++) {
        const struct http_field *field = &answer->fields[i];
        size_t len = field->value.len;
        if (!slice_ieq_str(field->name, "content-type") || len >= sizeof(call->media_type))
            continue;
        memcpy(call->media_type, field->value.ptr, len);
        call->media_type[len] = '\0';
    }
    if (!call_is_good(call))
        call->body.max = CALL_ERROR_BODY_MAX;
    call_quiet_start(call, call->options.idle_ms);
}

static void call_body_cb(void *data, struct slice bytes)
{
    struct call *call = data;
    int rc;

    if (call->is_done) /* it lives on until call_close */
        return;
    call_quiet_start(call, call->options.idle_ms);
    if (call->options.on_body && call_is_good(call))
        rc = call->options.on_body(call->options.data, bytes);
    else
        rc = buf_add_slice(&call->body, bytes);
    if (rc == -EMSGSIZE && !call->err.code)
        (void)err_set(&call->err, rc, "the daemon at %s sends more than this program takes",
                      client_url(call->client)); /* call_finish passes it on */
    if (rc != 0)
        call_finish(call, rc);
}

/* The errno of a refusal, which bunk_error_of reads again. */
static int call_refusal(int status)
{
    switch (status) {
    case 401:
    case 403:
        return -EACCES;
    case 404:
        return -ENOENT;
    case 409:
        return -EBUSY;
    case 429:
    case 503:
        return -EAGAIN;
    case 504:
        return -ETIMEDOUT;
    default:
        return status >= 400 && status < 500 ? -EINVAL : -EREMOTEIO;
    }
}

static int call_fail_http(struct call *call)
{
    auto_json struct json_object *root = NULL;
    int rc = call_refusal(call->status);
    const char *detail = NULL;

    if (json_parse_object(buf_slice(&call->body), &root, NULL) == 0)
        detail = json_get_str(root, "detail");
    if (!detail)
        return err_set(&call->err, -EPROTO,
                       "what answers at %s is no Hotbunk daemon of this version (status %d to %s)",
                       client_url(call->client), call->status, call->target);
    if (call->status == 401)
        return err_set(&call->err, rc, "%s; set HOTBUNK_API_KEY to the daemon's api_key", detail);
    return err_set(&call->err, rc, "%s", detail);
}

static int call_fail_connection(struct call *call, int status)
{
    const char *url = client_url(call->client);

    if (status == -EPROTO || status == -EBADMSG)
        return err_set(&call->err, -EPROTO, "what answers at %s does not speak HTTP", url);
    if (call->status == 0 && status != -ECONNRESET && status != -EPIPE && status != -ENODATA)
        return err_set(&call->err, -ECONNREFUSED,
                       "no daemon answers at %s; start one with `hotbunk serve`", url);
    return err_set(&call->err, -ECONNRESET,
                   "the daemon at %s broke off its answer; if it ended, start it with "
                   "`hotbunk serve`",
                   url);
}

static void call_end_cb(void *data, int status)
{
    struct call *call = data;
    int rc = 0;

    call->http = NULL; /* it frees itself after this call */
    if (status != 0)
        rc = call_fail_connection(call, status);
    else if (!call_is_good(call))
        rc = call_fail_http(call);
    call_finish(call, rc);
}

void call_open(struct call *call, struct client *client, const struct call_options *options)
{
    static const struct http_client_events events = {call_head_cb, call_body_cb, call_end_cb};
    const char *headers[] = {client->auth, NULL};

    *call = (struct call){.client = client, .options = *options};
    call->target = mem_strdup(options->request.target);
    buf_init(&call->body, options->body_max ? options->body_max : CALL_ERROR_BODY_MAX);
    call->silence = timer_new(client->loop, call_timeout_cb, call);
    call->total = timer_new(client->loop, call_timeout_cb, call);
    call->options.request.headers = headers;
    call->http = http_client_open(client->loop, client->address.host, client->address.port,
                                  &call->options.request, &events, call, &call->err);
    call->options.request = (struct http_client_request){0}; /* it was copied, and ends here */
    if (!call->http) {
        call->is_done = true;
        call->rc = call->err.code ? call->err.code : -EINVAL;
        return;
    }
    call_quiet_start(call, options->first_ms);
    if (options->total_ms)
        timer_start(call->total, options->total_ms);
}

void call_close(struct call *call)
{
    http_client_cancel(call->http);
    timer_free(call->silence);
    timer_free(call->total);
    buf_fini(&call->body);
    mem_free(call->target);
    *call = (struct call){0};
}

int call_wait(struct call *call, struct err *err)
{
    struct client *client = call->client;

    while (!call->is_done && client->signal == 0)
        loop_run(client->loop);
    if (!call->is_done)
        return err_set(err, -EINTR, "interrupted");
    if (call->rc != 0 && err)
        *err = call->err;
    return call->rc;
}

int call_json(const struct call *call, struct json_object **out_root, struct err *err)
{
    struct err why = {0};

    if (json_parse_object(buf_slice(&call->body), out_root, &why) == 0)
        return 0;
    return err_set(err, -EPROTO, "what answers at %s is no Hotbunk daemon: %s",
                   client_url(call->client), why.msg);
}

/* Our own /api/v1/events: a stream of server-sent events, replayed from Last-Event-ID. */
#include <errno.h>

#include "api/internal.h"
#include "base/num.h"
#include "net/sse.h"

struct stream {
    struct list node; /* in api->streams */
    struct api *api;
    struct sse *sse;
    struct api_ticket *ticket;
    char *job; /* only this job's events, or NULL */
    char *model;
};

static void stream_free(struct stream *stream)
{
    list_del(&stream->node);
    stream->api->ops->drop(stream->api->app, stream->ticket);
    mem_free(stream->job);
    mem_free(stream->model);
    mem_free(stream);
}

static void stream_on_gone(void *data)
{
    stream_free(data);
}

static bool stream_is(struct json_object *event, const char *key, const char *wanted)
{
    const char *value = json_get_str(event, key);

    return value && strcmp(value, wanted) == 0;
}

/* A filter passes what says that it belongs to the job or model. */
static bool stream_wants(const struct stream *stream, const char *type, struct slice json)
{
    auto_json struct json_object *event = NULL;
    bool is_job = strcmp(type, "job") == 0;
    bool is_model = strcmp(type, "model") == 0;

    if (!stream->job && !stream->model)
        return true;
    if (json_parse_object(json, &event, NULL) != 0)
        return false;
    if (stream->job && !stream_is(event, is_job ? "id" : "job", stream->job))
        return false;
    return !stream->model || stream_is(event, is_model ? "id" : "model", stream->model) ||
           stream_is(event, "model", stream->model);
}

static void stream_on_event(void *data, uint64_t id, const char *type, struct slice json)
{
    struct stream *stream = data;

    if (stream_wants(stream, type, json))
        (void)sse_send(stream->sse, id, type, json); /* a client that is gone: on_gone comes */
}

/* An id that is no number is another daemon's: nothing of it can be replayed. */
static uint64_t stream_last_id(struct exchange *ex)
{
    const struct slice *field = http_head_field(exchange_head(ex), "Last-Event-ID");
    uint64_t id;

    if (!field || num_parse_u64(*field, UINT64_MAX, &id) != 0)
        return 0;
    return id;
}

static void events_get(void *data, struct exchange *ex, const struct route_args *route_args)
{
    struct args args = {.ex = ex};
    struct api *api = data;
    const char *job = NULL, *model = NULL;
    uint64_t last_id = stream_last_id(ex);
    struct stream *stream;

    (void)route_args;
    if (args_get(&args, "job", &job) < 0 || args_get(&args, "model", &model) < 0)
        return;
    stream = mem_new(1, sizeof(*stream));
    stream->api = api;
    stream->job = mem_strdup(job);
    stream->model = mem_strdup(model);
    list_add_tail(&api->streams, &stream->node);
    stream->sse = sse_open(ex, stream_on_gone, stream);
    stream->ticket = api->ops->subscribe(api->app, last_id, stream_on_event, stream);
}

void events_stop(struct api *api)
{
    list_each_safe (node, &api->streams) {
        struct stream *stream = list_entry(node, struct stream, node);
        sse_close(stream->sse);
        stream_free(stream);
    }
}

static const struct route routes[] = {
    {HTTP_METHOD_GET, "/api/v1/events", events_get, ROUTE_NO_HEAD},
};
const struct api_routes event_routes = {routes, ARRAY_LEN(routes)};

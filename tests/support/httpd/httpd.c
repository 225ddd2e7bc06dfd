/* httpd: a small server on src/net for the tests of the HTTP guard and for the benchmark.
 *
 *   httpd [--access | --modly] [--key KEY] [--spool DIR] [--connections N]
 *         [--head-ms N] [--idle-ms N] [--body-ms N] [--write-ms N]
 *
 * Prints its port, then answers: /health, /bytes/{n}, /file (the spool directory's `file`),
 * /form (a summary of the parts), /events (SSE), /slow/{ms}, /hold (never), /count (how many
 * requests reached a handler); any other path is echoed as JSON with its body in hex. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/num.h"
#include "net/form.h"
#include "net/router.h"
#include "net/server.h"
#include "net/sse.h"

#define HTTPD_BODY_MAX (64u << 20)
#define HTTPD_TEXT_MAX (512u << 20)

struct httpd {
    struct loop *loop;
    struct server *server;
    const char *spool_dir;
    unsigned serial, requests, gone;
    char filler[1024];
};

static struct json_object *slice_json(struct slice s)
{
    return json_str_lossy(s);
}

static char *spool_path(void *data)
{
    struct httpd *httpd = data;

    return mem_printf("%s/spool-%u", httpd->spool_dir, httpd->serial++);
}

static char *hex_dup(struct slice bytes)
{
    static const char digits[] = "0123456789abcdef";
    char *out = mem_new(bytes.len * 2 + 1, 1);

    for (size_t i = 0; i < bytes.len; i++) {
        out[2 * i] = digits[(unsigned char)bytes.ptr[i] >> 4];
        out[2 * i + 1] = digits[(unsigned char)bytes.ptr[i] & 15];
    }
    return out;
}

/* ---- echo ---- */

static void echo_body_cb(void *data, int status, const struct body *body)
{
    struct exchange *ex = data;
    const struct http_head *head;
    struct json_object *root, *fields;
    char *hex;

    if (status != 0)
        return;
    head = exchange_head(ex);
    root = json_object_new_object();
    fields = json_object_new_array();
    json_put(root, "method", slice_json(head->method_text));
    json_put(root, "target", slice_json(head->target));
    json_put(root, "path", slice_json(head->path));
    for (size_t i = 0; i < head->field_count; i++) {
        struct json_object *pair = json_object_new_array();
        char *value = hex_dup(head->fields[i].value);
        json_object_array_add(pair, slice_json(head->fields[i].name));
        json_object_array_add(pair, json_object_new_string(value));
        json_object_array_add(fields, pair);
        mem_free(value);
    }
    json_put(root, "headers", fields);
    json_put_u64(root, "length", body->path ? body->len : body->bytes.len);
    json_put_bool(root, "spooled", body->path != NULL);
    hex = hex_dup(body->path ? slice_str("") : body->bytes);
    json_put_str(root, "body", hex);
    mem_free(hex);
    exchange_respond_json(ex, 200, root);
}

static void echo_route(struct httpd *httpd, struct exchange *ex)
{
    struct body_limits limits = {.max_bytes = HTTPD_BODY_MAX};

    if (httpd->spool_dir) {
        limits.make_path = spool_path;
        limits.path_data = httpd;
    } else {
        limits.max_bytes = 1u << 20;
    }
    exchange_read_body(ex, &limits, echo_body_cb, ex);
}

/* ---- other routes ---- */

static void health_route(void *data, struct exchange *ex, const struct route_args *args)
{
    (void)data;
    (void)args;
    exchange_respond(ex, 200, "application/json", slice_str("{\"status\":\"ok\"}"));
}

static void count_route(void *data, struct exchange *ex, const struct route_args *args)
{
    struct httpd *httpd = data;
    struct json_object *root = json_object_new_object();

    (void)args;
    json_put_u64(root, "requests", httpd->requests);
    json_put_u64(root, "gone", httpd->gone);
    exchange_respond_json(ex, 200, root);
}

static void kib_route(void *data, struct exchange *ex, const struct route_args *args)
{
    struct httpd *httpd = data;

    (void)args;
    exchange_respond(ex, 200, "text/plain", slice_of(httpd->filler, sizeof(httpd->filler)));
}

static void bytes_route(void *data, struct exchange *ex, const struct route_args *args)
{
    uint64_t len;
    char *bytes;

    (void)data;
    if (num_parse_u64(args->values[0], HTTPD_TEXT_MAX, &len) != 0) {
        exchange_error(ex, 400, "that is no number of bytes");
        return;
    }
    bytes = mem_new((size_t)len + 1, 1);
    memset(bytes, 'x', (size_t)len);
    exchange_respond(ex, 200, "text/plain", slice_of(bytes, (size_t)len));
    mem_free(bytes);
}

static void file_route(void *data, struct exchange *ex, const struct route_args *args)
{
    struct httpd *httpd = data;
    char *path = mem_printf("%s/file", httpd->spool_dir ? httpd->spool_dir : "/nowhere");
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    (void)args;
    mem_free(path);
    if (fd < 0)
        exchange_error(ex, 404, "there is no file");
    else
        exchange_respond_file(ex, fd, "application/octet-stream", "näme \"x\".bin");
}

static void form_cb(void *data, int status, const struct form *form)
{
    struct exchange *ex = data;
    struct json_object *root;

    if (status != 0)
        return;
    root = json_object_new_array();
    for (size_t i = 0; i < form->count; i++) {
        const struct form_part *part = &form->parts[i];
        struct json_object *item = json_object_new_object();
        json_put(item, "name", slice_json(part->name));
        json_put(item, "filename", part->filename.ptr ? slice_json(part->filename) : NULL);
        json_put(item, "type", slice_json(part->content_type));
        json_put(item, "value", part->path ? NULL : slice_json(part->value));
        json_put_u64(item, "length", part->len);
        json_put_str(item, "path", part->path);
        json_object_array_add(root, item);
    }
    exchange_respond_json(ex, 200, root);
}

static void form_route(void *data, struct exchange *ex, const struct route_args *args)
{
    struct httpd *httpd = data;
    struct form_limits limits = {HTTPD_BODY_MAX, spool_path, httpd};

    (void)args;
    form_read(ex, &limits, form_cb, ex);
}

struct ticker {
    struct sse *sse;
    struct timer *timer;
    unsigned count;
};

static void ticker_gone_cb(void *data)
{
    struct ticker *ticker = data;

    timer_free(ticker->timer);
    mem_free(ticker);
}

static void tick_cb(void *data)
{
    struct ticker *ticker = data;

    if (++ticker->count > 3) {
        sse_close(ticker->sse);
        ticker_gone_cb(ticker);
        return;
    }
    (void)sse_send(ticker->sse, ticker->count, "tick", slice_str("{\"a\":1}\n{\"b\":2}"));
    timer_start(ticker->timer, 10);
}

static void events_route(void *data, struct exchange *ex, const struct route_args *args)
{
    struct httpd *httpd = data;
    struct ticker *ticker = mem_new(1, sizeof(*ticker));

    (void)args;
    ticker->timer = timer_new(httpd->loop, tick_cb, ticker);
    ticker->sse = sse_open(ex, ticker_gone_cb, ticker);
    timer_start(ticker->timer, 10);
}

struct sleeper {
    struct httpd *httpd;
    struct exchange *ex;
    struct timer *timer;
};

static void sleeper_free(struct sleeper *sleeper)
{
    timer_free(sleeper->timer);
    mem_free(sleeper);
}

static void woken_cb(void *data)
{
    struct sleeper *sleeper = data;

    exchange_respond(sleeper->ex, 200, "text/plain", slice_str("slept"));
    sleeper_free(sleeper);
}

static void sleeper_gone_cb(void *data)
{
    struct sleeper *sleeper = data;

    sleeper->httpd->gone++;
    sleeper_free(sleeper);
}

static void slow_route(void *data, struct exchange *ex, const struct route_args *args)
{
    struct sleeper *sleeper = mem_new(1, sizeof(*sleeper));
    uint64_t ms = 0;

    (void)!num_parse_u64(args->values[0], 60000, &ms); /* 0 will do */
    sleeper->httpd = data;
    sleeper->ex = ex;
    sleeper->timer = timer_new(exchange_loop(ex), woken_cb, sleeper);
    exchange_on_gone(ex, sleeper_gone_cb, sleeper);
    timer_start(sleeper->timer, ms);
}

static void json_cb(void *data, int status, struct json_object *root)
{
    struct exchange *ex = data;

    if (status == 0)
        exchange_respond_json(ex, 200, json_object_get(root));
}

static void json_route(void *data, struct exchange *ex, const struct route_args *args)
{
    (void)data;
    (void)args;
    exchange_read_json(ex, HTTPD_BODY_MAX, json_cb, ex);
}

/* A stream of args[0] pieces of 64 KiB, as fast as the client takes them. */
struct pourer {
    struct exchange *ex;
    uint64_t left;
    char piece[65536];
};

static void pour_cb(void *data)
{
    struct pourer *pourer = data;
    int rc = 0;

    while (rc == 0 && pourer->left) {
        pourer->left--;
        rc = exchange_write(pourer->ex, slice_of(pourer->piece, sizeof(pourer->piece)));
    }
    if (rc == 0)
        exchange_end(pourer->ex);
}

static void pour_free_cb(void *data)
{
    mem_free(data);
}

static void pour_gone_cb(void *data)
{
    (void)data; /* pour_free_cb does the work */
}

static void pour_route(void *data, struct exchange *ex, const struct route_args *args)
{
    struct pourer *pourer = mem_new(1, sizeof(*pourer));

    (void)data;
    pourer->ex = ex;
    (void)!num_parse_u64(args->values[0], 1u << 20, &pourer->left); /* 0 will do */
    exchange_defer(ex, pour_free_cb, pourer);
    exchange_on_gone(ex, pour_gone_cb, pourer);
    exchange_on_drain(ex, pour_cb, pourer);
    exchange_begin(ex, 200, "application/octet-stream");
    pour_cb(pourer);
}

static void greedy_route(void *data, struct exchange *ex, const struct route_args *args)
{
    (void)data;
    exchange_respond(ex, 200, "text/plain", args->values[0]);
}

static const struct route routes[] = {
    {HTTP_METHOD_GET, "/health", health_route, 0},
    {HTTP_METHOD_GET, "/count", count_route, 0},
    {HTTP_METHOD_GET, "/kib", kib_route, 0},
    {HTTP_METHOD_GET, "/bytes/{n}", bytes_route, 0},
    {HTTP_METHOD_GET, "/file", file_route, 0},
    {HTTP_METHOD_POST, "/form", form_route, 0},
    {HTTP_METHOD_POST, "/json", json_route, 0},
    {HTTP_METHOD_GET, "/events", events_route, ROUTE_NO_HEAD},
    {HTTP_METHOD_GET, "/slow/{ms}", slow_route, 0},
    {HTTP_METHOD_GET, "/pour/{n}", pour_route, 0},
    {HTTP_METHOD_POST, "/unload/{id*}", greedy_route, 0},
};
static const struct router router = {routes, ARRAY_LEN(routes)};

static void request_cb(void *data, struct exchange *ex)
{
    struct httpd *httpd = data;
    const struct http_head *head = exchange_head(ex);
    struct route_match match;
    char storage[HTTP_HEAD_MAX_BYTES + ROUTE_ARGS_MAX];

    httpd->requests++;
    router_match(&router, head->method, head->raw_path, storage, &match);
    if (match.status == 404)
        echo_route(httpd, ex);
    else
        router_dispatch(&router, ex, httpd);
}

static void stopped_cb(void *data)
{
    struct httpd *httpd = data;

    server_free(httpd->server);
    httpd->server = NULL;
    loop_stop(httpd->loop);
}

static void signal_cb(void *data, int signo)
{
    struct httpd *httpd = data;

    (void)signo;
    server_stop(httpd->server, 2000, stopped_cb, httpd);
}

static uint64_t number_arg(const char *text)
{
    uint64_t value = 0;

    (void)!num_parse_u64(slice_str(text), UINT32_MAX, &value); /* 0 = the default */
    return value;
}

static void parse_args(int argc, char **argv, struct httpd *httpd, struct server_options *options,
                       struct access_policy *access)
{
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--access") == 0 || strcmp(argv[i], "--modly") == 0) {
            options->access = access;
            access->is_modly = strcmp(argv[i], "--modly") == 0;
            continue;
        }
        i++;
        if (strcmp(argv[i - 1], "--key") == 0)
            access->key = value;
        else if (strcmp(argv[i - 1], "--spool") == 0)
            httpd->spool_dir = value;
        else if (strcmp(argv[i - 1], "--head-ms") == 0)
            options->head_timeout_ms = number_arg(value);
        else if (strcmp(argv[i - 1], "--idle-ms") == 0)
            options->idle_timeout_ms = number_arg(value);
        else if (strcmp(argv[i - 1], "--body-ms") == 0)
            options->body_timeout_ms = number_arg(value);
        else if (strcmp(argv[i - 1], "--write-ms") == 0)
            options->write_timeout_ms = number_arg(value);
        else if (strcmp(argv[i - 1], "--connections") == 0)
            options->max_connections = (unsigned)number_arg(value);
    }
}

int main(int argc, char **argv)
{
    struct httpd httpd = {0};
    struct access_policy access = {.listen_host = "127.0.0.1"};
    struct server_options options = {.host = "127.0.0.1", .on_request = request_cb, .data = &httpd};
    struct loop_signal *on_term;
    struct err err;

    parse_args(argc, argv, &httpd, &options, &access);
    memset(httpd.filler, 'x', sizeof(httpd.filler));
    (void)signal(SIGPIPE, SIG_IGN);
    httpd.loop = loop_new();
    httpd.server = server_open(httpd.loop, &options, &err);
    if (!httpd.server) {
        (void)fprintf(stderr, "httpd: %s\n", err.msg);
        loop_free(httpd.loop);
        return 1;
    }
    on_term = loop_signal_new(httpd.loop, SIGTERM, signal_cb, &httpd);
    (void)printf("%u\n", server_port(httpd.server));
    (void)fflush(stdout);
    loop_run(httpd.loop);
    loop_signal_free(on_term);
    loop_free(httpd.loop);
    return 0;
}

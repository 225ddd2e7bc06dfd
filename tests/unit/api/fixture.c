#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include "os/file.h"

#define BODY_MAX (4u << 20)

static void fixture_stop(void *data)
{
    struct fixture *fx = data;

    loop_stop(fx->loop);
}

int fixture_setup(void **state)
{
    struct fixture *fx = mem_new(1, sizeof(*fx));
    struct server_options options = {
        .host = "127.0.0.1", .on_request = api_dispatch, .error_body = api_error_body};
    struct err err;

    (void)snprintf(fx->dir, sizeof(fx->dir), "/tmp/hotbunk-api-XXXXXX");
    if (!mkdtemp(fx->dir))
        return -1;
    fx->loop = loop_new();
    fx->limit = timer_new(fx->loop, fixture_stop, fx);
    buf_init(&fx->body, BODY_MAX);
    if (fake_init(&fx->fake, fx->loop, fx->dir) != 0)
        return -1;
    fx->backend = (struct api_backend){&FAKE_OPS, &fx->fake};
    fx->api = api_new(&fx->backend, "1.2.3");
    options.data = fx->api;
    fx->server = server_open(fx->loop, &options, &err);
    *state = fx;
    return fx->server ? 0 : -1;
}

static void fixture_forget(struct fixture *fx)
{
    mem_free(fx->content_type);
    mem_free(fx->retry_after);
    mem_free(fx->job_header);
    mem_free(fx->allow);
    fx->content_type = fx->retry_after = fx->job_header = fx->allow = NULL;
    json_object_put(fx->json);
    fx->json = NULL;
    buf_reset(&fx->body);
    fx->status = fx->end = 0;
    fx->is_ended = false;
}

int fixture_teardown(void **state)
{
    struct fixture *fx = *state;
    int rc;

    api_stop(fx->api);
    server_free(fx->server);
    fixture_run(fx, 20); /* what was closed is let go of */
    fixture_forget(fx);
    buf_fini(&fx->body);
    api_free(fx->api);
    fake_fini(&fx->fake);
    timer_free(fx->limit);
    loop_free(fx->loop);
    rc = file_remove_tree(fx->dir);
    mem_free(fx);
    return rc;
}

static char *field_dup(const struct http_client_answer *answer, const char *name)
{
    for (size_t i = 0; i < answer->field_count; i++) {
        if (slice_ieq_str(answer->fields[i].name, name))
            return slice_dup(answer->fields[i].value);
    }
    return NULL;
}

static void fixture_on_head(void *data, const struct http_client_answer *answer)
{
    struct fixture *fx = data;

    fx->status = answer->status;
    fx->content_type = field_dup(answer, "Content-Type");
    fx->retry_after = field_dup(answer, "Retry-After");
    fx->job_header = field_dup(answer, "X-Hotbunk-Job");
    fx->allow = field_dup(answer, "Allow");
}

static void fixture_on_body(void *data, struct slice bytes)
{
    struct fixture *fx = data;

    assert_int_equal(buf_add_slice(&fx->body, bytes), 0);
}

static void fixture_on_end(void *data, int status)
{
    struct fixture *fx = data;

    fx->end = status;
    fx->is_ended = true;
    loop_stop(fx->loop);
}

static const struct http_client_events fixture_events = {fixture_on_head, fixture_on_body,
                                                         fixture_on_end};

void fixture_run(struct fixture *fx, uint64_t ms)
{
    timer_start(fx->limit, ms);
    loop_run(fx->loop);
    timer_stop(fx->limit);
}

static struct http_client *fixture_open(struct fixture *fx,
                                        const struct http_client_request *request)
{
    struct err err;
    struct http_client *client;

    fixture_forget(fx);
    client = http_client_open(fx->loop, "127.0.0.1", server_port(fx->server), request,
                              &fixture_events, fx, &err);
    if (!client)
        fail_msg("client: %s", err.msg);
    return client;
}

int fixture_send(struct fixture *fx, const struct http_client_request *request)
{
    struct http_client *client = fixture_open(fx, request);

    fixture_run(fx, REQUEST_MS);
    if (!fx->is_ended) {
        http_client_cancel(client);
        fail_msg("no answer to %s %s", request->method, request->target);
    }
    assert_int_equal(fx->end, 0);
    if (fx->content_type && strcmp(fx->content_type, "application/json") == 0)
        assert_int_equal(json_parse(buf_slice(&fx->body), &fx->json, NULL), 0);
    return fx->status;
}

void fixture_leave_after(struct fixture *fx, const struct http_client_request *request, uint64_t ms)
{
    struct http_client *client = fixture_open(fx, request);

    fixture_run(fx, ms);
    assert_false(fx->is_ended);
    http_client_cancel(client);
    fixture_run(fx, 50);
}

int fixture_get(struct fixture *fx, const char *target)
{
    return fixture_send(fx, &(struct http_client_request){.method = "GET", .target = target});
}

int fixture_post(struct fixture *fx, const char *target, const char *type, const char *body)
{
    return fixture_send(fx, &(struct http_client_request){.method = "POST",
                                                          .target = target,
                                                          .content_type = type,
                                                          .body = slice_str(body ? body : "")});
}

void fixture_write(struct fixture *fx, const char *name, const char *text)
{
    auto_free char *path = file_join(fx->dir, name);

    assert_int_equal(file_write_atomic(path, slice_str(text), 0600, NULL), 0);
}

struct json_object *fixture_json(const struct fixture *fx, const char *path)
{
    struct slice rest = slice_str(path), part;
    struct json_object *at = fx->json;

    while (slice_split(&rest, '.', &part)) {
        auto_free char *key = slice_dup(part);
        at = json_get(at, key);
    }
    return at;
}

const char *fixture_str(const struct fixture *fx, const char *path)
{
    struct json_object *value = fixture_json(fx, path);

    if (!json_is(value, json_type_string))
        fail_msg("no text at %s in %s", path, buf_str(&fx->body));
    return json_object_get_string(value);
}

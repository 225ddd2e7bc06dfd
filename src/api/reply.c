#include "api/reply.h"

#include <stdarg.h>
#include <stdio.h>

#include "api/status.h"

#define REPLY_DETAIL_MAX    2048
#define REPLY_BODY_MAX      (REPLY_DETAIL_MAX * 6 + 512) /* every byte escaped */
#define REPLY_RETRY_AFTER_S "1"

static const char *reply_openai_type(int status)
{
    switch (status) {
    case 401:
        return "authentication_error";
    case 403:
        return "permission_error";
    case 429:
        return "rate_limit_error";
    default:
        return status < 500 ? "invalid_request_error" : "server_error";
    }
}

static struct json_object *reply_openai(int status, const char *code, const char *param,
                                        const char *detail)
{
    struct json_object *root = json_object_new_object();
    struct json_object *error = json_object_new_object();

    json_put_str(error, "message", detail);
    json_put_str(error, "type", reply_openai_type(status));
    json_put_str(error, "param", param);
    json_put_str(error, "code", code);
    json_put(root, "error", error);
    return root;
}

void reply_error_body(struct slice path, int status, const char *code, const char *param,
                      const char *detail, struct buf *out)
{
    auto_json struct json_object *root = NULL;

    if (!code)
        code = api_code_of_status(status);
    if (slice_starts_with(path, "/v1/")) {
        root = reply_openai(status, code, param, detail);
    } else {
        root = json_object_new_object();
        json_put_str(root, "detail", detail);
        if (slice_starts_with(path, "/api/v1/"))
            json_put_str(root, "code", code);
    }
    if (buf_add_str(out, json_text(root)) != 0)
        buf_reset(out); /* no body is better than half of one */
}

static void reply_fail(struct exchange *ex, int status, const char *code, const char *param,
                       const char *detail)
{
    struct buf body;

    if (status == 0)
        status = api_status_of(code);
    if (status == 429 || status == 503)
        (void)exchange_add_header(ex, "Retry-After", REPLY_RETRY_AFTER_S);
    buf_init(&body, REPLY_BODY_MAX);
    reply_error_body(exchange_head(ex)->path, status, code, param, detail, &body);
    exchange_respond(ex, status, "application/json", buf_slice(&body));
    buf_fini(&body);
}

void api_fail(struct exchange *ex, int status, const char *code, const char *fmt, ...)
{
    char detail[REPLY_DETAIL_MAX];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(detail, sizeof(detail), fmt, args);
    va_end(args);
    reply_fail(ex, status, code, NULL, detail);
}

void api_fail_param(struct exchange *ex, int status, const char *code, const char *param,
                    const char *fmt, ...)
{
    char detail[REPLY_DETAIL_MAX];
    va_list args;

    va_start(args, fmt);
    (void)vsnprintf(detail, sizeof(detail), fmt, args);
    va_end(args);
    reply_fail(ex, status, code, param, detail);
}

void reply_faults_take(struct exchange *ex, struct json_object *faults)
{
    struct json_object *root = json_object_new_object();

    json_put(root, "detail", faults);
    exchange_respond_json(ex, 422, root);
}

void reply_add_fault(struct json_object *faults, const char *type, const char *where,
                     const char *name, const char *msg, const char *input)
{
    struct json_object *fault = json_object_new_object();
    struct json_object *loc = json_object_new_array();

    (void)json_object_array_add(loc, json_object_new_string(where));
    (void)json_object_array_add(loc, json_object_new_string(name));
    json_put_str(fault, "type", type);
    json_put(fault, "loc", loc);
    json_put_str(fault, "msg", msg);
    json_put_str(fault, "input", input);
    (void)json_object_array_add(faults, fault);
}

void reply_text(struct exchange *ex, int status, const char *content_type, const char *text)
{
    exchange_respond(ex, status, content_type, slice_str(text));
}

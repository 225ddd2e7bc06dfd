#include "api/args.h"

#include <errno.h>

#include "api/internal.h"
#include "base/num.h"

struct args_read {
    struct api *api;
    struct args args;
    struct json_object *owned;
    void (*done)(struct api *api, const struct args *args);
};

static void args_release(void *data)
{
    struct args_read *read = data;

    json_object_put(read->owned);
}

static void args_on_form(void *data, int status, const struct form *form)
{
    struct args_read *read = data;

    if (status != 0)
        return;
    read->args.form = form;
    read->done(read->api, &read->args);
}

/* The kind is told by the first byte: curl -d '{…}' calls JSON urlencoded. */
static void args_on_body(void *data, int status, const struct body *body)
{
    struct args_read *read = data;
    struct slice text;
    struct err err = {0};

    if (status != 0)
        return;
    text = slice_trim(body->bytes);
    if (!text.len || text.ptr[0] != '{') {
        read->args.urlencoded = text;
    } else if (json_parse_object(text, &read->owned, &err) != 0) {
        api_fail(read->args.ex, 400, "bad_request", "the body is not a JSON object: %s", err.msg);
        return;
    } else {
        read->args.json = read->owned;
    }
    read->done(read->api, &read->args);
}

void args_read(struct api *api, struct exchange *ex, const struct route_args *path,
               void (*done)(struct api *api, const struct args *args))
{
    struct args_read *read = exchange_scratch(ex, sizeof(*read));
    const struct http_head *head = exchange_head(ex);

    *read = (struct args_read){.api = api, .args = {.ex = ex, .path = *path}, .done = done};
    exchange_defer(ex, args_release, read);
    if (head->has_body && http_head_is_type(head, "multipart/form-data")) {
        struct form_limits limits = {ARGS_BODY_MAX_BYTES, api_upload_path, api};
        form_read(ex, &limits, args_on_form, read);
    } else {
        struct body_limits limits = {.max_bytes = ARGS_BODY_MAX_BYTES,
                                     .memory_bytes = ARGS_BODY_MAX_BYTES};
        exchange_read_body(ex, &limits, args_on_body, read);
    }
}

static int args_from_query(const struct args *args, struct slice query, const char *name,
                           const char **out_value)
{
    struct buf value;
    int rc;

    buf_init(&value, ARGS_VALUE_MAX_BYTES);
    rc = http_query_get(query, name, &value);
    if (rc == 0)
        *out_value = api_keep(args->ex, buf_slice(&value));
    buf_fini(&value);
    return rc;
}

static int args_from_json(const struct args *args, const char *name, const char **out_value)
{
    struct json_object *value = json_get(args->json, name);

    if (!value)
        return -ENOENT;
    if (json_is(value, json_type_object) || json_is(value, json_type_array))
        return -EINVAL;
    if (json_is(value, json_type_string))
        *out_value = json_object_get_string(value);
    else
        *out_value = json_text(value);
    return 0;
}

static int args_from_body(const struct args *args, const char *name, const char **out_value)
{
    if (args->json)
        return args_from_json(args, name, out_value);
    if (args->form) {
        *out_value = form_text(args->form, name);
        return *out_value ? 0 : -ENOENT;
    }
    return args_from_query(args, args->urlencoded, name, out_value);
}

int args_get(const struct args *args, const char *name, const char **out_value)
{
    const char *query = NULL, *body = NULL;
    int query_rc = args_from_query(args, exchange_head(args->ex)->query, name, &query);
    int body_rc = args_from_body(args, name, &body);

    if ((query_rc != 0 && query_rc != -ENOENT) || (body_rc != 0 && body_rc != -ENOENT)) {
        api_fail_param(args->ex, 400, "bad_request", name,
                       "%s is not a short text, or wrongly encoded", name);
        return -EINVAL;
    }
    if (query && body && strcmp(query, body) != 0) {
        api_fail_param(args->ex, 400, "bad_request", name,
                       "%s is \"%.100s\" in the query and \"%.100s\" in the body: send one of them",
                       name, query, body);
        return -EINVAL;
    }
    if (!query && !body)
        return 1;
    *out_value = query ? query : body;
    return 0;
}

int args_parse_bool(struct slice text, bool *out_value)
{
    static const char *const words[][2] = {{"false", "true"}, {"0", "1"}, {"no", "yes"},
                                           {"off", "on"},     {"f", "t"}, {"n", "y"}};

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        for (size_t value = 0; value < 2; value++) {
            if (slice_ieq_str(text, words[i][value])) {
                *out_value = value == 1;
                return 0;
            }
        }
    }
    return -EINVAL;
}

int args_get_bool(const struct args *args, const char *name, bool *out_value)
{
    const char *text;
    int rc = args_get(args, name, &text);

    if (rc != 0 || args_parse_bool(slice_str(text), out_value) == 0)
        return rc;
    api_fail_param(args->ex, 400, "bad_request", name, "%s must be 0 or 1, but is \"%.100s\"", name,
                   text);
    return -EINVAL;
}

int args_get_u64(const struct args *args, const char *name, uint64_t min, uint64_t max,
                 uint64_t *out_value)
{
    const char *text;
    uint64_t value;
    int rc = args_get(args, name, &text);

    if (rc != 0)
        return rc;
    if (num_parse_u64(slice_str(text), max, &value) != 0 || value < min) {
        api_fail_param(args->ex, 400, "bad_request", name,
                       "%s must be a whole number from %llu to %llu, but is \"%.100s\"", name,
                       (unsigned long long)min, (unsigned long long)max, text);
        return -EINVAL;
    }
    *out_value = value;
    return 0;
}

int args_get_wait(const struct args *args, const char *name, uint64_t *out_ms)
{
    const char *text;
    double seconds;
    int rc = args_get(args, name, &text);

    if (rc != 0)
        return rc;
    if (num_parse_double(slice_str(text), &seconds) != 0 || seconds < 0 ||
        seconds > API_WAIT_MAX_S) {
        api_fail_param(args->ex, 400, "bad_request", name,
                       "%s must be seconds from 0 to %u, but is \"%.100s\"", name, API_WAIT_MAX_S,
                       text);
        return -EINVAL;
    }
    *out_ms = (uint64_t)(seconds * 1000.0);
    return 0;
}

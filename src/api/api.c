#include "api/api.h"

#include "api/internal.h"
#include "api/status.h"

#define API_ID_SHOWN_MAX 200 /* bytes of an unknown id in an error */

struct api *api_new(const struct api_backend *backend, const char *version)
{
    const struct api_routes *const tables[] = {
        &modly_model_routes, &modly_generate_routes, &modly_other_routes, &openai_routes,
        &native_info_routes, &native_model_routes,   &native_job_routes,  &event_routes,
    };
    struct api *api = mem_new(1, sizeof(*api));
    struct route *routes;
    size_t count = 0, at = 0;

    api->ops = backend->ops;
    api->app = backend->app;
    api->version = version;
    list_init(&api->streams);
    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        count += tables[i]->count;
    routes = mem_new(count, sizeof(*routes));
    for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
        memcpy(routes + at, tables[i]->routes, tables[i]->count * sizeof(*routes));
        at += tables[i]->count;
    }
    api->router = (struct router){routes, count};
    return api;
}

void api_stop(struct api *api)
{
    events_stop(api);
}

void api_free(struct api *api)
{
    if (!api)
        return;
    events_stop(api);
    mem_free((void *)(uintptr_t)api->router.routes);
    mem_free(api);
}

void api_dispatch(void *data, struct exchange *ex)
{
    struct api *api = data;
    const struct http_head *head = exchange_head(ex);

    /* Supervisors ask for it all the time: it must cost next to nothing. */
    if (slice_eq_str(head->raw_path, "/health") && head->method == HTTP_METHOD_GET)
        modly_health(ex);
    else
        router_dispatch(&api->router, ex, api);
}

void api_error_body(void *api, const struct http_head *head, int status, const char *detail,
                    struct buf *out)
{
    struct slice path = head ? head->path : slice_str("");

    (void)api;
    reply_error_body(path, status, NULL, NULL, detail, out);
}

const struct model *api_find_model(struct api *api, struct slice id)
{
    return catalog_find(api->ops->catalog(api->app), id);
}

void api_fail_unknown(struct api *api, struct exchange *ex, int status, struct slice id)
{
    const struct catalog *catalog = api->ops->catalog(api->app);
    auto_free char *known = NULL;

    if (id.len > API_ID_SHOWN_MAX)
        id.len = API_ID_SHOWN_MAX;
    if (catalog_count(catalog) == 0) {
        api_fail_param(ex, status, "unknown_model", "model",
                       "there is no model %.*s: no extension is installed", SLICE_ARG(id));
        return;
    }
    known = catalog_known_ids(catalog, API_KNOWN_IDS_MAX);
    api_fail_param(ex, status, "unknown_model", "model", "there is no model %.*s; known models: %s",
                   SLICE_ARG(id), known);
}

const struct model *api_pick_model(struct api *api, struct exchange *ex, const char *id)
{
    const struct model *model;

    if (!id || !*id)
        id = api->ops->active_id(api->app);
    if (!id) {
        api_fail(ex, 400, "unknown_model",
                 "no model is named and none is active: name one, or put an extension into %s",
                 api->ops->config(api->app)->extensions_dirs[0]);
        return NULL;
    }
    model = api_find_model(api, slice_str(id));
    if (!model)
        api_fail_unknown(api, ex, 400, slice_str(id));
    return model;
}

const char *api_keep(struct exchange *ex, struct slice text)
{
    char *copy = exchange_scratch(ex, text.len + 1);

    if (text.len)
        memcpy(copy, text.ptr, text.len);
    return copy;
}

char *api_upload_path(void *data)
{
    struct api *api = data;

    return api->ops->upload_path(api->app);
}

void api_fail_submit(struct exchange *ex, const struct err *err)
{
    api_fail(ex, 0, api_code_of_errno(err->code, "internal"), "%s", err->msg);
}

/* Modly's /model routes. */
#include "api/internal.h"
#include "api/model_json.h"
#include "api/unload.h"

/* The active model, if there is one. */
static const struct model *modly_active(struct api *api)
{
    const char *id = api->ops->active_id(api->app);

    return id ? api_find_model(api, slice_str(id)) : NULL;
}

/* Without any extension this is no error: the app asks before the first one is installed. */
static void modly_status(void *data, struct exchange *ex, const struct route_args *args)
{
    struct api *api = data;
    const struct model *active = modly_active(api);
    struct api_model model;
    struct json_object *root;

    (void)args;
    if (active && api->ops->model_get(api->app, active, &model) == 0) {
        exchange_respond_json(ex, 200, model_json_modly_status(&model));
        return;
    }
    root = json_object_new_object();
    json_put_str(root, "id", NULL);
    json_put_str(root, "name", NULL);
    json_put_bool(root, "downloaded", false);
    json_put_bool(root, "loaded", false);
    exchange_respond_json(ex, 200, root);
}

static void modly_all(void *data, struct exchange *ex, const struct route_args *args)
{
    struct api *api = data;
    const struct catalog *catalog = api->ops->catalog(api->app);
    struct json_object *root = json_object_new_array();

    (void)args;
    for (size_t i = 0; i < catalog_count(catalog); i++) {
        struct api_model model;
        if (api->ops->model_get(api->app, catalog_at(catalog, i), &model) == 0)
            (void)json_object_array_add(root, model_json_modly(&model));
    }
    exchange_respond_json(ex, 200, root);
}

static void modly_params(void *data, struct exchange *ex, const struct route_args *route_args)
{
    struct api *api = data;
    struct args args = {.ex = ex};
    const char *id = NULL;
    const struct model *spec;
    struct api_model model;

    (void)route_args;
    if (args_get(&args, "model_id", &id) < 0)
        return;
    spec = id && *id ? api_find_model(api, slice_str(id)) : modly_active(api);
    if (!spec || api->ops->model_get(api->app, spec, &model) != 0) {
        api_fail_unknown(api, ex, 404, slice_str(id && *id ? id : "(none is active)"));
        return;
    }
    exchange_respond_json(ex, 200, json_object_get(model.params_schema));
}

static void modly_switch_args(struct api *api, const struct args *args)
{
    const struct model *model;
    struct json_object *root;
    const char *id;
    int rc = args_get(args, "model_id", &id);

    if (rc < 0)
        return;
    if (rc > 0) {
        struct json_object *faults = json_object_new_array();
        reply_add_fault(faults, "missing", "query", "model_id",
                        "model_id is required, in the query or the body", NULL);
        reply_faults_take(args->ex, faults);
        return;
    }
    model = api_find_model(api, slice_str(id));
    if (!model) {
        api_fail_unknown(api, args->ex, 400, slice_str(id));
        return;
    }
    if (api->ops->switch_to(api->app, model) != 0) {
        api_fail(args->ex, 0, "stopping", "the daemon is stopping");
        return;
    }
    root = json_object_new_object();
    json_put_str(root, "active", model->id);
    exchange_respond_json(args->ex, 200, root);
}

static void modly_switch(void *data, struct exchange *ex, const struct route_args *args)
{
    args_read(data, ex, args, modly_switch_args);
}

static void modly_unload_args(struct api *api, const struct args *args)
{
    struct unload unload = {.within_ms = API_UNLOAD_WITHIN_MS};

    if (args_get_bool(args, "force", &unload.is_forced) < 0)
        return;
    if (args->path.count == 1) { /* else all */
        unload.model = api_find_model(api, args->path.values[0]);
        if (!unload.model) {
            unload_answer_unknown(args->ex);
            return;
        }
    }
    unload_start(api, args->ex, &unload);
}

static void modly_unload(void *data, struct exchange *ex, const struct route_args *args)
{
    args_read(data, ex, args, modly_unload_args);
}

static const struct route routes[] = {
    {HTTP_METHOD_GET, "/model/status", modly_status, 0},
    {HTTP_METHOD_GET, "/model/all", modly_all, 0},
    {HTTP_METHOD_GET, "/model/params", modly_params, 0},
    {HTTP_METHOD_POST, "/model/switch", modly_switch, 0},
    {HTTP_METHOD_POST, "/model/unload/{id*}", modly_unload, 0},
    {HTTP_METHOD_POST, "/model/unload-all", modly_unload, 0},
};
const struct api_routes modly_model_routes = {routes, ARRAY_LEN(routes)};

/* Our own routes about the daemon itself: version, workers, devices, the API's description. */
#include <unistd.h>

#include "api/internal.h"
#include "api/model_json.h"
#include "api/openapi.h"

static void native_version(void *data, struct exchange *ex, const struct route_args *args)
{
    struct api *api = data;
    const struct config *config = api->ops->config(api->app);
    struct json_object *root = json_object_new_object();

    (void)args;
    json_put_str(root, "name", "hotbunk");
    json_put_str(root, "version", api->version);
    json_put_int(root, "pid", getpid());
    json_put_bool(root, "modly", config->is_modly);
    json_put_str(root, "workspace_dir", config->workspace_dir);
    json_put_str(root, "models_dir", config->models_dir);
    json_put_str(root, "state_dir", config->state_dir);
    exchange_respond_json(ex, 200, root);
}

static void native_workers(void *data, struct exchange *ex, const struct route_args *args)
{
    struct api *api = data;
    struct json_object *root = json_object_new_object();
    struct json_object *list = json_object_new_array();
    struct api_worker worker;

    (void)args;
    for (size_t i = 0; i < api->ops->worker_count(api->app); i++) {
        api->ops->worker_at(api->app, i, &worker);
        (void)json_object_array_add(list, worker_json(&worker));
    }
    json_put(root, "workers", list);
    exchange_respond_json(ex, 200, root);
}

static void native_devices(void *data, struct exchange *ex, const struct route_args *args)
{
    struct api *api = data;
    struct json_object *root = json_object_new_object();
    struct json_object *list = json_object_new_array();
    struct api_device device;

    (void)args;
    for (size_t i = 0; i < api->ops->device_count(api->app); i++) {
        api->ops->device_at(api->app, i, &device);
        (void)json_object_array_add(list, device_json(&device));
    }
    json_put(root, "devices", list);
    exchange_respond_json(ex, 200, root);
}

static void native_openapi(void *data, struct exchange *ex, const struct route_args *args)
{
    (void)data;
    (void)args;
    exchange_respond(ex, 200, "application/yaml",
                     slice_of((const char *)api_openapi_text, api_openapi_len));
}

static const struct route routes[] = {
    {HTTP_METHOD_GET, "/api/v1/version", native_version, 0},
    {HTTP_METHOD_GET, "/api/v1/workers", native_workers, 0},
    {HTTP_METHOD_GET, "/api/v1/devices", native_devices, 0},
    {HTTP_METHOD_GET, "/openapi.yaml", native_openapi, 0},
};
const struct api_routes native_info_routes = {routes, ARRAY_LEN(routes)};

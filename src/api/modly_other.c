/* Modly's other routes: health, extensions, settings, system, workspace. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/internal.h"
#include "api/media.h"
#include "os/file.h"

#define WORKSPACE_PATH_MAX 4096

void modly_health(struct exchange *ex)
{
    static const char body[] = "{\"status\":\"ok\"}";

    exchange_respond(ex, 200, "application/json", slice_of(body, sizeof(body) - 1));
}

static void modly_route_health(void *data, struct exchange *ex, const struct route_args *args)
{
    (void)data;
    (void)args;
    modly_health(ex);
}

/* Two broken extensions may claim one id: the later text is added to the first. */
static void modly_add_error(struct json_object *errors, const struct catalog_error *error)
{
    const char *before = json_get_str(errors, error->id);
    auto_free char *text = NULL;

    if (before)
        text = mem_printf("%s; %s: %s", before, error->where, error->text);
    else
        text = mem_printf("%s: %s", error->where, error->text);
    json_put_str(errors, error->id, text);
}

static struct json_object *modly_errors_json(struct api *api)
{
    const struct catalog *catalog = api->ops->catalog(api->app);
    struct json_object *errors = json_object_new_object();

    for (size_t i = 0; i < catalog_error_count(catalog); i++)
        modly_add_error(errors, catalog_error_at(catalog, i));
    return errors;
}

static void modly_errors(void *data, struct exchange *ex, const struct route_args *args)
{
    (void)args;
    exchange_respond_json(ex, 200, modly_errors_json(data));
}

struct modly_reload {
    struct api *api;
    struct exchange *ex;
};

static void modly_on_reloaded(void *data, const struct err *err)
{
    struct modly_reload *reload = data;
    struct api *api = reload->api;
    const struct catalog *catalog = api->ops->catalog(api->app);
    struct json_object *root, *ids;

    if (err && err->code != 0) {
        api_fail(reload->ex, 500, "internal", "%s", err->msg);
        return;
    }
    root = json_object_new_object();
    ids = json_object_new_array();
    for (size_t i = 0; i < catalog_count(catalog); i++)
        (void)json_object_array_add(ids, json_object_new_string(catalog_at(catalog, i)->id));
    json_put_bool(root, "reloaded", true);
    json_put(root, "models", ids);
    json_put(root, "errors", modly_errors_json(api));
    exchange_respond_json(reload->ex, 200, root);
}

static void modly_reload(void *data, struct exchange *ex, const struct route_args *args)
{
    struct modly_reload *reload = exchange_scratch(ex, sizeof(*reload));
    struct api *api = data;

    (void)args;
    *reload = (struct modly_reload){api, ex};
    api->ops->reload(api->app, modly_on_reloaded, reload);
}

static void modly_paths(void *data, struct exchange *ex, const struct route_args *args)
{
    struct api *api = data;
    const struct config *config = api->ops->config(api->app);
    struct json_object *root = json_object_new_object();

    (void)args;
    json_put_str(root, "models_dir", config->models_dir);
    json_put_str(root, "workspace_dir", config->workspace_dir);
    exchange_respond_json(ex, 200, root);
}

/* What setup.py scripts ask before they choose a build of torch. */
static void modly_gpu(void *data, struct exchange *ex, const struct route_args *args)
{
    struct api *api = data;
    struct json_object *root = json_object_new_object();
    struct api_device device;
    const char *accelerator = "cpu";

    (void)args;
    for (size_t i = 0; i < api->ops->device_count(api->app); i++) {
        api->ops->device_at(api->app, i, &device);
        if (strcmp(device.accelerator, "cpu") != 0) {
            accelerator = device.accelerator;
            break;
        }
    }
    json_put_int(root, "sm", 0);
    json_put_int(root, "cudaVersion", 0);
    json_put_str(root, "accelerator", accelerator);
    exchange_respond_json(ex, 200, root);
}

void api_send_file(struct exchange *ex, const char *path, const char *media_type)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;

    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        exchange_respond_file(ex, fd, media_type ? media_type : media_type_of(slice_str(path)),
                              NULL);
        return;
    }
    if (fd >= 0)
        (void)close(fd);
    api_fail(ex, 404, "not_found", "the file is gone");
}

/* The path is decoded and may hold anything: openat2 keeps it below the workspace. */
static void modly_workspace(void *data, struct exchange *ex, const struct route_args *args)
{
    struct api *api = data;
    struct slice path = args->values[0];
    struct stat st;
    int fd = -ENAMETOOLONG;

    if (path.len < WORKSPACE_PATH_MAX)
        fd = file_open_beneath(api->ops->config(api->app)->workspace_dir, path.ptr);
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
        exchange_respond_file(ex, fd, media_type_of(path), NULL);
        return;
    }
    if (fd >= 0)
        (void)close(fd);
    api_fail(ex, 404, "not_found", "there is no such file in the workspace");
}

static const struct route routes[] = {
    {HTTP_METHOD_GET, "/health", modly_route_health, 0},
    {HTTP_METHOD_GET, "/extensions/errors", modly_errors, 0},
    {HTTP_METHOD_POST, "/extensions/reload", modly_reload, 0},
    {HTTP_METHOD_GET, "/settings/paths", modly_paths, 0},
    {HTTP_METHOD_GET, "/system/gpu", modly_gpu, 0},
    {HTTP_METHOD_GET, "/workspace/{path*}", modly_workspace, 0},
};
const struct api_routes modly_other_routes = {routes, ARRAY_LEN(routes)};

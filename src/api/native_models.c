/* Our own /api/v1/models routes. A model's id holds a slash, so the whole rest of the path is
 * taken and the action is its last segment. */
#include <errno.h>

#include "api/internal.h"
#include "api/model_json.h"
#include "api/status.h"
#include "api/unload.h"
#include "api/wait.h"

#define LOG_BYTES_DEFAULT (64u << 10)
#define LOG_BYTES_MAX     (1u << 20)
#define LOAD_GRACE_MS     20u /* what fails at once is told at once, also without a wait */

static void native_answer_model(struct api *api, struct exchange *ex, int status,
                                const struct model *spec)
{
    struct api_model model;

    if (api->ops->model_get(api->app, spec, &model) == 0)
        exchange_respond_json(ex, status, model_json_native(&model));
    else
        api_fail_unknown(api, ex, 404, slice_str(spec->id));
}

static struct json_object *native_errors_json(const struct catalog *catalog)
{
    struct json_object *list = json_object_new_array();

    for (size_t i = 0; i < catalog_error_count(catalog); i++) {
        const struct catalog_error *error = catalog_error_at(catalog, i);
        struct json_object *obj = json_object_new_object();
        json_put_str(obj, "id", error->id);
        json_put_str(obj, "where", error->where);
        json_put_str(obj, "text", error->text);
        (void)json_object_array_add(list, obj);
    }
    return list;
}

static void native_models(void *data, struct exchange *ex, const struct route_args *args)
{
    struct api *api = data;
    const struct catalog *catalog = api->ops->catalog(api->app);
    struct json_object *root = json_object_new_object();
    struct json_object *list = json_object_new_array();
    struct api_model model;

    (void)args;
    for (size_t i = 0; i < catalog_count(catalog); i++) {
        if (api->ops->model_get(api->app, catalog_at(catalog, i), &model) == 0)
            (void)json_object_array_add(list, model_json_native(&model));
    }
    json_put(root, "models", list);
    json_put(root, "errors", native_errors_json(catalog));
    json_put_str(root, "active", api->ops->active_id(api->app));
    exchange_respond_json(ex, 200, root);
}

/* Takes "/word" off the end of the path. */
static bool native_take_action(struct slice *path, const char *word)
{
    size_t len = strlen(word);

    if (path->len <= len + 1 || path->ptr[path->len - len - 1] != '/' ||
        !slice_ends_with(*path, word))
        return false;
    path->len -= len + 1;
    return true;
}

static void native_log(struct api *api, struct exchange *ex, const struct model *spec)
{
    struct args args = {.ex = ex};
    uint64_t bytes = LOG_BYTES_DEFAULT;
    char *text;

    if (args_get_u64(&args, "bytes", 1, LOG_BYTES_MAX, &bytes) < 0)
        return;
    text = api->ops->log_tail(api->app, spec, (size_t)bytes);
    reply_text(ex, 200, "text/plain; charset=utf-8", text ? text : "");
    mem_free(text);
}

/* A node may be called "log", so the whole path is tried first. */
static void native_get_model(void *data, struct exchange *ex, const struct route_args *args)
{
    struct api *api = data;
    struct slice id = args->values[0];
    const struct model *spec = api_find_model(api, id);

    if (spec) {
        native_answer_model(api, ex, 200, spec);
        return;
    }
    if (native_take_action(&id, "log")) {
        spec = api_find_model(api, id);
        if (spec) {
            native_log(api, ex, spec);
            return;
        }
    }
    api_fail_unknown(api, ex, 404, id);
}

struct native_load {
    struct waiter waiter;
    const char *id; /* to find it again afterwards: a reload may have come between */
};

static void native_load_answer(struct api *api, struct exchange *ex, struct slice id,
                               bool is_complete)
{
    const struct model *spec = api_find_model(api, id);

    if (spec)
        native_answer_model(api, ex, is_complete ? 200 : 202, spec);
    else
        api_fail_unknown(api, ex, 404, id);
}

static void native_load_end(struct native_load *load, const struct err *err, bool is_complete)
{
    struct api *api = load->waiter.api;
    const char *id = load->id;
    struct exchange *ex = wait_end(load);

    if (err && err->code != 0)
        api_fail(ex, 0, err->where[0] ? err->where : api_code_of_errno(err->code, "load_failed"),
                 "%s", err->msg);
    else
        native_load_answer(api, ex, slice_str(id), is_complete);
}

static void native_load_on_done(void *data, const struct err *err)
{
    struct native_load *load = data;

    load->waiter.ticket = NULL;
    native_load_end(load, err, true);
}

/* It goes on loading: only the waiting ends. */
static void native_load_on_limit(void *data)
{
    native_load_end(data, NULL, false);
}

static void native_load(struct api *api, const struct args *args, const struct model *spec)
{
    struct native_load *load;
    struct api_ticket *ticket;
    uint64_t wait_ms = 0;

    if (args_get_wait(args, "wait", &wait_ms) < 0)
        return;
    load = wait_new(api, args->ex, sizeof(*load));
    load->id = api_keep(args->ex, slice_str(spec->id));
    wait_limit(&load->waiter, wait_ms > LOAD_GRACE_MS ? wait_ms : LOAD_GRACE_MS,
               native_load_on_limit);
    wait_ask(&load->waiter);
    ticket = api->ops->load(api->app, spec, native_load_on_done, load);
    wait_asked(&load->waiter, ticket);
}

static void native_unload(struct api *api, const struct args *args, const struct model *spec)
{
    struct unload unload = {.model = spec, .within_ms = API_UNLOAD_WITHIN_MS, .shows_id = true};

    if (args_get_bool(args, "force", &unload.is_forced) < 0 ||
        args_get_wait(args, "wait", &unload.within_ms) < 0)
        return;
    unload_start(api, args->ex, &unload);
}

static void native_switch(struct api *api, const struct args *args, const struct model *spec)
{
    struct json_object *root;

    if (api->ops->switch_to(api->app, spec) != 0) {
        api_fail(args->ex, 0, "stopping", "the daemon is stopping");
        return;
    }
    root = json_object_new_object();
    json_put_str(root, "active", spec->id);
    exchange_respond_json(args->ex, 200, root);
}

static const struct {
    const char *word;
    void (*fn)(struct api *api, const struct args *args, const struct model *spec);
} native_actions[] = {
    {"load", native_load},
    {"unload", native_unload},
    {"switch", native_switch},
};

static void native_model_args(struct api *api, const struct args *args)
{
    for (size_t i = 0; i < ARRAY_LEN(native_actions); i++) {
        struct slice id = args->path.values[0];
        const struct model *spec;

        if (!native_take_action(&id, native_actions[i].word))
            continue;
        spec = api_find_model(api, id);
        if (spec)
            native_actions[i].fn(api, args, spec);
        else
            api_fail_unknown(api, args->ex, 404, id);
        return;
    }
    api_fail(args->ex, 404, "not_found",
             "POST to a model needs /load, /unload or /switch at the "
             "end of the path");
}

static void native_post_model(void *data, struct exchange *ex, const struct route_args *args)
{
    args_read(data, ex, args, native_model_args);
}

static void native_unload_all_args(struct api *api, const struct args *args)
{
    native_unload(api, args, NULL);
}

static void native_unload_all(void *data, struct exchange *ex, const struct route_args *args)
{
    args_read(data, ex, args, native_unload_all_args);
}

static const struct route routes[] = {
    {HTTP_METHOD_GET, "/api/v1/models", native_models, 0},
    {HTTP_METHOD_GET, "/api/v1/models/{id*}", native_get_model, 0},
    {HTTP_METHOD_POST, "/api/v1/models/{id*}", native_post_model, 0},
    {HTTP_METHOD_POST, "/api/v1/unload", native_unload_all, 0},
};
const struct api_routes native_model_routes = {routes, ARRAY_LEN(routes)};

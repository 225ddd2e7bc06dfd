/* OpenAI's /v1/models. Every model is listed; its routes tell by output which it can serve. */
#include "api/internal.h"
#include "api/speech.h"

static struct json_object *openai_model(const struct model *spec)
{
    struct json_object *obj = json_object_new_object();

    json_put_str(obj, "id", spec->id);
    json_put_str(obj, "object", "model");
    json_put_int(obj, "created", 0);
    json_put_str(obj, "owned_by", "hotbunk");
    return obj;
}

static void openai_models(void *data, struct exchange *ex, const struct route_args *args)
{
    struct api *api = data;
    const struct catalog *catalog = api->ops->catalog(api->app);
    struct json_object *root = json_object_new_object();
    struct json_object *list = json_object_new_array();

    (void)args;
    for (size_t i = 0; i < catalog_count(catalog); i++)
        (void)json_object_array_add(list, openai_model(catalog_at(catalog, i)));
    json_put_str(root, "object", "list");
    json_put(root, "data", list);
    exchange_respond_json(ex, 200, root);
}

static void openai_get_model(void *data, struct exchange *ex, const struct route_args *args)
{
    const struct model *spec = api_find_model(data, args->values[0]);

    if (spec)
        exchange_respond_json(ex, 200, openai_model(spec));
    else
        api_fail_unknown(data, ex, 404, args->values[0]);
}

static const struct route routes[] = {
    {HTTP_METHOD_GET, "/v1/models", openai_models, 0},
    {HTTP_METHOD_GET, "/v1/models/{id*}", openai_get_model, 0},
    {HTTP_METHOD_POST, "/v1/audio/speech", speech_post, 0},
};
const struct api_routes openai_routes = {routes, ARRAY_LEN(routes)};

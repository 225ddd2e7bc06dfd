/* Modly's /generate routes. Everything is checked before anything is queued or evicted. */
#include <errno.h>

#include "api/collection.h"
#include "api/internal.h"
#include "api/job_json.h"
#include "api/submit.h"
#include "base/num.h"

#define MODLY_TEXTURE_RESOLUTION 1024

struct generate {
    struct api *api;
    struct exchange *ex;
    const struct form *form;
    struct json_object *params;
    bool enable_texture;
    int64_t texture_resolution;
    char collection[ID_NAME_MAX + 1];
};

static void generate_release(void *data)
{
    struct generate *generate = data;

    json_object_put(generate->params);
}

/* Spaces around a field's value mean nothing, nor does an empty one. */
static struct slice generate_field(const struct generate *generate, const char *name)
{
    const char *text = form_text(generate->form, name);

    return slice_trim(slice_str(text ? text : ""));
}

static void generate_check_files(const struct generate *generate, struct json_object *faults)
{
    static const char *const fields[] = {"model_id",       "collection", "remesh",
                                         "enable_texture", "params",     "texture_resolution"};
    const struct form_part *image = form_get(generate->form, "image");

    if (!image)
        reply_add_fault(faults, "missing", "body", "image", "the file part image is required",
                        NULL);
    else if (!image->filename.ptr)
        reply_add_fault(faults, "value_error", "body", "image",
                        "image must be a file: give the part a filename", NULL);
    for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
        const struct form_part *part = form_get(generate->form, fields[i]);
        if (part && part->path)
            reply_add_fault(faults, "string_type", "body", fields[i],
                            "this must be a plain field, not a file", NULL);
    }
}

/* The faults that FastAPI's clients know as 422; true when the request was answered. */
static bool generate_check_types(struct generate *generate)
{
    struct json_object *faults = json_object_new_array();
    struct slice texture = generate_field(generate, "enable_texture");
    struct slice resolution = generate_field(generate, "texture_resolution");

    generate_check_files(generate, faults);
    if (texture.len && args_parse_bool(texture, &generate->enable_texture) != 0)
        reply_add_fault(faults, "bool_parsing", "body", "enable_texture",
                        "enable_texture must be true or false", texture.ptr);
    generate->texture_resolution = MODLY_TEXTURE_RESOLUTION;
    if (resolution.len &&
        num_parse_i64(resolution, INT32_MIN, INT32_MAX, &generate->texture_resolution) != 0)
        reply_add_fault(faults, "int_parsing", "body", "texture_resolution",
                        "texture_resolution must be a whole number", resolution.ptr);
    if (json_object_array_length(faults) == 0) {
        json_object_put(faults);
        return false;
    }
    reply_faults_take(generate->ex, faults);
    return true;
}

/* The form's own fields below the user's params, which win. */
static int generate_make_params(struct generate *generate, const char *remesh)
{
    struct json_object *user;
    int rc = submit_parse_params(generate->ex, form_text(generate->form, "params"), &user);

    if (rc != 0)
        return rc;
    generate->params = json_object_new_object();
    json_put_str(generate->params, "remesh", remesh);
    json_put_bool(generate->params, "enable_texture", generate->enable_texture);
    json_put_int(generate->params, "texture_resolution", generate->texture_resolution);
    json_object_object_foreach(user, key, value)
    {
        json_put(generate->params, key, json_object_get(value));
    }
    json_object_put(user);
    return 0;
}

static const char *generate_remesh(const struct generate *generate)
{
    static const char *const known[] = {"quad", "triangle", "none"};
    struct slice remesh = generate_field(generate, "remesh");

    if (!remesh.len)
        return known[0];
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        if (slice_eq_str(remesh, known[i]))
            return known[i];
    }
    api_fail(generate->ex, 400, "bad_input",
             "remesh must be quad, triangle or none, but is \"%.*s\"",
             (int)(remesh.len > 100 ? 100 : remesh.len), remesh.ptr);
    return NULL;
}

static int generate_make_collection(struct generate *generate)
{
    const char *name = form_text(generate->form, "collection");
    struct err err;
    int rc = collection_of_modly(slice_str(name ? name : ""), generate->collection, &err);

    if (rc != 0)
        api_fail(generate->ex, 400, "bad_input", "%s", err.msg);
    return rc;
}

static void generate_on_submitted(void *data, const char *job_id, const struct err *err)
{
    struct generate *generate = data;
    struct json_object *root;

    if (!job_id) {
        api_fail_submit(generate->ex, err);
        return;
    }
    root = json_object_new_object();
    json_put_str(root, "job_id", job_id);
    exchange_respond_json(generate->ex, 200, root);
}

static void generate_start(struct generate *generate)
{
    struct api *api = generate->api;
    struct api_submit submit = {.collection = generate->collection};
    const struct form_part *image = form_get(generate->form, "image");
    const char *remesh;

    if (generate_check_types(generate) || !image || submit_check_image(generate->ex, image) != 0)
        return;
    remesh = generate_remesh(generate);
    if (!remesh || generate_make_collection(generate) != 0 ||
        generate_make_params(generate, remesh) != 0)
        return;
    submit.model = api_pick_model(api, generate->ex, form_text(generate->form, "model_id"));
    if (!submit.model)
        return;
    if (strcmp(submit.model->input, "text") == 0) {
        api_fail(generate->ex, 400, "bad_request",
                 "%s takes a text, not an image; send it to /api/v1/jobs or /v1/audio/speech",
                 submit.model->id);
        return;
    }
    submit.image_path = image->path;
    submit.params = generate->params;
    api->ops->submit(api->app, &submit, generate_on_submitted, generate);
}

static void generate_on_form(void *data, int status, const struct form *form)
{
    struct generate *generate = data;

    if (status != 0) /* answered, and `generate` went with the exchange */
        return;
    generate->form = form;
    generate_start(generate);
}

static void generate_from_image(void *data, struct exchange *ex, const struct route_args *args)
{
    struct generate *generate = exchange_scratch(ex, sizeof(*generate));
    struct api *api = data;
    struct form_limits limits = {api->ops->config(api->app)->max_body_bytes, api_upload_path, api};

    (void)args;
    *generate = (struct generate){.api = api, .ex = ex};
    exchange_defer(ex, generate_release, generate);
    form_read(ex, &limits, generate_on_form, generate);
}

static void generate_fail_unknown(struct exchange *ex, struct slice id)
{
    api_fail(ex, 404, "not_found", "there is no job %.*s", (int)(id.len > 100 ? 100 : id.len),
             id.ptr);
}

static void generate_status(void *data, struct exchange *ex, const struct route_args *args)
{
    struct api *api = data;
    struct api_job job;

    if (api->ops->job_get(api->app, args->values[0], &job) == 0)
        exchange_respond_json(ex, 200, job_json_modly(&job));
    else
        generate_fail_unknown(ex, args->values[0]);
}

static void generate_cancel(void *data, struct exchange *ex, const struct route_args *args)
{
    struct api *api = data;
    struct json_object *root;

    if (api->ops->job_cancel(api->app, args->values[0]) != 0) {
        generate_fail_unknown(ex, args->values[0]);
        return;
    }
    root = json_object_new_object();
    json_put_bool(root, "cancelled", true);
    exchange_respond_json(ex, 200, root);
}

static const struct route routes[] = {
    {HTTP_METHOD_POST, "/generate/from-image", generate_from_image, 0},
    {HTTP_METHOD_GET, "/generate/status/{job}", generate_status, 0},
    {HTTP_METHOD_POST, "/generate/cancel/{job}", generate_cancel, 0},
};
const struct api_routes modly_generate_routes = {routes, ARRAY_LEN(routes)};

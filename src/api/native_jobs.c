/* Our own /api/v1/jobs routes. */
#include <errno.h>

#include "api/collection.h"
#include "api/internal.h"
#include "api/job_json.h"
#include "api/submit.h"
#include "api/wait.h"

#define JOBS_LIMIT_DEFAULT 100
#define JOBS_LIMIT_MAX     1000

/* ---- submit ---- */

struct job_post {
    struct api *api;
    struct exchange *ex;
    struct api_submit submit;
    struct json_object *params; /* owned */
};

/* What a body says, whatever its kind. */
struct job_input {
    const char *model, *text, *collection;
    const struct form_part *image;
};

static void job_post_release(void *data)
{
    struct job_post *post = data;

    json_object_put(post->params);
}

static void job_fail_unknown(struct exchange *ex, struct slice id)
{
    api_fail(ex, 404, "not_found", "there is no job %.*s", (int)(id.len > 100 ? 100 : id.len),
             id.ptr);
}

static void job_post_on_submitted(void *data, const char *job_id, const struct err *err)
{
    struct job_post *post = data;
    struct api *api = post->api;
    struct api_job job;

    if (!job_id)
        api_fail_submit(post->ex, err);
    else if (api->ops->job_get(api->app, slice_str(job_id), &job) == 0)
        exchange_respond_json(post->ex, 202, job_json_native(&job));
    else
        job_fail_unknown(post->ex, slice_str(job_id));
}

static int job_post_check_input(struct job_post *post, const struct job_input *input)
{
    const struct model *model = post->submit.model;

    if (input->image && submit_check_image(post->ex, input->image) != 0)
        return -EINVAL;
    if (input->text && submit_check_text(post->ex, "text", slice_str(input->text)) != 0)
        return -EINVAL;
    if (!input->image && strcmp(model->input, "image") == 0) {
        api_fail_param(post->ex, 400, "bad_input", "image",
                       "%s takes an image: send it as the file part image of multipart/form-data",
                       model->id);
        return -EINVAL;
    }
    if (!input->text && strcmp(model->input, "text") == 0) {
        api_fail_param(post->ex, 400, "bad_input", "text", "%s takes a text: send the field text",
                       model->id);
        return -EINVAL;
    }
    return 0;
}

static int job_post_check_collection(struct job_post *post, const char *name)
{
    post->submit.collection = name && *name ? name : COLLECTION_DEFAULT;
    if (collection_is_valid(slice_str(post->submit.collection)))
        return 0;
    api_fail_param(post->ex, 400, "bad_input", "collection",
                   "the collection \"%.*s\" is no plain folder name of at most %d bytes",
                   ID_NAME_MAX, name, ID_NAME_MAX);
    return -EINVAL;
}

static void job_post_submit(struct job_post *post, const struct job_input *input)
{
    struct api *api = post->api;
    const struct model *model = api_pick_model(api, post->ex, input->model);
    struct api_submit *submit = &post->submit;

    if (!model) /* answered, and `post` went with the exchange */
        return;
    submit->model = model;
    if (job_post_check_input(post, input) != 0 ||
        job_post_check_collection(post, input->collection) != 0 ||
        submit_check_params(api, post->ex, model, post->params) != 0)
        return;
    submit->image_path = input->image ? input->image->path : NULL;
    submit->text = input->text;
    submit->params = post->params;
    api->ops->submit(api->app, submit, job_post_on_submitted, post);
}

static void job_post_on_form(void *data, int status, const struct form *form)
{
    struct job_post *post = data;
    struct job_input input;

    if (status != 0 || submit_parse_params(post->ex, form_text(form, "params"), &post->params) != 0)
        return;
    input = (struct job_input){form_text(form, "model"), form_text(form, "text"),
                               form_text(form, "collection"), form_get(form, "image")};
    job_post_submit(post, &input);
}

static int job_post_check_json(struct job_post *post, struct json_object *root)
{
    static const char *const texts[] = {"model", "text", "collection"};
    struct json_object *params = json_get(root, "params");

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct json_object *value = json_get(root, texts[i]);
        if (value && !json_is(value, json_type_string)) {
            api_fail_param(post->ex, 400, "bad_input", texts[i], "%s must be a text", texts[i]);
            return -EINVAL;
        }
    }
    if (params && !json_is(params, json_type_object)) {
        api_fail_param(post->ex, 400, "bad_input", "params", "params must be a JSON object");
        return -EINVAL;
    }
    return 0;
}

static void job_post_on_json(void *data, int status, struct json_object *root)
{
    struct job_post *post = data;
    struct job_input input = {0};
    struct json_object *params;

    if (status != 0 || job_post_check_json(post, root) != 0)
        return;
    params = json_get(root, "params");
    post->params = params ? json_object_get(params) : json_object_new_object();
    input.model = json_get_str(root, "model");
    input.text = json_get_str(root, "text");
    input.collection = json_get_str(root, "collection");
    job_post_submit(post, &input);
}

static void job_post(void *data, struct exchange *ex, const struct route_args *args)
{
    struct api *api = data;
    struct job_post *post = exchange_scratch(ex, sizeof(*post));
    struct form_limits limits = {api->ops->config(api->app)->max_body_bytes, api_upload_path, api};

    (void)args;
    *post = (struct job_post){.api = api, .ex = ex};
    exchange_defer(ex, job_post_release, post);
    if (http_head_is_type(exchange_head(ex), "application/json"))
        exchange_read_json(ex, API_JSON_MAX_BYTES, job_post_on_json, post);
    else
        form_read(ex, &limits, job_post_on_form, post);
}

/* ---- look ---- */

static void job_add_to_list(void *data, const struct api_job *job)
{
    (void)json_object_array_add(data, job_json_native(job));
}

static void job_list(void *data, struct exchange *ex, const struct route_args *route_args)
{
    struct api *api = data;
    struct args args = {.ex = ex};
    struct json_object *root, *list;
    enum api_job_state state;
    const char *state_name = NULL;
    uint64_t limit = JOBS_LIMIT_DEFAULT;

    (void)route_args;
    if (args_get(&args, "state", &state_name) < 0 ||
        args_get_u64(&args, "limit", 1, JOBS_LIMIT_MAX, &limit) < 0)
        return;
    if (state_name && job_state_parse(slice_str(state_name), &state) != 0) {
        api_fail(ex, 400, "bad_request",
                 "state must be queued, running, done, error or cancelled, but is \"%.100s\"",
                 state_name);
        return;
    }
    root = json_object_new_object();
    list = json_object_new_array();
    api->ops->job_list(api->app, state_name ? &state : NULL, (size_t)limit, job_add_to_list, list);
    json_put(root, "jobs", list);
    exchange_respond_json(ex, 200, root);
}

static void job_answer(struct api *api, struct exchange *ex, struct slice id)
{
    struct api_job job;

    if (api->ops->job_get(api->app, id, &job) == 0)
        exchange_respond_json(ex, 200, job_json_native(&job));
    else
        job_fail_unknown(ex, id);
}

struct job_wait {
    struct waiter waiter;
    const char *id;
};

static void job_wait_on_done(void *data, const struct api_job *job)
{
    struct job_wait *wait = data;
    struct json_object *root = job ? job_json_native(job) : NULL;
    const char *id = wait->id;
    struct exchange *ex;

    wait->waiter.ticket = NULL;
    ex = wait_end(wait);
    if (root)
        exchange_respond_json(ex, 200, root);
    else
        job_fail_unknown(ex, slice_str(id));
}

static void job_wait_on_limit(void *data)
{
    struct job_wait *wait = data;
    struct api *api = wait->waiter.api;
    const char *id = wait->id;
    struct exchange *ex = wait_end(wait);

    job_answer(api, ex, slice_str(id));
}

static void job_wait_start(struct api *api, struct exchange *ex, const char *id, uint64_t wait_ms)
{
    struct job_wait *wait = wait_new(api, ex, sizeof(*wait));
    struct api_ticket *ticket;

    wait->id = api_keep(ex, slice_str(id));
    wait_limit(&wait->waiter, wait_ms, job_wait_on_limit);
    wait_ask(&wait->waiter);
    ticket = api->ops->job_wait(api->app, slice_str(wait->id), job_wait_on_done, wait);
    wait_asked(&wait->waiter, ticket);
}

static void job_get(void *data, struct exchange *ex, const struct route_args *route_args)
{
    struct api *api = data;
    struct args args = {.ex = ex};
    struct api_job job;
    uint64_t wait_ms = 0;

    if (args_get_wait(&args, "wait", &wait_ms) < 0)
        return;
    if (api->ops->job_get(api->app, route_args->values[0], &job) != 0)
        job_fail_unknown(ex, route_args->values[0]);
    else if (wait_ms == 0 || job_state_is_end(job.state))
        exchange_respond_json(ex, 200, job_json_native(&job));
    else
        job_wait_start(api, ex, job.id, wait_ms);
}

static void job_output(void *data, struct exchange *ex, const struct route_args *args)
{
    struct api *api = data;
    struct api_job job;

    if (api->ops->job_get(api->app, args->values[0], &job) != 0)
        job_fail_unknown(ex, args->values[0]);
    else if (!job.output_path)
        api_fail(ex, 404, "not_found", "the job has no output: it is %s",
                 job_state_name(job.state));
    else
        api_send_file(ex, job.output_path, job.media_type);
}

static void job_cancel(void *data, struct exchange *ex, const struct route_args *args)
{
    struct api *api = data;

    (void)api->ops->job_cancel(api->app, args->values[0]); /* unknown: told by job_answer */
    job_answer(api, ex, args->values[0]);
}

static const struct route routes[] = {
    {HTTP_METHOD_POST, "/api/v1/jobs", job_post, 0},
    {HTTP_METHOD_GET, "/api/v1/jobs", job_list, 0},
    {HTTP_METHOD_GET, "/api/v1/jobs/{job}", job_get, 0},
    {HTTP_METHOD_GET, "/api/v1/jobs/{job}/output", job_output, 0},
    {HTTP_METHOD_POST, "/api/v1/jobs/{job}/cancel", job_cancel, 0},
};
const struct api_routes native_job_routes = {routes, ARRAY_LEN(routes)};

#include "api/speech.h"

#include <errno.h>
#include <stdio.h>

#include "api/collection.h"
#include "api/params.h"
#include "api/status.h"
#include "api/submit.h"
#include "api/wait.h"

#define SPEECH_JSON_MAX_BYTES (256u << 10) /* a text of API_TEXT_MAX_BYTES with escapes */

struct speech_format {
    const char *name, *media_type;
};

static const struct speech_format speech_formats[] = {
    {"mp3", "audio/mpeg"}, /* OpenAI's default first */
    {"wav", "audio/wav"},
    {"pcm", "audio/pcm"},
};

/* ---- the call: submit, wait, send the file ---- */

struct speech {
    struct waiter waiter;
    const struct speech_format *format;
};

static void speech_add_figures(struct exchange *ex, const struct api_job *job)
{
    char text[24];

    (void)exchange_add_header(ex, "X-Hotbunk-Job", job->id);
    (void)snprintf(text, sizeof(text), "%llu", (unsigned long long)job->load_ms);
    (void)exchange_add_header(ex, "X-Hotbunk-Load-Ms", text);
    (void)snprintf(text, sizeof(text), "%llu", (unsigned long long)job->run_ms);
    (void)exchange_add_header(ex, "X-Hotbunk-Run-Ms", text);
}

/* The file is opened here, before the ticket's end removes it. */
static void speech_on_ended(void *data, const struct api_job *job)
{
    struct speech *speech = data;
    const struct speech_format *format = speech->format;
    struct exchange *ex;

    speech->waiter.ticket = NULL;
    ex = wait_end(speech);
    if (!job) {
        api_fail(ex, 0, "error", "the job was lost");
        return;
    }
    speech_add_figures(ex, job);
    if (job->state == API_JOB_DONE && job->output_path)
        api_send_file(ex, job->output_path, format->media_type);
    else if (job->state == API_JOB_CANCELLED)
        api_fail(ex, 0, "cancelled", "the job was cancelled");
    else
        api_fail(ex, 0, job->error_code ? job->error_code : "error", "%s",
                 job->error ? job->error : "the job has no output");
}

/* Ending the wait drops the ticket, which cancels the job: it is bound to this call. */
static void speech_on_limit(void *data)
{
    struct speech *speech = data;
    struct exchange *ex = wait_end(speech);

    api_fail(ex, 0, "sync_wait_limit",
             "sync_wait_limit passed before the speech was ready: raise it, or submit a job");
}

static void speech_on_submitted(void *data, const char *job_id, const struct err *err)
{
    struct speech *speech = data;
    struct api *api = speech->waiter.api;
    struct api_ticket *ticket;
    uint64_t limit_ms = api->ops->config(api->app)->sync_wait_limit_ms;

    speech->waiter.is_asking = false;
    if (speech->waiter.is_over) { /* the client left meanwhile */
        if (job_id)
            (void)api->ops->job_cancel(api->app, slice_str(job_id));
        mem_free(speech);
        return;
    }
    if (!job_id) {
        api_fail_submit(wait_end(speech), err);
        return;
    }
    if (limit_ms)
        wait_limit(&speech->waiter, limit_ms, speech_on_limit);
    wait_ask(&speech->waiter);
    ticket = api->ops->job_wait(api->app, slice_str(job_id), speech_on_ended, speech);
    wait_asked(&speech->waiter, ticket);
}

/* A submit has no ticket: it counts as asking until it called back, so that the waiter lives. */
static void speech_start(struct api *api, struct exchange *ex, const struct api_submit *submit,
                         const struct speech_format *format)
{
    struct speech *speech = wait_new(api, ex, sizeof(*speech));

    speech->format = format;
    wait_ask(&speech->waiter);
    api->ops->submit(api->app, submit, speech_on_submitted, speech);
}

/* ---- the request ---- */

struct speech_request {
    struct api *api;
    struct exchange *ex;
    struct json_object *params; /* owned */
    struct api_model model;
};

static void speech_release(void *data)
{
    struct speech_request *request = data;

    json_object_put(request->params);
}

/* A string member. NULL with *out_rc 0 when absent, with -EINVAL when answered. */
static const char *speech_text(struct speech_request *request, struct json_object *root,
                               const char *key, int *out_rc)
{
    struct json_object *value = json_get(root, key);

    *out_rc = 0;
    if (!value)
        return NULL;
    if (json_is(value, json_type_string))
        return json_object_get_string(value);
    *out_rc = -EINVAL;
    api_fail_param(request->ex, 400, "bad_input", key, "%s must be a text", key);
    return NULL;
}

/* A model without the parameter makes WAV. */
static bool speech_can(const struct speech_request *request, const char *format)
{
    struct json_object *item = params_item(request->model.params_schema, "response_format");
    struct json_object *value;
    bool can;

    if (!item || !json_get(item, "options"))
        return strcmp(format, "wav") == 0;
    value = json_object_new_string(format);
    can = params_has_option(item, value);
    json_object_put(value);
    return can;
}

static const struct speech_format *speech_pick_format(struct speech_request *request,
                                                      const char *wanted)
{
    char known[64] = "";

    for (size_t i = 0; i < ARRAY_LEN(speech_formats); i++) {
        const struct speech_format *format = &speech_formats[i];
        size_t len = strlen(known);

        if (!speech_can(request, format->name))
            continue;
        if (!wanted || strcmp(wanted, format->name) == 0)
            return format;
        (void)snprintf(known + len, sizeof(known) - len, "%s%s", len ? ", " : "", format->name);
    }
    api_fail_param(request->ex, 400, "bad_input", "response_format",
                   "response_format %.100s is not supported by %s: use one of %s",
                   wanted ? wanted : "(none)", request->model.spec->id, known);
    return NULL;
}

/* Clients send OpenAI's voice names whatever the model: the worker maps or refuses them. */
static bool speech_is_openai_voice(struct json_object *value)
{
    static const char *const names[] = {"alloy", "ash",  "ballad", "coral",   "echo", "fable",
                                        "nova",  "onyx", "sage",   "shimmer", "verse"};

    for (size_t i = 0; json_is(value, json_type_string) && i < ARRAY_LEN(names); i++) {
        if (strcmp(json_object_get_string(value), names[i]) == 0)
            return true;
    }
    return false;
}

static int speech_make_params(struct speech_request *request, struct json_object *root,
                              const struct speech_format *format)
{
    static const char *const passed[] = {"voice", "speed", "pitch"};
    struct json_object *schema = request->model.params_schema;
    struct json_object *voice = json_get(root, "voice");

    request->params = json_object_new_object();
    if (params_item(schema, "response_format"))
        json_put_str(request->params, "response_format", format->name);
    for (size_t i = 0; i < ARRAY_LEN(passed); i++) {
        struct json_object *value = json_get(root, passed[i]);
        if (value && value != voice)
            json_put(request->params, passed[i], json_object_get(value));
    }
    if (voice && !speech_is_openai_voice(voice))
        json_put(request->params, "voice", json_object_get(voice));
    if (submit_check_params(request->api, request->ex, request->model.spec, request->params) != 0)
        return -EINVAL;
    if (voice)
        json_put(request->params, "voice", json_object_get(voice));
    return 0;
}

static int speech_check_model(struct speech_request *request, const char *id)
{
    struct api *api = request->api;
    const struct model *spec;

    if (!id || !*id) {
        api_fail_param(request->ex, 400, "bad_input", "model", "the field model is required");
        return -EINVAL;
    }
    spec = api_pick_model(api, request->ex, id);
    if (!spec)
        return -EINVAL;
    if (strcmp(spec->output, "audio") != 0) {
        api_fail_param(request->ex, 400, "bad_input", "model",
                       "%s does not speak: its output is %s, not audio", spec->id, spec->output);
        return -EINVAL;
    }
    if (api->ops->model_get(api->app, spec, &request->model) != 0) {
        api_fail_unknown(api, request->ex, 400, slice_str(id));
        return -EINVAL;
    }
    return 0;
}

static int speech_check_input(struct speech_request *request, const char *text)
{
    if (!text || !*text) {
        api_fail_param(request->ex, 400, "bad_input", "input",
                       "the field input is required: the text to speak");
        return -EINVAL;
    }
    return submit_check_text(request->ex, "input", slice_str(text));
}

static void speech_on_json(void *data, int status, struct json_object *root)
{
    struct speech_request *request = data;
    struct api_submit submit = {.is_scratch = true, .is_bound = true};
    const struct speech_format *format;
    const char *id, *wanted;
    int rc;

    if (status != 0)
        return;
    id = speech_text(request, root, "model", &rc);
    if (rc != 0 || speech_check_model(request, id) != 0)
        return;
    submit.text = speech_text(request, root, "input", &rc);
    if (rc != 0 || speech_check_input(request, submit.text) != 0)
        return;
    wanted = speech_text(request, root, "response_format", &rc);
    if (rc != 0)
        return;
    format = speech_pick_format(request, wanted);
    if (!format || speech_make_params(request, root, format) != 0)
        return;
    submit.model = request->model.spec;
    submit.params = request->params;
    submit.collection = COLLECTION_DEFAULT;
    speech_start(request->api, request->ex, &submit, format);
}

void speech_post(void *data, struct exchange *ex, const struct route_args *args)
{
    struct speech_request *request = exchange_scratch(ex, sizeof(*request));

    (void)args;
    *request = (struct speech_request){.api = data, .ex = ex};
    exchange_defer(ex, speech_release, request);
    exchange_read_json(ex, SPEECH_JSON_MAX_BYTES, speech_on_json, request);
}

#include "api/job_json.h"

#include <errno.h>
#include <stdio.h>

#define JOB_WORKSPACE_PREFIX "/workspace/"

static const char *const job_state_names[] = {
    [API_JOB_QUEUED] = "queued", [API_JOB_RUNNING] = "running",     [API_JOB_DONE] = "done",
    [API_JOB_ERROR] = "error",   [API_JOB_CANCELLED] = "cancelled",
};

const char *job_state_name(enum api_job_state state)
{
    return job_state_names[state];
}

int job_state_parse(struct slice name, enum api_job_state *out_state)
{
    for (size_t i = 0; i < ARRAY_LEN(job_state_names); i++) {
        if (slice_eq_str(name, job_state_names[i])) {
            *out_state = (enum api_job_state)i;
            return 0;
        }
    }
    return -EINVAL;
}

bool job_state_is_end(enum api_job_state state)
{
    return state != API_JOB_QUEUED && state != API_JOB_RUNNING;
}

/* NULL and "" are null: both mean that there is nothing to say. */
static void job_put_text(struct json_object *obj, const char *key, const char *text)
{
    json_put_str(obj, key, text && *text ? text : NULL);
}

/* A path as part of a URL: what RFC 3986 calls unreserved, and slashes, stay as they are. */
static char *job_url(const char *prefix, const char *path)
{
    static const char hex[] = "0123456789ABCDEF";
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "0123456789-._~/";
    size_t len = strlen(prefix);
    char *url = mem_new(len + strlen(path) * 3 + 1, 1);

    memcpy(url, prefix, len);
    for (; *path; path++) {
        unsigned char c = (unsigned char)*path;
        if (strchr(plain, c)) {
            url[len++] = (char)c;
        } else {
            url[len++] = '%';
            url[len++] = hex[c >> 4];
            url[len++] = hex[c & 15];
        }
    }
    return url;
}

static void job_put_output(struct json_object *obj, const struct api_job *job)
{
    auto_free char *url = NULL;

    json_put_str(obj, "output_path", job->output_path);
    json_put_str(obj, "workspace_path", job->workspace_path);
    if (job->workspace_path)
        url = job_url(JOB_WORKSPACE_PREFIX, job->workspace_path);
    else if (job->output_path)
        url = mem_printf("/api/v1/jobs/%s/output", job->id);
    json_put_str(obj, "output_url", url);
    json_put_str(obj, "media_type", job->media_type);
}

struct json_object *job_json_native(const struct api_job *job)
{
    struct json_object *obj = json_object_new_object();

    json_put_str(obj, "id", job->id);
    json_put_str(obj, "model", job->model);
    json_put_str(obj, "state", job_state_name(job->state));
    json_put_int(obj, "progress", job->progress);
    json_put_str(obj, "step", job->step ? job->step : "");
    json_put_str(obj, "why", job->why ? job->why : "");
    json_put_str(obj, "error_code", job->error_code);
    json_put_str(obj, "error", job->error);
    job_put_output(obj, job);
    json_put_str(obj, "collection", job->collection ? job->collection : "");
    json_put_int(obj, "created_ms", job->created_ms);
    json_put_int(obj, "started_ms", job->started_ms);
    json_put_int(obj, "ended_ms", job->ended_ms);
    json_put_u64(obj, "queue_ms", job->queue_ms);
    json_put_u64(obj, "load_ms", job->load_ms);
    json_put_u64(obj, "run_ms", job->run_ms);
    json_put_u64(obj, "held_bytes", job->held_bytes);
    json_put(obj, "result", json_object_get(job->result));
    return obj;
}

/* Modly's desktop app strips the prefix and joins the rest to its own directory: not encoded. */
struct json_object *job_json_modly(const struct api_job *job)
{
    bool is_queued = job->state == API_JOB_QUEUED;
    struct json_object *obj = json_object_new_object();
    auto_free char *url = NULL;

    if (job->state == API_JOB_DONE && job->workspace_path)
        url = mem_printf(JOB_WORKSPACE_PREFIX "%s", job->workspace_path);
    json_put_str(obj, "job_id", job->id);
    json_put_str(obj, "status", is_queued ? "pending" : job_state_name(job->state));
    json_put_int(obj, "progress", job->progress);
    job_put_text(obj, "step", is_queued ? job->why : job->step);
    json_put_str(obj, "output_url", url);
    job_put_text(obj, "error", job->state == API_JOB_ERROR ? job->error : NULL);
    return obj;
}

#include "api/model_json.h"

#include <math.h>

/* As manifests write it: 6, not 6.0. */
static void model_put_gb(struct json_object *obj, const char *key, double gb)
{
    if (floor(gb) == gb && fabs(gb) < 1e9)
        json_put_int(obj, key, (int64_t)gb);
    else
        json_put_double(obj, key, gb);
}

static struct json_object *model_texts(char *const *texts)
{
    struct json_object *array = json_object_new_array();

    for (size_t i = 0; texts && texts[i]; i++)
        (void)json_object_array_add(array, json_str_lossy(slice_str(texts[i])));
    return array;
}

static void model_put_words(struct json_object *obj, const struct model *spec)
{
    json_put_str(obj, "id", spec->id);
    json_put_str(obj, "name", spec->name);
    json_put_str(obj, "description", spec->description);
    json_put_str(obj, "version", spec->version);
}

struct json_object *model_json_native(const struct api_model *model)
{
    const struct model *spec = model->spec;
    struct json_object *obj = json_object_new_object();

    model_put_words(obj, spec);
    json_put_str(obj, "input", spec->input);
    json_put_str(obj, "output", spec->output);
    json_put_str(obj, "state", model->state);
    json_put_str(obj, "reason", model->reason ? model->reason : "");
    json_put_bool(obj, "loaded", model->is_loaded);
    json_put_bool(obj, "active", model->is_active);
    json_put_bool(obj, "downloaded", spec->is_downloaded);
    json_put_int(obj, "running", model->running);
    json_put_int(obj, "queued", model->queued);
    json_put_u64(obj, "reserved_bytes", model->reserved_bytes);
    json_put_u64(obj, "held_bytes", model->held_bytes);
    json_put_u64(obj, "last_load_ms", model->last_load_ms);
    json_put_int(obj, "pid", model->pid);
    model_put_gb(obj, "vram_gb", spec->vram_gb);
    json_put(obj, "aliases", model_texts(spec->aliases));
    json_put(obj, "params_schema", json_object_get(model->params_schema));
    return obj;
}

struct json_object *model_json_modly(const struct api_model *model)
{
    const struct model *spec = model->spec;
    struct json_object *obj = json_object_new_object();

    model_put_words(obj, spec);
    model_put_gb(obj, "vram_gb", spec->vram_gb);
    json_put_str(obj, "hf_repo", spec->hf_repo);
    json_put(obj, "tags", json_object_get(spec->tags));
    json_put_bool(obj, "downloaded", spec->is_downloaded);
    json_put_bool(obj, "loaded", model->is_loaded);
    json_put_bool(obj, "active", model->is_active);
    return obj;
}

struct json_object *model_json_modly_status(const struct api_model *model)
{
    struct json_object *obj = json_object_new_object();

    json_put_str(obj, "id", model->spec->id);
    json_put_str(obj, "name", model->spec->name);
    json_put_bool(obj, "downloaded", model->spec->is_downloaded);
    json_put_bool(obj, "loaded", model->is_loaded);
    return obj;
}

struct json_object *worker_json(const struct api_worker *worker)
{
    struct json_object *obj = json_object_new_object();

    json_put_str(obj, "model", worker->model);
    json_put_str(obj, "state", worker->state);
    json_put_int(obj, "pid", worker->pid);
    json_put_int(obj, "generation", worker->generation);
    json_put_int(obj, "running", worker->running);
    json_put_u64(obj, "reserved_bytes", worker->reserved_bytes);
    json_put_u64(obj, "held_bytes", worker->held_bytes);
    json_put_u64(obj, "age_ms", worker->age_ms);
    json_put_u64(obj, "idle_ms", worker->idle_ms);
    return obj;
}

struct json_object *device_json(const struct api_device *device)
{
    struct json_object *obj = json_object_new_object();

    json_put_str(obj, "id", device->id);
    json_put_str(obj, "name", device->name);
    json_put_str(obj, "accelerator", device->accelerator);
    json_put_u64(obj, "total_bytes", device->total_bytes);
    json_put_u64(obj, "free_bytes", device->free_bytes);
    json_put_u64(obj, "ours_bytes", device->ours_bytes);
    json_put_u64(obj, "reserved_bytes", device->reserved_bytes);
    json_put_u64(obj, "foreign_bytes", device->foreign_bytes);
    json_put_u64(obj, "headroom_bytes", device->headroom_bytes);
    json_put_u64(obj, "residue_bytes", device->residue_bytes);
    json_put_u64(obj, "sample_age_ms", device->sample_age_ms);
    json_put_bool(obj, "stale", device->is_stale);
    return obj;
}

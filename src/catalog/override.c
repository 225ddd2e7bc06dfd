#include "catalog/override.h"

#include <errno.h>
#include <stdio.h>

#include "base/id.h"
#include "base/num.h"
#include "catalog/launch.h"
#include "catalog/words.h"
#include "os/file.h"

#define MODELS_MAX      4096
#define PARALLEL_MAX    1024
#define SIZE_MIN        UINT64_C(1048576) /* less is a forgotten unit */
#define DURATION_MAX_MS UINT64_C(31557600000)

/* ---- what may stand there ---- */

static const char *const CLEAR_AFTER[] = {"job", "pressure", "never", NULL};
static const char *const KINDS[] = {"ndjson", NULL};

static const struct schema TEXT = {.types = SCHEMA_STRING, .len_min = 1, .len_max = 4096};
static const struct schema TEXTS = {.types = SCHEMA_ARRAY, .items = &TEXT, .len_max = WORDS_MAX};
static const struct schema AMOUNT = {.types = SCHEMA_STRING | SCHEMA_NUMBER};
static const struct schema SCALAR = {.types = SCHEMA_STRING | SCHEMA_NUMBER | SCHEMA_BOOL};
static const struct schema ENV = {.types = SCHEMA_OBJECT, .items = &SCALAR};
static const struct schema PARALLEL = {.types = SCHEMA_INT, .min = 1, .max = PARALLEL_MAX};
static const struct schema CLEAR = {.types = SCHEMA_STRING, .values = CLEAR_AFTER};
static const struct schema KIND = {.types = SCHEMA_STRING, .values = KINDS};
static const struct schema CMD = {
    .types = SCHEMA_STRING | SCHEMA_ARRAY, .len_min = 1, .items = &TEXT};
static const struct schema ITEM = {.types = SCHEMA_OBJECT};
static const struct schema PARAMS = {.types = SCHEMA_ARRAY, .items = &ITEM};

static const struct schema_member MEMBERS[] = {
    {"vram", &AMOUNT},
    {"ram", &AMOUNT},
    {"per_job", &AMOUNT},
    {"parallel", &PARALLEL},
    {"env", &ENV},
    {"run_timeout", &AMOUNT},
    {"load_timeout", &AMOUNT},
    {"queue_timeout", &AMOUNT},
    {"stall_timeout", &AMOUNT},
    {"drain_timeout", &AMOUNT},
    {"cancel_grace", &AMOUNT},
    {"stop_grace", &AMOUNT},
    {"clear_after", &CLEAR},
    {"aliases", &TEXTS},
    /* of whole models only */
    {"kind", &KIND},
    {"cmd", &CMD},
    {"name", &TEXT},
    {"description", &TEXT},
    {"input", &TEXT},
    {"output", &TEXT},
    {"params_schema", &PARAMS},
    {"dir", &TEXT},
    {NULL, NULL},
};

static const char *const WHOLE_ONLY[] = {"cmd",    "name",          "description", "input",
                                         "output", "params_schema", "dir"};

static const struct schema ENTRY = {.types = SCHEMA_OBJECT, .members = MEMBERS, .is_closed = true};
static const struct schema MODELS = {.types = SCHEMA_OBJECT, .items = &ENTRY};

/* ---- amounts ---- */

struct amount {
    const char *key;
    size_t offset; /* of a uint64_t in struct model */
    bool is_duration;
};

#define CLOCK(field) offsetof(struct model, clocks.field)

static const struct amount AMOUNTS[] = {
    {"vram", offsetof(struct model, vram_bytes), false},
    {"ram", offsetof(struct model, ram_bytes), false},
    {"per_job", offsetof(struct model, per_job_bytes), false},
    {"run_timeout", CLOCK(run_ms), true},
    {"load_timeout", CLOCK(load_ms), true},
    {"queue_timeout", CLOCK(queue_ms), true},
    {"stall_timeout", CLOCK(stall_ms), true},
    {"drain_timeout", CLOCK(drain_ms), true},
    {"cancel_grace", CLOCK(cancel_ms), true},
    {"stop_grace", CLOCK(stop_ms), true},
};

static int amount_fail(struct schema_fault *fault, struct err *err, const char *key,
                       const char *what)
{
    (void)snprintf(fault->path, sizeof(fault->path), "%s", key); /* our keys are short */
    fault->is_key = false;
    return err_set(err, -EINVAL, "%s %s", key, what);
}

static int amount_read(const struct amount *amount, struct json_object *value, double scale,
                       uint64_t *out_value, struct schema_fault *fault, struct err *err)
{
    struct slice text = slice_str(json_object_get_string(value));
    uint64_t number;

    if (!amount->is_duration) {
        if (num_parse_size(text, &number) != 0)
            return amount_fail(fault, err, amount->key, "must be a size such as 6GB");
        if (number > 0 && number < SIZE_MIN)
            return amount_fail(fault, err, amount->key,
                               "is under 1 MiB: write the unit, as in 6GB");
        *out_value = number;
        return 0;
    }
    if (num_parse_duration(text, &number) != 0 || number > DURATION_MAX_MS)
        return amount_fail(fault, err, amount->key, "must be a duration such as 30s or 5m");
    *out_value = number ? (uint64_t)((double)number * scale) + ((double)number * scale < 1) : 0;
    return 0;
}

static int apply_amounts(struct model *model, struct json_object *entry, double scale,
                         struct schema_fault *fault, struct err *err)
{
    for (size_t i = 0; i < ARRAY_LEN(AMOUNTS); i++) {
        struct json_object *value = json_get(entry, AMOUNTS[i].key);
        uint64_t number = 0;
        int rc;
        if (!value)
            continue;
        rc = amount_read(&AMOUNTS[i], value, scale, &number, fault, err);
        if (rc != 0)
            return rc;
        memcpy((char *)model + AMOUNTS[i].offset, &number, sizeof(number));
    }
    if (json_get(entry, "vram") || (json_get(entry, "ram") && model->vram_bytes == 0))
        model->prior = MODEL_PRIOR_CONFIG;
    return 0;
}

/* ---- the other keys ---- */

static bool is_env_name(const char *name)
{
    for (const char *at = name; *at; at++) {
        bool is_letter = (*at >= 'a' && *at <= 'z') || (*at >= 'A' && *at <= 'Z') || *at == '_';
        if (!is_letter && (at == name || *at < '0' || *at > '9'))
            return false;
    }
    return name[0] != '\0';
}

static int apply_env(struct model *model, struct json_object *env, struct schema_fault *fault,
                     struct err *err)
{
    if (!env)
        return 0;
    json_object_object_foreach(env, name, value)
    {
        if (!is_env_name(name)) {
            (void)snprintf(fault->path, sizeof(fault->path), "env.%s", name); /* cut is fine */
            fault->is_key = true;
            return err_set(err, -EINVAL, "%.64s cannot be the name of an environment variable",
                           name);
        }
        launch_put_env(model, name, value ? json_object_get_string(value) : "");
    }
    return 0;
}

static void apply_aliases(struct model *model, struct json_object *aliases)
{
    for (size_t i = 0; aliases && i < json_object_array_length(aliases); i++) {
        struct json_object *alias = json_object_array_get_idx(aliases, i);
        words_add_take(&model->aliases, mem_strdup(json_object_get_string(alias)));
    }
}

int override_apply(struct model *model, struct json_object *entry, double clock_scale,
                   struct schema_fault *out_fault, struct err *err)
{
    const char *clear_after = json_get_str(entry, "clear_after");
    int rc = apply_amounts(model, entry, clock_scale, out_fault, err);

    if (rc != 0)
        return rc;
    model->parallel = (unsigned)json_get_int(entry, "parallel", model->parallel);
    if (clear_after) {
        mem_free(model->clear_after);
        model->clear_after = mem_strdup(clear_after);
        launch_put_env(model, "HOTBUNK_CLEAR_AFTER", clear_after);
    }
    apply_aliases(model, json_get(entry, "aliases"));
    return apply_env(model, json_get(entry, "env"), out_fault, err);
}

bool override_is_model(struct json_object *entry)
{
    return json_get(entry, "kind") != NULL || json_get(entry, "cmd") != NULL;
}

/* ---- checking ---- */

static void fault_below(struct schema_fault *fault, const char *id)
{
    char inner[SCHEMA_PATH_MAX];

    memcpy(inner, fault->path, sizeof(inner));
    (void)snprintf(fault->path, sizeof(fault->path), "%.100s%s%.80s", id, inner[0] ? "." : "",
                   inner); /* cut is fine: the parent's place is used then */
}

static int fault_set(struct schema_fault *fault, struct err *err, const char *key, bool is_key,
                     const char *what)
{
    (void)snprintf(fault->path, sizeof(fault->path), "%s", key); /* our keys are short */
    fault->is_key = is_key;
    return err_set(err, -EINVAL, "%s%s%s", key, key[0] ? " " : "", what);
}

/* An id is "name" or "ext/node", each a name that can be a directory. */
static bool is_model_id(const char *id)
{
    struct slice ext, rest = slice_str(id);

    if (rest.len > ID_NAME_MAX || !slice_split(&rest, '/', &ext) || !id_is_component(ext))
        return false;
    return !rest.ptr || id_is_component(rest);
}

static int check_whole(struct json_object *entry, struct schema_fault *fault, struct err *err)
{
    char **words = NULL;
    int rc;

    if (!json_get(entry, "kind"))
        return fault_set(fault, err, "cmd", true,
                         "is for whole models: add kind: ndjson, or remove it");
    if (!json_get(entry, "cmd"))
        return fault_set(fault, err, "", true, "a model of its own needs a cmd");
    rc = words_of_json(json_get(entry, "cmd"), &words, err);
    if (rc != 0) {
        (void)snprintf(fault->path, sizeof(fault->path), "cmd");
        fault->is_key = false;
    }
    words_free(words);
    return rc;
}

static int check_entry(const char *id, struct json_object *entry, double clock_scale,
                       struct schema_fault *fault, struct err *err)
{
    struct model *scratch = mem_new(1, sizeof(*scratch));
    int rc = 0;

    if (!is_model_id(id))
        rc = fault_set(fault, err, "", true, "a model's id is a name, or extension/node");
    else if (override_is_model(entry))
        rc = check_whole(entry, fault, err);
    for (size_t i = 0; rc == 0 && !override_is_model(entry) && i < ARRAY_LEN(WHOLE_ONLY); i++) {
        if (json_get(entry, WHOLE_ONLY[i]))
            rc = fault_set(fault, err, WHOLE_ONLY[i], true,
                           "is for whole models: add kind and cmd, or remove it");
    }
    if (rc == 0)
        rc = override_apply(scratch, entry, clock_scale, fault, err);
    model_free(scratch);
    return rc;
}

int override_check_all(struct json_object *models, double clock_scale,
                       struct schema_fault *out_fault, struct err *err)
{
    int rc = schema_check(&MODELS, models, out_fault, err);

    if (rc != 0)
        return rc;
    if (json_object_object_length(models) > MODELS_MAX)
        return fault_set(out_fault, err, "", false, "more than 4096 models");
    json_object_object_foreach(models, id, entry)
    {
        if (!entry)
            continue;
        rc = check_entry(id, entry, clock_scale, out_fault, err);
        if (rc != 0) {
            fault_below(out_fault, id);
            return rc;
        }
    }
    return 0;
}

/* ---- whole models ---- */

static char *text_or(struct json_object *entry, const char *key, const char *otherwise)
{
    const char *text = json_get_str(entry, key);

    return mem_strdup(text ? text : otherwise);
}

static struct json_object *array_copy(struct json_object *array)
{
    struct json_object *copy = NULL;

    /* Deep: a catalog may be built on another thread than the config is used on. */
    if (!array || json_object_deep_copy(array, &copy, NULL) != 0)
        copy = json_object_new_array();
    return copy;
}

static void model_place(struct model *model, const char *id, struct json_object *entry,
                        const struct config *config)
{
    const char *slash = strchr(id, '/');
    const char *dir = json_get_str(entry, "dir");
    const char *base = config->file_dir ? config->file_dir : "/";

    model->id = mem_strdup(id);
    model->ext_id = mem_strndup(id, slash ? (size_t)(slash - id) : strlen(id));
    model->node_id = mem_strdup(slash ? slash + 1 : "");
    model->model_dir = file_join(config->models_dir, id);
    if (dir)
        model->dir = dir[0] == '/' ? mem_strdup(dir) : file_join(base, dir);
    else
        model->dir = mem_strdup(base);
}

int override_model_new(const char *id, struct json_object *entry, const struct config *config,
                       struct model **out_model, struct err *err)
{
    struct model *model = mem_new(1, sizeof(*model));
    struct schema_fault ignored;
    char **words = NULL;
    int rc;

    model_place(model, id, entry, config);
    model->name = text_or(entry, "name", id);
    model->description = text_or(entry, "description", "");
    model->version = mem_strdup("");
    model->hf_repo = mem_strdup("");
    model->input = text_or(entry, "input", "image");
    model->output = text_or(entry, "output", "mesh");
    model->tags = json_object_new_array();
    model->params_schema = array_copy(json_get(entry, "params_schema"));
    model->kind = MODEL_KIND_NDJSON;
    model->prior = MODEL_PRIOR_UNKNOWN;
    model->parallel = 1;
    model->clocks = config->clocks;
    model->clear_after = mem_strdup(config->clear_after);
    model->is_downloaded = true;
    launch_set_env(model, config);
    rc = override_apply(model, entry, config->clock_scale, &ignored, err);
    if (rc == 0)
        rc = words_of_json(json_get(entry, "cmd"), &words, err);
    if (rc == 0)
        rc = launch_set_command(model, config, words, err);
    if (rc != 0) {
        model_free(model);
        return rc;
    }
    *out_model = model;
    return 0;
}

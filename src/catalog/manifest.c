#include "catalog/manifest.h"

#include <errno.h>

#include "base/id.h"
#include "base/schema.h"
#include "catalog/words.h"
#include "os/file.h"

#define GB_MAX 100000.0 /* of a declared need: more is a mistake */
#define MB_MAX (GB_MAX * 1024)

/* ---- what may stand there; everything else is passed over ---- */

static const struct schema TEXT = {.types = SCHEMA_STRING, .len_max = 65536};
static const struct schema NAME = {.types = SCHEMA_STRING, .len_min = 1, .len_max = 1024};
static const struct schema ID = {.types = SCHEMA_STRING, .len_min = 1, .len_max = ID_NAME_MAX};
static const struct schema GB = {.types = SCHEMA_NUMBER, .min = 0, .max = GB_MAX};
static const struct schema MB = {.types = SCHEMA_NUMBER, .min = 0, .max = MB_MAX};
static const struct schema LIST = {.types = SCHEMA_ARRAY, .len_max = 4096};
static const struct schema TEXTS = {.types = SCHEMA_ARRAY, .items = &TEXT, .len_max = 4096};
static const struct schema WORDS = {
    .types = SCHEMA_ARRAY, .items = &TEXT, .len_min = 1, .len_max = WORDS_MAX};
static const char *const TYPES[] = {"model", "process", NULL};
static const struct schema TYPE = {.types = SCHEMA_STRING, .values = TYPES};

/* Of a node, or for all nodes at the top level. */
#define SHARED_MEMBERS                                                                             \
    {"name", &TEXT}, {"description", &TEXT}, {"input", &NAME}, {"inputs", &LIST},                  \
        {"output", &NAME}, {"hf_repo", &TEXT}, {"download_check", &TEXT},                          \
        {"hf_skip_prefixes", &TEXTS}, {"hf_include_prefixes", &TEXTS}, {"params_schema", &LIST},   \
        {"vram_gb", &GB}, {"VRAM_GB", &GB}, {"ram_mb", &MB}, {"tags", &TEXTS},                     \
    {                                                                                              \
        "command", &WORDS                                                                          \
    }

static const struct schema_member NODE_MEMBERS[] = {
    {"id", &ID, true},
    SHARED_MEMBERS,
    {NULL, NULL},
};
static const struct schema NODE = {.types = SCHEMA_OBJECT, .members = NODE_MEMBERS};
static const struct schema NODES = {
    .types = SCHEMA_ARRAY, .items = &NODE, .len_max = MANIFEST_NODES_MAX};

static const struct schema_member MEMBERS[] = {
    {"id", &ID, true},          {"nodes", &NODES},      {"type", &TYPE}, {"version", &TEXT},
    {"generator_class", &TEXT}, {"displayName", &TEXT}, SHARED_MEMBERS,  {NULL, NULL},
};
static const struct schema MANIFEST = {.types = SCHEMA_OBJECT, .members = MEMBERS};

/* ---- reading ---- */

static struct json_object *nodes_of(const struct manifest *manifest)
{
    struct json_object *nodes = json_get(manifest->root, "nodes");

    return nodes && json_object_array_length(nodes) > 0 ? nodes : NULL;
}

static struct json_object *node_at(const struct manifest *manifest, size_t index)
{
    return json_object_array_get_idx(nodes_of(manifest), index);
}

size_t manifest_node_count(const struct manifest *manifest)
{
    struct json_object *nodes = nodes_of(manifest);

    return nodes ? json_object_array_length(nodes) : 1;
}

static int check_node_ids(const struct manifest *manifest, struct err *err)
{
    struct json_object *nodes = nodes_of(manifest);
    size_t count = nodes ? json_object_array_length(nodes) : 0;

    for (size_t i = 0; i < count; i++) {
        const char *id = json_get_str(node_at(manifest, i), "id");
        if (!id_is_component(slice_str(id)))
            return err_set(err, -EINVAL,
                           "nodes[%zu].id \"%.64s\" cannot be the name of a directory", i, id);
        for (size_t before = 0; before < i; before++) {
            if (strcmp(json_get_str(node_at(manifest, before), "id"), id) == 0)
                return err_set(err, -EINVAL, "nodes[%zu].id \"%.64s\" is also that of nodes[%zu]",
                               i, id, before);
        }
    }
    return 0;
}

static int manifest_check(const struct manifest *manifest, struct err *err)
{
    int rc = schema_check(&MANIFEST, manifest->root, NULL, err);

    if (rc != 0)
        return rc;
    if (!id_is_extension(slice_str(json_get_str(manifest->root, "id"))))
        return err_set(err, -EINVAL,
                       "id \"%.64s\" must begin with a small letter or digit, and hold only small "
                       "letters, digits, dots, dashes and underscores",
                       json_get_str(manifest->root, "id"));
    return check_node_ids(manifest, err);
}

int manifest_parse(struct slice text, struct manifest *out_manifest, struct err *err)
{
    struct manifest manifest = {0};
    const char *type;
    int rc;

    if (text.len > MANIFEST_BYTES_MAX)
        return err_set(err, -EINVAL, "a manifest over %d bytes", MANIFEST_BYTES_MAX);
    if (slice_starts_with(text, "\xef\xbb\xbf")) /* editors on Windows put a mark there */
        text = slice_skip(text, 3);
    rc = json_parse_object(text, &manifest.root, err);
    if (rc != 0)
        return rc;
    rc = manifest_check(&manifest, err);
    if (rc != 0) {
        manifest_fini(&manifest);
        return rc;
    }
    type = json_get_str(manifest.root, "type");
    manifest.id = json_get_str(manifest.root, "id");
    manifest.is_process = type && strcmp(type, "process") == 0;
    *out_manifest = manifest;
    return 0;
}

void manifest_fini(struct manifest *manifest)
{
    json_object_put(manifest->root);
    *manifest = (struct manifest){0};
}

/* ---- models ---- */

struct json_object *manifest_value(const struct manifest *manifest, size_t index, const char *key)
{
    struct json_object *value = nodes_of(manifest) ? json_get(node_at(manifest, index), key) : NULL;

    return value ? value : json_get(manifest->root, key);
}

static char *text_of(const struct manifest *manifest, size_t index, const char *key,
                     const char *otherwise)
{
    const char *text = json_object_get_string(manifest_value(manifest, index, key));

    return mem_strdup(text && text[0] ? text : otherwise);
}

/* Copies, since a manifest may be read on another thread than its models are used on. */
static struct json_object *array_of(const struct manifest *manifest, size_t index, const char *key)
{
    struct json_object *array = manifest_value(manifest, index, key), *copy = NULL;

    if (!array || json_object_deep_copy(array, &copy, NULL) != 0)
        copy = json_object_new_array();
    return copy;
}

/* The node's own name, else the extension's, with the node's id when there are several. */
static char *name_of(const struct manifest *manifest, size_t index, const char *node_id)
{
    const char *own = nodes_of(manifest) ? json_get_str(node_at(manifest, index), "name") : NULL;
    const char *top = json_get_str(manifest->root, "name");

    if (own && own[0])
        return mem_strdup(own);
    if (!top || !top[0])
        top = json_get_str(manifest->root, "displayName");
    if (!top || !top[0])
        top = manifest->id;
    if (manifest_node_count(manifest) > 1)
        return mem_printf("%s (%s)", top, node_id);
    return mem_strdup(top);
}

struct model *manifest_model_new(const struct manifest *manifest, size_t index, const char *dir,
                                 const struct config *config)
{
    struct model *model = mem_new(1, sizeof(*model));
    bool has_nodes = nodes_of(manifest) != NULL;
    const char *version = json_get_str(manifest->root, "version");

    model->ext_id = mem_strdup(manifest->id);
    model->node_id = mem_strdup(has_nodes ? json_get_str(node_at(manifest, index), "id") : "");
    model->id = has_nodes ? file_join(model->ext_id, model->node_id) : mem_strdup(model->ext_id);
    model->name = name_of(manifest, index, model->node_id);
    model->description = text_of(manifest, index, "description", "");
    model->version = mem_strdup(version ? version : "");
    model->hf_repo = text_of(manifest, index, "hf_repo", "");
    model->input = text_of(manifest, index, "input", "image");
    model->output = text_of(manifest, index, "output", "mesh");
    model->tags = array_of(manifest, index, "tags");
    model->params_schema = array_of(manifest, index, "params_schema");
    model->kind = MODEL_KIND_NDJSON;
    model->dir = mem_strdup(dir);
    model->model_dir = file_join(config->models_dir, model->id);
    model->prior = MODEL_PRIOR_UNKNOWN;
    model->parallel = 1;
    model->clocks = config->clocks;
    model->clear_after = mem_strdup(config->clear_after);
    return model;
}

char **manifest_command(const struct manifest *manifest, size_t index)
{
    struct json_object *command = manifest_value(manifest, index, "command");
    char **words = NULL;

    for (size_t i = 0; command && i < json_object_array_length(command); i++)
        words_add_take(&words,
                       mem_strdup(json_object_get_string(json_object_array_get_idx(command, i))));
    return words;
}

static bool needs_generator(const struct manifest *manifest)
{
    for (size_t i = 0; i < manifest_node_count(manifest); i++) {
        if (!manifest_value(manifest, i, "command"))
            return true;
    }
    return false;
}

int manifest_check_files(const struct manifest *manifest, const char *dir, struct err *err)
{
    auto_free char *generator = file_join(dir, "generator.py");
    const char *class_name = json_get_str(manifest->root, "generator_class");

    if (!needs_generator(manifest))
        return 0;
    if (!file_exists(generator))
        return err_set(err, -ENOENT,
                       "generator.py is missing beside manifest.json (and there is no command)");
    if (!class_name || !class_name[0])
        return err_set(err, -EINVAL,
                       "generator_class is missing: it names the class in generator.py");
    return 0;
}

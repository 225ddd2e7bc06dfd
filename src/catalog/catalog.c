#include "catalog/catalog.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "catalog/footprint.h"
#include "catalog/launch.h"
#include "catalog/manifest.h"
#include "catalog/override.h"
#include "catalog/yaml.h"
#include "os/file.h"

#define CATALOG_MODELS_MAX 4096
#define CATALOG_DIRS_MAX   4096 /* extensions in one root */
#define CATALOG_ERRORS_MAX 1024

struct catalog {
    struct model **models;
    size_t model_count, model_cap;
    struct catalog_error *errors;
    size_t error_count, error_cap;
};

/* ---- growing ---- */

static void *grow(void *items, size_t count, size_t *cap, size_t item_bytes)
{
    if (count < *cap)
        return items;
    *cap = *cap ? *cap * 2 : 16;
    return mem_resize(items, *cap * item_bytes);
}

static void catalog_add_take(struct catalog *catalog, struct model *model)
{
    catalog->models = grow(catalog->models, catalog->model_count, &catalog->model_cap,
                           sizeof(*catalog->models));
    catalog->models[catalog->model_count++] = model;
}

static void catalog_complain(struct catalog *catalog, const char *id, const char *where,
                             const char *text)
{
    if (catalog->error_count == CATALOG_ERRORS_MAX)
        return;
    catalog->errors = grow(catalog->errors, catalog->error_count, &catalog->error_cap,
                           sizeof(*catalog->errors));
    catalog->errors[catalog->error_count++] = (struct catalog_error){
        .id = mem_strdup(id), .where = mem_strdup(where), .text = mem_strdup(text)};
}

/* ---- one extension ---- */

/* The directory that an extension with this id was read from, or NULL. */
static const char *catalog_dir_of(const struct catalog *catalog, const char *ext_id)
{
    for (size_t i = 0; i < catalog->model_count; i++) {
        if (strcmp(catalog->models[i]->ext_id, ext_id) == 0)
            return catalog->models[i]->dir;
    }
    return NULL;
}

static int model_complete(struct model *model, const struct manifest *manifest, size_t index,
                          const struct config *config, struct err *err)
{
    char **words = manifest_command(manifest, index);
    struct json_object *entry = json_get(config->models, model->id);
    struct schema_fault ignored;
    int rc = 0;

    if (words)
        rc = launch_set_command(model, config, words, err);
    else
        launch_set_runner(model, config);
    if (rc == 0)
        rc = footprint_check_download(model, manifest, index, config, err);
    if (rc != 0)
        return rc;
    footprint_fill(model, manifest, index);
    launch_set_env(model, config);
    return entry ? override_apply(model, entry, config->clock_scale, &ignored, err) : 0;
}

static bool dir_is_named(const char *dir, const char *name)
{
    const char *slash = strrchr(dir, '/');

    return strcmp(slash ? slash + 1 : dir, name) == 0;
}

static bool dirs_are_siblings(const char *a, const char *b)
{
    const char *x = strrchr(a, '/'), *y = strrchr(b, '/');

    return x && y && x - a == y - b && strncmp(a, b, (size_t)(x - a)) == 0;
}

/* An interrupted update may leave a copy beside the real one: of two siblings with the same id
 * the one whose folder bears it is meant, whatever the order. True when the other one left. */
static bool catalog_displace(struct catalog *catalog, const char *ext_id, const char *taken_by,
                             const char *dir)
{
    auto_free char *old = mem_strdup(taken_by);
    auto_free char *text = mem_printf("the id %s is that of %s, whose folder bears it: rename one",
                                      ext_id, dir);
    size_t kept = 0;

    if (!dirs_are_siblings(old, dir) || dir_is_named(old, ext_id) || !dir_is_named(dir, ext_id))
        return false;
    for (size_t i = 0; i < catalog->model_count; i++) {
        struct model *model = catalog->models[i];
        if (strcmp(model->ext_id, ext_id) == 0)
            model_free(model);
        else
            catalog->models[kept++] = model;
    }
    catalog->model_count = kept;
    catalog_complain(catalog, ext_id, old, text);
    return true;
}

/* Adds all models of a manifest, or none. */
static int read_models(struct catalog *catalog, const struct manifest *manifest, const char *dir,
                       const struct config *config, struct err *err)
{
    size_t first;
    const char *taken_by;
    int rc = manifest_check_files(manifest, dir, err);

    assert(manifest->id); /* it was parsed */
    taken_by = catalog_dir_of(catalog, manifest->id);
    if (rc == 0 && taken_by && !catalog_displace(catalog, manifest->id, taken_by, dir))
        rc = err_set(err, -EEXIST, "the id %s is already that of %s: rename one", manifest->id,
                     taken_by);
    first = catalog->model_count;
    if (rc == 0 && catalog->model_count + manifest_node_count(manifest) > CATALOG_MODELS_MAX)
        rc = err_set(err, -E2BIG, "more than %d models", CATALOG_MODELS_MAX);
    for (size_t i = 0; rc == 0 && i < manifest_node_count(manifest); i++) {
        catalog_add_take(catalog, manifest_model_new(manifest, i, dir, config));
        rc = model_complete(catalog->models[catalog->model_count - 1], manifest, i, config, err);
    }
    while (rc != 0 && catalog->model_count > first)
        model_free(catalog->models[--catalog->model_count]);
    return rc;
}

static void complain_about_setup(struct catalog *catalog, const char *ext_id, const char *dir)
{
    auto_free char *text =
        mem_printf("needs setup: its own Python environment (%s/venv) is missing; run its setup "
                   "script, then reload",
                   dir);

    if (launch_needs_setup(dir))
        catalog_complain(catalog, ext_id, dir, text);
}

static int read_manifest(const char *path, struct manifest *out_manifest, struct err *err)
{
    struct buf text;
    struct stat st;
    int rc;

    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) /* a FIFO would never end */
        return err_set(err, -EINVAL, "manifest.json is not a file");
    buf_init(&text, MANIFEST_BYTES_MAX + 1);
    rc = file_read(path, &text, err);
    if (rc == -EMSGSIZE)
        rc = err_set(err, rc, "a manifest over %d bytes", MANIFEST_BYTES_MAX);
    if (rc == 0)
        rc = manifest_parse(buf_slice(&text), out_manifest, err);
    buf_fini(&text);
    return rc;
}

/* A folder without a manifest is nothing of ours, unless it holds a generator. */
static void complain_about_generator(struct catalog *catalog, const char *dir, const char *name)
{
    auto_free char *generator = file_join(dir, "generator.py");

    if (file_exists(generator))
        catalog_complain(catalog, name, dir, "manifest.json is missing beside generator.py");
}

static void read_extension(struct catalog *catalog, const struct config *config, const char *root,
                           const char *name)
{
    auto_free char *dir = file_join(root, name);
    auto_free char *path = file_join(dir, "manifest.json");
    auto_free char *id = mem_strdup(name);
    struct manifest manifest = {0};
    struct err err = {0};
    int rc;

    if (!file_is_dir(dir))
        return;
    if (!file_exists(path)) {
        complain_about_generator(catalog, dir, name);
        return;
    }
    rc = read_manifest(path, &manifest, &err);
    if (rc == 0 && !manifest.is_process) {
        mem_free(id);
        id = mem_strdup(manifest.id);
        rc = read_models(catalog, &manifest, dir, config, &err);
        if (rc == 0 && !manifest_value(&manifest, 0, "command"))
            complain_about_setup(catalog, id, dir);
    }
    if (rc != 0)
        catalog_complain(catalog, id, path, err.msg);
    manifest_fini(&manifest);
}

/* ---- one root ---- */

static int name_compare(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;

    return strcmp(*x, *y);
}

/* Names in `dir`, sorted by bytes; those with a dot in front are install machinery. */
static void read_names(DIR *dir, char ***out_names, size_t *out_count)
{
    char **names = NULL;
    size_t count = 0, cap = 0;
    struct dirent *entry;

    while (count < CATALOG_DIRS_MAX && (entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        names = grow(names, count, &cap, sizeof(*names));
        names[count++] = mem_strdup(entry->d_name);
    }
    if (count > 1)
        qsort(names, count, sizeof(*names), name_compare);
    *out_names = names;
    *out_count = count;
}

static int read_root(struct catalog *catalog, const struct config *config, const char *root,
                     struct err *err)
{
    char **names = NULL;
    size_t count = 0;
    DIR *dir = opendir(root);

    if (!dir && errno == ENOENT)
        return 0; /* nothing was installed yet */
    if (!dir)
        return err_set(err, -errno, "cannot read the extensions directory %s: %s", root,
                       strerror(errno));
    read_names(dir, &names, &count);
    (void)closedir(dir); /* it was only read */
    for (size_t i = 0; i < count; i++) {
        read_extension(catalog, config, root, names[i]);
        mem_free(names[i]);
    }
    mem_free(names);
    return 0;
}

/* ---- models of config.yaml ---- */

static void complain_about_entry(struct catalog *catalog, const struct config *config,
                                 const char *id, const char *text)
{
    auto_free char *path = mem_printf("models.%s", id);
    struct err place = {.code = -EINVAL};

    (void)yaml_file_err_at(config->file, path, true, &place);
    catalog_complain(catalog, id, place.where, text);
}

static void read_entry(struct catalog *catalog, const struct config *config, const char *id,
                       struct json_object *entry)
{
    const struct model *known = catalog_find(catalog, slice_str(id));
    struct model *model = NULL;
    struct err err = {0};

    if (!override_is_model(entry)) {
        auto_free char *text =
            known ? mem_printf("this changes nothing: write the whole id, %s", known->id)
                  : mem_strdup("no extension has this model: check the id, or install it");
        if (!known || strcmp(known->id, id) != 0)
            complain_about_entry(catalog, config, id, text);
        return;
    }
    if (known && strcmp(known->id, id) == 0)
        complain_about_entry(catalog, config, id, "an extension already has a model of this id");
    else if (catalog->model_count == CATALOG_MODELS_MAX)
        complain_about_entry(catalog, config, id, "too many models");
    else if (override_model_new(id, entry, config, &model, &err) != 0)
        complain_about_entry(catalog, config, id, err.msg);
    else
        catalog_add_take(catalog, model);
}

static void read_entries(struct catalog *catalog, const struct config *config)
{
    if (!config->models)
        return;
    json_object_object_foreach(config->models, id, entry)
    {
        if (entry)
            read_entry(catalog, config, id, entry);
    }
}

/* ---- the whole ---- */

int catalog_read(const struct config *config, struct catalog **out_catalog, struct err *err)
{
    struct catalog *catalog = mem_new(1, sizeof(*catalog));
    int rc = 0;

    for (size_t i = 0; rc == 0 && config->extensions_dirs[i]; i++)
        rc = read_root(catalog, config, config->extensions_dirs[i], err);
    if (rc != 0) {
        catalog_free(catalog);
        return rc;
    }
    read_entries(catalog, config);
    *out_catalog = catalog;
    return 0;
}

void catalog_free(struct catalog *catalog)
{
    if (!catalog)
        return;
    for (size_t i = 0; i < catalog->model_count; i++)
        model_free(catalog->models[i]);
    for (size_t i = 0; i < catalog->error_count; i++) {
        mem_free(catalog->errors[i].id);
        mem_free(catalog->errors[i].where);
        mem_free(catalog->errors[i].text);
    }
    mem_free(catalog->models);
    mem_free(catalog->errors);
    mem_free(catalog);
}

size_t catalog_count(const struct catalog *catalog)
{
    return catalog->model_count;
}

const struct model *catalog_at(const struct catalog *catalog, size_t index)
{
    return index < catalog->model_count ? catalog->models[index] : NULL;
}

static bool has_alias(const struct model *model, struct slice id)
{
    for (char **alias = model->aliases; alias && *alias; alias++) {
        if (slice_eq_str(id, *alias))
            return true;
    }
    return false;
}

const struct model *catalog_find(const struct catalog *catalog, struct slice id)
{
    for (size_t i = 0; i < catalog->model_count; i++) {
        if (slice_eq_str(id, catalog->models[i]->id))
            return catalog->models[i];
    }
    for (size_t i = 0; i < catalog->model_count; i++) {
        if (has_alias(catalog->models[i], id))
            return catalog->models[i];
    }
    for (size_t i = 0; i < catalog->model_count; i++) {
        if (slice_eq_str(id, catalog->models[i]->ext_id))
            return catalog->models[i];
    }
    return NULL;
}

size_t catalog_error_count(const struct catalog *catalog)
{
    return catalog->error_count;
}

const struct catalog_error *catalog_error_at(const struct catalog *catalog, size_t index)
{
    return index < catalog->error_count ? &catalog->errors[index] : NULL;
}

char *catalog_known_ids(const struct catalog *catalog, size_t max)
{
    static const char MORE[] = ", …";
    bool is_cut = false;
    struct buf out;
    char *text;

    buf_init(&out, max > sizeof(MORE) ? max - sizeof(MORE) : 0);
    for (size_t i = 0; i < catalog->model_count; i++) {
        if (buf_printf(&out, "%s%s", i ? ", " : "", catalog->models[i]->id) == 0)
            continue;
        is_cut = true; /* what does not fit is left out whole */
        break;
    }
    text = mem_printf("%s%s", buf_str(&out), is_cut ? MORE : "");
    buf_fini(&out);
    return text;
}

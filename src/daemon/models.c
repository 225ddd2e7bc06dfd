/* models: the registry beside the core: numbers, names, logs, and what changed on a reload. */
#include <stdio.h>
#include <sys/stat.h>

#include "daemon/app.h"
#include "os/file.h"

static uint64_t hash_add(uint64_t hash, const void *bytes, size_t len)
{
    const unsigned char *p = bytes;

    for (size_t i = 0; i < len; i++) /* FNV-1a */
        hash = (hash ^ p[i]) * 0x100000001b3u;
    return hash;
}

static uint64_t hash_list(uint64_t hash, char *const *list)
{
    for (; list && *list; list++)
        hash = hash_add(hash, *list, strlen(*list) + 1);
    return hash;
}

static uint64_t hash_file(uint64_t hash, const char *dir, const char *name)
{
    auto_free char *path = file_join(dir, name);
    struct stat st;

    if (stat(path, &st) != 0)
        return hash_add(hash, "-", 1);
    hash = hash_add(hash, &st.st_size, sizeof(st.st_size));
    hash = hash_add(hash, &st.st_ino, sizeof(st.st_ino));
    return hash_add(hash, &st.st_mtim, sizeof(st.st_mtim));
}

/* Changes with everything that a running worker would have to be restarted for. */
static uint64_t models_revision(const struct model *spec)
{
    uint64_t hash = 0xcbf29ce484222325u;

    hash = hash_list(hash, spec->argv);
    hash = hash_list(hash, spec->env);
    hash = hash_add(hash, spec->clear_after, strlen(spec->clear_after) + 1);
    if (!spec->dir)
        return hash;
    hash = hash_file(hash, spec->dir, "manifest.json");
    return hash_file(hash, spec->dir, "generator.py");
}

static void models_tell_core(struct app *app, const struct app_model *model)
{
    const struct model *spec = model->spec;
    struct core_spec core = {.parallel = spec->parallel,
                             .per_job_bytes = spec->per_job_bytes,
                             .revision = model->revision,
                             .clocks = {.queue_ms = spec->clocks.queue_ms,
                                        .load_ms = spec->clocks.load_ms,
                                        .run_ms = spec->clocks.run_ms,
                                        .stall_ms = spec->clocks.stall_ms,
                                        .drain_ms = spec->clocks.drain_ms,
                                        .cancel_ms = spec->clocks.cancel_ms,
                                        .stop_ms = spec->clocks.stop_ms}};
    struct core_event event = {.kind = CORE_EVENT_MODEL_SET, .model = model->id, .spec = &core};

    (void)snprintf(core.name, sizeof(core.name), "%s", model->name); /* cut is fine */
    core.need_bytes[CORE_DEVICE_HOST] = spec->ram_bytes;
    app_feed(app, &event);
}

static struct app_model *models_by_name(const struct app *app, const char *name)
{
    for (size_t i = 0; i < app->model_count; i++) {
        if (strcmp(app->models[i]->name, name) == 0)
            return app->models[i];
    }
    return NULL;
}

static struct app_model *models_add(struct app *app, const char *name)
{
    struct app_model *model = mem_new(1, sizeof(*model));
    auto_free char *dir = file_join(app->config->state_dir, APP_LOGS_DIR);
    auto_free char *file = mem_printf("%s.log", name);
    auto_free char *path = NULL;

    for (char *at = file; *at; at++) {
        if (*at == '/')
            *at = '~'; /* one flat directory; ids never hold a tilde */
    }
    path = file_join(dir, file);
    model->id = (uint32_t)app->model_count;
    model->name = mem_strdup(name);
    model->log = worker_log_new(path, app->config->log_file_bytes);
    app->models = mem_resize(app->models, (app->model_count + 1) * sizeof(*app->models));
    app->models[app->model_count++] = model;
    return model;
}

/* What Modly's routes mean when nobody chose: the first that turns an image into a mesh. */
static const struct model *models_default(const struct app *app)
{
    for (size_t i = 0; i < catalog_count(app->catalog); i++) {
        const struct model *spec = catalog_at(app->catalog, i);
        if (strcmp(spec->input, "image") == 0 && strcmp(spec->output, "mesh") == 0)
            return spec;
    }
    return catalog_count(app->catalog) ? catalog_at(app->catalog, 0) : NULL;
}

static void models_select(struct app *app)
{
    const struct model *spec = NULL;
    struct core_event event = {.kind = CORE_EVENT_SWITCH};

    if (core_active(app->core) != CORE_NO_MODEL)
        return;
    if (app->config->selected_model)
        spec = catalog_find(app->catalog, slice_str(app->config->selected_model));
    if (!spec)
        spec = models_default(app);
    if (!spec)
        return;
    event.model = models_find(app, spec)->id;
    app_feed(app, &event);
}

static void models_drop_missing(struct app *app)
{
    for (size_t i = 0; i < app->model_count; i++) {
        struct core_event event = {.kind = CORE_EVENT_MODEL_REMOVED, .model = (uint32_t)i};
        if (app->models[i]->spec)
            continue;
        app_feed(app, &event); /* a second time does nothing */
    }
}

void models_sync(struct app *app)
{
    for (size_t i = 0; i < app->model_count; i++)
        app->models[i]->spec = NULL;
    for (size_t i = 0; i < catalog_count(app->catalog); i++) {
        const struct model *spec = catalog_at(app->catalog, i);
        struct app_model *model = models_by_name(app, spec->id);
        if (!model)
            model = models_add(app, spec->id);
        model->spec = spec;
        if (model->revision != models_revision(spec)) {
            json_object_put(model->params_schema);
            model->params_schema = NULL;
        }
        model->revision = models_revision(spec);
        models_tell_core(app, model);
    }
    models_drop_missing(app);
    models_select(app);
}

struct app_model *models_find(const struct app *app, const struct model *spec)
{
    for (size_t i = 0; i < app->model_count; i++) {
        if (app->models[i]->spec == spec)
            return app->models[i];
    }
    return NULL;
}

const char *models_name(const struct app *app, uint32_t id)
{
    return id < app->model_count ? app->models[id]->name : "?";
}

void models_free(struct app *app)
{
    for (size_t i = 0; i < app->model_count; i++) {
        struct app_model *model = app->models[i];
        worker_log_free(model->log);
        json_object_put(model->params_schema);
        mem_free(model->name);
        mem_free(model);
    }
    mem_free(app->models);
}

#include "catalog/launch.h"

#include <unistd.h>

#include "catalog/words.h"
#include "os/file.h"

static const char *const VENV_PYTHONS[] = {"venv/bin/python", "venv/bin/python3"};

/* The interpreter of the extension's own venv, or NULL. */
static char *venv_python(const char *dir)
{
    for (size_t i = 0; i < ARRAY_LEN(VENV_PYTHONS); i++) {
        char *path = file_join(dir, VENV_PYTHONS[i]);
        if (access(path, X_OK) == 0)
            return path;
        mem_free(path);
    }
    return NULL;
}

static bool has_file(const char *dir, const char *name)
{
    auto_free char *path = file_join(dir, name);

    return file_exists(path);
}

bool launch_needs_setup(const char *dir)
{
    auto_free char *python = venv_python(dir);

    if (python)
        return false;
    return has_file(dir, "setup.py") ||
           (has_file(dir, "build_vendor.py") && !has_file(dir, "vendor"));
}

void launch_set_runner(struct model *model, const struct config *config)
{
    char *python = venv_python(model->dir);

    words_add_take(&model->argv, python ? python : mem_strdup(config->python));
    words_add_take(&model->argv, file_join(config->data_dir, "runner/runner.py"));
}

#define OWN_PROGRAM "${LIBEXEC}/"

int launch_set_command(struct model *model, const struct config *config, char **words,
                       struct err *err)
{
    const struct words_var vars[] = {
        {"DIR", model->dir},        {"MODEL_DIR", model->model_dir},
        {"DATA", config->data_dir}, {"LIBEXEC", config->libexec_dir},
        {"PYTHON", config->python},
    };
    char *program = NULL;
    int rc;

    if (slice_starts_with(slice_str(words[0]), OWN_PROGRAM)) {
        char *found = config_program(config, words[0] + strlen(OWN_PROGRAM));
        mem_free(words[0]);
        words[0] = found;
    }
    rc = words_expand(words, vars, ARRAY_LEN(vars), err);
    if (rc == 0)
        rc = words_find_program(words[0], model->dir, &program, err);
    if (rc != 0) {
        words_free(words);
        return rc;
    }
    mem_free(words[0]);
    words[0] = program;
    model->argv = words;
    return 0;
}

void launch_put_env(struct model *model, const char *name, const char *value)
{
    size_t len = strlen(name);
    char *line = mem_printf("%s=%s", name, value);

    for (char **at = model->env; at && *at; at++) {
        if (strncmp(*at, name, len) == 0 && (*at)[len] == '=') {
            mem_free(*at);
            *at = line;
            return;
        }
    }
    words_add_take(&model->env, line);
}

void launch_set_env(struct model *model, const struct config *config)
{
    auto_free char *runner = file_join(config->data_dir, "runner");
    auto_free char *pixels = mem_printf("%llu", (unsigned long long)config->max_image_pixels);

    launch_put_env(model, "EXTENSION_DIR", model->dir);
    launch_put_env(model, "MODELS_DIR", config->models_dir);
    launch_put_env(model, "WORKSPACE_DIR", config->workspace_dir);
    launch_put_env(model, "MODLY_API_DIR", runner);
    launch_put_env(model, "MODEL_DIR", model->model_dir);
    launch_put_env(model, "MODEL_ID", model->id);
    launch_put_env(model, "MODEL_NODE_ID", model->node_id);
    launch_put_env(model, "PYTHONUTF8", "1");
    launch_put_env(model, "PYTHONIOENCODING", "utf-8");
    launch_put_env(model, "PYTHONUNBUFFERED", "1");
    launch_put_env(model, "HOTBUNK_CLEAR_AFTER", model->clear_after);
    launch_put_env(model, "HOTBUNK_MAX_IMAGE_PIXELS", pixels);
}

#include "catalog/config.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "base/schema.h"
#include "catalog/config_keys.h"
#include "catalog/override.h"
#include "catalog/yaml.h"
#include "os/dirs.h"
#include "os/file.h"

#define KEYS_MAX 64 /* at least CONFIG_KEY_COUNT */

/* One merge. A later source overwrites an earlier one, key by key. */
struct merge {
    struct config *config;
    bool is_set[KEYS_MAX];
    char *cwd; /* base of relative paths in flags and the environment */
    struct err *err;
};

static size_t key_index(const struct config_key *key)
{
    return (size_t)(key - CONFIG_KEYS);
}

/* Called before a source sets a key for the first time: lists replace, they do not add. */
static void merge_begin_key(struct merge *merge, const struct config_key *key)
{
    config_clear(merge->config, key);
    merge->is_set[key_index(key)] = true;
}

/* ---- config.yaml ---- */

static int file_fail(const struct merge *merge, const char *path, bool is_key)
{
    (void)yaml_file_err_at(merge->config->file, path, is_key, merge->err);
    return -EINVAL;
}

static int fail_unknown_key(struct merge *merge, const char *name)
{
    struct nearest near = {.word = slice_str(name)};

    for (size_t i = 0; i < CONFIG_KEY_COUNT; i++)
        nearest_offer(&near, CONFIG_KEYS[i].name);
    nearest_offer(&near, "models");
    (void)err_set(merge->err, -EINVAL, "unknown key %.64s%s%s%s", name,
                  near.best ? "; did you mean " : "", near.best ? near.best : "",
                  near.best ? "?" : "");
    return file_fail(merge, name, true);
}

static int merge_file_key(struct merge *merge, const char *name, struct json_object *value)
{
    const struct config_key *key = config_key_find(slice_str(name), false);
    struct err inner = {0};

    if (strcmp(name, "models") == 0) {
        merge->config->models = value; /* checked when clock_scale is known */
        return 0;
    }
    if (!key)
        return fail_unknown_key(merge, name);
    if (!value)
        return 0; /* `key:` alone keeps the default */
    merge_begin_key(merge, key);
    if (config_set_json(merge->config, key, value, merge->config->file_dir, &inner) == 0)
        return 0;
    (void)err_set(merge->err, -EINVAL, "%s: %s", name, inner.msg);
    return file_fail(merge, name, false);
}

static int merge_file(struct merge *merge, const char *path)
{
    struct config *config = merge->config;
    struct json_object *root;
    struct buf text;
    char *slash;
    int rc;

    config->file_dir = path[0] == '/' ? mem_strdup(path) : file_join(merge->cwd, path);
    slash = strrchr(config->file_dir, '/');
    slash[slash == config->file_dir] = '\0';
    buf_init(&text, CONFIG_FILE_BYTES_MAX);
    rc = file_read(path, &text, merge->err);
    if (rc == 0)
        rc = yaml_file_parse(buf_slice(&text), path, &config->file, merge->err);
    buf_fini(&text);
    if (rc != 0)
        return rc;
    root = yaml_file_root(config->file);
    if (!root)
        return 0;
    if (!json_is(root, json_type_object)) {
        (void)err_set(merge->err, -EINVAL, "expected lines such as port: 8000");
        return file_fail(merge, "", false);
    }
    json_object_object_foreach(root, name, value)
    {
        rc = merge_file_key(merge, name, value);
        if (rc != 0)
            return rc;
    }
    return 0;
}

static char *default_file(void)
{
    auto_free char *dir = file_xdg_dir("XDG_CONFIG_HOME", ".config");
    char *path = file_join(dir, "config.yaml");

    if (access(path, F_OK) == 0)
        return path;
    mem_free(path);
    return NULL;
}

/* ---- environment and flags ---- */

static int merge_text(struct merge *merge, const struct config_key *key, const char *text,
                      const char *source)
{
    struct err inner = {0};
    int rc = config_set_text(merge->config, key, slice_str(text), merge->cwd, &inner);

    if (rc == 0)
        return 0;
    (void)err_set(merge->err, rc, "%s: %s", source, inner.msg);
    return rc;
}

static const char *env_value(const char *name)
{
    const char *value = getenv(name);

    return value && value[0] ? value : NULL;
}

static int merge_env(struct merge *merge)
{
    for (size_t i = 0; i < CONFIG_KEY_COUNT; i++) {
        const struct config_key *key = &CONFIG_KEYS[i];
        char name[CONFIG_NAME_MAX];
        const char *source = name, *value;
        int rc;
        config_key_env(key, name);
        value = env_value(name);
        if (!value && key->also_env) {
            source = key->also_env;
            value = env_value(source);
        }
        if (!value)
            continue;
        merge_begin_key(merge, key);
        rc = merge_text(merge, key, value, source);
        if (rc != 0)
            return rc;
    }
    return 0;
}

static int fail_unknown_flag(struct merge *merge, const char *name)
{
    struct nearest near = {.word = slice_str(name)};
    char flags[KEYS_MAX][CONFIG_NAME_MAX];

    for (size_t i = 0; i < CONFIG_KEY_COUNT; i++) {
        config_key_flag(&CONFIG_KEYS[i], flags[i]);
        if (config_key_has_flag(&CONFIG_KEYS[i]))
            nearest_offer(&near, flags[i] + 2);
    }
    return err_set(merge->err, -EINVAL, "unknown flag --%.64s%s%s%s", name,
                   near.best ? "; did you mean --" : "", near.best ? near.best : "",
                   near.best ? "?" : "");
}

static int merge_flag(struct merge *merge, const struct config_flag *flag, bool *seen)
{
    const struct config_key *key = config_key_find(slice_str(flag->name), true);
    char source[CONFIG_NAME_MAX];

    if (!key || !config_key_has_flag(key))
        return fail_unknown_flag(merge, flag->name);
    config_key_flag(key, source);
    if (!flag->value && key->type != CONFIG_BOOL)
        return err_set(merge->err, -EINVAL, "%s needs a value", source);
    if (!seen[key_index(key)])
        merge_begin_key(merge, key);
    seen[key_index(key)] = true;
    return merge_text(merge, key, flag->value ? flag->value : "true", source);
}

static int merge_flags(struct merge *merge, const struct config_flag *flags, size_t count)
{
    bool seen[KEYS_MAX] = {false};

    for (size_t i = 0; i < count; i++) {
        int rc = merge_flag(merge, &flags[i], seen);
        if (rc != 0)
            return rc;
    }
    return 0;
}

/* ---- what follows from the rest ---- */

static int merge_defaults(struct merge *merge)
{
    for (size_t i = 0; i < CONFIG_KEY_COUNT; i++) {
        const struct config_key *key = &CONFIG_KEYS[i];
        const char *text = merge->config->is_modly && key->modly ? key->modly : key->otherwise;
        int rc;
        if (merge->is_set[i] || !text || key->offset == offsetof(struct config, runtime_dir))
            continue;
        rc = merge_text(merge, key, text, key->name);
        if (rc != 0)
            return rc;
    }
    if (!merge->config->runtime_dir)
        merge->config->runtime_dir = dirs_runtime(); /* where clients look, too */
    return 0;
}

static void apply_modly_token(struct config *config)
{
    const char *token = env_value("MODLY_API_TOKEN");

    if (!config->is_modly)
        return;
    if (!config->api_key)
        config->api_key = mem_strdup(token);
    if (!config->null_token)
        config->null_token = mem_strdup(config->api_key);
}

static void apply_clock_scale(struct config *config)
{
    for (size_t i = 0; i < CONFIG_KEY_COUNT; i++) {
        uint64_t *ms = (uint64_t *)(void *)((char *)config + CONFIG_KEYS[i].offset);
        double scaled;
        if (CONFIG_KEYS[i].type != CONFIG_DURATION || *ms == 0)
            continue;
        scaled = (double)*ms * config->clock_scale;
        *ms = scaled < 1 ? 1 : (uint64_t)scaled; /* 0 would mean no limit */
    }
}

static void add_bundled_extensions(struct config *config)
{
    size_t count = 0;

    while (config->extensions_dirs[count])
        count++;
    config->extensions_dirs[count] = file_join(config->data_dir, "extensions");
}

static bool is_loopback(const char *address)
{
    struct in6_addr v6;
    struct in_addr v4;

    if (inet_pton(AF_INET, address, &v4) == 1)
        return ntohl(v4.s_addr) >> 24 == 127;
    return inet_pton(AF_INET6, address, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

static int check_models(struct merge *merge)
{
    struct config *config = merge->config;
    struct schema_fault fault = {0};
    char path[SCHEMA_PATH_MAX + 8];
    int rc;

    if (!config->models)
        return 0;
    rc = override_check_all(config->models, config->clock_scale, &fault, merge->err);
    if (rc == 0)
        return 0;
    (void)snprintf(path, sizeof(path), "models%s%s",
                   fault.path[0] == '\0' || fault.path[0] == '[' ? "" : ".", fault.path);
    return file_fail(merge, path, fault.is_key);
}

static int merge_finish(struct merge *merge)
{
    struct config *config = merge->config;
    int rc = merge_defaults(merge);

    if (rc != 0)
        return rc;
    apply_modly_token(config);
    apply_clock_scale(config);
    config_find_own_dirs(config);
    add_bundled_extensions(config);
    if (!is_loopback(config->listen) && !config->api_key)
        return err_set(merge->err, -EINVAL,
                       "listen: %s can be reached from other machines, which needs a key: set "
                       "HOTBUNK_API_KEY or api_key in config.yaml, or listen on 127.0.0.1",
                       config->listen);
    return check_models(merge);
}

static char *current_dir(void)
{
    char *dir = getcwd(NULL, 0); /* malloc's, as mem's are */

    return dir ? dir : mem_strdup("/");
}

int config_read(const char *config_path, const struct config_flag *flags, size_t flag_count,
                struct config **out_config, struct err *err)
{
    struct merge merge = {.config = mem_new(1, sizeof(struct config)), .err = err};
    auto_free char *path = config_path ? mem_strdup(config_path) : default_file();
    int rc = 0;

    assert(CONFIG_KEY_COUNT <= KEYS_MAX);
    merge.cwd = current_dir();
    if (err)
        *err = (struct err){0};
    if (path)
        rc = merge_file(&merge, path);
    if (rc == 0)
        rc = merge_env(&merge);
    if (rc == 0)
        rc = merge_flags(&merge, flags, flag_count);
    if (rc == 0)
        rc = merge_finish(&merge);
    mem_free(merge.cwd);
    if (rc != 0) {
        config_free(merge.config);
        return rc;
    }
    *out_config = merge.config;
    return 0;
}

void config_free(struct config *config)
{
    if (!config)
        return;
    for (size_t i = 0; i < CONFIG_KEY_COUNT; i++)
        config_clear(config, &CONFIG_KEYS[i]);
    yaml_file_free(config->file);
    mem_free(config->file_dir);
    mem_free(config);
}

bool config_flag_known(struct slice name, bool *out_takes_value)
{
    const struct config_key *key = config_key_find(name, true);

    if (!key || !config_key_has_flag(key))
        return false;
    *out_takes_value = key->type != CONFIG_BOOL;
    return true;
}

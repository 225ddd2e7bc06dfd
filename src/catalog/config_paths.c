/* Paths of the configuration: ~, the XDG directories, and where hotbunk's own files are. */
#include <stdlib.h>
#include <unistd.h>

#include "catalog/config_keys.h"
#include "os/file.h"

static const struct {
    const char *prefix, *env, *fallback;
} XDG_DIRS[] = {
    {"$XDG_STATE_HOME/hotbunk", "XDG_STATE_HOME", ".local/state"},
    {"$XDG_DATA_HOME/hotbunk", "XDG_DATA_HOME", ".local/share"},
    {"$XDG_CONFIG_HOME/hotbunk", "XDG_CONFIG_HOME", ".config"},
};

/* file_xdg_dir gives <home>/<fallback>/hotbunk: the home is two names up from that. */
static char *home_dir(void)
{
    char *path = file_xdg_dir("", "x");

    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(path, '/');
        if (slash)
            *slash = '\0';
    }
    return path;
}

static char *expand_home(struct slice path)
{
    auto_free char *home = home_dir();
    auto_free char *rest = slice_dup(slice_skip(path, 1));

    return rest[0] ? file_join(home, rest) : mem_strdup(home[0] ? home : "/");
}

static char *expand_xdg(struct slice path)
{
    for (size_t i = 0; i < ARRAY_LEN(XDG_DIRS); i++) {
        struct slice rest = slice_skip(path, strlen(XDG_DIRS[i].prefix));
        if (!slice_starts_with(path, XDG_DIRS[i].prefix))
            continue;
        auto_free char *dir = file_xdg_dir(XDG_DIRS[i].env, XDG_DIRS[i].fallback);
        return mem_printf("%s%.*s", dir, SLICE_ARG(rest));
    }
    return NULL;
}

static void drop_last_slashes(char *path)
{
    size_t len = strlen(path);

    while (len > 1 && path[len - 1] == '/')
        path[--len] = '\0';
}

char *config_expand_path(struct slice path, const char *base_dir)
{
    auto_free char *text = slice_dup(path);
    char *full = expand_xdg(path);

    if (!full && (slice_eq_str(path, "~") || slice_starts_with(path, "~/")))
        full = expand_home(path);
    if (!full)
        full = text[0] == '/' ? mem_strdup(text) : file_join(base_dir, text);
    drop_last_slashes(full);
    return full;
}

/* ---- hotbunk's own files ---- */

/* Where a build tree has the programs, below libexec_dir. */
static const char *const PROGRAM_DIRS[] = {"", "src/shim/", "extensions/flite/"};

char *config_program(const struct config *config, const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(PROGRAM_DIRS); i++) {
        char *path = mem_printf("%s/%s%s", config->libexec_dir, PROGRAM_DIRS[i], name);
        if (access(path, X_OK) == 0)
            return path;
        mem_free(path);
    }
    return file_join(config->libexec_dir, name);
}

/* exe_dir/tail when the file `proof` is below it, else NULL. */
static char *own_dir(const char *exe_dir, const char *tail, const char *proof)
{
    auto_free char *file = mem_printf("%s%s/%s", exe_dir, tail, proof);
    auto_free char *dir = mem_printf("%s%s", exe_dir, tail);
    char *clean;

    if (!file_exists(file))
        return NULL;
    clean = realpath(dir, NULL); /* malloc's, as mem's are */
    return clean ? clean : mem_strdup(dir);
}

void config_find_own_dirs(struct config *config)
{
    auto_free char *exe_dir = file_exe_dir();

    if (!config->libexec_dir)
        config->libexec_dir = own_dir(exe_dir, "", "hotbunk-shim");
    if (!config->libexec_dir)
        config->libexec_dir = own_dir(exe_dir, "", "src/shim/hotbunk-shim");
    if (!config->libexec_dir)
        config->libexec_dir = own_dir(exe_dir, "/../libexec/hotbunk", "hotbunk-shim");
    if (!config->libexec_dir)
        config->libexec_dir = mem_printf("%s/../libexec/hotbunk", exe_dir);
    if (!config->data_dir)
        config->data_dir = own_dir(exe_dir, "/..", "runner/runner.py");
    if (!config->data_dir)
        config->data_dir = own_dir(exe_dir, "/../share/hotbunk", "runner/runner.py");
    if (!config->data_dir)
        config->data_dir = mem_printf("%s/../share/hotbunk", exe_dir);
}

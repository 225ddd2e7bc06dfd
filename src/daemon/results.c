/* results: where a job's outputs go and what is made of what a worker hands back. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/media.h"
#include "daemon/app.h"
#include "os/file.h"

#define RESULT_TYPE_MAX 128

static char *results_path(const struct app_job *job)
{
    const struct config *config = job->app->config;
    auto_free char *scratch = NULL;

    if (!job->is_scratch)
        return file_join(config->workspace_dir, job->collection);
    scratch = file_join(config->state_dir, APP_SCRATCH_DIR);
    return file_join(scratch, job->uuid);
}

char *results_dir(const struct app_job *job, struct err *err)
{
    char *dir = results_path(job);

    if (file_make_dirs(dir, err) == 0)
        return dir;
    mem_free(dir);
    return NULL;
}

void results_clean(const struct app_job *job)
{
    if (job->image_path)
        (void)unlink(job->image_path); /* gone already is fine */
    if (job->is_scratch) {
        auto_free char *dir = results_path(job);
        if (file_remove_tree(dir) != 0)
            log_write(&job->app->log, LOG_LEVEL_WARN, "scratch.clean", "dir=%s", dir);
    }
}

static int results_fail(struct app_job *job, const char *code, const char *fmt, const char *path)
{
    mem_free(job->error_code);
    mem_free(job->error);
    job->error_code = mem_strdup(code);
    job->error = mem_printf("%s: %s", fmt, path);
    return -EINVAL;
}

/* The part of `path` below `root`, or NULL. Both are resolved. */
static const char *results_below(const char *path, const char *root)
{
    size_t len = strlen(root);

    if (strncmp(path, root, len) != 0 || path[len] != '/')
        return NULL;
    return path + len + 1;
}

static void results_set(char **field, const char *value)
{
    mem_free(*field);
    *field = mem_strdup(value);
}

/* The resolved name: what a symbolic link points at must lie inside, too. */
static char *results_resolve(const char *path)
{
    char *resolved = realpath(path, NULL);
    char *copy = mem_strdup(resolved);

    mem_free(resolved);
    return copy;
}

/* A media type as it may stand in a header: token/token, and plain parameters. */
static bool results_is_media_type(const char *type)
{
    struct slice text = slice_str(type ? type : "");
    size_t slash = slice_index(text, '/');

    if (text.len > RESULT_TYPE_MAX || slash == 0 || slash + 1 >= text.len)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              strchr("/+.-_;= ", c)))
            return false;
    }
    return true;
}

int results_take(struct app_job *job, const struct worker_outcome *outcome)
{
    const char *given = outcome->output_path;
    auto_free char *path = given && *given == '/' ? results_resolve(given) : NULL;
    auto_free char *root_name = job->is_scratch ? results_path(job) : NULL;
    auto_free char *root = results_resolve(root_name ? root_name : job->app->config->workspace_dir);
    const char *below;
    const char *type;
    struct stat st;

    if (!given)
        return results_fail(job, "bad_output", "the worker named no output file", "");
    if (!path || stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return results_fail(job, "bad_output", "the worker's output is not a file", given);
    below = root ? results_below(path, root) : NULL;
    if (!below)
        return results_fail(job, "bad_output", "the worker's output lies outside the workspace",
                            given);
    type = json_get_str(outcome->message, "media_type");
    results_set(&job->output_path, path);
    results_set(&job->workspace_path, job->is_scratch ? NULL : below);
    results_set(&job->media_type,
                results_is_media_type(type) ? type : media_type_of(slice_str(path)));
    if (outcome->peak_bytes > job->held_bytes)
        job->held_bytes = outcome->peak_bytes;
    job->result = json_object_get(outcome->message); /* bounded by the protocol's line */
    return 0;
}

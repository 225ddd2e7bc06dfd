#include "daemon/inputs.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/image_size.h"

/* One look. The pool thread reads `path` and writes `error`; the rest is the loop's. */
struct input_check {
    struct app_job *job; /* NULL: it has gone */
    char *path;
    uint64_t pixels_max;
    char *error; /* why the input is bad, or NULL */
};

static void inputs_free(struct input_check *check)
{
    mem_free(check->path);
    mem_free(check->error);
    mem_free(check);
}

/* ---- on the pool thread ---- */

/* Reads at most INPUTS_HEAD_BYTES: how many, or a negative errno. */
static ssize_t inputs_read(const char *path, char *bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    size_t len = 0;
    ssize_t got = fd < 0 ? -1 : 0;

    while (fd >= 0 && len < INPUTS_HEAD_BYTES) {
        got = read(fd, bytes + len, INPUTS_HEAD_BYTES - len);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        len += (size_t)got;
    }
    got = got < 0 ? -errno : (ssize_t)len;
    if (fd >= 0)
        (void)close(fd);
    return got;
}

/* What is wrong with an image that begins so, or NULL. */
static char *inputs_judge(struct slice head, uint64_t pixels_max)
{
    const char *kind = image_size_kind_name(image_size_kind(head));
    bool is_whole = head.len < INPUTS_HEAD_BYTES;
    struct image_size size;
    int rc = image_size_read(head, &size);

    if (rc == -ENODATA && !is_whole)
        return NULL;
    if (rc != 0 && image_size_kind(head) == IMAGE_NONE)
        return mem_printf("not an image: unknown file signature; send a %s file", IMAGE_SIZE_KNOWN);
    if (rc != 0)
        return mem_printf("the %s file is cut off or damaged: no size in its header; send a whole "
                          "%s file",
                          kind, IMAGE_SIZE_KNOWN);
    if (image_size_pixels(&size) <= pixels_max)
        return NULL;
    return mem_printf("the image has %llu x %llu = %llu pixels; the limit is %llu "
                      "(max_image_pixels): scale it down or raise the limit",
                      (unsigned long long)size.width, (unsigned long long)size.height,
                      (unsigned long long)image_size_pixels(&size), (unsigned long long)pixels_max);
}

static void inputs_work(void *data)
{
    struct input_check *check = data;
    auto_free char *bytes = mem_try_resize(NULL, INPUTS_HEAD_BYTES);
    ssize_t len = bytes ? inputs_read(check->path, bytes) : -ENOMEM;

    if (len >= 0) /* else the worker will say it */
        check->error = inputs_judge(slice_of(bytes, (size_t)len), check->pixels_max);
}

/* ---- on the loop ---- */

static void inputs_put(struct app_job *job)
{
    void (*submitted)(void *, const char *, const struct err *) = job->submitted;
    void *data = job->submitted_data;
    int rc = jobs_submit(job); /* gone when it fails */
    struct err err = {0};

    if (rc == 0)
        return;
    (void)err_set(&err, rc, "the job store is busy; try again in a moment");
    submitted(data, NULL, &err);
}

static void inputs_done(void *data)
{
    struct input_check *check = data;
    struct app_job *job = check->job;

    if (job && check->error) {
        job->error_code = mem_strdup("bad_input");
        job->error = mem_strdup(check->error);
    }
    inputs_free(check);
    if (!job)
        return;
    job->check = NULL;
    inputs_put(job);
}

void inputs_submit(struct app_job *job, const struct model *spec)
{
    struct input_check *check;

    if (!job->image_path || strcmp(spec->input, "image") != 0) {
        inputs_put(job);
        return;
    }
    check = mem_new(1, sizeof(*check));
    check->job = job;
    check->path = mem_strdup(job->image_path);
    check->pixels_max = job->app->config->max_image_pixels;
    job->check = check;
    if (loop_offload(job->app->loop, inputs_work, inputs_done, check) == 0)
        return;
    job->check = NULL; /* no thread: the worker will look at it */
    inputs_free(check);
    inputs_put(job);
}

void inputs_orphan(struct app *app)
{
    static const struct err GONE = {.code = -ESHUTDOWN, .msg = "the daemon is stopping"};
    struct app_job *job;
    size_t at = 0;

    while ((job = map_next(&app->jobs, &at)) != NULL) {
        if (!job->check)
            continue;
        job->check->job = NULL;
        job->check = NULL;
        job->submitted(job->submitted_data, NULL, &GONE);
    }
}

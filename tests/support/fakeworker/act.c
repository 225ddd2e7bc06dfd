#include "act.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "hostmem.h"
#include "options.h"
#include "wire.h"

#define ACT_WAITING_MAX 64
#define ACT_ID_MAX      128
#define ACT_STATE_MAX   32
#define ACT_NS_PER_MS   1000000u
#define ACT_NS_PER_S    1000000000u

struct act_request {
    struct json_object *message;
    uint64_t read_ns;
    char id[ACT_ID_MAX]; /* as JSON text: the tree itself must not be shared between threads */
    bool is_job;
    bool is_cancelled;
};

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct act_request waiting[ACT_WAITING_MAX];
    size_t waiting_count;
    struct act_request running; /* message NULL: none */
    atomic_bool is_hung;
} act_queue = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct hostmem_block act_model; /* --alloc */

static struct json_object *act_get(struct json_object *object, const char *key)
{
    struct json_object *value = NULL;

    (void)json_object_object_get_ex(object, key, &value);
    return value;
}

static bool act_is(const struct act_request *request, const char *action)
{
    const char *text = json_object_get_string(act_get(request->message, "action"));

    return text != NULL && strcmp(text, action) == 0;
}

static void act_write_id(char text[ACT_ID_MAX], struct json_object *id)
{
    (void)snprintf(text, ACT_ID_MAX, "%s", json_object_to_json_string(id));
}

bool act_is_hung(void)
{
    return atomic_load(&act_queue.is_hung);
}

void act_misbehave(uint64_t stage)
{
    if (options.crash == stage) {
        if (options.signal == 0)
            _exit((int)options.exit_code);
        (void)signal((int)options.signal, SIG_DFL);
        (void)raise((int)options.signal);
        _exit((int)options.exit_code);
    }
    if (options.hang != stage)
        return;
    atomic_store(&act_queue.is_hung, true);
    for (;;)
        (void)pause();
}

/* Adds the id unless this worker is one that gives none. */
static struct json_object *act_reply(const char *type, const struct act_request *request)
{
    struct json_object *message = wire_new(type);
    bool has_id = options.no_ids == OPTIONS_IDS_ALL ||
                  (options.no_ids == OPTIONS_IDS_MODLY && request->is_job);

    if (has_id)
        (void)json_object_object_add(message, "id",
                                     json_object_get(act_get(request->message, "id")));
    return message;
}

static void act_send_error(const struct act_request *request, const char *code, const char *text)
{
    struct json_object *message = act_reply("error", request);

    if (act_get(message, "id") == NULL)
        (void)json_object_object_add(message, "id", NULL);
    (void)json_object_object_add(message, "message", json_object_new_string(text));
    (void)json_object_object_add(message, "code", json_object_new_string(code));
    wire_send_take(message);
}

/* True if the running job was cancelled before or meanwhile. */
static bool act_wait_until(uint64_t until_ns)
{
    const struct timespec until = {.tv_sec = (time_t)(until_ns / ACT_NS_PER_S),
                                   .tv_nsec = (long)(until_ns % ACT_NS_PER_S)};
    int result = 0;

    (void)pthread_mutex_lock(&act_queue.lock);
    while (!act_queue.running.is_cancelled && result != ETIMEDOUT && wire_now_ns() < until_ns)
        result = pthread_cond_timedwait(&act_queue.changed, &act_queue.lock, &until);
    bool is_cancelled = act_queue.running.is_cancelled;
    (void)pthread_mutex_unlock(&act_queue.lock);
    return is_cancelled;
}

/* Counts in --state; true while this load is still to fail. */
static bool act_must_fail_load(void)
{
    char text[ACT_STATE_MAX] = "";
    unsigned long long count = 0;

    if (options.fail_load == 0)
        return false;
    int fd = open(options.state, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0)
        return true;
    if (read(fd, text, sizeof(text) - 1) > 0) {
        for (const char *at = text; *at >= '0' && *at <= '9'; at++)
            count = count * 10 + (unsigned long long)(*at - '0');
    }
    bool must_fail = count < options.fail_load;
    int len = snprintf(text, sizeof(text), "%llu\n", count + 1);
    if (must_fail)
        (void)!pwrite(fd, text, (size_t)len, 0);
    (void)close(fd);
    return must_fail;
}

static void act_load(const struct act_request *request)
{
    uint64_t end_ns = wire_now_ns() + options.load_ms * ACT_NS_PER_MS;

    wire_stderr_noise(options.stderr_noise_bytes);
    act_misbehave(OPTIONS_STAGE_LOAD);
    if (act_model.base == NULL && hostmem_take(&act_model, options.alloc_bytes) < 0) {
        act_send_error(request, "out_of_memory", "out of memory at load");
        return;
    }
    (void)act_wait_until(end_ns);
    if (act_must_fail_load()) {
        hostmem_drop(&act_model);
        act_send_error(request, options.fail_code, "the load was told to fail");
        return;
    }
    wire_send_take(act_reply("loaded", request));
}

static void act_send_progress(const struct act_request *request, uint64_t pct)
{
    struct json_object *message = act_reply("progress", request);

    (void)json_object_object_add(message, "pct", json_object_new_int64((int64_t)pct));
    (void)json_object_object_add(message, "step", json_object_new_string("fake"));
    wire_send_take(message);
}

/* Spends --run-ms, with progress in between. True if cancelled. */
static bool act_spend_run(const struct act_request *request)
{
    uint64_t start_ns = wire_now_ns();
    uint64_t run_ns = options.run_ms * ACT_NS_PER_MS;
    uint64_t step_ns = options.progress_rate > 0 ? ACT_NS_PER_S / options.progress_rate
                                                 : options.progress_every_ms * ACT_NS_PER_MS;

    for (uint64_t at_ns = step_ns; step_ns > 0 && at_ns < run_ns; at_ns += step_ns) {
        if (act_wait_until(start_ns + at_ns))
            return true;
        act_send_progress(request, at_ns * 100 / run_ns);
    }
    return act_wait_until(start_ns + run_ns);
}

static int64_t act_image_bytes(struct json_object *message)
{
    struct stat info;
    struct json_object *encoded = act_get(message, "image_b64");
    const char *path = json_object_get_string(act_get(message, "image_path"));

    if (encoded != NULL) {
        const char *text = json_object_get_string(encoded);
        size_t len = strlen(text);
        while (len > 0 && text[len - 1] == '=')
            len--;
        return (int64_t)(len * 3 / 4);
    }
    return path != NULL && stat(path, &info) == 0 ? (int64_t)info.st_size : -1;
}

static struct json_object *act_echo(struct json_object *message)
{
    struct json_object *echo = json_object_new_object();

    (void)json_object_object_add(echo, "text", json_object_get(act_get(message, "text")));
    (void)json_object_object_add(echo, "params", json_object_get(act_get(message, "params")));
    (void)json_object_object_add(echo, "image_bytes",
                                 json_object_new_int64(act_image_bytes(message)));
    return echo;
}

/* 0 or negative errno. The result: the echo, then filled up to --output-bytes. */
static int act_write_output(const char *path, struct json_object *echo)
{
    static const char filler[4096] = {[0 ... sizeof(filler) - 1] = 'x'};
    uint64_t left = options.output_bytes;
    int result = 0;

    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return -errno;
    if (echo != NULL && dprintf(fd, "%s\n", json_object_to_json_string(echo)) < 0)
        result = -errno;
    while (left > 0 && result == 0) {
        size_t part = left < sizeof(filler) ? (size_t)left : sizeof(filler);
        ssize_t put = write(fd, filler, part);
        if (put < 0)
            result = -errno;
        else
            left -= (uint64_t)put;
    }
    (void)close(fd);
    return result;
}

static void act_send_done(const struct act_request *request, const char *path,
                          struct json_object *echo)
{
    struct json_object *message = act_reply("done", request);

    (void)json_object_object_add(message, "output_path", json_object_new_string(path));
    if (echo != NULL)
        (void)json_object_object_add(message, "echo", json_object_get(echo));
    if (options.stamp)
        (void)json_object_object_add(message, "read_ns", json_object_new_uint64(request->read_ns));
    wire_send_take(message);
}

static void act_send_stranger(const char *path)
{
    struct json_object *message = wire_new("done");

    (void)json_object_object_add(message, "id", json_object_new_string("no-such-job"));
    (void)json_object_object_add(message, "output_path", json_object_new_string(path));
    wire_send_take(message);
}

static void act_finish(const struct act_request *request)
{
    static unsigned int number;
    char path[PATH_MAX];
    const char *directory = json_object_get_string(act_get(request->message, "outputs_dir"));

    (void)snprintf(path, sizeof(path), "%s/fake-%ld-%u%s", directory != NULL ? directory : "/tmp",
                   (long)getpid(), ++number, options.output_ext);
    struct json_object *echo = options.echo ? act_echo(request->message) : NULL;
    int result = act_write_output(path, echo);
    if (result < 0) {
        act_send_error(request, "error", strerror(-result));
        (void)json_object_put(echo);
        return;
    }
    if (options.wrong_id != OPTIONS_WRONG_ID_NONE)
        act_send_stranger(path);
    for (int i = 0; options.wrong_id != OPTIONS_WRONG_ID_ONLY && i <= options.double_done; i++)
        act_send_done(request, path, echo);
    (void)json_object_put(echo);
}

static void act_generate(const struct act_request *request)
{
    struct hostmem_block scratch = {0};
    struct hostmem_block leaked = {0};

    act_misbehave(OPTIONS_STAGE_RUN);
    if (hostmem_take(&leaked, options.leak_bytes) < 0 ||
        hostmem_take(&scratch, options.job_alloc_bytes) < 0) {
        act_send_error(request, "out_of_memory", "out of memory in a job");
        return;
    }
    bool is_cancelled = act_spend_run(request);
    hostmem_drop(&scratch);
    if (is_cancelled)
        wire_send_take(act_reply("cancelled", request));
    else
        act_finish(request);
}

static void act_serve(const struct act_request *request)
{
    if (act_is(request, "load")) {
        act_load(request);
    } else if (act_is(request, "generate")) {
        act_generate(request);
    } else if (act_is(request, "unload")) {
        hostmem_drop(&act_model);
        wire_send_take(act_reply("unloaded", request));
    } else if (act_is(request, "shutdown") && !options.ignore_shutdown) {
        _exit(0);
    }
}

static void *act_main(void *unused)
{
    (void)pthread_mutex_lock(&act_queue.lock);
    for (;;) {
        while (act_queue.waiting_count == 0)
            (void)pthread_cond_wait(&act_queue.changed, &act_queue.lock);
        act_queue.running = act_queue.waiting[0];
        act_queue.waiting_count--;
        memmove(&act_queue.waiting[0], &act_queue.waiting[1],
                act_queue.waiting_count * sizeof(act_queue.waiting[0]));
        struct act_request request = act_queue.running;
        (void)pthread_mutex_unlock(&act_queue.lock);
        act_serve(&request);
        (void)pthread_mutex_lock(&act_queue.lock);
        (void)json_object_put(request.message);
        act_queue.running = (struct act_request){0};
    }
    return unused;
}

int act_init(void)
{
    pthread_condattr_t attributes;
    pthread_t thread;

    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    int result = pthread_cond_init(&act_queue.changed, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    if (result == 0)
        result = pthread_create(&thread, NULL, act_main, NULL);
    return -result;
}

bool act_add_take(struct json_object *message, uint64_t read_ns)
{
    struct act_request request = {.message = message, .read_ns = read_ns};

    act_write_id(request.id, act_get(message, "id"));
    request.is_job = act_is(&request, "generate");
    (void)pthread_mutex_lock(&act_queue.lock);
    bool has_room = act_queue.waiting_count < ACT_WAITING_MAX;
    if (has_room)
        act_queue.waiting[act_queue.waiting_count++] = request;
    (void)pthread_cond_broadcast(&act_queue.changed);
    (void)pthread_mutex_unlock(&act_queue.lock);
    return has_room;
}

static void act_cancel_if(struct act_request *request, struct json_object *id, const char *text)
{
    if (request->is_job && (id == NULL || strcmp(request->id, text) == 0))
        request->is_cancelled = true;
}

void act_cancel(struct json_object *id)
{
    char text[ACT_ID_MAX];

    act_write_id(text, id);
    (void)pthread_mutex_lock(&act_queue.lock);
    act_cancel_if(&act_queue.running, id, text);
    for (size_t i = 0; id != NULL && i < act_queue.waiting_count; i++)
        act_cancel_if(&act_queue.waiting[i], id, text);
    (void)pthread_cond_broadcast(&act_queue.changed);
    (void)pthread_mutex_unlock(&act_queue.lock);
}

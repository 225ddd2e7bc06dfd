/* hotbunk-flite: text to speech as a worker in C, on libflite.
 *
 * Speaks the ndjson worker protocol with ids: in load, generate, cancel, unload, shutdown; out
 * ready, loaded, progress, done, cancelled, error, unloaded, log, and heartbeat while a job runs.
 * One thread: between two sentences it reads what has come in, so a cancel is real. Requests wait
 * in their order, at most MAIN_WAITING_MAX. */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "job.h"
#include "voice.h"
#include "wire.h"

#define MAIN_PROTOCOL      1
#define MAIN_WAITING_MAX   64
#define MAIN_HEARTBEAT_MS  2000
#define MAIN_WAIT_FOR_EVER (-1)

struct worker {
    struct json_object *waiting[MAIN_WAITING_MAX];
    size_t waiting_count;
    struct json_object *running; /* the generate request, or NULL */
    bool is_cancelled;
    bool is_stopping; /* a shutdown waits in its turn: jobs before it end as cancelled */
    bool is_ending;
    int64_t heartbeat_ms;
};

static int64_t main_now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static struct json_object *main_get(struct json_object *message, const char *key)
{
    struct json_object *value = NULL;

    (void)json_object_object_get_ex(message, key, &value);
    return value;
}

static bool main_is_action(struct json_object *message, const char *action)
{
    struct json_object *value = main_get(message, "action");

    return json_object_is_type(value, json_type_string) &&
           strcmp(json_object_get_string(value), action) == 0;
}

static bool main_has_id(struct json_object *message, struct json_object *id)
{
    return json_object_equal(main_get(message, "id"), id) != 0;
}

static void main_cancel(struct worker *worker, struct json_object *id)
{
    if (worker->running != NULL && main_has_id(worker->running, id)) {
        worker->is_cancelled = true;
        return;
    }
    for (size_t i = 0; i < worker->waiting_count; i++) {
        struct json_object *request = worker->waiting[i];
        if (!main_is_action(request, "generate") || !main_has_id(request, id))
            continue;
        worker->waiting_count--;
        memmove(&worker->waiting[i], &worker->waiting[i + 1],
                (worker->waiting_count - i) * sizeof(worker->waiting[0]));
        wire_send_take(wire_new("cancelled", main_get(request, "id")));
        (void)json_object_put(request);
        return;
    }
}

/* Consumes the message. Unknown actions are ignored: a newer host may know more. */
static void main_accept_take(struct worker *worker, struct json_object *message)
{
    bool is_shutdown = main_is_action(message, "shutdown");
    bool is_request = main_is_action(message, "load") || main_is_action(message, "generate") ||
                      main_is_action(message, "unload") || is_shutdown;
    bool is_full = worker->waiting_count == MAIN_WAITING_MAX;

    worker->is_stopping = worker->is_stopping || is_shutdown;
    worker->is_ending = worker->is_ending || (is_shutdown && is_full);
    if (main_is_action(message, "cancel"))
        main_cancel(worker, main_get(message, "id"));
    else if (is_request && is_full)
        wire_send_error(main_get(message, "id"), "busy", "too many requests are waiting");
    else if (is_request)
        worker->waiting[worker->waiting_count++] = json_object_get(message);
    (void)json_object_put(message);
}

/* Waits for the first message only; takes all that are there. */
static void main_listen(struct worker *worker, int timeout_ms)
{
    struct json_object *message;

    for (;;) {
        int result = wire_read(timeout_ms, &message);
        if (result == -EPIPE)
            worker->is_ending = true;
        if (result <= 0)
            return;
        main_accept_take(worker, message);
        timeout_ms = 0;
    }
}

static bool main_should_stop(void *user)
{
    struct worker *worker = user;
    int64_t now_ms = main_now_ms();

    main_listen(worker, 0);
    if (now_ms - worker->heartbeat_ms >= MAIN_HEARTBEAT_MS) {
        worker->heartbeat_ms = now_ms;
        wire_send_take(wire_new("heartbeat", main_get(worker->running, "id")));
    }
    return worker->is_cancelled || worker->is_stopping || worker->is_ending;
}

static void main_load(struct json_object *id)
{
    char message[VOICE_MESSAGE_MAX] = "flite cannot start";

    if (voice_load_all(message) < 0)
        wire_send_error(id, "error", message);
    else
        wire_send_take(wire_new("loaded", id));
}

static void main_serve_take(struct worker *worker, struct json_object *request)
{
    struct json_object *id = main_get(request, "id");

    if (main_is_action(request, "load")) {
        main_load(id);
    } else if (main_is_action(request, "unload")) {
        voice_unload_all();
        wire_send_take(wire_new("unloaded", id));
    } else if (main_is_action(request, "shutdown")) {
        worker->is_ending = true;
    } else {
        worker->running = request;
        worker->is_cancelled = false;
        worker->heartbeat_ms = main_now_ms();
        job_run(request, main_should_stop, worker);
        worker->running = NULL;
    }
    (void)json_object_put(request);
}

static void main_announce(void)
{
    static const char *const names[] = {"ids", "heartbeat", "cancel"};
    struct json_object *message = wire_new("ready", NULL);
    struct json_object *features = json_object_new_array();

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        (void)json_object_array_add(features, json_object_new_string(names[i]));
    (void)json_object_object_add(message, "params_schema", json_tokener_parse(job_params_schema));
    (void)json_object_object_add(message, "protocol", json_object_new_int(MAIN_PROTOCOL));
    (void)json_object_object_add(message, "features", features);
    wire_send_take(message);
}

int main(void)
{
    static struct worker worker;

    int result = wire_init();
    if (result < 0) {
        fprintf(stderr, "hotbunk-flite: stdin, stdout and stderr must be open: %s\n",
                strerror(-result));
        return 1;
    }
    main_announce();
    while (!worker.is_ending) {
        if (worker.waiting_count == 0) {
            main_listen(&worker, MAIN_WAIT_FOR_EVER);
            continue;
        }
        struct json_object *request = worker.waiting[0];
        worker.waiting_count--;
        memmove(&worker.waiting[0], &worker.waiting[1],
                worker.waiting_count * sizeof(worker.waiting[0]));
        main_serve_take(&worker, request);
        main_listen(&worker, 0);
    }
    while (worker.waiting_count > 0)
        (void)json_object_put(worker.waiting[--worker.waiting_count]);
    voice_unload_all();
    return 0;
}

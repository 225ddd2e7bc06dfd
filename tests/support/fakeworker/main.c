/* fakeworker: a scriptable worker for tests. It speaks the ndjson protocol and behaves as badly as
 * its flags say (options.c). The main thread reads; act.c's thread works; a third beats. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "act.h"
#include "options.h"
#include "children.h"
#include "wire.h"

#define MAIN_PROTOCOL 1

static void main_pause_ms(uint64_t pause_ms)
{
    struct timespec left = {.tv_sec = (time_t)(pause_ms / 1000),
                            .tv_nsec = (long)(pause_ms % 1000) * 1000000};

    while (nanosleep(&left, &left) < 0)
        continue;
}

static void main_announce(void)
{
    static const char *const names[] = {"ids", "image_path", "heartbeat", "cancel"};
    struct json_object *message = wire_new("ready");

    (void)json_object_object_add(message, "params_schema", json_object_new_array());
    if (options.no_ids == OPTIONS_IDS_ALL) {
        struct json_object *features = json_object_new_array();
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
            (void)json_object_array_add(features, json_object_new_string(names[i]));
        (void)json_object_object_add(message, "protocol", json_object_new_int(MAIN_PROTOCOL));
        (void)json_object_object_add(message, "features", features);
    }
    wire_send_take(message);
}

static void *main_beat(void *unused)
{
    while (!act_is_hung()) {
        main_pause_ms(options.heartbeat_ms);
        if (!act_is_hung())
            wire_send_take(wire_new("heartbeat"));
    }
    return unused;
}

static _Noreturn void main_sleep_for_ever(void)
{
    for (;;)
        (void)pause();
}

static void main_handle_take(struct json_object *message, uint64_t read_ns)
{
    struct json_object *action = NULL;
    struct json_object *id = NULL;

    (void)json_object_object_get_ex(message, "action", &action);
    (void)json_object_object_get_ex(message, "id", &id);
    const char *text = json_object_get_string(action);
    bool is_cancel = text != NULL && strcmp(text, "cancel") == 0;
    if (is_cancel && !options.ignore_cancel)
        act_cancel(id);
    if (is_cancel || !act_add_take(message, read_ns))
        (void)json_object_put(message);
}

static void main_read(void)
{
    struct json_object *message;
    uint64_t read_ns;

    while ((message = wire_read(&read_ns)) != NULL) {
        if (act_is_hung())
            main_sleep_for_ever();
        main_handle_take(message, read_ns);
    }
    if (options.ignore_eof || act_is_hung())
        main_sleep_for_ever();
}

int main(int argc, char **argv)
{
    pthread_t beat;

    options_parse(argc, argv);
    if (options.sleeper > 0)
        children_sleep(argv);
    children_log("start", argv);
    (void)signal(SIGPIPE, SIG_IGN);
    if (options.ignore_term)
        (void)signal(SIGTERM, SIG_IGN);
    children_start();
    act_misbehave(OPTIONS_STAGE_START);
    main_pause_ms(options.late_ready_ms);
    if (act_init() < 0)
        return 1;
    if (options.heartbeat_ms > 0 && pthread_create(&beat, NULL, main_beat, NULL) != 0)
        return 1;
    main_announce();
    if (options.never_read)
        main_sleep_for_ever();
    main_read();
    _exit(0); /* the other threads may hold locks */
}

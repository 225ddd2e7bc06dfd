#include "wire.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "voice.h"

#define WIRE_FIRST_OWN_FD 3
#define WIRE_DEPTH_MAX    32
#define WIRE_EXIT_NO_HOST 1

static int wire_out_fd = -1;
static char wire_buf[WIRE_LINE_MAX];
static size_t wire_used;
static size_t wire_scanned; /* no newline before this */
static bool wire_is_skipping;

int wire_init(void)
{
    (void)signal(SIGPIPE, SIG_IGN);
    wire_out_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, WIRE_FIRST_OWN_FD);
    if (wire_out_fd < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return -errno;
    return 0;
}

static void wire_write_all(const char *text, size_t len)
{
    while (len > 0) {
        ssize_t put = write(wire_out_fd, text, len);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            _exit(WIRE_EXIT_NO_HOST);
        text += put;
        len -= (size_t)put;
    }
}

void wire_send_take(struct json_object *message)
{
    size_t len;
    const char *text = json_object_to_json_string_length(
        message, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &len);

    wire_write_all(text, len);
    wire_write_all("\n", 1);
    (void)json_object_put(message);
}

struct json_object *wire_new(const char *type, struct json_object *id)
{
    struct json_object *message = json_object_new_object();

    (void)json_object_object_add(message, "type", json_object_new_string(type));
    if (id != NULL)
        (void)json_object_object_add(message, "id", json_object_get(id));
    return message;
}

void wire_log(const char *level, const char *text)
{
    struct json_object *message = wire_new("log", NULL);

    (void)json_object_object_add(message, "level", json_object_new_string(level));
    (void)json_object_object_add(message, "message", json_object_new_string(text));
    wire_send_take(message);
}

void wire_send_error(struct json_object *id, const char *code, const char *text)
{
    struct json_object *message = wire_new("error", id);

    if (id == NULL)
        (void)json_object_object_add(message, "id", NULL);
    (void)json_object_object_add(message, "message", json_object_new_string(text));
    (void)json_object_object_add(message, "code", json_object_new_string(code));
    (void)json_object_object_add(message, "loaded", json_object_new_boolean(voice_is_loaded()));
    wire_send_take(message);
}

static struct json_object *wire_parse(const char *line, size_t len)
{
    struct json_tokener *tokener = json_tokener_new_ex(WIRE_DEPTH_MAX);

    if (tokener == NULL)
        return NULL;
    json_tokener_set_flags(tokener, JSON_TOKENER_STRICT | JSON_TOKENER_VALIDATE_UTF8);
    struct json_object *message = json_tokener_parse_ex(tokener, line, (int)len);
    bool is_whole = json_tokener_get_error(tokener) == json_tokener_success;
    json_tokener_free(tokener);
    if (is_whole && json_object_is_type(message, json_type_object))
        return message;
    (void)json_object_put(message);
    wire_log("warning", "ignored a line that is not a JSON object");
    return NULL;
}

/* Takes one line off the front of the buffer. False if no whole line is there. */
static bool wire_take_line(struct json_object **out_message)
{
    char *newline = memchr(wire_buf + wire_scanned, '\n', wire_used - wire_scanned);

    *out_message = NULL;
    wire_scanned = wire_used;
    if (newline == NULL)
        return false;
    size_t len = (size_t)(newline - wire_buf);
    if (!wire_is_skipping && len > 0)
        *out_message = wire_parse(wire_buf, len);
    wire_is_skipping = false;
    wire_used -= len + 1;
    memmove(wire_buf, newline + 1, wire_used);
    wire_scanned = 0;
    return true;
}

/* 1: got bytes, 0: none in time, -EPIPE: none will come. */
static int wire_fill(int timeout_ms)
{
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

    if (wire_used == sizeof(wire_buf)) {
        if (!wire_is_skipping)
            wire_log("error", "dropped a line of more than 1 MiB");
        wire_is_skipping = true;
        wire_used = wire_scanned = 0;
    }
    int ready = poll(&input, 1, timeout_ms);
    if (ready == 0 || (ready < 0 && errno == EINTR))
        return 0;
    ssize_t got = read(STDIN_FILENO, wire_buf + wire_used, sizeof(wire_buf) - wire_used);
    if (got < 0 && (errno == EINTR || errno == EAGAIN))
        return 0;
    if (got <= 0)
        return -EPIPE;
    wire_used += (size_t)got;
    return 1;
}

int wire_read(int timeout_ms, struct json_object **out_message)
{
    for (;;) {
        struct json_object *message;
        while (wire_take_line(&message)) {
            if (message == NULL)
                continue;
            *out_message = message;
            return 1;
        }
        int result = wire_fill(timeout_ms);
        if (result <= 0)
            return result;
    }
}

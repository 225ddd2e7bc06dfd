#include "wire.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "options.h"

#define WIRE_HALF_LINE_NS   (2 * 1000 * 1000)
#define WIRE_EXIT_NO_HOST   1
#define WIRE_EXIT_LONG_LINE 65

static pthread_mutex_t wire_lock = PTHREAD_MUTEX_INITIALIZER;
static char *wire_buf; /* mapped; only what is used becomes resident */
static size_t wire_used;
static size_t wire_taken;

uint64_t wire_now_ns(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void wire_put(int fd, const char *text, size_t len)
{
    while (len > 0) {
        ssize_t put = write(fd, text, len);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            _exit(WIRE_EXIT_NO_HOST);
        text += put;
        len -= (size_t)put;
    }
}

static void wire_put_noise(void)
{
    static const char *const lines[] = {
        "null\n",
        "42\n",
        "-1.5e3\n",
        "true\n",
        "\"done\"\n",
        "[1,2,{\"type\":\"done\"}]\n",
        "{\n",
        "\n",
        "a stray print\n",
        "{\"type\":\"prog",
        "\xff\xfe\x80 not UTF-8\n",
        "{}\n",
        "{\"type\":7}\n",
        "{\"type\":\"no such type\"}\n",
        "NaN\n",
        "{\"a\":1}{\"b\":2}\n",
    };
    static size_t next;
    static const struct timespec half_line = {.tv_nsec = WIRE_HALF_LINE_NS};

    const char *line = lines[next++ % (sizeof(lines) / sizeof(lines[0]))];
    wire_put(STDOUT_FILENO, line, strlen(line));
    if (line[strlen(line) - 1] == '\n')
        return;
    (void)nanosleep(&half_line, NULL);
    wire_put(STDOUT_FILENO, "ress\"\n", 6);
}

void wire_send_take(struct json_object *message)
{
    static const char glue[] = "loading weights...";
    size_t len;
    const char *text = json_object_to_json_string_length(
        message, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &len);

    (void)pthread_mutex_lock(&wire_lock);
    if (options.noise)
        wire_put_noise();
    if (options.glue)
        wire_put(STDOUT_FILENO, glue, sizeof(glue) - 1);
    wire_put(STDOUT_FILENO, text, len);
    wire_put(STDOUT_FILENO, "\n", 1);
    (void)pthread_mutex_unlock(&wire_lock);
    (void)json_object_put(message);
}

struct json_object *wire_new(const char *type)
{
    struct json_object *message = json_object_new_object();

    (void)json_object_object_add(message, "type", json_object_new_string(type));
    return message;
}

void wire_stderr_noise(uint64_t bytes)
{
    static const char bar[] = "\rloading: 42%|####      | \xe2\x96\x88\xff\xc0 it/s\rdone\n";

    while (bytes > 0) {
        size_t part = bytes < sizeof(bar) - 1 ? (size_t)bytes : sizeof(bar) - 1;
        wire_put(STDERR_FILENO, bar, part);
        bytes -= part;
    }
}

static bool wire_fill(uint64_t *out_read_ns)
{
    ssize_t got;

    if (wire_taken > 0) {
        memmove(wire_buf, wire_buf + wire_taken, wire_used - wire_taken);
        wire_used -= wire_taken;
        wire_taken = 0;
    }
    if (wire_used == WIRE_LINE_MAX)
        _exit(WIRE_EXIT_LONG_LINE);
    do
        got = read(STDIN_FILENO, wire_buf + wire_used, WIRE_LINE_MAX - wire_used);
    while (got < 0 && errno == EINTR);
    *out_read_ns = wire_now_ns();
    if (got <= 0)
        return false;
    wire_used += (size_t)got;
    return true;
}

static struct json_object *wire_parse(const char *line, size_t len)
{
    struct json_tokener *tokener = json_tokener_new();

    struct json_object *message = json_tokener_parse_ex(tokener, line, (int)len);
    json_tokener_free(tokener);
    if (json_object_is_type(message, json_type_object))
        return message;
    (void)json_object_put(message);
    return NULL;
}

struct json_object *wire_read(uint64_t *out_read_ns)
{
    static uint64_t read_ns;

    if (wire_buf == NULL) {
        void *room = mmap(NULL, WIRE_LINE_MAX, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (room == MAP_FAILED)
            return NULL;
        wire_buf = room;
    }
    size_t scanned = wire_taken;
    for (;;) {
        char *newline = memchr(wire_buf + scanned, '\n', wire_used - scanned);
        if (newline == NULL) {
            scanned = wire_used - wire_taken;
            if (!wire_fill(&read_ns))
                return NULL;
            continue;
        }
        const char *line = wire_buf + wire_taken;
        wire_taken = scanned = (size_t)(newline - wire_buf) + 1;
        struct json_object *message = wire_parse(line, (size_t)(newline - line));
        if (message == NULL)
            continue;
        *out_read_ns = read_ns;
        return message;
    }
}

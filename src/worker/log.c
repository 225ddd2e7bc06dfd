#include "worker/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

#define NOTE_MAX 1024

struct worker_log {
    char *ring; /* NULL until the first byte: most models never speak */
    size_t at;  /* where the next byte goes */
    bool is_full;
    char *path;
    int fd;
    uint64_t file_bytes, file_max_bytes;
};

struct worker_log *worker_log_new(const char *path, uint64_t file_max_bytes)
{
    struct worker_log *log = mem_new(1, sizeof(*log));

    log->path = mem_strdup(path);
    log->fd = -1;
    log->file_max_bytes = file_max_bytes;
    return log;
}

void worker_log_free(struct worker_log *log)
{
    if (!log)
        return;
    if (log->fd >= 0)
        (void)close(log->fd);
    mem_free(log->ring);
    mem_free(log->path);
    mem_free(log);
}

static void log_ring_add(struct worker_log *log, struct slice bytes)
{
    if (!log->ring)
        log->ring = mem_new(WORKER_LOG_RING_BYTES, 1);
    if (bytes.len > WORKER_LOG_RING_BYTES)
        bytes = slice_skip(bytes, bytes.len - WORKER_LOG_RING_BYTES);
    while (bytes.len) {
        size_t room = WORKER_LOG_RING_BYTES - log->at;
        size_t part = bytes.len < room ? bytes.len : room;
        memcpy(log->ring + log->at, bytes.ptr, part);
        log->at += part;
        if (log->at == WORKER_LOG_RING_BYTES) {
            log->at = 0;
            log->is_full = true;
        }
        bytes = slice_skip(bytes, part);
    }
}

static void log_file_open(struct worker_log *log)
{
    struct stat st;

    log->fd = open(log->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    log->file_bytes = log->fd >= 0 && fstat(log->fd, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static void log_file_add(struct worker_log *log, struct slice bytes)
{
    ssize_t put;

    if (!log->path)
        return;
    if (log->fd >= 0 && log->file_bytes > log->file_max_bytes) {
        auto_free char *old = mem_printf("%s.1", log->path);
        (void)rename(log->path, old); /* on failure it goes on in the same file */
        (void)close(log->fd);
        log->fd = -1;
    }
    if (log->fd < 0)
        log_file_open(log);
    if (log->fd < 0)
        return; /* no disk: the ring has it */
    put = write(log->fd, bytes.ptr, bytes.len);
    log->file_bytes += put > 0 ? (uint64_t)put : 0;
}

void worker_log_add(struct worker_log *log, struct slice bytes)
{
    if (bytes.len == 0)
        return;
    log_ring_add(log, bytes);
    log_file_add(log, bytes);
}

void worker_log_note(struct worker_log *log, const char *fmt, ...)
{
    char text[NOTE_MAX];
    int head = snprintf(text, sizeof(text), "[hotbunk] ");
    va_list args;
    int len;

    va_start(args, fmt);
    len = vsnprintf(text + head, sizeof(text) - (size_t)head - 1, fmt, args);
    va_end(args);
    if (len < 0)
        return;
    len = (int)strlen(text);
    text[len++] = '\n';
    worker_log_add(log, slice_of(text, (size_t)len));
}

char *worker_log_tail(const struct worker_log *log, size_t max)
{
    size_t have = log->is_full ? WORKER_LOG_RING_BYTES : log->at;
    size_t want = have < max ? have : max;
    char *out = mem_new(want + 1, 1);
    size_t from = (log->at + WORKER_LOG_RING_BYTES - want) % WORKER_LOG_RING_BYTES;
    size_t first = WORKER_LOG_RING_BYTES - from < want ? WORKER_LOG_RING_BYTES - from : want;
    char *line;

    if (!want)
        return out;
    memcpy(out, log->ring + from, first);
    memcpy(out + first, log->ring, want - first);
    for (char *nul = out; (nul = memchr(nul, '\0', want - (size_t)(nul - out))) != NULL;)
        *nul = '?'; /* a worker may write anything; the text must not end there */
    line = want < have || log->is_full ? memchr(out, '\n', want) : NULL;
    if (line && line + 1 < out + want)
        memmove(out, line + 1, want - (size_t)(line + 1 - out) + 1);
    return out;
}

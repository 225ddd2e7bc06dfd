/* log: formats `level event key=value…` lines into a sink that the owner gives.
 *
 * base does no I/O: the daemon's sink writes to stderr, a test's into a buffer. A line is cut at
 * LOG_LINE_MAX; control bytes are shown as \xNN, so a worker cannot forge a line. Text that is
 * not ours goes through log_quote, so that it cannot forge a field either. */
#ifndef HOTBUNK_BASE_LOG_H
#define HOTBUNK_BASE_LOG_H

#include "base/mem.h"
#include "base/slice.h"

#define LOG_LINE_MAX 4096

enum log_level { LOG_LEVEL_DEBUG = 0, LOG_LEVEL_INFO = 1, LOG_LEVEL_WARN = 2, LOG_LEVEL_ERROR = 3 };

/* `line` has no newline and is NUL-terminated at line[len]. */
typedef void (*log_sink_fn)(void *data, enum log_level level, const char *line, size_t len);

struct log {
    log_sink_fn sink; /* NULL drops everything */
    void *data;
    enum log_level level; /* lines below it are dropped */
};

/* log_write(log, LOG_LEVEL_INFO, "worker.ready", "model=%s pid=%d", id, pid). */
void log_write(const struct log *log, enum log_level level, const char *event, const char *fmt, ...)
    PRINTF(4, 5);

/* Text from outside as one quoted value, so that it cannot look like further fields: "…" with
 * quotes and backslashes escaped, cut to fit. Always terminated; returns `out`. */
#define LOG_VALUE_MAX 1024
const char *log_quote(const char *text, char out[LOG_VALUE_MAX]);

const char *log_level_name(enum log_level level);

/* 0, or -EINVAL for a name that is none of debug, info, warn, error. */
int log_level_parse(struct slice name, enum log_level *out_level) MUSTCHECK;

#endif

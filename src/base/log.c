#include "base/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

static const char *const LEVEL_NAMES[] = {"debug", "info", "warn", "error"};

const char *log_level_name(enum log_level level)
{
    return LEVEL_NAMES[level];
}

int log_level_parse(struct slice name, enum log_level *out_level)
{
    for (size_t i = 0; i < ARRAY_LEN(LEVEL_NAMES); i++) {
        if (slice_ieq_str(name, LEVEL_NAMES[i])) {
            *out_level = (enum log_level)i;
            return 0;
        }
    }
    return -EINVAL;
}

/* Copies `raw` into `out`, showing control bytes as \xNN. Returns the length. */
static size_t log_escape(const char *raw, size_t len, char *out, size_t cap)
{
    size_t used = 0;

    for (size_t i = 0; i < len && used + 5 < cap; i++) {
        unsigned char c = (unsigned char)raw[i];
        if (c >= 0x20 && c != 0x7f)
            out[used++] = (char)c;
        else
            used += (size_t)snprintf(out + used, cap - used, "\\x%02x", c);
    }
    out[used] = '\0';
    return used;
}

const char *log_quote(const char *text, char out[LOG_VALUE_MAX])
{
    size_t used = 0;

    out[used++] = '"';
    for (; *text && used + 3 < LOG_VALUE_MAX; text++) {
        if (*text == '"' || *text == '\\')
            out[used++] = '\\';
        out[used++] = *text;
    }
    out[used++] = '"';
    out[used] = '\0';
    return out;
}

void log_write(const struct log *log, enum log_level level, const char *event, const char *fmt, ...)
{
    char raw[LOG_LINE_MAX], line[LOG_LINE_MAX];
    va_list args;
    int head, body;
    size_t len;

    if (!log || !log->sink || level < log->level)
        return;
    head = snprintf(raw, sizeof(raw), "%s %s%s", log_level_name(level), event, *fmt ? " " : "");
    if (head < 0 || (size_t)head >= sizeof(raw))
        return;
    va_start(args, fmt);
    body = vsnprintf(raw + head, sizeof(raw) - (size_t)head, fmt, args);
    va_end(args);
    len = (size_t)head + (body > 0 ? (size_t)body : 0);
    if (len >= sizeof(raw))
        len = sizeof(raw) - 1;
    len = log_escape(raw, len, line, sizeof(line));
    log->sink(log->data, level, line, len);
}

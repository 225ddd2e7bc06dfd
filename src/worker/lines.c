#include "worker/lines.h"

void lines_init(struct lines *lines, size_t max_line_bytes)
{
    *lines = (struct lines){0};
    buf_init(&lines->partial, max_line_bytes);
}

void lines_fini(struct lines *lines)
{
    buf_fini(&lines->partial);
    *lines = (struct lines){0};
}

static void lines_emit(struct slice line, void (*fn)(void *data, struct slice line), void *data)
{
    size_t from;

    while (line.len && line.ptr[line.len - 1] == '\r')
        line.len--;
    from = line.len;
    while (from && line.ptr[from - 1] != '\r')
        from--;
    line = slice_skip(line, from);
    if (line.len)
        fn(data, line);
}

static void lines_keep(struct lines *lines, struct slice part)
{
    if (lines->is_dropping || buf_add_slice(&lines->partial, part) == 0)
        return;
    buf_reset(&lines->partial);
    lines->is_dropping = true;
    lines->dropped++;
}

void lines_feed(struct lines *lines, struct slice bytes, void (*fn)(void *data, struct slice line),
                void *data)
{
    size_t end;

    while ((end = slice_index(bytes, '\n')) < bytes.len) {
        struct slice line = slice_of(bytes.ptr, end);
        bytes = slice_skip(bytes, end + 1);
        if (lines->partial.len || lines->is_dropping || line.len > lines->partial.max) {
            lines_keep(lines, line);
            line = buf_slice(&lines->partial);
        }
        if (!lines->is_dropping)
            lines_emit(line, fn, data);
        lines->is_dropping = false;
        buf_reset(&lines->partial);
    }
    if (bytes.len)
        lines_keep(lines, bytes);
}

void lines_finish(struct lines *lines, void (*fn)(void *data, struct slice line), void *data)
{
    if (!lines->is_dropping && lines->partial.len)
        lines_emit(buf_slice(&lines->partial), fn, data);
    lines->is_dropping = false;
    buf_reset(&lines->partial);
}

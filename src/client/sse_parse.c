#include "client/sse_parse.h"

#include <errno.h>

static const char SSE_BOM[] = "\xEF\xBB\xBF";
#define SSE_BOM_LEN 3u

void sse_parse_init(struct sse_parse *parse,
                    int (*on_event)(void *user, const struct sse_event *event), void *user)
{
    *parse = (struct sse_parse){.on_event = on_event, .user = user};
    buf_init(&parse->line, SSE_PARSE_LINE_MAX);
    buf_init(&parse->data, SSE_PARSE_DATA_MAX);
    buf_init(&parse->type, SSE_PARSE_NAME_MAX);
    buf_init(&parse->id, SSE_PARSE_NAME_MAX);
}

void sse_parse_fini(struct sse_parse *parse)
{
    buf_fini(&parse->line);
    buf_fini(&parse->data);
    buf_fini(&parse->type);
    buf_fini(&parse->id);
}

/* An empty line: the event is complete. One without data is none. */
static int parse_dispatch(struct sse_parse *parse)
{
    struct sse_event event = {.type = buf_slice(&parse->type), .id = buf_slice(&parse->id)};
    int rc = 0;

    if (parse->data.len) {
        event.data = slice_of(parse->data.data, parse->data.len - 1); /* without the last newline */
        if (event.type.len == 0)
            event.type = slice_str("message");
        rc = parse->on_event(parse->user, &event);
    }
    buf_reset(&parse->data);
    buf_reset(&parse->type);
    return rc;
}

static int parse_set(struct buf *field, struct slice value)
{
    buf_reset(field);
    return buf_add_slice(field, value);
}

static int parse_line(struct sse_parse *parse, struct slice line)
{
    size_t colon = slice_index(line, ':');
    struct slice name = slice_of(line.ptr, colon);
    struct slice value = slice_skip(line, colon + 1);
    int rc;

    if (line.len == 0)
        return parse_dispatch(parse);
    if (value.len && value.ptr[0] == ' ')
        value = slice_skip(value, 1);
    if (slice_eq_str(name, "data")) {
        rc = buf_add_slice(&parse->data, value);
        return rc != 0 ? rc : buf_add_char(&parse->data, '\n');
    }
    if (slice_eq_str(name, "event"))
        return parse_set(&parse->type, value);
    if (slice_eq_str(name, "id") && slice_index(value, '\0') == value.len)
        return parse_set(&parse->id, value);
    return 0; /* a comment (the name is empty), retry, or something to come */
}

static int parse_end_line(struct sse_parse *parse)
{
    int rc = parse_line(parse, buf_slice(&parse->line));

    buf_reset(&parse->line);
    return rc;
}

/* Skips what of the byte order mark is at the very start. */
static struct slice parse_skip_bom(struct sse_parse *parse, struct slice bytes)
{
    while (parse->bom_seen < SSE_BOM_LEN && bytes.len) {
        if (bytes.ptr[0] != SSE_BOM[parse->bom_seen]) {
            parse->bom_seen = SSE_BOM_LEN;
            break;
        }
        parse->bom_seen++;
        bytes = slice_skip(bytes, 1);
    }
    return bytes;
}

static size_t parse_line_len(struct slice bytes)
{
    size_t lf = slice_index(bytes, '\n');

    return slice_index(slice_of(bytes.ptr, lf), '\r');
}

int sse_parse_feed(struct sse_parse *parse, struct slice bytes)
{
    int rc = parse->is_too_long ? -EMSGSIZE : 0;

    bytes = parse_skip_bom(parse, bytes);
    while (rc == 0 && bytes.len) {
        size_t len;
        if (parse->has_cr && bytes.ptr[0] == '\n')
            bytes = slice_skip(bytes, 1);
        parse->has_cr = false;
        len = parse_line_len(bytes);
        rc = buf_add(&parse->line, bytes.ptr, len);
        if (rc == 0 && len < bytes.len) {
            parse->has_cr = bytes.ptr[len] == '\r';
            rc = parse_end_line(parse);
        }
        bytes = slice_skip(bytes, len + 1);
    }
    if (rc == -EMSGSIZE)
        parse->is_too_long = true;
    return rc;
}

/* A worker's stdout out of any bytes: lines, messages, and the JSON reader below them.
 *
 * The first byte says how long a line may be and where the stream is cut in two. */
#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "worker/lines.h"
#include "worker/message.h"

#define LINE_MAX_SHORT 24
#define LINE_MAX_LONG  (64u << 10)
#define OUT_MAX        (8u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What json-c is given it takes, and what it prints says the same again. */
static void check_json(struct slice text)
{
    struct json_object *root = NULL, *again = NULL;
    struct err err = {0};
    int rc = json_prescan(text, &err);

    assert(rc == 0 || (rc == -EINVAL && err.msg[0]));
    assert(json_parse(text, &root, NULL) == rc);
    if (rc != 0)
        return;
    assert(json_parse(slice_str(json_text(root)), &again, NULL) == 0);
    assert(strcmp(json_text(root), json_text(again)) == 0);
    json_object_put(root);
    json_object_put(again);
}

static void check_message(struct slice line)
{
    struct message message = {0};
    struct err err = {0};
    int percent;

    if (message_parse(line, &message, &err) != 0) {
        assert(err.msg[0] && !message.root);
        return;
    }
    assert(message.type != MESSAGE_NONE);
    percent = message_percent(&message);
    assert(percent >= 0 && percent <= 100);
    (void)message_has_feature(&message, "image_path");
    message_fini(&message);
}

/* Whatever is sent to a worker is one line of JSON. */
static void check_request(struct slice text)
{
    char *copy = slice_dup(text);
    struct worker_job job = {.id = copy, .text = copy, .image_path = copy, .outputs_dir = copy};
    struct json_object *root = NULL;
    struct buf out;

    buf_init(&out, OUT_MAX);
    assert(message_add_generate(&out, &job, (struct slice){0}) == 0);
    assert(slice_index(buf_slice(&out), '\n') == out.len - 1);
    assert(json_parse_object(slice_of(out.data, out.len - 1), &root, NULL) == 0);
    assert(json_get_str(root, "text"));
    json_object_put(root);
    buf_fini(&out);
    mem_free(copy);
}

static void on_line(void *data, struct slice line)
{
    struct buf *out = data;

    assert(line.len > 0);
    assert(slice_index(line, '\n') == line.len && slice_index(line, '\r') == line.len);
    assert(buf_add_slice(out, line) == 0 && buf_add_char(out, '\n') == 0);
    (void)message_looks_like_progress(line);
    check_message(line);
    check_request(line);
}

/* All lines, each with a newline, from a stream that comes in two pieces. */
static uint64_t cut_lines(struct slice text, size_t cut, size_t max, struct buf *out)
{
    struct lines lines;
    uint64_t dropped;

    lines_init(&lines, max);
    lines_feed(&lines, slice_of(text.ptr, cut), on_line, out);
    lines_feed(&lines, slice_skip(text, cut), on_line, out);
    lines_finish(&lines, on_line, out);
    dropped = lines.dropped;
    lines_fini(&lines);
    return dropped;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice text = slice_of((const char *)data + 1, size - 1);
    struct buf whole, parts;
    size_t cut, max;

    if (size < 2)
        return 0;
    max = data[0] & 1 ? LINE_MAX_SHORT : LINE_MAX_LONG;
    cut = text.len * (data[0] >> 1) / 127;
    buf_init(&whole, OUT_MAX);
    buf_init(&parts, OUT_MAX);
    assert(cut_lines(text, 0, max, &whole) == cut_lines(text, cut, max, &parts));
    assert(slice_eq(buf_slice(&whole), buf_slice(&parts)));
    buf_fini(&whole);
    buf_fini(&parts);
    check_json(text);
    return 0;
}

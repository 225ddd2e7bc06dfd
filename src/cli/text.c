#include "cli/text.h"

#include <stdio.h>

#include "base/utf8.h"

/* The code point at the start of valid UTF-8, and its length. */
static uint32_t text_code(struct slice text, size_t *out_len)
{
    const unsigned char *s = (const unsigned char *)text.ptr;

    *out_len = s[0] < 0x80 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
    switch (*out_len) {
    case 1:
        return s[0];
    case 2:
        return (s[0] & 0x1fu) << 6 | (s[1] & 0x3fu);
    case 3:
        return (s[0] & 0x0fu) << 12 | (s[1] & 0x3fu) << 6 | (s[2] & 0x3fu);
    default:
        return (s[0] & 0x07u) << 18 | (s[1] & 0x3fu) << 12 | (s[2] & 0x3fu) << 6 | (s[3] & 0x3fu);
    }
}

/* Ranges of Unicode's East Asian Width W and F, rounded to blocks; and the usual marks. */
static size_t text_width(uint32_t code)
{
    static const struct {
        uint32_t first, last;
        size_t width;
    } ranges[] = {
        {0x0300, 0x036f, 0}, {0x200b, 0x200f, 0}, {0xfe00, 0xfe0f, 0},   {0x1100, 0x115f, 2},
        {0x2e80, 0xa4cf, 2}, {0xac00, 0xd7a3, 2}, {0xf900, 0xfaff, 2},   {0xfe30, 0xfe6f, 2},
        {0xff00, 0xff60, 2}, {0xffe0, 0xffe6, 2}, {0x1f300, 0x1faff, 2}, {0x20000, 0x3fffd, 2},
    };

    for (size_t i = 0; i < ARRAY_LEN(ranges); i++) {
        if (code >= ranges[i].first && code <= ranges[i].last)
            return ranges[i].width;
    }
    return 1;
}

/* Also U+200E, U+202A… and their kind: they turn the order of what follows around. */
static bool code_is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == 0x200e || code == 0x200f ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

static int text_add_code(struct buf *out, struct slice bytes, uint32_t code, bool is_many_lines)
{
    bool is_kept = is_many_lines && (code == '\n' || code == '\t');

    if (code_is_control(code) && !is_kept)
        return buf_add_char(out, code == '\t' || code == '\n' ? ' ' : '?');
    return buf_add_slice(out, bytes);
}

void text_add_clean(struct buf *out, struct slice text, bool is_many_lines)
{
    struct buf valid;
    struct slice rest;
    int rc;

    buf_init(&valid, text.len * 3 + 1); /* U+FFFD has three bytes */
    rc = utf8_add_lossy(&valid, text);
    rest = buf_slice(&valid);
    while (rc == 0 && rest.len) {
        size_t len;
        uint32_t code = text_code(rest, &len);
        rc = text_add_code(out, slice_of(rest.ptr, len), code, is_many_lines);
        rest = slice_skip(rest, len);
    }
    buf_fini(&valid);
}

size_t text_columns(struct slice text)
{
    size_t columns = 0, len;

    for (; text.len; text = slice_skip(text, len))
        columns += text_width(text_code(text, &len));
    return columns;
}

struct slice text_clip(struct slice text, size_t columns)
{
    size_t used = 0, at = 0;

    while (at < text.len) {
        size_t len;
        size_t width = text_width(text_code(slice_skip(text, at), &len));
        if (used + width > columns)
            break;
        used += width;
        at += len;
    }
    return slice_of(text.ptr, at);
}

const char *text_ms(uint64_t ms, char out[TEXT_MS_MAX])
{
    unsigned long s = (unsigned long)(ms / 1000);

    if (ms < 1000)
        (void)snprintf(out, TEXT_MS_MAX, "%lu ms", (unsigned long)ms);
    else if (ms < 60000)
        (void)snprintf(out, TEXT_MS_MAX, "%lu.%lu s", s, (unsigned long)(ms % 1000 / 100));
    else if (s < 3600)
        (void)snprintf(out, TEXT_MS_MAX, "%lu min %02lu s", s / 60, s % 60);
    else
        (void)snprintf(out, TEXT_MS_MAX, "%lu h %02lu min", s / 3600, s / 60 % 60);
    return out;
}

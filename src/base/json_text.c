/* The text side of json.h: quoting, and strings out of bytes that may not be UTF-8. */
#include "base/json.h"

#include "base/utf8.h"

struct json_object *json_str_lossy(struct slice text)
{
    struct json_object *value;
    struct buf clean;

    if (utf8_is_valid(text))
        return json_object_new_string_len(text.ptr ? text.ptr : "", (int)text.len);
    buf_init(&clean, text.len * 3 + 1);
    if (utf8_add_lossy(&clean, text) != 0)
        buf_reset(&clean);
    value = json_object_new_string_len(buf_str(&clean), (int)clean.len);
    buf_fini(&clean);
    return value;
}

static int json_quote_char(struct buf *out, unsigned char c)
{
    switch (c) {
    case '"':
        return buf_add_str(out, "\\\"");
    case '\\':
        return buf_add_str(out, "\\\\");
    case '\n':
        return buf_add_str(out, "\\n");
    case '\r':
        return buf_add_str(out, "\\r");
    case '\t':
        return buf_add_str(out, "\\t");
    default:
        return c < 0x20 ? buf_printf(out, "\\u%04x", c) : buf_add_char(out, (char)c);
    }
}

static int json_quote_valid(struct buf *out, struct slice text)
{
    for (size_t i = 0; i < text.len; i++) {
        int rc = json_quote_char(out, (unsigned char)text.ptr[i]);
        if (rc != 0)
            return rc;
    }
    return 0;
}

int json_quote(struct buf *out, struct slice text)
{
    int rc = buf_add_char(out, '"');

    while (rc == 0 && text.len) {
        size_t good = utf8_valid_len(text);
        rc = json_quote_valid(out, slice_of(text.ptr, good));
        text = slice_skip(text, good);
        if (rc == 0 && text.len) {
            rc = buf_add_str(out, "\xef\xbf\xbd");
            text = slice_skip(text, 1);
        }
    }
    return rc == 0 ? buf_add_char(out, '"') : rc;
}

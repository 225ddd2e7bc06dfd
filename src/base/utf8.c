#include "base/utf8.h"

#include <stdint.h>

/* Bytes in the sequence at s (RFC 3629, section 4), 0 when it is not a valid one. */
static size_t utf8_sequence_len(struct slice s)
{
    const unsigned char *p = (const unsigned char *)s.ptr;
    unsigned char low = 0x80, high = 0xbf;
    size_t len;

    if (p[0] < 0x80)
        return 1;
    if (p[0] < 0xc2 || p[0] > 0xf4)
        return 0;
    len = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    if (s.len < len)
        return 0;
    if (p[0] == 0xe0)
        low = 0xa0;
    else if (p[0] == 0xed)
        high = 0x9f;
    else if (p[0] == 0xf0)
        low = 0x90;
    else if (p[0] == 0xf4)
        high = 0x8f;
    if (p[1] < low || p[1] > high)
        return 0;
    for (size_t i = 2; i < len; i++) {
        if (p[i] < 0x80 || p[i] > 0xbf)
            return 0;
    }
    return len;
}

size_t utf8_valid_len(struct slice s)
{
    size_t at = 0;

    while (at < s.len) {
        size_t len = utf8_sequence_len(slice_skip(s, at));
        if (len == 0)
            break;
        at += len;
    }
    return at;
}

int utf8_add_lossy(struct buf *out, struct slice s)
{
    while (s.len) {
        size_t good = utf8_valid_len(s);
        int rc = buf_add(out, s.ptr, good);
        if (rc != 0)
            return rc;
        s = slice_skip(s, good);
        if (s.len == 0)
            break;
        rc = buf_add_str(out, "\xef\xbf\xbd");
        if (rc != 0)
            return rc;
        s = slice_skip(s, 1);
    }
    return 0;
}

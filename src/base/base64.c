#include "base/base64.h"

static const char ALPHABET[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

int base64_encode(struct buf *out, struct slice bytes)
{
    const unsigned char *in = (const unsigned char *)bytes.ptr;
    int rc = buf_reserve(out, (bytes.len + 2) / 3 * 4);

    if (rc != 0)
        return rc;
    for (size_t i = 0; i < bytes.len; i += 3) {
        size_t left = bytes.len - i;
        unsigned word = (unsigned)in[i] << 16 | (left > 1 ? (unsigned)in[i + 1] << 8 : 0) |
                        (left > 2 ? (unsigned)in[i + 2] : 0);
        char *to = out->data + out->len;
        to[0] = ALPHABET[word >> 18];
        to[1] = ALPHABET[word >> 12 & 63];
        to[2] = left > 1 ? ALPHABET[word >> 6 & 63] : '=';
        to[3] = left > 2 ? ALPHABET[word & 63] : '=';
        out->len += 4;
    }
    if (out->data)
        out->data[out->len] = '\0';
    return 0;
}

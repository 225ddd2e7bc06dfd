#include "base/image_size.h"

#include <errno.h>

#define JPEG_SEGMENTS_MAX 4096
#define TIFF_ENTRIES_MAX  4096

enum tiff_tag { TIFF_WIDTH = 256, TIFF_HEIGHT = 257 };
enum tiff_type { TIFF_SHORT = 3, TIFF_LONG8 = 16 };

enum order { ORDER_LITTLE = 0, ORDER_BIG };

struct signature {
    enum image_kind kind;
    const char *bytes;
    size_t len;
};

static const struct signature SIGNATURES[] = {
    {IMAGE_PNG, "\x89PNG\r\n\x1a\n", 8},
    {IMAGE_JPEG, "\xff\xd8\xff", 3},
    {IMAGE_GIF, "GIF87a", 6},
    {IMAGE_GIF, "GIF89a", 6},
    {IMAGE_BMP, "BM", 2},
    {IMAGE_TIFF, "II*\0", 4},
    {IMAGE_TIFF, "MM\0*", 4},
    {IMAGE_TIFF, "II+\0", 4},
    {IMAGE_TIFF, "MM\0+", 4},
};

/* The unsigned number in the `count` bytes at `at`. 0 or -ENODATA. */
static int get_uint(struct slice in, uint64_t at, unsigned count, enum order order, uint64_t *out)
{
    uint64_t value = 0;

    if (at > in.len || count > in.len - at)
        return -ENODATA;
    for (unsigned i = 0; i < count; i++) {
        unsigned from = order == ORDER_BIG ? i : count - 1 - i;
        value = value << 8 | (uint8_t)in.ptr[at + from];
    }
    *out = value;
    return 0;
}

/* Two numbers of `count` bytes, one behind the other. */
static int get_pair(struct slice in, uint64_t at, unsigned count, enum order order,
                    uint64_t *out_first, uint64_t *out_second)
{
    int rc = get_uint(in, at, count, order, out_first);

    return rc == 0 ? get_uint(in, at + count, count, order, out_second) : rc;
}

static bool has_at(struct slice in, size_t at, const char *four)
{
    return at <= in.len && in.len - at >= 4 && memcmp(in.ptr + at, four, 4) == 0;
}

/* ---- the formats with their size at a fixed place ---- */

static int read_png(struct slice in, struct image_size *out)
{
    if (in.len < 16)
        return -ENODATA;
    if (!has_at(in, 12, "IHDR"))
        return -EBADMSG;
    return get_pair(in, 16, 4, ORDER_BIG, &out->width, &out->height);
}

static int read_gif(struct slice in, struct image_size *out)
{
    return get_pair(in, 6, 2, ORDER_LITTLE, &out->width, &out->height);
}

static int read_bmp(struct slice in, struct image_size *out)
{
    uint64_t header_bytes, width, height;
    int rc = get_uint(in, 14, 4, ORDER_LITTLE, &header_bytes);

    if (rc == 0 && header_bytes == 12) /* OS/2 */
        return get_pair(in, 18, 2, ORDER_LITTLE, &out->width, &out->height);
    if (rc == 0)
        rc = get_pair(in, 18, 4, ORDER_LITTLE, &width, &height);
    if (rc != 0)
        return rc;
    out->width = width > INT32_MAX ? 0 : width;                               /* it has a sign */
    out->height = height > INT32_MAX ? (UINT64_C(1) << 32) - height : height; /* top row first */
    return 0;
}

static int read_webp_lossless(struct slice in, struct image_size *out)
{
    uint64_t bits;
    int rc = get_uint(in, 21, 4, ORDER_LITTLE, &bits);

    if (rc != 0)
        return rc;
    out->width = (bits & 0x3fff) + 1;
    out->height = (bits >> 14 & 0x3fff) + 1;
    return 0;
}

static int read_webp(struct slice in, struct image_size *out)
{
    int rc;

    if (in.len < 16)
        return -ENODATA;
    if (has_at(in, 12, "VP8L"))
        return read_webp_lossless(in, out);
    if (has_at(in, 12, "VP8X")) {
        rc = get_pair(in, 24, 3, ORDER_LITTLE, &out->width, &out->height);
        if (rc != 0)
            return rc;
        out->width++;
        out->height++;
        return 0;
    }
    rc = get_pair(in, 26, 2, ORDER_LITTLE, &out->width, &out->height);
    if (rc != 0)
        return rc;
    out->width &= 0x3fff; /* the upper bits are a scale for showing it */
    out->height &= 0x3fff;
    return 0;
}

/* ---- JPEG: the segments up to the frame header (ITU T.81, B.2.2) ---- */

/* The marker at *at, behind any fill bytes, or a negative errno. */
static int jpeg_marker(struct slice in, uint64_t *at)
{
    while (*at + 1 < in.len && in.ptr[*at] == '\xff' && in.ptr[*at + 1] == '\xff')
        (*at)++;
    if (*at >= in.len)
        return -ENODATA;
    if (in.ptr[*at] != '\xff')
        return -EBADMSG;
    return *at + 1 < in.len ? (uint8_t)in.ptr[*at + 1] : -ENODATA;
}

static bool jpeg_is_frame(int marker)
{
    return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
}

static bool jpeg_is_alone(int marker)
{
    return marker == 0x01 || (marker >= 0xd0 && marker <= 0xd8);
}

static int read_jpeg(struct slice in, struct image_size *out)
{
    uint64_t at = 2;

    for (unsigned i = 0; i < JPEG_SEGMENTS_MAX; i++) {
        int marker = jpeg_marker(in, &at);
        uint64_t len = 0;
        int rc;
        if (marker < 0)
            return marker;
        if (jpeg_is_frame(marker))
            return get_pair(in, at + 5, 2, ORDER_BIG, &out->height, &out->width);
        if (marker == 0xd9 || marker == 0xda)
            return -EBADMSG; /* the end, or pixels without a frame header */
        if (!jpeg_is_alone(marker)) {
            rc = get_uint(in, at + 2, 2, ORDER_BIG, &len);
            if (rc != 0)
                return rc;
            len = len < 2 ? 2 : len; /* it counts itself */
        }
        at += 2 + len;
    }
    return -EBADMSG;
}

/* ---- TIFF: the first directory ---- */

struct tiff {
    enum order order;
    unsigned offset_bytes, count_bytes, entry_bytes, value_at;
};

static const struct tiff TIFF_CLASSIC = {ORDER_LITTLE, 4, 2, 12, 8};
static const struct tiff TIFF_BIG = {ORDER_LITTLE, 8, 8, 20, 12};

static int tiff_entry(const struct tiff *tiff, struct slice in, uint64_t at, struct image_size *out)
{
    uint64_t tag, type, value;
    unsigned value_bytes = 4;
    int rc = get_pair(in, at, 2, tiff->order, &tag, &type);

    if (rc != 0 || (tag != TIFF_WIDTH && tag != TIFF_HEIGHT))
        return rc;
    if (type == TIFF_SHORT)
        value_bytes = 2;
    else if (type == TIFF_LONG8)
        value_bytes = 8;
    rc = get_uint(in, at + tiff->value_at, value_bytes, tiff->order, &value);
    if (rc == 0)
        *(tag == TIFF_WIDTH ? &out->width : &out->height) = value;
    return rc;
}

static int read_tiff(struct slice in, struct image_size *out)
{
    enum order order = in.ptr[0] == 'M' ? ORDER_BIG : ORDER_LITTLE;
    bool is_big = in.ptr[order == ORDER_BIG ? 3 : 2] == '+';
    struct tiff tiff = is_big ? TIFF_BIG : TIFF_CLASSIC;
    uint64_t at, count;
    int rc;

    tiff.order = order;
    rc = get_uint(in, is_big ? 8 : 4, tiff.offset_bytes, order, &at);
    if (rc == 0)
        rc = get_uint(in, at, tiff.count_bytes, order, &count);
    if (rc != 0)
        return rc;
    at += tiff.count_bytes; /* still at most in.len: no overflow */
    for (uint64_t i = 0; i < count && i < TIFF_ENTRIES_MAX && rc == 0; i++)
        rc = tiff_entry(&tiff, in, at + i * tiff.entry_bytes, out);
    return rc;
}

/* ---- all of them ---- */

const char *image_size_kind_name(enum image_kind kind)
{
    static const char *const NAMES[] = {"?", "PNG", "JPEG", "WebP", "GIF", "BMP", "TIFF"};

    return (size_t)kind < ARRAY_LEN(NAMES) ? NAMES[kind] : "?";
}

enum image_kind image_size_kind(struct slice bytes)
{
    for (size_t i = 0; i < ARRAY_LEN(SIGNATURES); i++) {
        const struct signature *one = &SIGNATURES[i];
        if (bytes.len >= one->len && memcmp(bytes.ptr, one->bytes, one->len) == 0)
            return one->kind;
    }
    return has_at(bytes, 0, "RIFF") && has_at(bytes, 8, "WEBP") ? IMAGE_WEBP : IMAGE_NONE;
}

/* Whether more bytes may complete a signature. */
static bool is_short_signature(struct slice bytes)
{
    if (!bytes.len)
        return true;
    for (size_t i = 0; i < ARRAY_LEN(SIGNATURES); i++) {
        const struct signature *one = &SIGNATURES[i];
        if (bytes.len < one->len && memcmp(bytes.ptr, one->bytes, bytes.len) == 0)
            return true;
    }
    if (bytes.len >= 12 || memcmp(bytes.ptr, "RIFF", bytes.len < 4 ? bytes.len : 4) != 0)
        return false;
    return bytes.len <= 8 || memcmp(bytes.ptr + 8, "WEBP", bytes.len - 8) == 0;
}

static int read_kind(struct slice bytes, struct image_size *out)
{
    switch (out->kind) {
    case IMAGE_PNG:
        return read_png(bytes, out);
    case IMAGE_JPEG:
        return read_jpeg(bytes, out);
    case IMAGE_WEBP:
        return read_webp(bytes, out);
    case IMAGE_GIF:
        return read_gif(bytes, out);
    case IMAGE_BMP:
        return read_bmp(bytes, out);
    case IMAGE_TIFF:
        return read_tiff(bytes, out);
    case IMAGE_NONE:
        break;
    }
    return is_short_signature(bytes) ? -ENODATA : -EINVAL;
}

int image_size_read(struct slice bytes, struct image_size *out_size)
{
    struct image_size size = {.kind = image_size_kind(bytes)};
    int rc = read_kind(bytes, &size);

    if (rc == 0 && (!size.width || !size.height))
        rc = -EBADMSG;
    if (rc == 0)
        *out_size = size;
    return rc;
}

uint64_t image_size_pixels(const struct image_size *size)
{
    uint64_t pixels;

    return __builtin_mul_overflow(size->width, size->height, &pixels) ? UINT64_MAX : pixels;
}

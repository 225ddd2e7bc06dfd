/* image_size: tells from an image file's first bytes what it is and how many pixels it claims.
 *
 * No pixel is decoded: this stands before every decoder, so that a file that is no image, or a
 * small one that would unpack to gigabytes, is found at once. The Python runner keeps the same
 * rules (hotbunk_runner/images.py). Pure, any thread, safe on any bytes. */
#ifndef HOTBUNK_BASE_IMAGE_SIZE_H
#define HOTBUNK_BASE_IMAGE_SIZE_H

#include <stdint.h>

#include "base/mem.h"
#include "base/slice.h"

#define IMAGE_SIZE_KNOWN "PNG, JPEG, WebP, GIF, BMP or TIFF"

enum image_kind {
    IMAGE_NONE = 0, /* no known signature */
    IMAGE_PNG,
    IMAGE_JPEG,
    IMAGE_WEBP,
    IMAGE_GIF,
    IMAGE_BMP,
    IMAGE_TIFF, /* BigTIFF, too */
};

struct image_size {
    enum image_kind kind;
    uint64_t width, height; /* never 0 */
};

/* "PNG", …; "?" for none. */
const char *image_size_kind_name(enum image_kind kind);

/* By the whole signature only. */
enum image_kind image_size_kind(struct slice bytes);

/* 0; -EINVAL: not an image; -EBADMSG: an image whose header is damaged; -ENODATA: what was given
 * may be an image, but its size comes behind these bytes. */
int image_size_read(struct slice bytes, struct image_size *out_size) MUSTCHECK;

/* Width times height, or UINT64_MAX where that is too large. */
uint64_t image_size_pixels(const struct image_size *size);

#endif

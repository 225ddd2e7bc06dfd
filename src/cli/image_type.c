/* The media type of a picture. Only a hint: the worker decodes the bytes and has the last word. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "cli/work.h"

#define IMAGE_HEAD_BYTES 16

static const struct {
    const char *magic;
    size_t offset, len;
    const char *type;
} MAGICS[] = {
    {"\x89PNG\r\n\x1a\n", 0, 8, "image/png"},
    {"\xff\xd8\xff", 0, 3, "image/jpeg"},
    {"WEBP", 8, 4, "image/webp"},
    {"GIF8", 0, 4, "image/gif"},
    {"BM", 0, 2, "image/bmp"},
    {"II*\0", 0, 4, "image/tiff"},
    {"MM\0*", 0, 4, "image/tiff"},
    {"ftypavif", 4, 8, "image/avif"},
    {"ftypheic", 4, 8, "image/heic"},
};

static const struct {
    const char *suffix, *type;
} SUFFIXES[] = {
    {".png", "image/png"}, {".jpg", "image/jpeg"}, {".jpeg", "image/jpeg"}, {".webp", "image/webp"},
    {".gif", "image/gif"}, {".bmp", "image/bmp"},  {".tif", "image/tiff"},  {".tiff", "image/tiff"},
};

static const char *type_of_name(const char *path)
{
    struct slice name = slice_str(path);

    for (size_t i = 0; i < ARRAY_LEN(SUFFIXES); i++) {
        size_t len = strlen(SUFFIXES[i].suffix);
        if (name.len > len && slice_ieq_str(slice_skip(name, name.len - len), SUFFIXES[i].suffix))
            return SUFFIXES[i].type;
    }
    return "application/octet-stream"; /* the daemon says what it thinks of that */
}

const char *image_type_of(const char *path, struct err *err)
{
    char head[IMAGE_HEAD_BYTES];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not block here */
    ssize_t got = fd < 0 ? -1 : read(fd, head, sizeof(head));

    if (got < 0)
        (void)err_set(err, -EINVAL, "cannot read %s: %s", path, strerror(errno));
    if (fd >= 0)
        (void)close(fd); /* it was only read */
    if (got < 0)
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(MAGICS); i++) {
        size_t end = MAGICS[i].offset + MAGICS[i].len;
        if ((size_t)got >= end &&
            memcmp(head + MAGICS[i].offset, MAGICS[i].magic, MAGICS[i].len) == 0)
            return MAGICS[i].type;
    }
    return type_of_name(path);
}

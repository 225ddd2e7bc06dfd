/* fuzz_image_size: any bytes. A size is never 0, and more bytes never turn "no image" or a size
 * into something else. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/image_size.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool is_true)
{
    if (!is_true)
        abort();
}

static int read_first(const uint8_t *data, size_t len, struct image_size *out)
{
    /* A block of its own: one byte too far is seen. */
    char *copy = mem_resize(NULL, len + 1);
    struct slice bytes = slice_of(copy + 1, len);
    int rc;

    if (len)
        memcpy(copy + 1, data, len);
    rc = image_size_read(bytes, out);
    require(rc == 0 || rc == -EINVAL || rc == -EBADMSG || rc == -ENODATA);
    require(rc != 0 || (out->width && out->height && out->kind == image_size_kind(bytes)));
    require(rc != 0 || image_size_pixels(out) >= out->width);
    mem_free(copy);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct image_size whole = {0}, part = {0};
    int rc = read_first(data, size, &whole);
    int cut = size ? read_first(data, size / 2, &part) : -ENODATA;

    if (cut == -ENODATA)
        return 0;
    require(cut == rc);
    if (rc == 0)
        require(whole.width == part.width && whole.height == part.height);
    return 0;
}

/* fuzz_multipart: a form body with the boundary "XbX"; the first byte says where it is cut. What
 * the parser tells must not depend on cuts. */
#include <stdint.h>
#include <stdlib.h>

#include "net/multipart.h"

#define TOLD_MAX (4u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool is_true)
{
    if (!is_true)
        abort();
}

static int part_cb(void *data, struct slice name, const struct slice *filename, struct slice type)
{
    require(name.len <= MULTIPART_NAME_MAX);
    require(!filename || filename->len <= MULTIPART_FILENAME_MAX);
    return buf_printf(data, "[%zu|%zu|%zu:", name.len, filename ? filename->len : 0, type.len);
}

static int data_cb(void *data, struct slice bytes)
{
    require(bytes.len > 0);
    return buf_add_slice(data, bytes);
}

static int end_cb(void *data)
{
    return buf_add_char(data, ']');
}

static int run(struct slice in, size_t step, struct buf *told)
{
    static const struct multipart_events events = {part_cb, data_cb, end_cb};
    struct multipart *mp = multipart_new(slice_str("multipart/form-data; boundary=XbX"), &events,
                                         told, NULL);
    int rc = 0;

    while (rc == 0 && in.len) {
        struct slice piece = slice_of(in.ptr, in.len < step ? in.len : step);
        rc = multipart_feed(mp, piece, NULL);
        in = slice_skip(in, piece.len);
    }
    if (rc == 0)
        rc = multipart_finish(mp, NULL);
    multipart_free(mp);
    return rc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf whole, cut;
    struct slice in;
    int rc;

    if (size < 2)
        return 0;
    in = slice_of((const char *)data + 1, size - 1);
    buf_init(&whole, TOLD_MAX);
    buf_init(&cut, TOLD_MAX);
    rc = run(in, in.len, &whole);
    require(run(in, (size_t)data[0] % 64 + 1, &cut) == rc);
    if (rc == 0)
        require(slice_eq(buf_slice(&whole), buf_slice(&cut)));
    buf_fini(&whole);
    buf_fini(&cut);
    return 0;
}

/* fuzz_http: a request, head and body, through guard, llhttp and access.
 *
 * The first byte of the input says where it is cut. What the guard says must not depend on cuts,
 * what it lets through must be free of the bytes that smuggle, and the payload of a chunked body
 * must come out the same. */
#include <stdlib.h>

#include "net/access.h"
#include "net/guard.h"
#include "net/head.h"

#define PAYLOAD_MAX (1u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool is_true)
{
    if (!is_true)
        abort();
}

/* Gives the head in pieces of `step` bytes. */
static int scan(struct slice bytes, size_t step)
{
    struct guard_head guard = {0};
    const char *why = NULL;
    int rc = 0;

    for (size_t len = step; rc == 0 && len < bytes.len; len += step)
        rc = guard_head_scan(&guard, slice_of(bytes.ptr, len), &why);
    return rc ? rc : guard_head_scan(&guard, bytes, &why);
}

/* 1 = complete, 0 = more, negative = refused; the payload in `out`. */
static int decode(struct slice in, size_t step, struct buf *out)
{
    struct guard_chunk chunk = {0};
    const char *why = NULL;
    int rc = 0;

    buf_reset(out);
    while (rc == 0 && in.len) {
        struct slice piece = slice_of(in.ptr, in.len < step ? in.len : step);
        while (rc == 0 && piece.len) {
            struct slice payload;
            size_t used;
            rc = guard_chunk_step(&chunk, piece, &used, &payload, &why);
            if (rc < 0)
                return rc;
            require(used <= piece.len && payload.len <= used);
            if (buf_add_slice(out, payload) != 0)
                return rc;
            piece = slice_skip(piece, used);
            in = slice_skip(in, used);
        }
    }
    return rc;
}

static void check_body(struct slice body, size_t step)
{
    struct buf whole, cut;

    buf_init(&whole, PAYLOAD_MAX);
    buf_init(&cut, PAYLOAD_MAX);
    require(decode(body, body.len ? body.len : 1, &whole) == decode(body, step, &cut));
    require(slice_eq(buf_slice(&whole), buf_slice(&cut)));
    buf_fini(&whole);
    buf_fini(&cut);
}

static void check_head(const struct http_head *head, struct slice bytes)
{
    const struct access_policy policy = {.is_modly = true, .listen_host = "127.0.0.1", .key = "k"};
    struct buf value;

    require(slice_find(bytes, slice_of("\0", 1)) == bytes.len);
    require(head->field_count <= HTTP_FIELDS_MAX);
    require(head->minor == 0 || head->host.ptr);
    require(!(head->is_chunked && head->content_length));
    require(!head->is_chunked || head->minor == 1);
    require(memchr(head->path.ptr, 0, head->path.len) == NULL);
    (void)access_check(&policy, head, "127.0.0.1");
    buf_init(&value, 1024);
    (void)!http_query_get(head->query, "a", &value);
    for (size_t i = 0; i < head->field_count; i++)
        (void)!http_param_get(head->fields[i].value, "name", &value);
    buf_fini(&value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct http_head head;
    const char *why = NULL;
    struct slice bytes;
    size_t step;
    int len;

    if (size < 2)
        return 0;
    step = (size_t)data[0] % 64 + 1;
    bytes = slice_of((const char *)data + 1, size - 1);
    len = scan(bytes, bytes.len);
    require(scan(bytes, step) == len);
    if (len <= 0)
        return 0;
    if (head_parse(slice_of(bytes.ptr, (size_t)len), &head, &why) != 0) {
        require(why != NULL);
        return 0;
    }
    check_head(&head, slice_of(bytes.ptr, (size_t)len));
    if (head.is_chunked)
        check_body(slice_skip(bytes, (size_t)len), step);
    return 0;
}

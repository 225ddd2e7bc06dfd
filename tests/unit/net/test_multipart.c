#include "net/multipart.h"

#include <errno.h>

#include "cmocka_all.h"

#define TYPE "multipart/form-data; boundary=XbX"

/* What the parser tells, as one text: "[name|filename|type:data]". */
static struct buf told;
static struct err err;

static int part_cb(void *data, struct slice name, const struct slice *filename, struct slice type)
{
    (void)data;
    return buf_printf(&told, "[%.*s|%.*s|%.*s:", SLICE_ARG(name), filename ? (int)filename->len : 1,
                      filename ? filename->ptr : "-", SLICE_ARG(type));
}

static int data_cb(void *data, struct slice bytes)
{
    (void)data;
    return buf_add_slice(&told, bytes);
}

static int end_cb(void *data)
{
    (void)data;
    return buf_add_char(&told, ']');
}

static const struct multipart_events events = {part_cb, data_cb, end_cb};

/* Feeds `text` in two pieces, cut at `cut`. */
static int run(const char *type, struct slice text, size_t cut)
{
    struct multipart *mp;
    int rc;

    buf_reset(&told);
    mp = multipart_new(slice_str(type), &events, NULL, &err);
    if (!mp)
        return -EINVAL;
    rc = multipart_feed(mp, slice_of(text.ptr, cut), &err);
    if (rc == 0)
        rc = multipart_feed(mp, slice_skip(text, cut), &err);
    if (rc == 0)
        rc = multipart_finish(mp, &err);
    multipart_free(mp);
    return rc;
}

static const char message[] =
    "--XbX\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n"
    "--XbX\r\ncontent-disposition: form-data; name=\"f\"; filename=\"x.png\"\r\n"
    "Content-Type: image/png\r\n\r\n\r\n--Xb\r\r\n\r\n--XcX\r\n--XbX\r\n"
    "Content-Disposition: form-data; name=e\r\n\r\n\r\n--XbX--\r\n";

static void parts_are_the_same_at_every_cut(void **state)
{
    struct slice text = slice_of(message, sizeof(message) - 1);

    (void)state;
    for (size_t cut = 0; cut <= text.len; cut++) {
        assert_int_equal(run(TYPE, text, cut), 0);
        assert_string_equal(buf_str(&told), "[a|-|:1][f|x.png|image/png:\r\n--Xb\r\r\n\r\n--XcX]"
                                            "[e|-|:]");
    }
}

static void parts_are_the_same_byte_by_byte(void **state)
{
    struct multipart *mp = multipart_new(slice_str(TYPE), &events, NULL, &err);

    (void)state;
    buf_reset(&told);
    for (size_t i = 0; i < sizeof(message) - 1; i++)
        assert_int_equal(multipart_feed(mp, slice_of(message + i, 1), &err), 0);
    assert_int_equal(multipart_finish(mp, &err), 0);
    assert_true(slice_starts_with(buf_slice(&told), "[a|-|:1][f|x.png|image/png:\r\n--Xb\r\r\n"));
    multipart_free(mp);
}

#define NAMED_A "--XbX\r\nContent-Disposition: form-data; name=a\r\n"
#define PART    "--XbX\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n"

static void malformed_bodies_are_refused_at_every_cut(void **state)
{
    static const char *const bad[] = {
        "",
        "x" PART "--XbX--",
        PART,
        PART "--XbX-",
        PART "--XbX-x",
        PART "--XbXx",
        PART "--XbX\n",
        PART "--XbX\rx",
        "--XbY\r\n",
        "--XbX\r\nC\r\n\r\n1\r\n--XbX--", /* a head line shorter than its end */
        "--XbX\r\n\r\n1\r\n--XbX--",
        "--XbX\r\nContent-Type: text/plain\r\n\r\n1\r\n--XbX--",
        "--XbX\r\nContent-Disposition: attachment; name=a\r\n\r\n1\r\n--XbX--",
        "--XbX\r\nContent-Disposition: form-data\r\n\r\n1\r\n--XbX--",
        "--XbX\r\nContent-Disposition: form-data; name=\"a\r\n\r\n1\r\n--XbX--",
        "--XbX\r\nContent-Disposition: form-data;\r\n name=a\r\n\r\n1\r\n--XbX--",
        "--XbX\nContent-Disposition: form-data; name=a\n\n1\n--XbX--",
        "--XbX\r\nContent-Disposition: form-data; name=a\n\r\n1\r\n--XbX--",
        NAMED_A "Content-Disposition: form-data; name=b\r\n\r\n1\r\n--XbX--",
        NAMED_A "Content-Transfer-Encoding: base64\r\n\r\nMQ==\r\n--XbX--",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        for (size_t cut = 0; cut <= strlen(bad[i]); cut++) {
            int rc = run(TYPE, slice_str(bad[i]), cut);
            if (rc != -EBADMSG)
                fail_msg("row %zu cut at %zu: %d", i, cut, rc);
        }
    }
}

/* 71 bytes */
#define TOO_LONG                                                                                   \
    "multipart/form-data; "                                                                        \
    "boundary=0123456789012345678901234567890123456789012345678901234567890123456789x"

static void boundary_must_be_valid(void **state)
{
    static const char *const bad[] = {
        "multipart/form-data",
        "multipart/form-data; boundary=",
        "multipart/mixed; boundary=XbX",
        "multipart/form-data; boundary=\"a b \"",
        "multipart/form-data; boundary=\"a\\\\b\"",
        "multipart/form-data; boundary=a; boundary=b",
        "text/plain",
        "",
        TOO_LONG, /* NOLINT(bugprone-suspicious-missing-comma): one long literal */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        if (run(bad[i], slice_str(message), 0) != -EINVAL)
            fail_msg("accepted: %s", bad[i]);
    }
    assert_int_equal(run("Multipart/Form-Data;boundary=\"XbX\"", slice_str(message), 0), 0);
}

static void limits_are_kept(void **state)
{
    struct buf text;

    (void)state;
    buf_init(&text, 1u << 20);
    for (int i = 0; i < MULTIPART_PARTS_MAX; i++)
        assert_int_equal(buf_add_str(&text, PART), 0);
    assert_int_equal(buf_add_str(&text, "--XbX--"), 0);
    assert_int_equal(run(TYPE, buf_slice(&text), 0), 0);
    text.len -= strlen("--XbX--");
    assert_int_equal(buf_add_str(&text, PART "--XbX--"), 0);
    assert_int_equal(run(TYPE, buf_slice(&text), 0), -EMSGSIZE);
    buf_reset(&text);
    assert_int_equal(buf_add_str(&text, "--XbX\r\nX: "), 0);
    for (int i = 0; i < MULTIPART_HEAD_MAX_BYTES; i++)
        assert_int_equal(buf_add_char(&text, 'y'), 0);
    assert_int_equal(run(TYPE, buf_slice(&text), 0), -EMSGSIZE);
    buf_fini(&text);
}

static int set_up(void **state)
{
    (void)state;
    buf_init(&told, 1u << 20);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    buf_fini(&told);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_the_same_at_every_cut),
        cmocka_unit_test(parts_are_the_same_byte_by_byte),
        cmocka_unit_test(malformed_bodies_are_refused_at_every_cut),
        cmocka_unit_test(boundary_must_be_valid),
        cmocka_unit_test(limits_are_kept),
    };

    return cmocka_run_group_tests_name("net/multipart", tests, set_up, tear_down);
}

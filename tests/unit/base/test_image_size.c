#include "unit.h"

#include <errno.h>

#include "base/image_size.h"

#define BYTES(text)                                                                                \
    {                                                                                              \
        text, sizeof(text) - 1                                                                     \
    }
#define RIFF "RIFF\0\0\0\0WEBP"
#define SIX  "\0\0\0\0\0\0"

struct image_case {
    struct slice in;
    enum image_kind kind;
    uint64_t width, height;
};

static const struct image_case GOOD[] = {
    {BYTES("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\2\0\0\3\4"), IMAGE_PNG, 0x102, 0x304},
    {BYTES("GIF87a\2\1\4\3"), IMAGE_GIF, 0x102, 0x304},
    {BYTES("GIF89a\2\1\4\3"), IMAGE_GIF, 0x102, 0x304},
    {BYTES("BM" SIX SIX "\x28\0\0\0\2\1\0\0\4\3\0\0"), IMAGE_BMP, 0x102, 0x304},
    {BYTES("BM" SIX SIX "\x28\0\0\0\2\1\0\0\xff\xff\xff\xff"), IMAGE_BMP, 0x102, 1},
    {BYTES("BM" SIX SIX "\x28\0\0\0\1\0\0\0\0\0\0\x80"), IMAGE_BMP, 1, 0x80000000},
    {BYTES("BM" SIX SIX "\x0c\0\0\0\2\1\4\3"), IMAGE_BMP, 0x102, 0x304},
    {BYTES(RIFF "VP8 " SIX "\0\0\0\0\2\xc1\4\x43"), IMAGE_WEBP, 0x102, 0x304},
    {BYTES(RIFF "VP8L\0\0\0\0\x2f\1\x80\2\0"), IMAGE_WEBP, 2, 11},
    {BYTES(RIFF "VP8X" SIX "\0\0\1\2\0\3\4\0"), IMAGE_WEBP, 0x202, 0x404},
    {BYTES("\xff\xd8\xff\xc0\0\x11\x08\3\4\1\2"), IMAGE_JPEG, 0x102, 0x304},
    {BYTES("\xff\xd8\xff\xe1\0\4ab\xff\xff\xc2\0\x11\x08\3\4\1\2"), IMAGE_JPEG, 0x102, 0x304},
    {BYTES("\xff\xd8\xff\xd0\xff\xfe\0\0\xff\xc4\0\2\xff\xcf\0\x11\x08\0\1\0\2"), IMAGE_JPEG, 2, 1},
    {BYTES("II*\0\x08\0\0\0\2\0\0\1\3\0\1\0\0\0\2\1\xee\xee\1\1\4\0\1\0\0\0\4\3\0\0"), IMAGE_TIFF,
     0x102, 0x304},
    {BYTES("MM\0*\0\0\0\x08\0\3\0\xfe\0\4\0\0\0\1\0\0\0\0\1\0\0\3\0\0\0\1\1\2\xee\xee"
           "\1\1\0\4\0\0\0\1\0\0\3\4"),
     IMAGE_TIFF, 0x102, 0x304},
    {BYTES("II+\0\x08\0\0\0\x10\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0"
           "\0\1\x10\0\1\0\0\0\0\0\0\0\2\1\0\0\0\0\0\1"
           "\1\1\3\0\1\0\0\0\0\0\0\0\4\3\0\0\0\0\0\0"),
     IMAGE_TIFF, 0x0100000000000102, 0x304},
};

static void each_kind_tells_its_size(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(GOOD); i++) {
        struct image_size size = {0};
        int rc = image_size_read(GOOD[i].in, &size);
        if (rc != 0 || size.kind != GOOD[i].kind || size.width != GOOD[i].width ||
            size.height != GOOD[i].height)
            fail_msg("case %zu: rc=%d kind=%d %llu x %llu", i, rc, (int)size.kind,
                     (unsigned long long)size.width, (unsigned long long)size.height);
    }
}

/* In blocks of their very length, so that a sanitizer sees one byte too far. */
static void every_shorter_header_asks_for_more(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(GOOD); i++) {
        for (size_t len = 0; len < GOOD[i].in.len; len++) {
            char *bytes = mem_resize(NULL, len + 1);
            struct image_size size = {.width = 7};
            int rc;
            memcpy(bytes + 1, GOOD[i].in.ptr, len);
            rc = image_size_read(slice_of(bytes + 1, len), &size);
            mem_free(bytes);
            if (rc == 0 && size.kind == IMAGE_TIFF)
                continue; /* what follows a number of two bytes is padding */
            if (rc != -ENODATA || size.width != 7)
                fail_msg("case %zu cut at %zu: rc=%d", i, len, rc);
        }
    }
}

static void what_has_no_signature_is_no_image(void **state)
{
    static const struct slice CASES[] = {
        BYTES("hello"),
        BYTES("%PDF-1.7"),
        BYTES("\x89PNX"),
        BYTES("GIF88a\1\0\1\0"),
        BYTES("RIFF\0\0\0\0WAVE"),
        BYTES("RIFF\0\0\0\0WAV"),
        BYTES("II*\1"),
        BYTES("\xff\xd8\xfe"),
        BYTES("\0\0\0\x1c"
              "ftypavif"),
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct image_size size;
        if (image_size_read(CASES[i], &size) != -EINVAL)
            fail_msg("case %zu", i);
        assert_int_equal(image_size_kind(CASES[i]), IMAGE_NONE);
    }
}

static void a_damaged_header_is_told_from_a_short_one(void **state)
{
    static const struct slice CASES[] = {
        BYTES("\x89PNG\r\n\x1a\n\0\0\0\rIHDX\0\0\0\1\0\0\0\1"),   /* another chunk */
        BYTES("\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\0\0\0\0\1"),   /* width 0 */
        BYTES("GIF89a\1\0\0\0"),                                  /* height 0 */
        BYTES("BM" SIX SIX "\x28\0\0\0\xff\xff\xff\xff\1\0\0\0"), /* width -1 */
        BYTES("\xff\xd8\xff\xe0\0\2junk"),                        /* no marker */
        BYTES("\xff\xd8\xff\xd9"),                                /* ends at once */
        BYTES("\xff\xd8\xff\xda\0\2"),                            /* pixels at once */
        BYTES("\xff\xd8\xff\xc0\0\x11\x08\0\0\0\1"),              /* height 0 */
        BYTES("II*\0\x08\0\0\0\0\0"),                             /* an empty directory */
        BYTES("MM\0*\0\0\0\x08\0\1\1\0\0\4\0\0\0\1\0\0\0\1"),     /* no height */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct image_size size;
        int rc = image_size_read(CASES[i], &size);
        if (rc != -EBADMSG)
            fail_msg("case %zu: rc=%d", i, rc);
        assert_int_not_equal(image_size_kind(CASES[i]), IMAGE_NONE);
    }
}

static void a_directory_behind_the_bytes_asks_for_more(void **state)
{
    static const struct slice CASES[] = {
        BYTES("II*\0\xff\xff\xff\xff\1\0"),
        BYTES("MM\0+\0\x08\0\0\xff\xff\xff\xff\xff\xff\xff\xff"),
        BYTES("MM\0+\0\x08\0\0\0\0\0\0\0\0\0\x10\xff\xff\xff\xff\xff\xff\xff\xff"),
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct image_size size;
        assert_int_equal(image_size_read(CASES[i], &size), -ENODATA);
    }
}

static void a_jpeg_of_endless_segments_is_given_up(void **state)
{
    enum { LEN = 2 * 5000 };
    char *bytes = mem_resize(NULL, LEN);
    struct image_size size;

    (void)state;
    for (size_t i = 0; i < LEN; i += 2)
        memcpy(bytes + i, "\xff\xd8", 2);
    assert_int_equal(image_size_read(slice_of(bytes, LEN), &size), -EBADMSG);
    mem_free(bytes);
}

static void too_many_pixels_to_count_are_the_most(void **state)
{
    struct image_size size = {IMAGE_TIFF, UINT64_MAX, 2};

    (void)state;
    assert_true(image_size_pixels(&size) == UINT64_MAX);
    size = (struct image_size){IMAGE_PNG, 7000, 6000};
    assert_true(image_size_pixels(&size) == 42000000);
}

static void kinds_have_names(void **state)
{
    (void)state;
    assert_string_equal(image_size_kind_name(IMAGE_PNG), "PNG");
    assert_string_equal(image_size_kind_name(IMAGE_TIFF), "TIFF");
    assert_string_equal(image_size_kind_name(IMAGE_NONE), "?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_kind_tells_its_size),
        cmocka_unit_test(every_shorter_header_asks_for_more),
        cmocka_unit_test(what_has_no_signature_is_no_image),
        cmocka_unit_test(a_damaged_header_is_told_from_a_short_one),
        cmocka_unit_test(a_directory_behind_the_bytes_asks_for_more),
        cmocka_unit_test(a_jpeg_of_endless_segments_is_given_up),
        cmocka_unit_test(too_many_pixels_to_count_are_the_most),
        cmocka_unit_test(kinds_have_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

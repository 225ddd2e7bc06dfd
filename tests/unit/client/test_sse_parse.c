/* The event stream parser: what a browser's would give, in pieces of any size. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>
#include <errno.h>

#include "client/sse_parse.h"

struct reader {
    struct sse_parse parse;
    struct buf seen; /* "type|id|data;" of each event */
    unsigned stop_after;
};

static int on_event(void *user, const struct sse_event *event)
{
    struct reader *reader = user;

    assert_int_equal(buf_printf(&reader->seen, "%.*s|%.*s|%.*s;", SLICE_ARG(event->type),
                                SLICE_ARG(event->id), SLICE_ARG(event->data)),
                     0);
    return reader->stop_after && --reader->stop_after == 0 ? 7 : 0;
}

static int setup(void **state)
{
    struct reader *reader = mem_new(1, sizeof(*reader));

    sse_parse_init(&reader->parse, on_event, reader);
    buf_init(&reader->seen, 4u << 20);
    *state = reader;
    return 0;
}

static int teardown(void **state)
{
    struct reader *reader = *state;

    sse_parse_fini(&reader->parse);
    buf_fini(&reader->seen);
    mem_free(reader);
    return 0;
}

static int feed(struct reader *reader, const char *text)
{
    return sse_parse_feed(&reader->parse, slice_str(text));
}

static void an_event_has_type_id_and_data(void **state)
{
    struct reader *reader = *state;

    assert_int_equal(feed(reader, "event: job\nid: 12\ndata: {\"a\":1}\n\n"), 0);
    assert_string_equal(buf_str(&reader->seen), "job|12|{\"a\":1};");
}

static void pieces_of_one_byte_give_the_same(void **state)
{
    static const char text[] =
        "\xEF\xBB\xBF"
        "event: a\r\ndata: 1\r\ndata: 2\r\n\r\nid:3\rdata\r\r:x\n\ndata:4\n\n";
    struct reader *reader = *state;

    for (size_t i = 0; i + 1 < sizeof(text); i++)
        assert_int_equal(sse_parse_feed(&reader->parse, slice_of(text + i, 1)), 0);
    assert_string_equal(buf_str(&reader->seen), "a||1\n2;message|3|;message|3|4;");
}

static void the_id_stays_until_a_new_one_comes(void **state)
{
    struct reader *reader = *state;

    assert_int_equal(feed(reader, "id: 7\ndata: x\n\ndata: y\n\nid\ndata: z\n\n"), 0);
    assert_string_equal(buf_str(&reader->seen), "message|7|x;message|7|y;message||z;");
}

static void comments_unknown_fields_and_events_without_data_are_ignored(void **state)
{
    struct reader *reader = *state;

    assert_int_equal(feed(reader, ": keep\n\nevent: none\n\nretry: 5\nfoo: bar\nname\n\n"), 0);
    assert_string_equal(buf_str(&reader->seen), "");
}

static void only_one_space_is_dropped_behind_the_colon(void **state)
{
    struct reader *reader = *state;

    assert_int_equal(feed(reader, "data:  two\n\ndata:none: more\n\n"), 0);
    assert_string_equal(buf_str(&reader->seen), "message|| two;message||none: more;");
}

static void an_event_that_the_end_cuts_off_is_dropped(void **state)
{
    struct reader *reader = *state;

    assert_int_equal(feed(reader, "data: whole\n\ndata: half\n"), 0);
    assert_string_equal(buf_str(&reader->seen), "message||whole;");
}

static void an_id_with_a_nul_is_ignored(void **state)
{
    struct reader *reader = *state;
    static const char text[] = "id: a\0b\ndata: x\n\n";

    assert_int_equal(sse_parse_feed(&reader->parse, slice_of(text, sizeof(text) - 1)), 0);
    assert_string_equal(buf_str(&reader->seen), "message||x;");
}

static void the_reader_can_stop_the_stream(void **state)
{
    struct reader *reader = *state;

    reader->stop_after = 2;
    assert_int_equal(feed(reader, "data: 1\n\ndata: 2\n\ndata: 3\n\n"), 7);
    assert_string_equal(buf_str(&reader->seen), "message||1;message||2;");
}

static void a_line_over_the_maximum_ends_it_for_good(void **state)
{
    struct reader *reader = *state;
    struct buf line;

    buf_init(&line, SSE_PARSE_LINE_MAX + 16);
    for (size_t i = 0; i < SSE_PARSE_LINE_MAX + 1; i++)
        assert_int_equal(buf_add_char(&line, 'x'), 0);
    assert_int_equal(sse_parse_feed(&reader->parse, buf_slice(&line)), -EMSGSIZE);
    assert_int_equal(feed(reader, "\n\ndata: 1\n\n"), -EMSGSIZE);
    assert_string_equal(buf_str(&reader->seen), "");
    buf_fini(&line);
}

static void data_over_the_maximum_is_refused(void **state)
{
    struct reader *reader = *state;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < SSE_PARSE_DATA_MAX; i++)
        rc = feed(reader,
                  "data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n");
    assert_int_equal(rc, -EMSGSIZE);
}

/* A small deterministic fuzz: no input may break it, whatever the pieces. */
static void random_bytes_in_random_pieces_are_harmless(void **state)
{
    static const char alphabet[] = "dataeventid:\r\n \n\r:\xEF\xBB\xBF\0\x80";
    struct reader *reader = *state;
    uint32_t seed = 1;
    char bytes[64];

    for (unsigned round = 0; round < 20000; round++) {
        size_t len = (seed >> 8) % sizeof(bytes);
        for (size_t i = 0; i < len; i++) {
            seed = seed * 1664525u + 1013904223u;
            bytes[i] = alphabet[(seed >> 16) % (sizeof(alphabet) - 1)];
        }
        seed = seed * 1664525u + 1013904223u;
        if (sse_parse_feed(&reader->parse, slice_of(bytes, len)) != 0) {
            sse_parse_fini(&reader->parse);
            sse_parse_init(&reader->parse, on_event, reader);
        }
        buf_reset(&reader->seen);
    }
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(an_event_has_type_id_and_data),
        CASE(pieces_of_one_byte_give_the_same),
        CASE(the_id_stays_until_a_new_one_comes),
        CASE(comments_unknown_fields_and_events_without_data_are_ignored),
        CASE(only_one_space_is_dropped_behind_the_colon),
        CASE(an_event_that_the_end_cuts_off_is_dropped),
        CASE(an_id_with_a_nul_is_ignored),
        CASE(the_reader_can_stop_the_stream),
        CASE(a_line_over_the_maximum_ends_it_for_good),
        CASE(data_over_the_maximum_is_refused),
        CASE(random_bytes_in_random_pieces_are_harmless),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

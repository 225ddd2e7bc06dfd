/* message: what counts as one, and the lines that are written. */
#include "unit.h"

#include <errno.h>

#include "worker/message.h"

struct parse_row {
    const char *line;
    enum message_type type; /* NONE: no message */
    const char *id;
};

static const struct parse_row ROWS[] = {
    {"{\"type\":\"ready\"}", MESSAGE_READY, NULL},
    {"{\"type\":\"loaded\",\"id\":\"load\"}", MESSAGE_LOADED, "load"},
    {"{\"type\":\"progress\",\"id\":\"j\",\"pct\":3}", MESSAGE_PROGRESS, "j"},
    {"{ \"id\" : \"j\" , \"type\" : \"done\" }", MESSAGE_DONE, "j"},
    {"{\"type\":\"cancelled\",\"id\":\"j\"}", MESSAGE_CANCELLED, "j"},
    {"{\"type\":\"error\",\"id\":null}", MESSAGE_ERROR, NULL},
    {"{\"type\":\"error\",\"id\":7}", MESSAGE_ERROR, NULL},
    {"{\"type\":\"unloaded\"}", MESSAGE_UNLOADED, NULL},
    {"{\"type\":\"heartbeat\"}", MESSAGE_HEARTBEAT, NULL},
    {"{\"type\":\"log\",\"message\":\"x\"}", MESSAGE_LOG, NULL},
    /* no messages */
    {"", MESSAGE_NONE, NULL},
    {"null", MESSAGE_NONE, NULL},
    {"42", MESSAGE_NONE, NULL},
    {"[{\"type\":\"done\"}]", MESSAGE_NONE, NULL},
    {"\"done\"", MESSAGE_NONE, NULL},
    {"a stray print", MESSAGE_NONE, NULL},
    {" {\"type\":\"done\"}", MESSAGE_NONE, NULL},
    {"\xef\xbb\xbf{\"type\":\"done\"}", MESSAGE_NONE, NULL},
    {"{}", MESSAGE_NONE, NULL},
    {"{\"type\":7}", MESSAGE_NONE, NULL},
    {"{\"type\":\"Done\"}", MESSAGE_NONE, NULL},
    {"{\"type\":\"no such type\"}", MESSAGE_NONE, NULL},
    {"{\"type\":\"done\"", MESSAGE_NONE, NULL},
    {"{\"type\":\"done\"}{\"type\":\"done\"}", MESSAGE_NONE, NULL},
    {"{\"type\":\"done\",\"type\":\"error\"}", MESSAGE_NONE, NULL},
    {"{\"type\":\"done\",\"x\":NaN}", MESSAGE_NONE, NULL},
    {"{\"type\":\"done\",\"x\":\"\xff\"}", MESSAGE_NONE, NULL},
    {"{\"type\":\"done\",\"x\":\"\\ud800\"}", MESSAGE_NONE, NULL},
};

static void test_case_086_only_objects_with_a_known_type_are_messages(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(ROWS); i++) {
        struct message message = {0};
        struct err err = {0};
        int rc = message_parse(slice_str(ROWS[i].line), &message, &err);
        if (ROWS[i].type == MESSAGE_NONE) {
            assert_int_equal(rc, -EINVAL);
            assert_true(err.msg[0] != '\0');
            assert_null(message.root);
            continue;
        }
        if (rc != 0)
            fail_msg("%s: %s", ROWS[i].line, err.msg);
        assert_int_equal(message.type, ROWS[i].type);
        if (ROWS[i].id)
            assert_string_equal(message.id, ROWS[i].id);
        else
            assert_null(message.id);
        message_fini(&message);
    }
}

static void test_case_086_deep_nesting_is_refused(void **state)
{
    struct message message = {0};
    struct buf line;

    (void)state;
    buf_init(&line, 65536);
    assert_int_equal(buf_add_str(&line, "{\"type\":\"done\",\"x\":"), 0);
    for (int i = 0; i < 10000; i++)
        assert_int_equal(buf_add_char(&line, '['), 0);
    assert_int_equal(message_parse(buf_slice(&line), &message, NULL), -EINVAL);
    buf_fini(&line);
}

static int percent_of(const char *line)
{
    struct message message;
    int percent;

    assert_int_equal(message_parse(slice_str(line), &message, NULL), 0);
    percent = message_percent(&message);
    message_fini(&message);
    return percent;
}

static void test_percent_is_kept_between_0_and_100(void **state)
{
    (void)state;
    assert_int_equal(percent_of("{\"type\":\"progress\",\"pct\":37}"), 37);
    assert_int_equal(percent_of("{\"type\":\"progress\",\"pct\":99.9}"), 99);
    assert_int_equal(percent_of("{\"type\":\"progress\",\"pct\":-4}"), 0);
    assert_int_equal(percent_of("{\"type\":\"progress\",\"pct\":1e300}"), 100);
    assert_int_equal(percent_of("{\"type\":\"progress\",\"pct\":\"50\"}"), 0);
    assert_int_equal(percent_of("{\"type\":\"progress\",\"pct\":null}"), 0);
    assert_int_equal(percent_of("{\"type\":\"progress\"}"), 0);
}

static void test_progress_is_recognised_without_parsing(void **state)
{
    (void)state;
    assert_true(message_looks_like_progress(slice_str("{\"type\":\"progress\",\"pct\":1}")));
    assert_true(message_looks_like_progress(slice_str("{\"type\": \"progress\"}")));
    assert_false(message_looks_like_progress(slice_str("{\"type\":\"done\"}")));
    assert_false(message_looks_like_progress(slice_str("{\"id\":\"a\",\"type\":\"progress\"}")));
    assert_false(message_looks_like_progress(slice_str("")));
}

static bool has_feature(const char *ready, const char *feature)
{
    struct message message;
    bool has;

    assert_int_equal(message_parse(slice_str(ready), &message, NULL), 0);
    has = message_has_feature(&message, feature);
    message_fini(&message);
    return has;
}

static void test_features_are_a_list_of_texts(void **state)
{
    (void)state;
    assert_true(
        has_feature("{\"type\":\"ready\",\"features\":[\"ids\",\"image_path\"]}", "image_path"));
    assert_false(has_feature("{\"type\":\"ready\",\"features\":[\"ids\"]}", "image_path"));
    assert_false(has_feature("{\"type\":\"ready\",\"features\":[7,null]}", "image_path"));
    assert_false(has_feature("{\"type\":\"ready\",\"features\":\"image_path\"}", "image_path"));
    assert_false(has_feature("{\"type\":\"ready\"}", "image_path"));
}

static void test_an_action_is_one_line(void **state)
{
    struct buf out;

    (void)state;
    buf_init(&out, 1024);
    assert_int_equal(message_add_action(&out, "load", "load"), 0);
    assert_int_equal(message_add_action(&out, "shutdown", NULL), 0);
    assert_string_equal(buf_str(&out), "{\"action\":\"load\",\"id\":\"load\"}\n"
                                       "{\"action\":\"shutdown\"}\n");
    buf_fini(&out);
}

static void test_generate_names_the_image_by_path(void **state)
{
    struct worker_job job = {.id = "j", .image_path = "/tmp/a b", .outputs_dir = "/out"};
    struct buf out;

    (void)state;
    buf_init(&out, 1024);
    assert_int_equal(message_add_generate(&out, &job, (struct slice){0}), 0);
    assert_string_equal(buf_str(&out),
                        "{\"action\":\"generate\",\"id\":\"j\",\"image_path\":\"/tmp/a b\","
                        "\"outputs_dir\":\"/out\",\"params\":{}}\n");
    buf_fini(&out);
}

static void test_generate_carries_the_image_inline_instead(void **state)
{
    struct worker_job job = {.id = "j", .image_path = "/tmp/a", .outputs_dir = "/out"};
    struct buf out;

    (void)state;
    buf_init(&out, 1024);
    assert_int_equal(message_add_generate(&out, &job, slice_str("QUJD")), 0);
    assert_contains(buf_str(&out), "\"image_b64\":\"QUJD\"");
    assert_lacks(buf_str(&out), "image_path");
    buf_fini(&out);
}

static void test_generate_escapes_text_and_keeps_params(void **state)
{
    struct worker_job job = {.id = "j", .text = "a \"b\"\n\x01\xff", .outputs_dir = "/out"};
    struct json_object *root = NULL;
    struct buf out;
    auto_json struct json_object *params = NULL;

    (void)state;
    assert_int_equal(json_parse_object(slice_str("{\"seed\":18446744073709551615}"), &params, NULL),
                     0);
    job.params = params;
    buf_init(&out, 1024);
    assert_int_equal(message_add_generate(&out, &job, (struct slice){0}), 0);
    assert_int_equal(slice_index(buf_slice(&out), '\n'), out.len - 1); /* one line */
    assert_int_equal(json_parse_object(slice_of(out.data, out.len - 1), &root, NULL), 0);
    assert_string_equal(json_get_str(root, "text"), "a \"b\"\n\x01\xef\xbf\xbd");
    assert_contains(buf_str(&out), "\"params\":{\"seed\":18446744073709551615}");
    json_object_put(root);
    buf_fini(&out);
}

static void test_a_request_over_the_maximum_is_refused(void **state)
{
    struct worker_job job = {.id = "j", .text = "0123456789", .outputs_dir = "/out"};
    struct buf out;

    (void)state;
    for (size_t max = 0; max < 80; max++) {
        buf_init(&out, max);
        assert_int_equal(message_add_generate(&out, &job, (struct slice){0}), -EMSGSIZE);
        buf_fini(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_case_086_only_objects_with_a_known_type_are_messages),
        cmocka_unit_test(test_case_086_deep_nesting_is_refused),
        cmocka_unit_test(test_percent_is_kept_between_0_and_100),
        cmocka_unit_test(test_progress_is_recognised_without_parsing),
        cmocka_unit_test(test_features_are_a_list_of_texts),
        cmocka_unit_test(test_an_action_is_one_line),
        cmocka_unit_test(test_generate_names_the_image_by_path),
        cmocka_unit_test(test_generate_carries_the_image_inline_instead),
        cmocka_unit_test(test_generate_escapes_text_and_keeps_params),
        cmocka_unit_test(test_a_request_over_the_maximum_is_refused),
    };

    return cmocka_run_group_tests_name("worker/message", tests, NULL, NULL);
}

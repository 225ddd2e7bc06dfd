#include "unit.h"

#include <errno.h>

#include "base/schema.h"

static const char *const COLOURS[] = {"red", "green", "blue", NULL};
static const struct schema COLOUR = {.types = SCHEMA_STRING, .values = COLOURS};
static const struct schema TEXT = {.types = SCHEMA_STRING, .len_min = 1, .len_max = 5};
static const struct schema COUNT = {.types = SCHEMA_INT, .min = 1, .max = 10};
static const struct schema RATIO = {.types = SCHEMA_NUMBER};
static const struct schema FLAG = {.types = SCHEMA_BOOL | SCHEMA_NULL};
static const struct schema TEXTS = {
    .types = SCHEMA_ARRAY, .items = &TEXT, .len_min = 1, .len_max = 3};
static const struct schema_member INNER_MEMBERS[] = {
    {"name", &TEXT, true}, {"colour", &COLOUR}, {NULL, NULL}};
static const struct schema INNER = {
    .types = SCHEMA_OBJECT, .members = INNER_MEMBERS, .is_closed = true};
static const struct schema INNERS = {.types = SCHEMA_ARRAY, .items = &INNER};
static const struct schema MAP = {.types = SCHEMA_OBJECT, .items = &COUNT};
static const struct schema EITHER = {.types = SCHEMA_STRING | SCHEMA_NUMBER};
static const struct schema_member MEMBERS[] = {
    {"count", &COUNT},   {"ratio", &RATIO}, {"flag", &FLAG},     {"texts", &TEXTS},
    {"inners", &INNERS}, {"map", &MAP},     {"either", &EITHER}, {NULL, NULL}};
static const struct schema ROOT = {.types = SCHEMA_OBJECT, .members = MEMBERS};

static int check(const char *json, struct schema_fault *fault, struct err *err)
{
    struct json_object *value = NULL;
    int rc;

    assert_int_equal(json_parse(slice_str(json), &value, NULL), 0);
    rc = schema_check(&ROOT, value, fault, err);
    json_object_put(value);
    return rc;
}

static void fitting_values_pass(void **state)
{
    static const char *const CASES[] = {
        "{}",
        "{\"count\":1}",
        "{\"count\":10,\"ratio\":1,\"flag\":true}",
        "{\"ratio\":-1.5}",
        "{\"flag\":null}",
        "{\"count\":null}", /* as if absent */
        "{\"texts\":[\"a\",\"abcde\"]}",
        "{\"inners\":[]}",
        "{\"inners\":[{\"name\":\"a\",\"colour\":\"blue\"}]}",
        "{\"map\":{\"x\":1,\"y\":null}}",
        "{\"either\":\"x\"}",
        "{\"either\":2.5}",
        "{\"unknown\":{\"anything\":[1]}}", /* the root is open */
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct err err = {0};
        if (check(CASES[i], NULL, &err) != 0)
            fail_msg("%s: %s", CASES[i], err.msg);
    }
}

static void faults_name_path_and_reason(void **state)
{
    static const struct {
        const char *json, *path, *msg;
        bool is_key;
    } CASES[] = {
        {"[]", "", "the text must be an object, but is an array", false},
        {"null", "", "the text must be an object, but is null", false},
        {"{\"count\":\"1\"}", "count", "count must be an integer, but is a string", false},
        {"{\"count\":1.5}", "count", "count must be an integer, but is a number", false},
        {"{\"count\":0}", "count", "count must be from 1 to 10, but is 0", false},
        {"{\"count\":11}", "count", "count must be from 1 to 10, but is 11", false},
        {"{\"ratio\":true}", "ratio", "ratio must be a number, but is true or false", false},
        {"{\"flag\":1}", "flag", "flag must be true or false or null, but is a number", false},
        {"{\"texts\":[]}", "texts", "texts must not be empty", false},
        {"{\"texts\":[\"a\",\"b\",\"c\",\"d\"]}", "texts", "texts has 4 items", false},
        {"{\"texts\":[\"a\",\"\"]}", "texts[1]", "texts[1] must not be empty", false},
        {"{\"texts\":[\"abcdef\"]}", "texts[0]", "longer than 5 bytes", false},
        {"{\"texts\":[null]}", "texts[0]", "texts[0] must be a string, but is null", false},
        {"{\"inners\":[{}]}", "inners[0]", "inners[0].name is missing", false},
        {"{\"inners\":[{\"name\":null}]}", "inners[0]", "inners[0].name is missing", false},
        {"{\"inners\":[{\"name\":\"a\"},{\"name\":\"b\",\"color\":\"red\"}]}", "inners[1].color",
         "unknown key inners[1].color; did you mean colour?", true},
        {"{\"inners\":[{\"name\":\"a\",\"colour\":\"gren\"}]}", "inners[0].colour",
         "cannot be \"gren\"; try \"green\"", false},
        {"{\"map\":{\"x\":99}}", "map.x", "map.x must be from 1 to 10", false},
        {"{\"either\":[]}", "either", "either must be a string or a number, but is an array",
         false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct schema_fault fault = {0};
        struct err err = {0};
        if (check(CASES[i].json, &fault, &err) != -EINVAL)
            fail_msg("passed: %s", CASES[i].json);
        assert_contains(err.msg, CASES[i].msg);
        assert_string_equal(fault.path, CASES[i].path);
        assert_int_equal(fault.is_key, CASES[i].is_key);
    }
}

static void long_paths_are_cut(void **state)
{
    struct json_object *root = json_object_new_object();
    struct schema_fault fault = {0};
    struct err err;
    char key[500];

    (void)state;
    memset(key, 'k', sizeof(key) - 1);
    key[sizeof(key) - 1] = '\0';
    json_put_str(root, key, "x");
    assert_int_equal(schema_check(&MAP, root, &fault, &err), -EINVAL);
    assert_int_equal(strlen(fault.path), SCHEMA_PATH_MAX - 1);
    json_object_put(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fitting_values_pass),
        cmocka_unit_test(faults_name_path_and_reason),
        cmocka_unit_test(long_paths_are_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* YAML in, JSON out, with places; what is refused. */
#include "unit.h"

#include <errno.h>

#include "catalog/yaml.h"

static void assert_yaml(const char *yaml, const char *json)
{
    struct yaml_file *file = NULL;
    struct err err = {0};

    if (yaml_file_parse(slice_str(yaml), "c.yaml", &file, &err) != 0)
        fail_msg("%s\n%s: %s", yaml, err.where, err.msg);
    assert_string_equal(yaml_file_root(file) ? json_text(yaml_file_root(file)) : "null", json);
    yaml_file_free(file);
}

static void assert_refused(const char *yaml, const char *where, const char *part)
{
    struct yaml_file *file = NULL;
    struct err err = {0};
    int rc = yaml_file_parse(slice_str(yaml), "c.yaml", &file, &err);

    if (rc == 0) {
        yaml_file_free(file);
        fail_msg("accepted: %s", yaml);
    }
    assert_int_equal(rc, -EINVAL);
    assert_string_equal(err.where, where);
    assert_contains(err.msg, part);
}

static void scalars_follow_the_strict_core_schema(void **state)
{
    static const struct {
        const char *yaml, *json;
    } CASES[] = {
        {"true", "true"},
        {"false", "false"},
        {"yes", "\"yes\""},
        {"on", "\"on\""},
        {"True", "\"True\""},
        {"n", "\"n\""},
        {"null", "null"},
        {"~", "null"},
        {"", "null"},
        {"0", "0"},
        {"-7", "-7"},
        {"+7", "7"},
        {"18446744073709551615", "18446744073709551615"},
        {"-9223372036854775808", "-9223372036854775808"},
        {"0777", "\"0777\""},
        {"0o17", "\"0o17\""},
        {"0x1f", "\"0x1f\""},
        {"1_000", "\"1_000\""},
        {"12:30:45", "\"12:30:45\""},
        {"12GB", "\"12GB\""},
        {"1.5GB", "\"1.5GB\""},
        {"1.5", "1.5"},
        {"1.", "1.0"},
        {"-0.25", "-0.25"},
        {"1e3", "1000.0"},
        {"1e", "\"1e\""},
        {".inf", "\".inf\""},
        {".nan", "\".nan\""},
        {"1.2.3", "\"1.2.3\""},
        {"2024-01-01", "\"2024-01-01\""},
        {"\"12\"", "\"12\""},
        {"'true'", "\"true\""},
        {"\"\"", "\"\""},
        {"\"h\\u00e9\"", "\"h\xc3\xa9\""},
        {"|\n a\n b\n", "\"a\\nb\\n\""},
        {">\n a\n b\n", "\"a b\\n\""},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
        assert_yaml(CASES[i].yaml, CASES[i].json);
}

static void collections_nest(void **state)
{
    (void)state;
    assert_yaml("a: 1\nb: [x, {c: d}]\ne:\n  - 1\n  - f: g\n",
                "{\"a\":1,\"b\":[\"x\",{\"c\":\"d\"}],\"e\":[1,{\"f\":\"g\"}]}");
    assert_yaml("{}", "{}");
    assert_yaml("1: a", "{\"1\":\"a\"}");
    assert_yaml("a:", "{\"a\":null}");
}

static void an_empty_file_has_no_root(void **state)
{
    (void)state;
    assert_yaml("", "null");
    assert_yaml("# only a comment\n", "null");
    assert_yaml("---\n", "null");
}

static void no_bytes_at_all_are_an_empty_file(void **state)
{
    struct yaml_file *file = NULL;

    (void)state;
    assert_int_equal(yaml_file_parse((struct slice){0}, "c.yaml", &file, NULL), 0);
    assert_null(yaml_file_root(file));
    yaml_file_free(file);
}

static void aliases_are_copies(void **state)
{
    struct yaml_file *file = NULL;
    struct json_object *root;

    (void)state;
    assert_int_equal(yaml_file_parse(slice_str("a: &x {k: 1}\nb: *x\n"), "c", &file, NULL), 0);
    root = yaml_file_root(file);
    assert_string_equal(json_text(root), "{\"a\":{\"k\":1},\"b\":{\"k\":1}}");
    assert_ptr_not_equal(json_get(root, "a"), json_get(root, "b"));
    yaml_file_free(file);
}

static void the_last_anchor_of_a_name_counts(void **state)
{
    (void)state;
    assert_yaml("[&a 1, *a, &a 2, *a]", "[1,1,2,2]");
    assert_yaml("[&a ~, *a]", "[null,null]");
}

static void what_is_refused_names_its_place(void **state)
{
    (void)state;
    assert_refused("a: 1\nb: 2\na: 3\n", "c.yaml:3:1", "a stands twice");
    assert_refused("a: !!int 1\n", "c.yaml:1:4", "tags");
    assert_refused("a: !x {b: 1}\n", "c.yaml:1:4", "tags");
    assert_refused("a: 1\n---\nb: 1\n", "c.yaml:2:1", "one document");
    assert_refused("a: *nope\n", "c.yaml:1:4", "unknown alias");
    assert_refused("a: &a [*a]\n", "c.yaml:1:8", "unknown alias");
    assert_refused("base: &b {x: 1}\nm:\n  <<: *b\n", "c.yaml:3:3", "merge keys");
    assert_refused("? [a]\n: b\n", "c.yaml:1:3", "plain word");
    assert_refused("a: \"x\\0y\"\n", "c.yaml:1:4", "NUL");
    assert_refused("\"x\\0y\": 1\n", "c.yaml:1:1", "NUL");
    assert_refused("a: 99999999999999999999\n", "c.yaml:1:4", "64 bits");
    assert_refused("a: 1e999\n", "c.yaml:1:4", "cannot be used");
    assert_refused("a: [1, 2\n", "c.yaml:2:1", "not valid YAML");
    assert_refused("a: b: c\n", "c.yaml:1:5", "not valid YAML");
    assert_refused("\tx: 1\n", "c.yaml:1:1", "not valid YAML");
}

static void bytes_that_are_not_utf8_are_refused(void **state)
{
    struct yaml_file *file = NULL;
    struct err err = {0};

    (void)state;
    assert_int_equal(yaml_file_parse(slice_str("a: \xff\n"), "c.yaml", &file, &err), -EINVAL);
    assert_contains(err.msg, "UTF-8");
}

static void nesting_is_bounded(void **state)
{
    char text[512];
    struct err err = {0};
    struct yaml_file *file = NULL;

    (void)state;
    memset(text, '[', 200);
    memset(text + 200, ']', 200);
    assert_int_equal(yaml_file_parse(slice_of(text, 400), "c", &file, &err), -EINVAL);
    assert_contains(err.msg, "nested too deeply");
}

/* Ten levels of ten aliases each would be 10^10 values. */
static void alias_expansion_is_bounded(void **state)
{
    struct yaml_file *file = NULL;
    struct err err = {0};
    struct buf text;

    (void)state;
    buf_init(&text, 65536);
    assert_int_equal(buf_add_str(&text, "l0: &l0 [x,x,x,x,x,x,x,x,x,x]\n"), 0);
    for (int i = 1; i < 10; i++)
        assert_int_equal(
            buf_printf(&text, "l%d: &l%d [*l%d,*l%d,*l%d,*l%d,*l%d,*l%d,*l%d,*l%d,*l%d,*l%d]\n", i,
                       i, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1, i - 1),
            0);
    assert_int_equal(yaml_file_parse(buf_slice(&text), "c", &file, &err), -EINVAL);
    assert_contains(err.msg, "expand");
    buf_fini(&text);
}

static void alias_depth_is_bounded(void **state)
{
    struct yaml_file *file = NULL;
    struct err err = {0};
    struct buf text;

    (void)state;
    buf_init(&text, 65536);
    assert_int_equal(buf_add_str(&text, "- &a0 [[[[[[[[[[x]]]]]]]]]]\n"), 0);
    for (int i = 1; i < 20; i++)
        assert_int_equal(buf_printf(&text, "- &a%d [[[[[[[[[[*a%d]]]]]]]]]]\n", i, i - 1), 0);
    assert_int_equal(yaml_file_parse(buf_slice(&text), "c", &file, &err), -EINVAL);
    assert_contains(err.msg, "nested too deeply");
    buf_fini(&text);
}

static void places_of_keys_and_values_are_kept(void **state)
{
    static const struct {
        const char *path;
        bool is_key;
        const char *where;
    } CASES[] = {
        {"a", true, "c.yaml:1:1"},           {"a", false, "c.yaml:1:4"},
        {"m.b", true, "c.yaml:3:3"},         {"m.l[1]", false, "c.yaml:4:10"},
        {"m.b.deeper", false, "c.yaml:3:6"}, {"m.l[1].x", true, "c.yaml:4:10"},
        {"nothing", false, "c.yaml:1:1"},    {"", false, "c.yaml:1:1"},
    };
    struct yaml_file *file = NULL;

    (void)state;
    assert_int_equal(
        yaml_file_parse(slice_str("a: 1\nm:\n  b: 2\n  l: [1, 22]\n"), "c.yaml", &file, NULL), 0);
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct err err = {.code = -EINVAL};
        assert_int_equal(yaml_file_err_at(file, CASES[i].path, CASES[i].is_key, &err), -EINVAL);
        assert_string_equal(err.where, CASES[i].where);
    }
    yaml_file_free(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scalars_follow_the_strict_core_schema),
        cmocka_unit_test(collections_nest),
        cmocka_unit_test(an_empty_file_has_no_root),
        cmocka_unit_test(no_bytes_at_all_are_an_empty_file),
        cmocka_unit_test(aliases_are_copies),
        cmocka_unit_test(the_last_anchor_of_a_name_counts),
        cmocka_unit_test(what_is_refused_names_its_place),
        cmocka_unit_test(bytes_that_are_not_utf8_are_refused),
        cmocka_unit_test(nesting_is_bounded),
        cmocka_unit_test(alias_expansion_is_bounded),
        cmocka_unit_test(alias_depth_is_bounded),
        cmocka_unit_test(places_of_keys_and_values_are_kept),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

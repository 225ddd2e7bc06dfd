/* Command lines, placeholders, programs. */
#include "unit.h"

#include <errno.h>

#include "catalog/words.h"

static void assert_split(const char *line, const char *joined)
{
    char **words = NULL;
    struct err err = {0};
    struct buf out;

    if (words_split(slice_str(line), &words, &err) != 0)
        fail_msg("%s: %s", line, err.msg);
    buf_init(&out, 4096);
    for (char **at = words; *at; at++)
        assert_int_equal(buf_printf(&out, "<%s>", *at), 0);
    assert_string_equal(buf_str(&out), joined);
    buf_fini(&out);
    words_free(words);
}

static void lines_are_split_as_a_shell_would(void **state)
{
    static const struct {
        const char *line, *words;
    } CASES[] = {
        {"a", "<a>"},
        {"  a  b\tc\n", "<a><b><c>"},
        {"a 'b c' d", "<a><b c><d>"},
        {"a \"b c\"d", "<a><b cd>"},
        {"a''b", "<ab>"},
        {"a '' b", "<a><><b>"},
        {"a\\ b", "<a b>"},
        {"\"a\\\"b\\n\"", "<a\"b\\n>"},
        {"'a\\b'", "<a\\b>"},
        {"a \\\n b", "<a><b>"},
        {"x \"$(y) | z\"", "<x><$(y) | z>"},
        {"${LIBEXEC}/x $HOME", "<${LIBEXEC}/x><$HOME>"},
        {"a\\", "<a\\>"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
        assert_split(CASES[i].line, CASES[i].words);
}

static void what_only_a_shell_can_do_is_refused(void **state)
{
    static const char *const CASES[] = {"a | b", "a > b", "a < b", "a; b", "a && b", "`a`",
                                        "$(a)",  "'a",    "a \"b", "",     "   ",    "a&"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        char **words = NULL;
        struct err err = {0};
        assert_int_equal(words_split(slice_str(CASES[i]), &words, &err), -EINVAL);
        assert_true(err.msg[0] != '\0');
        assert_null(words);
    }
}

static void words_are_bounded(void **state)
{
    char line[1024];
    char **words = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof(line); i += 2)
        memcpy(line + i, "a ", 2);
    assert_int_equal(words_split(slice_of(line, sizeof(line)), &words, NULL), -E2BIG);
}

static void json_lists_must_hold_strings(void **state)
{
    static const struct {
        const char *json;
        int rc;
    } CASES[] = {
        {"[\"a\",\"b c\"]", 0}, {"\"a b\"", 0},  {"[]", -EINVAL},
        {"[1]", -EINVAL},       {"{}", -EINVAL}, {"[\"a\",null]", -EINVAL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct json_object *value = NULL;
        char **words = NULL;
        assert_int_equal(json_parse(slice_str(CASES[i].json), &value, NULL), 0);
        assert_int_equal(words_of_json(value, &words, NULL), CASES[i].rc);
        words_free(words);
        json_object_put(value);
    }
}

static void placeholders_are_replaced(void **state)
{
    static const struct words_var VARS[] = {{"DIR", "/ext"}, {"EMPTY", ""}};
    char **words = NULL;

    (void)state;
    words_add_take(&words, mem_strdup("${DIR}/a${EMPTY}b${DIR}"));
    words_add_take(&words, mem_strdup("$DIR"));
    assert_int_equal(words_expand(words, VARS, 2, NULL), 0);
    assert_string_equal(words[0], "/ext/ab/ext");
    assert_string_equal(words[1], "$DIR");
    words_free(words);
}

static void unknown_placeholders_name_the_known_ones(void **state)
{
    static const struct words_var VARS[] = {{"DIR", "/ext"}};
    static const char *const CASES[] = {"${NOPE}", "${DIR", "${}"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        char **words = NULL;
        struct err err = {0};
        words_add_take(&words, mem_strdup(CASES[i]));
        assert_int_equal(words_expand(words, VARS, 1, &err), -EINVAL);
        assert_contains(err.msg, "${");
        words_free(words);
    }
}

static void programs_are_found_by_path_and_beside_the_manifest(void **state)
{
    struct tree *tree = *state;
    auto_free char *own = tree_path(tree, "bin/tool");
    char *found = NULL;

    tree_write(tree, "bin/tool", "#!/bin/sh\n");
    tree_chmod(tree, "bin/tool", 0755);

    assert_int_equal(words_find_program("bin/tool", tree->root, &found, NULL), 0);
    assert_string_equal(found, own);
    mem_free(found);
    found = NULL;
    assert_int_equal(words_find_program("sh", "/", &found, NULL), 0);
    assert_int_equal(found[0], '/');
    mem_free(found);
}

static void programs_that_cannot_run_are_named(void **state)
{
    struct tree *tree = *state;
    struct err err = {0};
    char *found = NULL;

    tree_write(tree, "tool", "x");

    assert_int_equal(words_find_program("./tool", tree->root, &found, &err), -EACCES);
    assert_contains(err.msg, "chmod +x");
    assert_int_equal(words_find_program("/nonexistent/x", "/", &found, &err), -ENOENT);
    assert_int_equal(words_find_program("no-such-program-here", "/", &found, &err), -ENOENT);
    assert_contains(err.msg, "PATH");
    assert_int_equal(words_find_program("./", tree->root, &found, &err), -EACCES);
    assert_null(found);
}

#define IN_TREE(name) cmocka_unit_test_setup_teardown(name, tree_setup, tree_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_split_as_a_shell_would),
        cmocka_unit_test(what_only_a_shell_can_do_is_refused),
        cmocka_unit_test(words_are_bounded),
        cmocka_unit_test(json_lists_must_hold_strings),
        cmocka_unit_test(placeholders_are_replaced),
        cmocka_unit_test(unknown_placeholders_name_the_known_ones),
        IN_TREE(programs_are_found_by_path_and_beside_the_manifest),
        IN_TREE(programs_that_cannot_run_are_named),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

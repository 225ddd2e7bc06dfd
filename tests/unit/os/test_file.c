#include "os/file.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char dir[64];
static char *path; /* dir/name, set by at() */

static const char *at(const char *name)
{
    mem_free(path);
    path = file_join(dir, name);
    return path;
}

static int set_up(void **state)
{
    (void)state;
    (void)snprintf(dir, sizeof(dir), "/tmp/hotbunk-os-XXXXXX");
    return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    mem_free(path);
    path = NULL;
    return file_remove_tree(dir);
}

static void written_file_is_read_back(void **state)
{
    struct buf text;
    struct stat st;

    (void)state;
    buf_init(&text, 100);
    assert_int_equal(file_write_atomic(at("a"), slice_str("one"), 0640, NULL), 0);
    assert_int_equal(file_write_atomic(at("a"), slice_str("two!"), 0600, NULL), 0);
    assert_int_equal(file_read(at("a"), &text, NULL), 0);
    assert_string_equal(buf_str(&text), "two!");
    assert_int_equal(stat(at("a"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    buf_fini(&text);
}

static void no_temporary_file_is_left(void **state)
{
    struct err err = {0};

    (void)state;
    assert_int_equal(mkdir(at("taken"), 0700), 0);
    assert_true(file_write_atomic(at("taken"), slice_str("x"), 0600, &err) < 0);
    assert_non_null(strstr(err.msg, "taken"));
    assert_int_equal(rmdir(at("taken")), 0);
    assert_int_equal(rmdir(dir), 0); /* empty */
    assert_int_equal(mkdir(dir, 0700), 0);
}

static void too_large_or_missing_file_is_an_error(void **state)
{
    struct err err = {0};
    struct buf text;

    (void)state;
    buf_init(&text, 4);
    assert_int_equal(file_write_atomic(at("a"), slice_str("12345"), 0600, NULL), 0);
    assert_int_equal(file_read(at("a"), &text, &err), -EMSGSIZE);
    assert_int_equal(file_read(at("b"), &text, &err), -ENOENT);
    assert_non_null(strstr(err.msg, "cannot open"));
    buf_fini(&text);
}

static void directories_are_made_on_the_way(void **state)
{
    struct err err = {0};

    (void)state;
    assert_int_equal(file_make_dirs(at("a/b/c"), &err), 0);
    assert_int_equal(file_make_dirs(at("a/b/c"), &err), 0);
    assert_true(file_is_dir(at("a/b/c")));
    assert_int_equal(file_write_atomic(at("f"), slice_str("x"), 0600, NULL), 0);
    assert_true(file_make_dirs(at("f/x"), &err) < 0);
    assert_true(file_make_dirs(at("f"), &err) < 0);
}

static void tree_is_removed_without_following_links(void **state)
{
    (void)state;
    assert_int_equal(file_make_dirs(at("keep"), NULL), 0);
    assert_int_equal(file_write_atomic(at("keep/x"), slice_str("x"), 0600, NULL), 0);
    assert_int_equal(file_make_dirs(at("tree/a/b"), NULL), 0);
    assert_int_equal(file_write_atomic(at("tree/a/y"), slice_str("y"), 0600, NULL), 0);
    assert_int_equal(symlink("../keep", at("tree/link")), 0);
    assert_int_equal(file_remove_tree(at("tree")), 0);
    assert_false(file_exists(at("tree")));
    assert_true(file_exists(at("keep/x")));
    assert_int_equal(file_remove_tree(at("nothing")), 0);
}

static int open_beneath(const char *relative)
{
    int fd = file_open_beneath(dir, relative);

    if (fd < 0)
        return fd;
    (void)close(fd);
    return 0;
}

static void nothing_outside_of_the_root_is_opened(void **state)
{
    (void)state;
    assert_int_equal(file_make_dirs(at("in"), NULL), 0);
    assert_int_equal(file_write_atomic(at("in/x"), slice_str("x"), 0600, NULL), 0);
    assert_int_equal(symlink("/etc/passwd", at("out")), 0);
    assert_int_equal(symlink("in/x", at("near")), 0);
    assert_int_equal(open_beneath("in/x"), 0);
    assert_int_equal(open_beneath("in/../in/x"), 0);
    assert_int_equal(open_beneath("near"), 0);
    assert_int_equal(open_beneath("../../etc/passwd"), -EXDEV);
    assert_int_equal(open_beneath("/etc/passwd"), -EXDEV);
    assert_int_equal(open_beneath("out"), -EXDEV);
    assert_int_equal(open_beneath("nothing"), -ENOENT);
}

static void join_doubles_no_slash(void **state)
{
    static const struct {
        const char *dir, *name, *want;
    } rows[] = {{"a", "b", "a/b"}, {"a/", "/b", "a/b"}, {"/", "b", "/b"}, {"a//", "b/c", "a/b/c"}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        auto_free char *got = file_join(rows[i].dir, rows[i].name);
        assert_string_equal(got, rows[i].want);
    }
}

static void xdg_directory_must_be_absolute(void **state)
{
    auto_free char *named = NULL;
    auto_free char *fallback = NULL;

    (void)state;
    assert_int_equal(setenv("HOTBUNK_TEST_XDG", "/x", 1), 0); /* banned-ok: no threads here */
    named = file_xdg_dir("HOTBUNK_TEST_XDG", ".local");
    assert_string_equal(named, "/x/hotbunk");
    assert_int_equal(setenv("HOTBUNK_TEST_XDG", "x", 1), 0); /* banned-ok: no threads here */
    assert_int_equal(setenv("HOME", "/h", 1), 0);            /* banned-ok: no threads here */
    fallback = file_xdg_dir("HOTBUNK_TEST_XDG", ".local");
    assert_string_equal(fallback, "/h/.local/hotbunk");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(written_file_is_read_back),
        TEST(no_temporary_file_is_left),
        TEST(too_large_or_missing_file_is_an_error),
        TEST(directories_are_made_on_the_way),
        TEST(tree_is_removed_without_following_links),
        TEST(nothing_outside_of_the_root_is_opened),
        TEST(join_doubles_no_slash),
        TEST(xdg_directory_must_be_absolute),
    };

    return cmocka_run_group_tests_name("os/file", tests, NULL, NULL);
}

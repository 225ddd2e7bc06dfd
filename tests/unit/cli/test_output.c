/* Where results go. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/work.h"
#include "os/file.h"

static char *home;

static int setup(void **state)
{
    char dir[] = "/tmp/hotbunk-test.XXXXXX"; /* words-ok */

    (void)state;
    assert_non_null(mkdtemp(dir));
    home = mem_strdup(dir);
    assert_int_equal(chdir(dir), 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(file_remove_tree(home), 0);
    mem_free(home);
    return 0;
}

static void touch(const char *path)
{
    assert_int_equal(file_write_atomic(path, slice_str("mine"), 0600, NULL), 0);
}

static void assert_path(const char *option, const char *name, const char *expected)
{
    auto_free char *path = output_path(option, name);

    assert_string_equal(path, expected);
}

static void a_named_file_is_used_as_it_is(void **state)
{
    (void)state;
    touch("out.glb");
    assert_path("out.glb", "x.glb", "out.glb");
}

static void without_a_name_no_file_is_written_over(void **state)
{
    (void)state;
    assert_path(NULL, "a.glb", "./a.glb");
    touch("a.glb");
    assert_path(NULL, "a.glb", "./a-2.glb");
    touch("a-2.glb");
    assert_path(NULL, "a.glb", "./a-3.glb");
}

static void a_directory_gets_the_results_own_name(void **state)
{
    (void)state;
    assert_int_equal(mkdir("d", 0700), 0);
    assert_path("d", "a.glb", "d/a.glb");
    assert_path("d/", "a.glb", "d/a.glb");
}

static void a_name_from_outside_cannot_leave_the_directory(void **state)
{
    (void)state;
    assert_path(NULL, "../a.glb", "./output");
    assert_path(NULL, "..", "./output");
    assert_path(NULL, ".bashrc", "./output");
    assert_path(NULL, "", "./output");
    assert_path(NULL, "a\x1b.glb", "./output");
}

static void a_place_that_cannot_be_written_is_told_before_the_work(void **state)
{
    struct cli cli = {0};

    (void)state;
    assert_int_equal(output_check(&cli, NULL), 0);
    assert_int_equal(output_check(&cli, "x.glb"), 0);
    assert_int_equal(output_check(&cli, "no/such/x.glb"), CLI_EXIT_USAGE);
    assert_int_equal(output_check(&cli, ""), CLI_EXIT_USAGE);
    cli.wants_json = true;
    assert_int_equal(output_check(&cli, "-"), CLI_EXIT_USAGE);
}

static void the_type_of_a_picture_comes_from_its_bytes(void **state)
{
    (void)state;
    assert_int_equal(file_write_atomic("a.txt", slice_str("\x89PNG\r\n\x1a\n..."), 0600, NULL), 0);
    assert_string_equal(image_type_of("a.txt", NULL), "image/png");
    assert_int_equal(file_write_atomic("b.JPG", slice_str("nonsense"), 0600, NULL), 0);
    assert_string_equal(image_type_of("b.JPG", NULL), "image/jpeg");
    assert_int_equal(file_write_atomic("c.txt", slice_str(""), 0600, NULL), 0);
    assert_string_equal(image_type_of("c.txt", NULL), "application/octet-stream");
    assert_null(image_type_of("absent.png", NULL));
    assert_null(image_type_of("/", NULL));
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_named_file_is_used_as_it_is),
        CASE(without_a_name_no_file_is_written_over),
        CASE(a_directory_gets_the_results_own_name),
        CASE(a_name_from_outside_cannot_leave_the_directory),
        CASE(a_place_that_cannot_be_written_is_told_before_the_work),
        CASE(the_type_of_a_picture_comes_from_its_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Which daemon a client talks to. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/address.h"
#include "os/dirs.h"
#include "os/file.h"

static char *scratch;

static int setup(void **state)
{
    char dir[] = "/tmp/hotbunk-test.XXXXXX"; /* words-ok */

    (void)state;
    assert_non_null(mkdtemp(dir));
    scratch = mem_strdup(dir);
    setenv("HOTBUNK_RUNTIME_DIR", dir, 1); /* banned-ok: one thread */
    unsetenv("HOTBUNK_URL");               /* banned-ok: one thread */
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    assert_int_equal(file_remove_tree(scratch), 0);
    mem_free(scratch);
    return 0;
}

static void write_address(const char *text)
{
    auto_free char *path = file_join(scratch, DIRS_ADDRESS_FILE);

    assert_int_equal(file_write_atomic(path, slice_str(text), 0600, NULL), 0);
}

static void assert_is(const char *url, const char *host, unsigned port, const char *shown)
{
    struct address address;

    assert_int_equal(address_parse(slice_str(url), &address, NULL), 0);
    assert_string_equal(address.host, host);
    assert_int_equal(address.port, port);
    assert_string_equal(address.url, shown);
}

static void good_urls_are_taken(void **state)
{
    (void)state;
    assert_is("http://127.0.0.1:8000", "127.0.0.1", 8000, "http://127.0.0.1:8000");
    assert_is("http://127.0.0.1:8000/", "127.0.0.1", 8000, "http://127.0.0.1:8000");
    assert_is("http://localhost:1", "127.0.0.1", 1, "http://127.0.0.1:1");
    assert_is("http://LOCALHOST:65535", "127.0.0.1", 65535, "http://127.0.0.1:65535");
    assert_is("http://[::1]:8000", "::1", 8000, "http://[::1]:8000");
    assert_is("http://10.0.0.7", "10.0.0.7", 80, "http://10.0.0.7:80");
}

static void bad_urls_are_refused_with_the_remedy(void **state)
{
    static const char *const bad[] = {
        "",
        "127.0.0.1:8000",
        "https://127.0.0.1:8000",
        "http://",
        "http://:8000",
        "http://example.org:8000",
        "http://user@127.0.0.1:8000",
        "http://127.0.0.1:0",
        "http://127.0.0.1:65536",
        "http://127.0.0.1:8000x",
        "http://127.0.0.1:",
        "http://127.0.0.1:8000/api",
        "http://127.0.0.1:8000?x",
        "http://127.1:8000",
        "http://[::1:8000",
        "http://[]:8000",
        "http://[127.0.0.1]:8000",
        "http://127.0.0.1 :8000",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct address address;
        struct err err = {0};
        assert_int_equal(address_parse(slice_str(bad[i]), &address, &err), -EINVAL);
        assert_non_null(strstr(err.msg, "write it as http://127.0.0.1:8000"));
    }
}

static void the_option_wins_over_the_environment(void **state)
{
    struct address address;

    (void)state;
    setenv("HOTBUNK_URL", "http://127.0.0.1:2", 1); /* banned-ok: one thread */
    write_address("http://127.0.0.1:3\n");
    assert_int_equal(address_find("http://127.0.0.1:1", &address, NULL), 0);
    assert_int_equal(address.port, 1);
}

static void the_environment_wins_over_the_file(void **state)
{
    struct address address;

    (void)state;
    setenv("HOTBUNK_URL", "http://127.0.0.1:2", 1); /* banned-ok: one thread */
    write_address("http://127.0.0.1:3\n");
    assert_int_equal(address_find(NULL, &address, NULL), 0);
    assert_int_equal(address.port, 2);
}

static void the_file_is_found_in_the_runtime_directory(void **state)
{
    struct address address;

    (void)state;
    write_address("http://127.0.0.1:3\n");
    assert_int_equal(address_find(NULL, &address, NULL), 0);
    assert_int_equal(address.port, 3);
}

static void no_file_means_that_no_daemon_answers(void **state)
{
    struct address address;
    struct err err = {0};

    (void)state;
    assert_int_equal(address_find(NULL, &address, &err), -ECONNREFUSED);
    assert_non_null(strstr(err.msg, "start one with `hotbunk serve`"));
}

static void a_damaged_file_is_named(void **state)
{
    struct address address;
    struct err err = {0};

    (void)state;
    write_address("gibberish\n");
    assert_int_equal(address_find(NULL, &address, &err), -EINVAL);
    assert_non_null(strstr(err.msg, DIRS_ADDRESS_FILE));
}

static void the_runtime_directory_follows_the_environment(void **state)
{
    auto_free char *named = dirs_runtime();
    auto_free char *session = NULL, *shared = NULL, *expected = NULL;

    (void)state;
    assert_string_equal(named, scratch);
    unsetenv("HOTBUNK_RUNTIME_DIR");          /* banned-ok: one thread */
    setenv("XDG_RUNTIME_DIR", "/run/u/7", 1); /* banned-ok: one thread */
    session = dirs_runtime();
    assert_string_equal(session, "/run/u/7/hotbunk");
    setenv("XDG_RUNTIME_DIR", "relative", 1); /* banned-ok: one thread */
    shared = dirs_runtime();
    expected = mem_printf("/tmp/hotbunk-%lu", (unsigned long)geteuid());
    assert_string_equal(shared, expected);
}

static void a_directory_of_ones_own_choice_is_trusted_as_it_is(void **state)
{
    (void)state;
    assert_int_equal(chmod(scratch, 0755), 0);
    assert_int_equal(dirs_runtime_check(scratch, NULL), 0);
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(good_urls_are_taken),
        CASE(bad_urls_are_refused_with_the_remedy),
        CASE(the_option_wins_over_the_environment),
        CASE(the_environment_wins_over_the_file),
        CASE(the_file_is_found_in_the_runtime_directory),
        CASE(no_file_means_that_no_daemon_answers),
        CASE(a_damaged_file_is_named),
        CASE(the_runtime_directory_follows_the_environment),
        CASE(a_directory_of_ones_own_choice_is_trusted_as_it_is),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

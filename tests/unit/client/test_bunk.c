/* The public header's promises: the version and the error codes. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>

#include "client/client.h"
#include "hotbunk.h"

static void the_version_is_the_sum_of_its_parts(void **state)
{
    char text[32];

    (void)state;
    (void)snprintf(text, sizeof(text), "%d.%d.%d", BUNK_VERSION_MAJOR, BUNK_VERSION_MINOR,
                   BUNK_VERSION_PATCH);
    assert_string_equal(bunk_version(), text);
    assert_string_equal(BUNK_VERSION, text);
}

static void every_error_has_a_text_of_its_own(void **state)
{
    (void)state;
    for (int a = BUNK_OK; a >= BUNK_E_PROTOCOL; a--) {
        assert_string_not_equal(bunk_strerror(a), "unknown error");
        for (int b = BUNK_OK; b > a; b--)
            assert_string_not_equal(bunk_strerror(a), bunk_strerror(b));
    }
    assert_string_equal(bunk_strerror(BUNK_E_PROTOCOL - 1), "unknown error");
    assert_string_equal(bunk_strerror(1), "unknown error");
}

static void a_callers_errno_becomes_a_public_error(void **state)
{
    (void)state;
    assert_int_equal(bunk_error_of(0), BUNK_OK);
    assert_int_equal(bunk_error_of(-EINVAL), BUNK_E_INVALID);
    assert_int_equal(bunk_error_of(-ENOENT), BUNK_E_INVALID);
    assert_int_equal(bunk_error_of(-EACCES), BUNK_E_DENIED);
    assert_int_equal(bunk_error_of(-ECONNREFUSED), BUNK_E_NO_DAEMON);
    assert_int_equal(bunk_error_of(-EAGAIN), BUNK_E_REFUSED);
    assert_int_equal(bunk_error_of(-ETIMEDOUT), BUNK_E_TIMEOUT);
    assert_int_equal(bunk_error_of(-EINTR), BUNK_E_INTERRUPTED);
    assert_int_equal(bunk_error_of(-EPROTO), BUNK_E_PROTOCOL);
    assert_int_equal(bunk_error_of(-EREMOTEIO), BUNK_E_FAILED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_version_is_the_sum_of_its_parts),
        cmocka_unit_test(every_error_has_a_text_of_its_own),
        cmocka_unit_test(a_callers_errno_becomes_a_public_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

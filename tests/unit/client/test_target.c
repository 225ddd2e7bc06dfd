/* Ids of all kinds as one part of a request's target. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>

#include <cmocka.h>
#include <errno.h>

#include "client/client.h"

static void assert_encoded(const char *text, const char *expected)
{
    struct buf out;

    buf_init(&out, 256);
    assert_int_equal(client_encode(&out, text), 0);
    assert_string_equal(buf_str(&out), expected);
    buf_fini(&out);
}

static void slashes_and_everything_reserved_are_escaped(void **state)
{
    (void)state;
    assert_encoded("ext/node", "ext%2Fnode");
    assert_encoded("a-b._~9Z", "a-b._~9Z");
    assert_encoded("a b?c#d%e&f=g+h", "a%20b%3Fc%23d%25e%26f%3Dg%2Bh");
    assert_encoded("\xC3\xA9\r\n", "%C3%A9%0D%0A");
    assert_encoded("", "");
}

static void a_target_over_its_maximum_is_refused(void **state)
{
    struct buf out;

    (void)state;
    buf_init(&out, 4);
    assert_int_equal(client_encode(&out, "a/b/c"), -EMSGSIZE);
    buf_fini(&out);
}

static void a_job_has_ended_in_three_states_only(void **state)
{
    static const struct {
        const char *state;
        bool has_ended;
    } cases[] = {{"queued", false}, {"running", false},  {"done", true},
                 {"error", true},   {"cancelled", true}, {NULL, false}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        auto_json struct json_object *job = json_object_new_object();
        json_put_str(job, "state", cases[i].state);
        assert_int_equal(client_job_has_ended(job), cases[i].has_ended);
    }
    assert_false(client_job_has_ended(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slashes_and_everything_reserved_are_escaped),
        cmocka_unit_test(a_target_over_its_maximum_is_refused),
        cmocka_unit_test(a_job_has_ended_in_three_states_only),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "net/access.h"

#include <stdio.h>

#include "cmocka_all.h"
#include "net/head.h"

static struct http_head head;
static char text[1024];

/* A request with these fields ("A: b\r\n…"), judged. */
static struct access_verdict judge(const struct access_policy *policy, const char *line,
                                   const char *fields, const char *peer)
{
    const char *why = NULL;

    (void)snprintf(text, sizeof(text), "%s HTTP/1.1\r\n%s\r\n", line, fields);
    assert_int_equal(head_parse(slice_str(text), &head, &why), 0);
    return access_check(policy, &head, peer);
}

static enum access_result result_of(const struct access_policy *policy, const char *fields)
{
    return judge(policy, "POST /x", fields, "127.0.0.1").result;
}

static void only_loopback_and_known_names_are_valid_hosts(void **state)
{
    static const char *const names[] = {"den.example"};
    const struct access_policy policy = {
        .listen_host = "192.0.2.7", .names = names, .name_count = 1};
    static const char *const good[] = {
        "localhost",      "LOCALHOST:8000", "127.0.0.1:1",     "127.9.9.9",          "[::1]:80",
        "192.0.2.7:8000", "den.example",    "DEN.example:443", "[::ffff:127.0.0.1]",
    };
    static const char *const bad[] = {
        "evil.example",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "192.0.2.8",
        "localhost:80:80",
        "localhost:x",
        "[::1",
        "",
        "unix",
        "den.example.",
        "0.0.0.0",
    };
    char fields[100];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        (void)snprintf(fields, sizeof(fields), "Host: %s\r\n", good[i]);
        if (result_of(&policy, fields) != ACCESS_OK)
            fail_msg("%s was refused", good[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        (void)snprintf(fields, sizeof(fields), "Host: %s\r\n", bad[i]);
        if (result_of(&policy, fields) != ACCESS_FORBIDDEN)
            fail_msg("%s was allowed", bad[i]);
    }
}

static void origin_must_be_the_host(void **state)
{
    const struct access_policy policy = {0};

    (void)state;
    assert_int_equal(result_of(&policy, "Host: localhost:80\r\nOrigin: http://LOCALHOST\r\n"),
                     ACCESS_OK);
    assert_int_equal(
        result_of(&policy, "Host: localhost:8000\r\nOrigin: http://localhost:8000\r\n"), ACCESS_OK);
    assert_int_equal(result_of(&policy, "Host: localhost\r\nOrigin: https://localhost\r\n"),
                     ACCESS_OK);
    assert_int_equal(
        result_of(&policy, "Host: localhost:8000\r\nOrigin: http://localhost:8001\r\n"),
        ACCESS_FORBIDDEN);
    assert_int_equal(
        result_of(&policy, "Host: localhost:8000\r\nOrigin: http://127.0.0.1:8000\r\n"),
        ACCESS_FORBIDDEN);
    assert_int_equal(result_of(&policy, "Host: localhost\r\nOrigin: http://evil.example\r\n"),
                     ACCESS_FORBIDDEN);
    assert_int_equal(result_of(&policy, "Host: localhost\r\nOrigin: null\r\n"), ACCESS_FORBIDDEN);
    assert_int_equal(result_of(&policy, "Host: localhost\r\nOrigin: file://\r\n"),
                     ACCESS_FORBIDDEN);
    assert_int_equal(result_of(&policy, "Host: localhost\r\nOrigin: http://localhost\r\n"
                                        "Origin: http://localhost\r\n"),
                     ACCESS_FORBIDDEN);
    assert_null(judge(&policy, "GET /", "Host: localhost\r\nOrigin: http://localhost\r\n", "::1")
                    .cors_origin.ptr);
}

static void modly_takes_local_origins_and_echoes_them(void **state)
{
    const struct access_policy policy = {.is_modly = true};
    static const char *const good[] = {"file://",
                                       "file:",
                                       "app://modly",
                                       "app:",
                                       "http://localhost:5173",
                                       "http://127.0.0.1:3000",
                                       "https://[::1]:1"};
    static const char *const bad[] = {
        "http://evil.example",  "http://localhost.evil.example", "null", "http://unix", "", "data:",
        "http://localhost@evil"};
    char fields[100];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        struct access_verdict verdict;
        (void)snprintf(fields, sizeof(fields), "Host: localhost\r\nOrigin: %s\r\n", good[i]);
        verdict = judge(&policy, "GET /", fields, "127.0.0.1");
        if (verdict.result != ACCESS_OK || !slice_eq_str(verdict.cors_origin, good[i]))
            fail_msg("%s was refused", good[i]);
    }
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        (void)snprintf(fields, sizeof(fields), "Host: localhost\r\nOrigin: %s\r\n", bad[i]);
        if (result_of(&policy, fields) != ACCESS_FORBIDDEN)
            fail_msg("%s was allowed", bad[i]);
    }
}

#define PREFLIGHT "Host: localhost\r\nAccess-Control-Request-Method: POST\r\n"

static void preflights_are_answered_for_modly_only(void **state)
{
    struct access_policy policy = {.is_modly = true, .key = "k"};
    struct access_verdict verdict;

    (void)state;
    verdict = judge(&policy, "OPTIONS /x",
                    PREFLIGHT "Origin: file://\r\nAccess-Control-Request-Headers: a, b\r\n", "::1");
    assert_int_equal(verdict.result, ACCESS_PREFLIGHT);
    assert_true(slice_eq_str(verdict.cors_headers, "a, b"));
    verdict = judge(&policy, "OPTIONS /x", PREFLIGHT "Origin: http://evil.example\r\n", "::1");
    assert_int_equal(verdict.result, ACCESS_FORBIDDEN);
    policy.is_modly = false;
    verdict = judge(&policy, "OPTIONS /x", PREFLIGHT "Origin: http://localhost\r\n", "::1");
    assert_int_equal(verdict.result, ACCESS_OK);
}

static void null_origin_needs_the_token(void **state)
{
    struct access_policy policy = {.is_modly = true, .key = "k"};

    (void)state;
    assert_int_equal(result_of(&policy, "Host: localhost\r\nOrigin: null\r\n"), ACCESS_FORBIDDEN);
    assert_int_equal(result_of(&policy, "Host: localhost\r\nOrigin: null\r\nX-Modly-Token: k\r\n"),
                     ACCESS_OK);
    assert_int_equal(judge(&policy, "OPTIONS /", PREFLIGHT "Origin: null\r\n", "::1").result,
                     ACCESS_FORBIDDEN);
    assert_int_equal(judge(&policy, "OPTIONS /",
                           PREFLIGHT "Origin: null\r\n"
                                     "Access-Control-Request-Headers: content-type, "
                                     "X-Modly-Token\r\n",
                           "::1")
                         .result,
                     ACCESS_PREFLIGHT);
    policy.key = NULL;
    assert_int_equal(result_of(&policy, "Host: localhost\r\nOrigin: null\r\nX-Modly-Token: \r\n"),
                     ACCESS_FORBIDDEN);
}

static void key_is_asked_for_everywhere_but_health(void **state)
{
    const struct access_policy policy = {.key = "secret"};

    (void)state;
    assert_int_equal(result_of(&policy, "Host: localhost\r\n"), ACCESS_UNAUTHORIZED);
    assert_int_equal(result_of(&policy, "Host: localhost\r\nX-Modly-Token: secret\r\n"), ACCESS_OK);
    assert_int_equal(result_of(&policy, "Host: localhost\r\nAuthorization: bearer secret\r\n"),
                     ACCESS_OK);
    assert_int_equal(result_of(&policy, "Host: localhost\r\nAuthorization: Basic secret\r\n"),
                     ACCESS_UNAUTHORIZED);
    assert_int_equal(result_of(&policy, "Host: localhost\r\nX-Modly-Token: secre\r\n"),
                     ACCESS_UNAUTHORIZED);
    assert_int_equal(result_of(&policy, "Host: localhost\r\nX-Modly-Token: secretsecret\r\n"),
                     ACCESS_UNAUTHORIZED);
    assert_int_equal(result_of(&policy, "Host: localhost\r\nX-Modly-Token:\r\n"),
                     ACCESS_UNAUTHORIZED);
    assert_int_equal(judge(&policy, "GET /health", "Host: localhost\r\n", "::1").result, ACCESS_OK);
    assert_int_equal(judge(&policy, "OPTIONS /x", "Host: localhost\r\n", "::1").result, ACCESS_OK);
}

static void remote_peers_need_leave_and_a_key(void **state)
{
    struct access_policy policy = {.key = "k", .listen_host = "0.0.0.0"};
    const char *fields = "Host: 192.0.2.1\r\nX-Modly-Token: k\r\n";

    (void)state;
    assert_int_equal(judge(&policy, "GET /x", fields, "192.0.2.9").result, ACCESS_FORBIDDEN);
    policy.allows_remote = true;
    assert_int_equal(judge(&policy, "GET /x", fields, "192.0.2.9").result, ACCESS_OK);
    policy.key = NULL;
    assert_int_equal(judge(&policy, "GET /x", fields, "192.0.2.9").result, ACCESS_UNAUTHORIZED);
    assert_int_equal(judge(&policy, "GET /x", fields, "::ffff:127.0.0.1").result, ACCESS_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_loopback_and_known_names_are_valid_hosts),
        cmocka_unit_test(origin_must_be_the_host),
        cmocka_unit_test(modly_takes_local_origins_and_echoes_them),
        cmocka_unit_test(preflights_are_answered_for_modly_only),
        cmocka_unit_test(null_origin_needs_the_token),
        cmocka_unit_test(key_is_asked_for_everywhere_but_health),
        cmocka_unit_test(remote_peers_need_leave_and_a_key),
    };

    return cmocka_run_group_tests_name("net/access", tests, NULL, NULL);
}

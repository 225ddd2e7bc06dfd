#include "net/router.h"

#include "cmocka_all.h"

static void nothing(void *data, struct exchange *ex, const struct route_args *args)
{
    (void)data;
    (void)ex;
    (void)args;
}

static const struct route routes[] = {
    {HTTP_METHOD_GET, "/", nothing, 0},
    {HTTP_METHOD_GET, "/health", nothing, 0},
    {HTTP_METHOD_GET, "/events", nothing, ROUTE_NO_HEAD},
    {HTTP_METHOD_GET, "/jobs/{job}", nothing, 0},
    {HTTP_METHOD_DELETE, "/jobs/{job}", nothing, 0},
    {HTTP_METHOD_GET, "/jobs/latest", nothing, 0},
    {HTTP_METHOD_POST, "/unload/{id*}", nothing, 0},
    {HTTP_METHOD_POST, "/a/{b}/c/{d}", nothing, 0},
    {HTTP_METHOD_GET, "/a/{rest*}", nothing, 0},
};
static const struct router router = {routes, ARRAY_LEN(routes)};
static char storage[512];

static struct route_match match(enum http_method method, const char *path)
{
    struct route_match out;

    router_match(&router, method, slice_str(path), storage, &out);
    return out;
}

static void literal_paths_match_whole(void **state)
{
    (void)state;
    assert_ptr_equal(match(HTTP_METHOD_GET, "/").route, &routes[0]);
    assert_ptr_equal(match(HTTP_METHOD_GET, "/health").route, &routes[1]);
    assert_ptr_equal(match(HTTP_METHOD_GET, "/he%61lth").route, &routes[1]);
    assert_int_equal(match(HTTP_METHOD_GET, "/healthy").status, 404);
    assert_int_equal(match(HTTP_METHOD_GET, "/health/x").status, 404);
    assert_int_equal(match(HTTP_METHOD_GET, "//health").status, 404);
    assert_int_equal(match(HTTP_METHOD_GET, "*").status, 404);
}

static void literal_wins_over_parameter_over_greedy(void **state)
{
    (void)state;
    assert_ptr_equal(match(HTTP_METHOD_GET, "/jobs/latest").route, &routes[5]);
    assert_ptr_equal(match(HTTP_METHOD_GET, "/jobs/17").route, &routes[3]);
    assert_ptr_equal(match(HTTP_METHOD_POST, "/a/1/c/2").route, &routes[7]);
    assert_ptr_equal(match(HTTP_METHOD_GET, "/a/1/x/2").route, &routes[8]);
}

static void parameters_are_decoded_one_by_one(void **state)
{
    struct route_match out = match(HTTP_METHOD_POST, "/a/x%2Fy/c/%C3%A4");

    (void)state;
    assert_int_equal(out.args.count, 2);
    assert_true(slice_eq_str(out.args.values[0], "x/y"));
    assert_true(slice_eq_str(out.args.values[1], "\xc3\xa4"));
}

static void greedy_takes_raw_and_encoded_slashes(void **state)
{
    (void)state;
    assert_string_equal(match(HTTP_METHOD_POST, "/unload/ext/node").args.values[0].ptr, "ext/node");
    assert_string_equal(match(HTTP_METHOD_POST, "/unload/ext%2Fnode").args.values[0].ptr,
                        "ext/node");
    assert_int_equal(match(HTTP_METHOD_POST, "/unload/").status, 404);
    assert_int_equal(match(HTTP_METHOD_POST, "/unload").status, 404);
}

static void head_is_taken_by_get_routes(void **state)
{
    (void)state;
    assert_ptr_equal(match(HTTP_METHOD_HEAD, "/health").route, &routes[1]);
    assert_int_equal(match(HTTP_METHOD_HEAD, "/events").status, 405);
}

static void wrong_method_names_the_right_ones(void **state)
{
    struct route_match out = match(HTTP_METHOD_POST, "/jobs/17");

    (void)state;
    assert_int_equal(out.status, 405);
    assert_int_equal(out.allowed,
                     1u << HTTP_METHOD_GET | 1u << HTTP_METHOD_HEAD | 1u << HTTP_METHOD_DELETE);
}

static void slash_at_the_end_is_redirected(void **state)
{
    (void)state;
    assert_int_equal(match(HTTP_METHOD_GET, "/health/").status, 307);
    assert_int_equal(match(HTTP_METHOD_GET, "/nothing/").status, 404);
    assert_int_equal(match(HTTP_METHOD_GET, "//evil.example/").status, 404);
}

static void empty_parameter_does_not_match(void **state)
{
    (void)state;
    assert_int_equal(match(HTTP_METHOD_GET, "/a//c/d").status, 0); /* the greedy one */
    assert_int_equal(match(HTTP_METHOD_POST, "/a//c/d").status, 405);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(literal_paths_match_whole),
        cmocka_unit_test(literal_wins_over_parameter_over_greedy),
        cmocka_unit_test(parameters_are_decoded_one_by_one),
        cmocka_unit_test(greedy_takes_raw_and_encoded_slashes),
        cmocka_unit_test(head_is_taken_by_get_routes),
        cmocka_unit_test(wrong_method_names_the_right_ones),
        cmocka_unit_test(slash_at_the_end_is_redirected),
        cmocka_unit_test(empty_parameter_does_not_match),
    };

    return cmocka_run_group_tests_name("net/router", tests, NULL, NULL);
}

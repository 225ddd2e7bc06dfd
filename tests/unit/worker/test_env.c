/* env: what a worker may inherit. */
#include "unit.h"

#include "worker/env.h"

/* The value of `name` in `env`, or NULL. */
static const char *value_of(char *const *env, const char *name)
{
    size_t len = strlen(name);

    for (; *env; env++) {
        if (strncmp(*env, name, len) == 0 && (*env)[len] == '=')
            return *env + len + 1;
    }
    return NULL;
}

static size_t count_of(char *const *env)
{
    size_t count = 0;

    while (env[count])
        count++;
    return count;
}

static char *texts(const char *text)
{
    return (char *)(uintptr_t)text;
}

static void test_known_names_and_prefixes_pass(void **state)
{
    char *inherited[] = {texts("PATH=/bin"),
                         texts("LC_ALL=C"),
                         texts("CUDA_VISIBLE_DEVICES=0"),
                         texts("PYTORCH_CUDA_ALLOC_CONF=x=y"),
                         texts("https_proxy=http://p"),
                         NULL};
    char **env = env_build(inherited, NULL);

    (void)state;
    assert_int_equal(count_of(env), 5);
    assert_string_equal(value_of(env, "PATH"), "/bin");
    assert_string_equal(value_of(env, "PYTORCH_CUDA_ALLOC_CONF"), "x=y");
    env_free(env);
}

static void test_keys_and_tokens_of_the_daemon_never_pass(void **state)
{
    char *inherited[] = {texts("HOTBUNK_API_KEY=secret"),
                         texts("MODLY_API_TOKEN=secret"),
                         texts("HOTBUNK_NULL_TOKEN=secret"),
                         texts("AWS_SECRET_ACCESS_KEY=secret"),
                         texts("SSH_AUTH_SOCK=/tmp/x"),
                         texts("GITHUB_TOKEN=secret"),
                         NULL};
    char **env = env_build(inherited, NULL);

    (void)state;
    assert_int_equal(count_of(env), 0);
    env_free(env);
}

static void test_what_could_run_foreign_code_does_not_pass(void **state)
{
    char *inherited[] = {texts("LD_PRELOAD=/x.so"),    texts("LD_AUDIT=/x.so"),
                         texts("PYTHONSTARTUP=/x.py"), texts("PYTHONPATH=/x"),
                         texts("BASH_ENV=/x"),         NULL};
    char **env = env_build(inherited, NULL);

    (void)state;
    assert_int_equal(count_of(env), 0);
    env_free(env);
}

static void test_a_name_is_no_prefix_unless_it_says_so(void **state)
{
    char *inherited[] = {texts("PATHS=x"), texts("HOMEPAGE=x"), texts("XLC_ALL=x"),
                         texts("CUDA=x"),  texts("PATH"),       NULL};
    char **env = env_build(inherited, NULL);

    (void)state;
    assert_null(value_of(env, "PATHS"));
    assert_null(value_of(env, "HOMEPAGE"));
    assert_null(value_of(env, "XLC_ALL"));
    assert_null(value_of(env, "CUDA"));
    env_free(env);
}

static void test_the_models_own_values_win_and_need_no_permission(void **state)
{
    char *inherited[] = {texts("PATH=/bin"), texts("HOME=/root"), NULL};
    char *own[] = {texts("PATH=/own"), texts("MODEL_ID=a/b"), NULL};
    char **env = env_build(inherited, own);

    (void)state;
    assert_int_equal(count_of(env), 3);
    assert_string_equal(value_of(env, "PATH"), "/own");
    assert_string_equal(value_of(env, "MODEL_ID"), "a/b");
    assert_string_equal(value_of(env, "HOME"), "/root");
    env_free(env);
}

static void test_nothing_gives_an_empty_list(void **state)
{
    char **env = env_build(NULL, NULL);

    (void)state;
    assert_null(env[0]);
    env_free(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_names_and_prefixes_pass),
        cmocka_unit_test(test_keys_and_tokens_of_the_daemon_never_pass),
        cmocka_unit_test(test_what_could_run_foreign_code_does_not_pass),
        cmocka_unit_test(test_a_name_is_no_prefix_unless_it_says_so),
        cmocka_unit_test(test_the_models_own_values_win_and_need_no_permission),
        cmocka_unit_test(test_nothing_gives_an_empty_list),
    };

    return cmocka_run_group_tests_name("worker/env", tests, NULL, NULL);
}

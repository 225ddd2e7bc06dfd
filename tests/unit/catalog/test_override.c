/* Entries of `models:` applied to a model. */
#include "unit.h"

#include <errno.h>

#include "catalog/launch.h"
#include "catalog/override.h"
#include "catalog/words.h"

static struct model *fresh(void)
{
    struct model *model = mem_new(1, sizeof(*model));

    model->parallel = 1;
    model->vram_bytes = 7;
    model->prior = MODEL_PRIOR_TOP;
    model->clocks.run_ms = 777;
    model->clear_after = mem_strdup("job");
    return model;
}

static struct model *applied(const char *json, double scale)
{
    struct model *model = fresh();
    struct json_object *entry = NULL;
    struct schema_fault fault;
    struct err err = {0};

    assert_int_equal(json_parse(slice_str(json), &entry, NULL), 0);
    if (override_apply(model, entry, scale, &fault, &err) != 0)
        fail_msg("%s", err.msg);
    json_object_put(entry);
    return model;
}

static void amounts_replace_what_was_declared(void **state)
{
    struct model *model = applied("{\"vram\":\"6GB\",\"ram\":\"512MB\",\"per_job\":\"1GB\","
                                  "\"parallel\":3}",
                                  1);

    (void)state;
    assert_int_equal(model->vram_bytes, UINT64_C(6) << 30);
    assert_int_equal(model->ram_bytes, 512 << 20);
    assert_int_equal(model->per_job_bytes, 1 << 30);
    assert_int_equal(model->parallel, 3);
    assert_int_equal(model->prior, MODEL_PRIOR_CONFIG);
    model_free(model);
}

static void clocks_are_scaled_and_zero_stays_none(void **state)
{
    struct model *model = applied("{\"load_timeout\":\"10s\",\"queue_timeout\":2,"
                                  "\"stall_timeout\":0,\"cancel_grace\":\"1ms\"}",
                                  0.1);

    (void)state;
    assert_int_equal(model->clocks.load_ms, 1000);
    assert_int_equal(model->clocks.queue_ms, 200);
    assert_int_equal(model->clocks.stall_ms, 0);
    assert_int_equal(model->clocks.cancel_ms, 1);
    assert_int_equal(model->clocks.run_ms, 777);
    model_free(model);
}

static void an_empty_entry_changes_nothing(void **state)
{
    struct model *model = applied("{}", 1);

    (void)state;
    assert_int_equal(model->vram_bytes, 7);
    assert_int_equal(model->prior, MODEL_PRIOR_TOP);
    assert_int_equal(model->parallel, 1);
    assert_null(model->env);
    model_free(model);
}

static void env_and_aliases_are_added(void **state)
{
    struct model *model =
        applied("{\"env\":{\"A\":\"x y\",\"N\":4,\"E\":null},\"aliases\":[\"mini\",\"m/2\"],"
                "\"clear_after\":\"never\"}",
                1);

    (void)state;
    assert_int_equal(words_count(model->env), 4);
    assert_string_equal(model->env[0], "HOTBUNK_CLEAR_AFTER=never");
    assert_string_equal(model->env[1], "A=x y");
    assert_string_equal(model->env[2], "N=4");
    assert_string_equal(model->env[3], "E=");
    assert_string_equal(model->aliases[1], "m/2");
    assert_string_equal(model->clear_after, "never");
    model_free(model);
}

static void a_variable_is_set_once(void **state)
{
    struct model *model = fresh();

    (void)state;
    launch_put_env(model, "AB", "1");
    launch_put_env(model, "A", "2");
    launch_put_env(model, "AB", "3");

    assert_int_equal(words_count(model->env), 2);
    assert_string_equal(model->env[0], "AB=3");
    assert_string_equal(model->env[1], "A=2");
    model_free(model);
}

static void faults_carry_their_path(void **state)
{
    static const struct {
        const char *json, *path;
        bool is_key;
    } CASES[] = {
        {"{\"a\":{\"vram\":\"x\"}}", "a.vram", false},
        {"{\"a/b\":{\"typo\":1}}", "a/b.typo", true},
        {"{\"a\":{\"env\":{\"1\":\"\"}}}", "a.env.1", true},
        {"{\"/\":{}}", "/", true},
        {"{\"a/b/c\":{}}", "a/b/c", true},
        {"{\"a\":7}", "a", false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct json_object *models = NULL;
        struct schema_fault fault = {0};
        assert_int_equal(json_parse(slice_str(CASES[i].json), &models, NULL), 0);
        assert_int_equal(override_check_all(models, 1, &fault, NULL), -EINVAL);
        assert_string_equal(fault.path, CASES[i].path);
        assert_int_equal(fault.is_key, CASES[i].is_key);
        json_object_put(models);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(amounts_replace_what_was_declared),
        cmocka_unit_test(clocks_are_scaled_and_zero_stays_none),
        cmocka_unit_test(an_empty_entry_changes_nothing),
        cmocka_unit_test(env_and_aliases_are_added),
        cmocka_unit_test(a_variable_is_set_once),
        cmocka_unit_test(faults_carry_their_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

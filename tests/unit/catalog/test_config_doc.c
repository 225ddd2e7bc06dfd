/* docs/config.md and --help come from the table and are current. */
#include "unit.h"

#include "catalog/config.h"
#include "catalog/config_keys.h"

static void config_md_is_current(void **state)
{
    struct buf made, file;

    (void)state;
    buf_init(&made, 1 << 20);
    buf_init(&file, 1 << 20);
    assert_int_equal(config_doc(&made), 0);
    assert_int_equal(file_read(SOURCE_ROOT "/docs/config.md", &file, NULL), 0);
    if (!slice_eq(buf_slice(&made), buf_slice(&file)))
        fail_msg("docs/config.md is old: run confdoc > docs/config.md");
    buf_fini(&made);
    buf_fini(&file);
}

static void help_lists_every_flag_and_no_secret(void **state)
{
    struct buf help;

    (void)state;
    buf_init(&help, 65536);
    assert_int_equal(config_flags_help(&help), 0);
    assert_contains(buf_str(&help), "--models-dir DIR");
    assert_contains(buf_str(&help), "--port N");
    assert_null(strstr(buf_str(&help), "api-key"));
    buf_fini(&help);
}

static void names_in_the_table_are_unique_and_short(void **state)
{
    (void)state;
    for (size_t i = 0; i < CONFIG_KEY_COUNT; i++) {
        const struct config_key *key = &CONFIG_KEYS[i];
        assert_true(strlen(key->name) + sizeof("HOTBUNK_") < CONFIG_NAME_MAX);
        assert_ptr_equal(config_key_find(slice_str(key->name), false), key);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(config_md_is_current),
        cmocka_unit_test(help_lists_every_flag_and_no_secret),
        cmocka_unit_test(names_in_the_table_are_unique_and_short),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The merge: defaults < config.yaml < environment < flags; the errors of each. */
#include "unit.h"

#include <errno.h>

#include "catalog/config.h"

struct run {
    struct config *config;
    struct err err;
    int rc;
};

/* Every test starts with nothing but a home of its own. */
static int setup(void **state)
{
    int rc = tree_setup(state);

    if (rc == 0)
        env_begin(*state);
    return rc;
}

static struct run read_config(const struct tree *tree, const char *yaml,
                              const struct config_flag *flags, size_t flag_count)
{
    struct run run = {0};
    auto_free char *path = yaml ? tree_path(tree, "etc/config.yaml") : NULL;

    if (yaml)
        tree_write(tree, "etc/config.yaml", yaml);
    run.rc = config_read(path, flags, flag_count, &run.config, &run.err);
    return run;
}

static void assert_yaml_refused(const struct tree *tree, const char *yaml, const char *place,
                                const char *part)
{
    struct run run = read_config(tree, yaml, NULL, 0);
    auto_free char *where = mem_printf("%s/etc/config.yaml%s", tree->root, place);

    if (run.rc == 0) {
        config_free(run.config);
        fail_msg("accepted: %s", yaml);
    }
    assert_contains(run.err.msg, part);
    assert_string_equal(run.err.where, where);
}

static void assert_path(const struct tree *tree, const char *value, const char *expected)
{
    auto_free char *full = tree_path(tree, expected);

    assert_string_equal(value, full);
}

static void defaults_follow_xdg(void **state)
{
    struct tree *tree = *state;
    struct run run = read_config(tree, NULL, NULL, 0);

    assert_int_equal(run.rc, 0);
    assert_string_equal(run.config->listen, "127.0.0.1");
    assert_int_equal(run.config->port, 8000);
    assert_false(run.config->is_modly);
    assert_null(run.config->api_key);
    assert_path(tree, run.config->state_dir, ".local/state/hotbunk");
    assert_path(tree, run.config->models_dir, ".local/share/hotbunk/models");
    assert_path(tree, run.config->workspace_dir, ".local/share/hotbunk/workspace");
    assert_path(tree, run.config->extensions_dirs[0], ".local/share/hotbunk/extensions");
    assert_path(tree, run.config->runtime_dir, "hotbunk");
    assert_string_equal(run.config->python, "/usr/bin/python3");
    assert_int_equal(run.config->max_body_bytes, 512 << 20);
    assert_int_equal(run.config->clocks.load_ms, 1200000);
    assert_int_equal(run.config->clocks.stall_ms, 0);
    assert_int_equal(run.config->ttl_ms, 300000);
    assert_int_equal(run.config->log_level, LOG_LEVEL_INFO);
    assert_string_equal(run.config->clear_after, "job");
    config_free(run.config);
}

static void xdg_variables_move_the_directories(void **state)
{
    struct tree *tree = *state;
    struct run run;

    env_set("XDG_STATE_HOME", "/s");
    env_set("XDG_DATA_HOME", "/d");
    run = read_config(tree, NULL, NULL, 0);

    assert_int_equal(run.rc, 0);
    assert_string_equal(run.config->state_dir, "/s/hotbunk");
    assert_string_equal(run.config->models_dir, "/d/hotbunk/models");
    config_free(run.config);
}

static void bundled_extensions_come_last(void **state)
{
    struct tree *tree = *state;
    const struct config_flag flags[] = {
        {"data-dir", "/data"}, {"extensions-dir", "/a:/b"}, {"extensions-dir", "/c"}};
    struct run run = read_config(tree, "extensions_dir: /from-file\n", flags, 3);

    assert_int_equal(run.rc, 0);
    assert_string_equal(run.config->extensions_dirs[0], "/a");
    assert_string_equal(run.config->extensions_dirs[1], "/b");
    assert_string_equal(run.config->extensions_dirs[2], "/c");
    assert_string_equal(run.config->extensions_dirs[3], "/data/extensions");
    assert_null(run.config->extensions_dirs[4]);
    config_free(run.config);
}

static void too_many_extension_directories_are_refused(void **state)
{
    struct tree *tree = *state;
    const struct config_flag flags[] = {{"extensions-dir", "/1:/2:/3:/4:/5:/6:/7:/8"}};
    struct run run = read_config(tree, NULL, flags, 1);

    assert_int_equal(run.rc, -EINVAL);
    assert_contains(run.err.msg, "--extensions-dir");
}

static void later_sources_win(void **state)
{
    struct tree *tree = *state;
    const struct config_flag flags[] = {{"port", "3"}};
    struct run run;

    env_set("HOTBUNK_PORT", "2");
    env_set("HOTBUNK_QUEUE_LIMIT", "22");
    run = read_config(tree, "port: 1\nqueue_limit: 11\nmax_connections: 7\n", flags, 1);

    assert_int_equal(run.rc, 0);
    assert_int_equal(run.config->port, 3);
    assert_int_equal(run.config->queue_limit, 22);
    assert_int_equal(run.config->max_connections, 7);
    config_free(run.config);
}

static void modlys_variables_are_read_and_ours_win(void **state)
{
    struct tree *tree = *state;
    struct run run;

    env_set("MODELS_DIR", "/m");
    env_set("WORKSPACE_DIR", "/w");
    env_set("HOTBUNK_WORKSPACE_DIR", "/ours");
    env_set("EXTENSIONS_DIR", "/e");
    env_set("SELECTED_MODEL_ID", "a/b");
    env_set("MODLY_API_TOKEN", "t0ken");
    run = read_config(tree, NULL, NULL, 0);

    assert_int_equal(run.rc, 0);
    assert_string_equal(run.config->models_dir, "/m");
    assert_string_equal(run.config->workspace_dir, "/ours");
    assert_string_equal(run.config->extensions_dirs[0], "/e");
    assert_string_equal(run.config->selected_model, "a/b");
    assert_null(run.config->api_key); /* only with --modly */
    config_free(run.config);
}

static void modly_mode_brings_its_port_directories_and_token(void **state)
{
    struct tree *tree = *state;
    const struct config_flag flags[] = {{"modly", NULL}};
    struct run run;

    env_set("MODLY_API_TOKEN", "t0ken");
    run = read_config(tree, NULL, flags, 1);

    assert_int_equal(run.rc, 0);
    assert_true(run.config->is_modly);
    assert_int_equal(run.config->port, 8765);
    assert_path(tree, run.config->models_dir, ".modly/models");
    assert_path(tree, run.config->workspace_dir, ".modly/workspace");
    assert_path(tree, run.config->extensions_dirs[0], ".modly/extensions");
    assert_string_equal(run.config->api_key, "t0ken");
    assert_string_equal(run.config->null_token, "t0ken");
    config_free(run.config);
}

static void modly_mode_leaves_a_given_port_and_directory(void **state)
{
    struct tree *tree = *state;
    struct run run = read_config(tree, "modly: true\nport: 9\nmodels_dir: /m\n", NULL, 0);

    assert_int_equal(run.rc, 0);
    assert_int_equal(run.config->port, 9);
    assert_string_equal(run.config->models_dir, "/m");
    config_free(run.config);
}

static void paths_are_made_absolute(void **state)
{
    struct tree *tree = *state;
    auto_free char *cwd = getcwd(NULL, 0);
    const struct config_flag flags[] = {{"workspace-dir", "rel/w/"}};
    auto_free char *expected = file_join(cwd, "rel/w");
    struct run run = read_config(tree, "models_dir: ~/m\nstate_dir: rel\nruntime_dir: \"~\"\n",
                                 flags, 1);

    assert_int_equal(run.rc, 0);
    assert_path(tree, run.config->models_dir, "m");
    assert_path(tree, run.config->state_dir, "etc/rel"); /* beside the file */
    assert_string_equal(run.config->runtime_dir, tree->root);
    assert_string_equal(run.config->workspace_dir, expected);
    config_free(run.config);
}

static void the_default_file_is_read_when_present(void **state)
{
    struct tree *tree = *state;
    struct run run;

    tree_write(tree, ".config/hotbunk/config.yaml", "port: 4242\n");
    run = read_config(tree, NULL, NULL, 0);

    assert_int_equal(run.rc, 0);
    assert_int_equal(run.config->port, 4242);
    config_free(run.config);
}

static void a_named_file_must_exist(void **state)
{
    struct config *config = NULL;
    struct err err;

    (void)state;
    assert_int_equal(config_read("/nonexistent/c.yaml", NULL, 0, &config, &err), -ENOENT);
    assert_contains(err.msg, "/nonexistent/c.yaml");
}

static void clock_scale_multiplies_all_clocks(void **state)
{
    struct tree *tree = *state;
    struct run run = read_config(tree,
                                 "clock_scale: 0.01\nttl: 50ms\nstall_timeout: 0\n"
                                 "models: {a: {run_timeout: 10s}}\n",
                                 NULL, 0);

    assert_int_equal(run.rc, 0);
    assert_int_equal(run.config->clocks.load_ms, 12000);
    assert_int_equal(run.config->clocks.cancel_ms, 50);
    assert_int_equal(run.config->ttl_ms, 1); /* never to "no limit" */
    assert_int_equal(run.config->clocks.stall_ms, 0);
    config_free(run.config);
}

static void values_have_units(void **state)
{
    struct tree *tree = *state;
    struct run run = read_config(tree,
                                 "max_body: 1.5GiB\nlog_file_size: 65536\nload_timeout: 1.5h\n"
                                 "drain_timeout: 30\nqueue_timeout: 250ms\nlog_level: DEBUG\n"
                                 "clear_after: never\n",
                                 NULL, 0);

    assert_int_equal(run.rc, 0);
    assert_int_equal(run.config->max_body_bytes, UINT64_C(1610612736));
    assert_int_equal(run.config->log_file_bytes, 65536);
    assert_int_equal(run.config->clocks.load_ms, 5400000);
    assert_int_equal(run.config->clocks.drain_ms, 30000);
    assert_int_equal(run.config->clocks.queue_ms, 250);
    assert_int_equal(run.config->log_level, LOG_LEVEL_DEBUG);
    assert_string_equal(run.config->clear_after, "never");
    config_free(run.config);
}

static void bad_files_name_the_place_and_a_remedy(void **state)
{
    static const struct {
        const char *yaml, *place, *part;
    } CASES[] = {
        {"prot: 8000\n", ":1:1", "did you mean port?"},
        {"port: 1\n\ntll: 60\n", ":3:1", "did you mean ttl?"},
        {"qqqqqqqqqqqq: 1\n", ":1:1", "unknown key qqqqqqqqqqqq"},
        {"port: 1\nport: 2\n", ":2:1", "stands twice"},
        {"port: \"8000\"\n", ":1:7", "port: must be a whole number"},
        {"port: 65536\n", ":1:7", "out of range"},
        {"port: -1\n", ":1:7", "not a whole number"},
        {"modly: yes\n", ":1:8", "must be true or false"},
        {"listen: example.org\n", ":1:9", "numeric address"},
        {"max_body: 12 potatoes\n", ":1:11", "such as 512MiB"},
        {"load_timeout: soon\n", ":1:15", "such as 250ms"},
        {"clock_scale: 100\n", ":1:14", "0.001 to 10"},
        {"log_level: chatty\n", ":1:12", "debug, info, warn or error"},
        {"clear_after: jobs\n", ":1:14", "did you mean job?"},
        {"state_dir: \"\"\n", ":1:12", "must not be empty"},
        {"state_dir: [a]\n", ":1:12", "must be a string"},
        {"extensions_dir: [1]\n", ":1:17", "list of them"},
        {"- a\n", ":1:1", "expected lines such as"},
        {"max_connections: 0\n", ":1:18", "out of range"},
        {"models: 7\n", ":1:9", "must be an object"},
        {"models:\n  a: {vrma: 1}\n", ":2:7", "did you mean vram?"},
        {"models:\n  a: {vram: 8}\n", ":2:13", "write the unit"},
        {"models:\n  a: {vram: much}\n", ":2:13", "such as 6GB"},
        {"models:\n  a: {run_timeout: [1]}\n", ":2:20", "must be"},
        {"models:\n  a: {parallel: 0}\n", ":2:17", "from 1 to"},
        {"models:\n  a: {aliases: x}\n", ":2:16", "must be an array"},
        {"models:\n  a: {env: {\"A-B\": 1}}\n", ":2:13", "environment variable"},
        {"models:\n  ../x: {vram: 1GB}\n", ":2:3", "a model's id"},
        {"models:\n  a: {kind: ndjson}\n", ":2:3", "needs a cmd"},
        {"models:\n  a: {cmd: x}\n", ":2:7", "add kind: ndjson"},
        {"models:\n  a: {kind: http, cmd: x}\n", ":2:13", "cannot be \"http\""},
        {"models:\n  a: {kind: ndjson, cmd: a | b}\n", ":2:26", "no shell"},
        {"models:\n  a: {name: x}\n", ":2:7", "is for whole models"},
        {"models:\n  a: {vram: 1GB}\n  a: {vram: 1GB}\n", ":3:3", "stands twice"},
    };
    struct tree *tree = *state;

    for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
        assert_yaml_refused(tree, CASES[i].yaml, CASES[i].place, CASES[i].part);
}

static void bad_flags_and_variables_are_named(void **state)
{
    static const struct {
        struct config_flag flag;
        const char *part;
    } CASES[] = {
        {{"prot", "1"}, "did you mean --port?"},
        {{"port", "x"}, "--port: \"x\" is not a whole number"},
        {{"port", NULL}, "--port needs a value"},
        {{"api-key", "x"}, "unknown flag --api-key"},
        {{"modly", "perhaps"}, "--modly"},
        {{"models_dir", "/x"}, "did you mean --models-dir?"},
    };
    struct tree *tree = *state;
    struct run run;

    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        run = read_config(tree, NULL, &CASES[i].flag, 1);
        assert_int_equal(run.rc, -EINVAL);
        assert_contains(run.err.msg, CASES[i].part);
    }
    env_set("HOTBUNK_TTL", "never");
    run = read_config(tree, NULL, NULL, 0);
    assert_int_equal(run.rc, -EINVAL);
    assert_contains(run.err.msg, "HOTBUNK_TTL");
}

static void beyond_loopback_a_key_is_needed(void **state)
{
    static const struct {
        const char *address;
        bool needs_key;
    } CASES[] = {{"0.0.0.0", true},    {"::", true},   {"192.168.1.2", true}, {"127.0.0.1", false},
                 {"127.9.9.9", false}, {"::1", false}, {"localhost", false}};
    struct tree *tree = *state;

    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        const struct config_flag flag = {"listen", CASES[i].address};
        struct run run = read_config(tree, NULL, &flag, 1);
        assert_int_equal(run.rc, CASES[i].needs_key ? -EINVAL : 0);
        if (run.rc != 0)
            assert_contains(run.err.msg, "HOTBUNK_API_KEY");
        config_free(run.config);
        run = read_config(tree, "api_key: secret\n", &flag, 1);
        assert_int_equal(run.rc, 0);
        config_free(run.config);
    }
}

static void flags_are_known(void **state)
{
    bool takes_value = false;

    (void)state;
    assert_true(config_flag_known(slice_str("models-dir"), &takes_value));
    assert_true(takes_value);
    assert_true(config_flag_known(slice_str("modly"), &takes_value));
    assert_false(takes_value);
    assert_false(config_flag_known(slice_str("api-key"), &takes_value));
    assert_false(config_flag_known(slice_str("models_dir"), &takes_value));
    assert_false(config_flag_known(slice_str(""), &takes_value));
}

static void runtime_dir_is_where_clients_look(void **state)
{
    struct tree *tree = *state;
    auto_free char *expected = mem_printf("/tmp/hotbunk-%lu", (unsigned long)geteuid());
    struct run run;

    env_set("XDG_RUNTIME_DIR", "");
    run = read_config(tree, NULL, NULL, 0);

    assert_int_equal(run.rc, 0);
    assert_string_equal(run.config->runtime_dir, expected);
    config_free(run.config);
}

static void own_programs_are_found_in_a_build_tree(void **state)
{
    struct tree *tree = *state;
    const struct config_flag flags[] = {{"libexec-dir", tree->root}};
    struct run run;
    char *path;

    tree_write(tree, "src/shim/hotbunk-shim", "x");
    tree_chmod(tree, "src/shim/hotbunk-shim", 0755);
    run = read_config(tree, NULL, flags, 1);
    assert_int_equal(run.rc, 0);
    path = config_program(run.config, "hotbunk-shim");
    assert_path(tree, path, "src/shim/hotbunk-shim");
    mem_free(path);
    path = config_program(run.config, "nothing");
    assert_path(tree, path, "nothing");
    mem_free(path);
    config_free(run.config);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, tree_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(defaults_follow_xdg),
        TEST(xdg_variables_move_the_directories),
        TEST(bundled_extensions_come_last),
        TEST(too_many_extension_directories_are_refused),
        TEST(later_sources_win),
        TEST(modlys_variables_are_read_and_ours_win),
        TEST(modly_mode_brings_its_port_directories_and_token),
        TEST(modly_mode_leaves_a_given_port_and_directory),
        TEST(paths_are_made_absolute),
        TEST(the_default_file_is_read_when_present),
        TEST(a_named_file_must_exist),
        TEST(clock_scale_multiplies_all_clocks),
        TEST(values_have_units),
        TEST(bad_files_name_the_place_and_a_remedy),
        TEST(bad_flags_and_variables_are_named),
        TEST(beyond_loopback_a_key_is_needed),
        TEST(flags_are_known),
        TEST(runtime_dir_is_where_clients_look),
        TEST(own_programs_are_found_in_a_build_tree),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

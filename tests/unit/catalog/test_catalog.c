/* Directories in, models and complaints out. */
#include "unit.h"

#include <errno.h>

#include "catalog/catalog.h"
#include "catalog/words.h"

#define MODEL(id) "{\"id\":\"" id "\",\"generator_class\":\"G\",\"nodes\":[{\"id\":\"n\"}]}"

struct world {
    struct tree *tree;
    struct config *config;
    struct catalog *catalog;
};

static int setup(void **state)
{
    struct world *world = mem_new(1, sizeof(*world));

    *state = world;
    if (tree_setup((void **)&world->tree) != 0)
        return -1;
    env_begin(world->tree);
    return 0;
}

static int teardown(void **state)
{
    struct world *world = *state;
    int rc;

    catalog_free(world->catalog);
    config_free(world->config);
    rc = tree_teardown((void **)&world->tree);
    mem_free(world);
    return rc;
}

/* Reads root/user and the bundled root/data/extensions. */
static void read_all(struct world *world, const char *yaml)
{
    auto_free char *file = tree_path(world->tree, "config.yaml");
    auto_free char *user = tree_path(world->tree, "user");
    auto_free char *data = tree_path(world->tree, "data");
    auto_free char *models = tree_path(world->tree, "models");
    const struct config_flag flags[] = {{"extensions-dir", user}, {"data-dir", data},
                                        {"libexec-dir", data},    {"models-dir", models},
                                        {"workspace-dir", "/w"},  {"python", "/usr/bin/python3"}};
    struct err err = {0};

    tree_write(world->tree, "config.yaml", yaml ? yaml : "");
    if (config_read(file, flags, ARRAY_LEN(flags), &world->config, &err) != 0)
        fail_msg("%s: %s", err.where, err.msg);
    if (catalog_read(world->config, &world->catalog, &err) != 0)
        fail_msg("%s", err.msg);
}

static void add_extension(const struct world *world, const char *dir, const char *manifest)
{
    auto_free char *path = mem_printf("%s/manifest.json", dir);
    auto_free char *generator = mem_printf("%s/generator.py", dir);

    tree_write(world->tree, path, manifest);
    tree_write(world->tree, generator, "class G: pass\n");
}

static const struct model *find(const struct world *world, const char *id)
{
    return catalog_find(world->catalog, slice_str(id));
}

static void assert_one_error(const struct world *world, const char *id, const char *part)
{
    const struct catalog_error *error = catalog_error_at(world->catalog, 0);

    assert_int_equal(catalog_error_count(world->catalog), 1);
    assert_string_equal(error->id, id);
    assert_contains(error->text, part);
}

static bool has_env(const struct model *model, const char *line)
{
    for (char **at = model->env; *at; at++) {
        if (strcmp(*at, line) == 0)
            return true;
    }
    return false;
}

static void extensions_are_read_in_order(void **state)
{
    struct world *world = *state;

    add_extension(world, "user/b", MODEL("b"));
    add_extension(world, "user/a",
                  "{\"id\":\"z\",\"generator_class\":\"G\",\"nodes\":[{\"id\":"
                  "\"2\"},{\"id\":\"1\"}]}");
    add_extension(world, "data/extensions/c", MODEL("c"));
    read_all(world, NULL);

    assert_int_equal(catalog_error_count(world->catalog), 0);
    assert_int_equal(catalog_count(world->catalog), 4);
    assert_string_equal(catalog_at(world->catalog, 0)->id, "z/2");
    assert_string_equal(catalog_at(world->catalog, 1)->id, "z/1");
    assert_string_equal(catalog_at(world->catalog, 2)->id, "b/n");
    assert_string_equal(catalog_at(world->catalog, 3)->id, "c/n");
    assert_null(catalog_at(world->catalog, 4));
}

static void a_generator_runs_on_the_runner_with_its_environment(void **state)
{
    struct world *world = *state;
    const struct model *model;
    auto_free char *runner = tree_path(world->tree, "data/runner/runner.py");
    auto_free char *dir = mem_printf("EXTENSION_DIR=%s/user/a", world->tree->root);
    auto_free char *model_dir = mem_printf("MODEL_DIR=%s/models/a/n", world->tree->root);
    auto_free char *api_dir = mem_printf("MODLY_API_DIR=%s/data/runner", world->tree->root);

    add_extension(world, "user/a", MODEL("a"));
    read_all(world, NULL);
    model = find(world, "a/n");

    assert_string_equal(model->argv[0], "/usr/bin/python3");
    assert_string_equal(model->argv[1], runner);
    assert_null(model->argv[2]);
    assert_true(has_env(model, dir));
    assert_true(has_env(model, model_dir));
    assert_true(has_env(model, api_dir));
    assert_true(has_env(model, "WORKSPACE_DIR=/w"));
    assert_true(has_env(model, "MODEL_ID=a/n"));
    assert_true(has_env(model, "MODEL_NODE_ID=n"));
    assert_true(has_env(model, "PYTHONUTF8=1"));
    assert_true(has_env(model, "PYTHONUNBUFFERED=1"));
    assert_true(has_env(model, "HOTBUNK_CLEAR_AFTER=job"));
    assert_true(has_env(model, "HOTBUNK_MAX_IMAGE_PIXELS=40000000"));
}

static void a_venv_of_its_own_is_used(void **state)
{
    struct world *world = *state;
    auto_free char *python = tree_path(world->tree, "user/a/venv/bin/python");

    add_extension(world, "user/a", MODEL("a"));
    tree_write(world->tree, "user/a/setup.py", "");
    tree_write(world->tree, "user/a/venv/bin/python", "");
    tree_chmod(world->tree, "user/a/venv/bin/python", 0755);
    read_all(world, NULL);

    assert_int_equal(catalog_error_count(world->catalog), 0);
    assert_string_equal(find(world, "a/n")->argv[0], python);
}

static void a_missing_setup_is_told_and_the_model_listed(void **state)
{
    struct world *world = *state;

    add_extension(world, "user/a", MODEL("a"));
    tree_write(world->tree, "user/a/setup.py", "");
    read_all(world, NULL);

    assert_one_error(world, "a", "needs setup");
    assert_non_null(find(world, "a/n"));
}

static void a_command_needs_no_generator(void **state)
{
    struct world *world = *state;
    auto_free char *program = tree_path(world->tree, "data/extensions/flite/hotbunk-flite");
    auto_free char *dir = tree_path(world->tree, "user/f");

    tree_write(world->tree, "user/f/manifest.json",
               "{\"id\":\"f\",\"command\":[\"${LIBEXEC}/hotbunk-flite\",\"${DIR}\",\"-v\"],"
               "\"nodes\":[{\"id\":\"say\",\"input\":\"text\",\"output\":\"audio\"}]}");
    tree_write(world->tree, "data/extensions/flite/hotbunk-flite", "");
    tree_chmod(world->tree, "data/extensions/flite/hotbunk-flite", 0755);
    read_all(world, NULL);

    assert_int_equal(catalog_error_count(world->catalog), 0);
    assert_string_equal(find(world, "f/say")->argv[0], program);
    assert_string_equal(find(world, "f/say")->argv[1], dir);
    assert_string_equal(find(world, "f/say")->argv[2], "-v");
}

static void a_command_that_cannot_run_is_told(void **state)
{
    struct world *world = *state;

    tree_write(world->tree, "user/f/manifest.json", "{\"id\":\"f\",\"command\":[\"./nothing\"]}");
    read_all(world, NULL);

    assert_one_error(world, "f", "does not exist");
    assert_null(find(world, "f"));
}

static void broken_extensions_are_told_and_the_others_load(void **state)
{
    static const struct {
        const char *manifest, *id, *part;
    } CASES[] = {
        {"{", "bad", "not valid JSON"},
        {"{\"name\":\"x\"}", "bad", "id is missing"},
        {"{\"id\":\"x\",\"nodes\":[{\"id\":\"a\"},{\"id\":\"b\",\"params_schema\":{}}]}", "bad",
         "nodes[1].params_schema must be an array"},
        {"{\"id\":\"x\",\"nodes\":[{\"id\":\"a\"}]}", "x", "generator_class is missing"},
        {"{\"id\":\"good\",\"generator_class\":\"G\"}", "good", "already that of"},
        {"{\"id\":\"x\",\"generator_class\":\"G\",\"download_check\":\"../../y\"}", "x",
         "download_check"},
    };
    struct world *world = *state;

    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        add_extension(world, "user/good", MODEL("good"));
        add_extension(world, "user/bad", CASES[i].manifest);
        /* "bad" is read before "good": put the double id behind it */
        if (strcmp(CASES[i].id, "good") == 0)
            add_extension(world, "data/extensions/copy", CASES[i].manifest);
        if (strcmp(CASES[i].id, "good") == 0)
            tree_write(world->tree, "user/bad/manifest.json", MODEL("other"));
        read_all(world, NULL);
        assert_one_error(world, CASES[i].id, CASES[i].part);
        assert_non_null(find(world, "good/n"));
        catalog_free(world->catalog);
        world->catalog = NULL;
        config_free(world->config);
        world->config = NULL;
        if (strcmp(CASES[i].id, "good") == 0) {
            auto_free char *copy = tree_path(world->tree, "data/extensions/copy");
            assert_int_equal(file_remove_tree(copy), 0);
        }
    }
}

static void of_two_with_one_id_the_folder_that_bears_it_wins(void **state)
{
    struct world *world = *state;

    add_extension(world, "user/good-copy", MODEL("good")); /* read before or behind it */
    add_extension(world, "user/good", MODEL("good"));
    add_extension(world, "user/a-copy", MODEL("good"));
    read_all(world, NULL);

    assert_int_equal(catalog_count(world->catalog), 1);
    assert_true(slice_ends_with(slice_str(find(world, "good/n")->dir), "/user/good"));
    assert_int_equal(catalog_error_count(world->catalog), 2);
    assert_contains(catalog_error_at(world->catalog, 0)->where, "a-copy");
    assert_contains(catalog_error_at(world->catalog, 1)->where, "good-copy");
}

static void a_missing_generator_is_told(void **state)
{
    struct world *world = *state;

    tree_write(world->tree, "user/a/manifest.json", MODEL("a"));
    read_all(world, NULL);

    assert_one_error(world, "a", "generator.py is missing");
}

static void a_broken_node_takes_its_whole_extension_out(void **state)
{
    struct world *world = *state;

    add_extension(world, "user/a",
                  "{\"id\":\"a\",\"generator_class\":\"G\",\"nodes\":[{\"id\":\"ok\"},{\"id\":"
                  "\"bad\",\"download_check\":\"../../x\"}]}");
    read_all(world, NULL);

    assert_int_equal(catalog_count(world->catalog), 0);
    assert_one_error(world, "a", "download_check");
}

static void what_is_no_extension_is_passed_over(void **state)
{
    struct world *world = *state;
    auto_free char *empty = tree_path(world->tree, "user/empty");

    add_extension(world, "user/.modly-backup-a-1", MODEL("a"));
    add_extension(world, "user/proc", "{\"id\":\"proc\",\"type\":\"process\"}");
    tree_write(world->tree, "user/file", "x");
    tree_write(world->tree, "user/notes/readme.txt", "x");
    assert_int_equal(file_make_dirs(empty, NULL), 0);
    read_all(world, NULL);

    assert_int_equal(catalog_count(world->catalog), 0);
    assert_int_equal(catalog_error_count(world->catalog), 0);
}

static void a_generator_without_manifest_is_told(void **state)
{
    struct world *world = *state;

    tree_write(world->tree, "user/half/generator.py", "");
    read_all(world, NULL);

    assert_one_error(world, "half", "manifest.json is missing");
}

static void a_fifo_instead_of_a_manifest_is_told(void **state)
{
    struct world *world = *state;
    auto_free char *fifo = tree_path(world->tree, "user/f/manifest.json");

    tree_write(world->tree, "user/f/x", "");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    read_all(world, NULL);

    assert_one_error(world, "f", "not a file");
}

static void a_root_that_is_a_file_fails(void **state)
{
    struct world *world = *state;
    struct catalog *catalog = NULL;
    struct err err = {0};

    read_all(world, NULL);
    tree_write(world->tree, "user", "x");

    assert_int_equal(catalog_read(world->config, &catalog, &err), -ENOTDIR);
    assert_contains(err.msg, "user");
}

static void ids_are_resolved_by_id_alias_and_extension(void **state)
{
    struct world *world = *state;

    add_extension(world, "user/a",
                  "{\"id\":\"a\",\"generator_class\":\"G\",\"nodes\":[{\"id\":"
                  "\"one\"},{\"id\":\"two\"}]}");
    read_all(world, "models: {a/two: {aliases: [mini]}}\n");

    assert_string_equal(find(world, "a/two")->id, "a/two");
    assert_string_equal(find(world, "mini")->id, "a/two");
    assert_string_equal(find(world, "a")->id, "a/one");
    assert_null(find(world, "a/"));
    assert_null(find(world, ""));
    assert_null(find(world, "b"));
}

static void config_overrides_and_adds_models(void **state)
{
    struct world *world = *state;
    auto_free char *dir = mem_strdup(world->tree->root);

    add_extension(world, "user/a", MODEL("a"));
    read_all(world,
             "models:\n"
             "  a/n: {vram: 2GB, env: {X: 1}}\n"
             "  own/say: {kind: ndjson, cmd: \"sh -c 'cat ${DIR}'\", name: Say, input: text,\n"
             "    output: audio, ram: 1GB, params_schema: [{id: voice}]}\n");

    assert_int_equal(catalog_error_count(world->catalog), 0);
    assert_int_equal(find(world, "a/n")->vram_bytes, UINT64_C(2) << 30);
    assert_int_equal(find(world, "a/n")->prior, MODEL_PRIOR_CONFIG);
    assert_true(has_env(find(world, "a/n"), "X=1"));
    assert_string_equal(find(world, "own")->id, "own/say");
    assert_string_equal(find(world, "own/say")->name, "Say");
    assert_string_equal(find(world, "own/say")->dir, dir);
    assert_int_equal(find(world, "own/say")->ram_bytes, UINT64_C(1) << 30);
    assert_int_equal(find(world, "own/say")->argv[0][0], '/');
    assert_contains(find(world, "own/say")->argv[2], dir);
    assert_non_null(model_param(find(world, "own/say"), "voice"));
}

static void entries_that_match_nothing_are_told_with_their_line(void **state)
{
    struct world *world = *state;
    const struct catalog_error *error;

    add_extension(world, "user/a", MODEL("a"));
    read_all(world, "models:\n  typo/n: {vram: 2GB}\n");

    assert_one_error(world, "typo/n", "no extension has this model");
    error = catalog_error_at(world->catalog, 0);
    assert_contains(error->where, "config.yaml:2:3");
    assert_null(catalog_error_at(world->catalog, 1));
}

static void an_entry_for_a_bare_extension_names_the_whole_id(void **state)
{
    struct world *world = *state;

    add_extension(world, "user/a", MODEL("a"));
    read_all(world, "models:\n  a: {vram: 2GB}\n");

    assert_one_error(world, "a", "write the whole id, a/n");
}

static void known_ids_are_listed_and_cut(void **state)
{
    struct world *world = *state;
    auto_free char *all = NULL, *cut = NULL;

    add_extension(world, "user/a", MODEL("a"));
    add_extension(world, "user/b", MODEL("b"));
    read_all(world, NULL);
    all = catalog_known_ids(world->catalog, 100);
    cut = catalog_known_ids(world->catalog, 10);

    assert_string_equal(all, "a/n, b/n");
    assert_string_equal(cut, "a/n, …");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(extensions_are_read_in_order),
        TEST(a_generator_runs_on_the_runner_with_its_environment),
        TEST(a_venv_of_its_own_is_used),
        TEST(a_missing_setup_is_told_and_the_model_listed),
        TEST(a_command_needs_no_generator),
        TEST(a_command_that_cannot_run_is_told),
        TEST(broken_extensions_are_told_and_the_others_load),
        TEST(of_two_with_one_id_the_folder_that_bears_it_wins),
        TEST(a_missing_generator_is_told),
        TEST(a_broken_node_takes_its_whole_extension_out),
        TEST(what_is_no_extension_is_passed_over),
        TEST(a_generator_without_manifest_is_told),
        TEST(a_fifo_instead_of_a_manifest_is_told),
        TEST(a_root_that_is_a_file_fails),
        TEST(ids_are_resolved_by_id_alias_and_extension),
        TEST(config_overrides_and_adds_models),
        TEST(entries_that_match_nothing_are_told_with_their_line),
        TEST(an_entry_for_a_bare_extension_names_the_whole_id),
        TEST(known_ids_are_listed_and_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

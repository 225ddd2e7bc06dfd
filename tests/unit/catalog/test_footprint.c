/* Declared and guessed memory, and whether the weights are there. */
#include "unit.h"

#include <errno.h>

#include "catalog/footprint.h"

#define GIB (UINT64_C(1) << 30)

struct case_of {
    struct config config;
    struct manifest manifest;
    struct model *model;
};

/* The first model of a manifest whose extension and weights are in the tree. */
static struct case_of begin(const struct tree *tree, const char *json)
{
    struct case_of it = {0};
    struct err err = {0};
    auto_free char *dir = tree_path(tree, "ext");

    it.config.models_dir = tree_path(tree, "models");
    it.config.clear_after = "job";
    if (manifest_parse(slice_str(json), &it.manifest, &err) != 0)
        fail_msg("%s", err.msg);
    it.model = manifest_model_new(&it.manifest, 0, dir, &it.config);
    return it;
}

static void end(struct case_of *it)
{
    model_free(it->model);
    manifest_fini(&it->manifest);
    mem_free(it->config.models_dir);
}

static void lines_of_a_generator_are_read_literally(void **state)
{
    static const struct {
        const char *text;
        double gb;
    } CASES[] = {
        {"VRAM_GB = 6\n", 6},
        {"class G:\n    VRAM_GB = 6.5  # about\n", 6.5},
        {"    VRAM_GB: float = 8\r\n", 8},
        {"VRAM_GB=12", 12},
        {"VRAM_GB = 0\nVRAM_GB = 3\n", 3},
        {"# VRAM_GB = 6\n", 0},
        {"MY_VRAM_GB = 6\n", 0},
        {"VRAM_GB = SIZE\n", 0},
        {"VRAM_GB = 6 * 2\n", 0},
        {"VRAM_GB == 6\n", 0},
        {"VRAM_GB += 6\n", 0},
        {"VRAM_GB_MAX = 6\n", 0},
        {"VRAM_GB = 1.2.3\n", 0},
        {"", 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        double gb = footprint_scan_generator(slice_str(CASES[i].text));
        if (gb < CASES[i].gb || gb > CASES[i].gb)
            fail_msg("%s gives %g", CASES[i].text, gb);
    }
}

static void the_best_prior_wins(void **state)
{
    static const struct {
        const char *json;
        uint64_t bytes;
        enum model_prior prior;
    } CASES[] = {
        {"{\"id\":\"e\",\"vram_gb\":4,\"nodes\":[{\"id\":\"n\",\"vram_gb\":2}]}", 2 * GIB,
         MODEL_PRIOR_NODE},
        {"{\"id\":\"e\",\"vram_gb\":4,\"nodes\":[{\"id\":\"n\",\"vram_gb\":0}]}", 4 * GIB,
         MODEL_PRIOR_TOP},
        {"{\"id\":\"e\",\"nodes\":[{\"id\":\"n\",\"VRAM_GB\":3}]}", 3 * GIB, MODEL_PRIOR_NODE},
        {"{\"id\":\"e\",\"VRAM_GB\":1.5}", GIB + GIB / 2, MODEL_PRIOR_TOP},
        {"{\"id\":\"e\"}", 6 * GIB, MODEL_PRIOR_GENERATOR},
        {"{\"id\":\"e\",\"nodes\":[]}", 6 * GIB, MODEL_PRIOR_GENERATOR},
    };
    struct tree *tree = *state;

    tree_write(tree, "ext/generator.py", "class G:\n    VRAM_GB = 6\n");
    tree_write(tree, "models/e/w.bin", "12345");
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct case_of it = begin(tree, CASES[i].json);
        footprint_fill(it.model, &it.manifest, 0);
        assert_int_equal(it.model->vram_bytes, CASES[i].bytes);
        assert_int_equal(it.model->prior, CASES[i].prior);
        end(&it);
    }
}

static void weight_files_are_a_last_guess(void **state)
{
    struct tree *tree = *state;
    struct case_of it = begin(tree, "{\"id\":\"e\",\"nodes\":[{\"id\":\"n\"}]}");

    tree_write(tree, "models/e/n/a.safetensors", "1234567890");
    tree_write(tree, "models/e/n/sub/b.bin", "1234567890");
    tree_write(tree, "models/e/n/c.bin.part", "1234567890");
    tree_write(tree, "models/e/n/d.incomplete", "1234567890");
    footprint_fill(it.model, &it.manifest, 0);

    assert_int_equal(it.model->vram_bytes, 24);
    assert_int_equal(it.model->prior, MODEL_PRIOR_WEIGHTS);
    end(&it);
}

static void nothing_known_is_unknown(void **state)
{
    struct tree *tree = *state;
    struct case_of it = begin(tree, "{\"id\":\"e\"}");

    footprint_fill(it.model, &it.manifest, 0);

    assert_int_equal(it.model->vram_bytes, 0);
    assert_int_equal(it.model->prior, MODEL_PRIOR_UNKNOWN);
    end(&it);
}

static void host_memory_is_declared_in_mib(void **state)
{
    struct tree *tree = *state;
    struct case_of it =
        begin(tree, "{\"id\":\"e\",\"ram_mb\":100,\"nodes\":[{\"id\":\"n\",\"ram_mb\":256}]}");

    footprint_fill(it.model, &it.manifest, 0);

    assert_int_equal(it.model->ram_bytes, UINT64_C(256) << 20);
    assert_int_equal(it.model->prior, MODEL_PRIOR_NODE);
    end(&it);
}

static void a_directory_loop_ends(void **state)
{
    struct tree *tree = *state;
    struct case_of it = begin(tree, "{\"id\":\"e\"}");
    auto_free char *link_path = tree_path(tree, "models/e/loop");

    tree_write(tree, "models/e/a.bin", "12345");
    assert_int_equal(symlink(".", link_path), 0);
    footprint_fill(it.model, &it.manifest, 0);

    assert_int_equal(it.model->vram_bytes, 6);
    end(&it);
}

static void downloaded_is_decided_by_what_is_there(void **state)
{
    static const struct {
        const char *json;
        bool is_downloaded;
    } CASES[] = {
        /* no weights of its own to wait for */
        {"{\"id\":\"none\"}", true},
        /* a check decides alone */
        {"{\"id\":\"full\",\"download_check\":\"a.bin\"}", true},
        {"{\"id\":\"full\",\"download_check\":\"b.bin\",\"hf_repo\":\"x/y\"}", false},
        {"{\"id\":\"full\",\"nodes\":[{\"id\":\"n\",\"download_check\":\"../a.bin\"}]}", true},
        {"{\"id\":\"full\",\"nodes\":[{\"id\":\"n\",\"download_check\":\"./../n/../a.bin\"}]}",
         true},
        /* else the directory must hold something complete */
        {"{\"id\":\"full\",\"hf_repo\":\"x/y\"}", true},
        {"{\"id\":\"none\",\"hf_repo\":\"x/y\"}", false},
        {"{\"id\":\"empty\",\"hf_repo\":\"x/y\"}", false},
        {"{\"id\":\"partial\",\"hf_repo\":\"x/y\"}", false},
    };
    struct tree *tree = *state;
    auto_free char *empty = tree_path(tree, "models/empty/sub");

    tree_write(tree, "models/full/a.bin", "x");
    tree_write(tree, "models/partial/a.bin.part", "x");
    assert_int_equal(file_make_dirs(empty, NULL), 0);
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct case_of it = begin(tree, CASES[i].json);
        assert_int_equal(footprint_check_download(it.model, &it.manifest, 0, &it.config, NULL), 0);
        if (it.model->is_downloaded != CASES[i].is_downloaded)
            fail_msg("%s", CASES[i].json);
        end(&it);
    }
}

static void a_check_that_leaves_the_extension_is_refused(void **state)
{
    static const char *const CASES[] = {
        "{\"id\":\"e\",\"download_check\":\"../other/a\"}",
        "{\"id\":\"e\",\"download_check\":\"../../../../../../../../etc/passwd\"}",
        "{\"id\":\"e\",\"nodes\":[{\"id\":\"n\",\"download_check\":\"../../e2/a\"}]}",
        "{\"id\":\"e\",\"nodes\":[{\"id\":\"n\",\"download_check\":\"..\"}]}",
    };
    struct tree *tree = *state;

    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct case_of it = begin(tree, CASES[i]);
        struct err err = {0};
        assert_int_equal(footprint_check_download(it.model, &it.manifest, 0, &it.config, &err),
                         -EINVAL);
        assert_contains(err.msg, "download_check");
        end(&it);
    }
}

static void paths_are_cleaned_by_their_text(void **state)
{
    static const struct {
        const char *path, *clean;
    } CASES[] = {
        {"/a/b", "/a/b"}, {"/a/./b//c/", "/a/b/c"}, {"/a/../b", "/b"}, {"/a/..", "/"}, {"/", "/"},
        {"/..", NULL},    {"/a/../..", NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        auto_free char *clean = footprint_clean_path(CASES[i].path);
        if (CASES[i].clean)
            assert_string_equal(clean, CASES[i].clean);
        else
            assert_null(clean);
    }
}

#define IN_TREE(name) cmocka_unit_test_setup_teardown(name, tree_setup, tree_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_a_generator_are_read_literally),
        IN_TREE(the_best_prior_wins),
        IN_TREE(weight_files_are_a_last_guess),
        IN_TREE(nothing_known_is_unknown),
        IN_TREE(host_memory_is_declared_in_mib),
        IN_TREE(a_directory_loop_ends),
        IN_TREE(downloaded_is_decided_by_what_is_there),
        IN_TREE(a_check_that_leaves_the_extension_is_refused),
        cmocka_unit_test(paths_are_cleaned_by_their_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* manifest.json: what is read, what falls back, what is refused, what is tolerated. */
#include "unit.h"

#include <errno.h>

#include "catalog/manifest.h"
#include "catalog/words.h"

static struct config CONFIG = {.models_dir = "/models", .clear_after = "job"};

static struct model *model_of(const char *json, size_t index)
{
    struct manifest manifest;
    struct err err = {0};
    struct model *model;

    if (manifest_parse(slice_str(json), &manifest, &err) != 0)
        fail_msg("%s: %s", json, err.msg);
    model = manifest_model_new(&manifest, index, "/ext", &CONFIG);
    manifest_fini(&manifest);
    return model;
}

static void a_node_value_beats_the_top_level(void **state)
{
    struct model *model = model_of(
        "{\"id\":\"e\",\"name\":\"Top\",\"description\":\"top\",\"version\":\"1.2\","
        "\"hf_repo\":\"top/repo\",\"params_schema\":[{\"id\":\"top\"}],\"nodes\":[{\"id\":\"n\","
        "\"name\":\"Node\",\"hf_repo\":\"node/repo\",\"input\":\"text\",\"output\":\"audio\","
        "\"params_schema\":[{\"id\":\"node\"}],\"tags\":[\"x\"]}]}",
        0);

    (void)state;
    assert_string_equal(model->id, "e/n");
    assert_string_equal(model->ext_id, "e");
    assert_string_equal(model->node_id, "n");
    assert_string_equal(model->name, "Node");
    assert_string_equal(model->description, "top");
    assert_string_equal(model->version, "1.2");
    assert_string_equal(model->hf_repo, "node/repo");
    assert_string_equal(model->input, "text");
    assert_string_equal(model->output, "audio");
    assert_non_null(model_param(model, "node"));
    assert_null(model_param(model, "top"));
    assert_string_equal(json_text(model->tags), "[\"x\"]");
    assert_string_equal(model->model_dir, "/models/e/n");
    model_free(model);
}

static void a_missing_node_value_falls_back_to_the_top_level(void **state)
{
    struct model *model = model_of(
        "{\"id\":\"e\",\"name\":\"Top\",\"hf_repo\":\"top/repo\",\"input\":\"mesh\","
        "\"params_schema\":[{\"id\":\"top\"}],\"nodes\":[{\"id\":\"n\",\"hf_repo\":null}]}",
        0);

    (void)state;
    assert_string_equal(model->name, "Top");
    assert_string_equal(model->hf_repo, "top/repo");
    assert_string_equal(model->input, "mesh");
    assert_string_equal(model->output, "mesh");
    assert_non_null(model_param(model, "top"));
    model_free(model);
}

static void nodes_without_names_are_told_apart(void **state)
{
    static const char JSON[] = "{\"id\":\"e\",\"name\":\"Top\",\"nodes\":[{\"id\":\"a\"},"
                               "{\"id\":\"createSplat\"}]}";
    struct model *model = model_of(JSON, 1);

    (void)state;
    assert_string_equal(model->id, "e/createSplat");
    assert_string_equal(model->name, "Top (createSplat)");
    model_free(model);
}

static void a_manifest_without_nodes_is_one_flat_model(void **state)
{
    static const char *const CASES[] = {"{\"id\":\"sf3d\"}", "{\"id\":\"sf3d\",\"nodes\":[]}",
                                        "{\"id\":\"sf3d\",\"nodes\":null}",
                                        "\xef\xbb\xbf{\"id\":\"sf3d\"}"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct model *model = model_of(CASES[i], 0);
        assert_string_equal(model->id, "sf3d");
        assert_string_equal(model->node_id, "");
        assert_string_equal(model->name, "sf3d");
        assert_string_equal(model->input, "image");
        assert_string_equal(model->output, "mesh");
        assert_string_equal(model->model_dir, "/models/sf3d");
        model_free(model);
    }
}

static void shapes_seen_in_the_wild_are_tolerated(void **state)
{
    static const char *const CASES[] = {
        "{\"id\":\"e\",\"author\":{\"name\":\"x\"},\"nodes\":[{\"id\":\"n\"}]}",
        "{\"id\":\"e\",\"author\":\"x\",\"kind\":7,\"models\":[1],\"signature\":{},\"setup\":[]}",
        "{\"id\":\"e\",\"nodes\":[{\"id\":\"n\",\"inputs\":[{\"name\":\"a\",\"type\":\"mesh\"},"
        "\"text\"]}]}",
        "{\"id\":\"e\",\"nodes\":[{\"id\":\"n\",\"params_schema\":[{\"id\":\"p\",\"type\":\"bool\","
        "\"options\":[true,false]},7]}]}",
        "{\"id\":\"e\",\"param_defaults\":{\"a\":1},\"weight_groups\":[{}],\"vram_gb\":6.5}",
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++)
        model_free(model_of(CASES[i], 0));
}

static void faults_are_named(void **state)
{
    static const struct {
        const char *json, *part;
    } CASES[] = {
        {"", "not valid JSON"},
        {"[]", "expected a JSON object"},
        {"null", "expected a JSON object"},
        {"{\"id\":\"e\"", "not valid JSON"},
        {"{\"id\":\"e\",\"id\":\"f\"}", "stands twice"},
        {"{\"id\":\"\xff\"}", "UTF-8"},
        {"{}", "id is missing"},
        {"{\"id\":null}", "id is missing"},
        {"{\"id\":7}", "id must be a string, but is a number"},
        {"{\"id\":\"\"}", "id must not be empty"},
        {"{\"id\":\"Upper\"}", "small letter"},
        {"{\"id\":\"../x\"}", "small letter"},
        {"{\"id\":\"e\",\"nodes\":{}}", "nodes must be an array, but is an object"},
        {"{\"id\":\"e\",\"nodes\":[7]}", "nodes[0] must be an object, but is a number"},
        {"{\"id\":\"e\",\"nodes\":[{}]}", "nodes[0].id is missing"},
        {"{\"id\":\"e\",\"nodes\":[{\"id\":\"a\"},{\"id\":\"a\"}]}", "nodes[1].id \"a\" is also"},
        {"{\"id\":\"e\",\"nodes\":[{\"id\":\"a/b\"}]}", "nodes[0].id \"a/b\" cannot be"},
        {"{\"id\":\"e\",\"nodes\":[{\"id\":\"..\"}]}", "nodes[0].id"},
        {"{\"id\":\"e\",\"nodes\":[{\"id\":\"a\"},{\"id\":\"b\",\"params_schema\":{}}]}",
         "nodes[1].params_schema must be an array, but is an object"},
        {"{\"id\":\"e\",\"vram_gb\":\"8\"}", "vram_gb must be a number, but is a string"},
        {"{\"id\":\"e\",\"vram_gb\":-1}", "vram_gb must be from 0"},
        {"{\"id\":\"e\",\"vram_gb\":1e9}", "vram_gb must be from 0"},
        {"{\"id\":\"e\",\"hf_repo\":[]}", "hf_repo must be a string"},
        {"{\"id\":\"e\",\"tags\":\"x\"}", "tags must be an array"},
        {"{\"id\":\"e\",\"type\":\"models\"}", "type cannot be \"models\"; try \"model\""},
        {"{\"id\":\"e\",\"command\":\"sh x\"}", "command must be an array"},
        {"{\"id\":\"e\",\"command\":[]}", "command must not be empty"},
        {"{\"id\":\"e\",\"command\":[1]}", "command[0] must be a string"},
        {"{\"id\":\"e\",\"version\":1}", "version must be a string"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(CASES); i++) {
        struct manifest manifest = {0};
        struct err err = {0};
        if (manifest_parse(slice_str(CASES[i].json), &manifest, &err) != -EINVAL)
            fail_msg("accepted: %s", CASES[i].json);
        assert_contains(err.msg, CASES[i].part);
        assert_null(manifest.root);
    }
}

static void a_huge_manifest_is_refused(void **state)
{
    struct manifest manifest = {0};
    struct err err = {0};
    char *text = mem_new(MANIFEST_BYTES_MAX + 2, 1);

    (void)state;
    memset(text, ' ', MANIFEST_BYTES_MAX + 1);
    assert_int_equal(manifest_parse(slice_str(text), &manifest, &err), -EINVAL);
    assert_contains(err.msg, "over");
    mem_free(text);
}

static void a_process_extension_is_recognised(void **state)
{
    struct manifest manifest;

    (void)state;
    assert_int_equal(
        manifest_parse(slice_str("{\"id\":\"e\",\"type\":\"process\"}"), &manifest, NULL), 0);
    assert_true(manifest.is_process);
    manifest_fini(&manifest);
}

static void a_nodes_command_beats_the_top_levels(void **state)
{
    struct manifest manifest;
    char **words;

    (void)state;
    assert_int_equal(
        manifest_parse(slice_str("{\"id\":\"e\",\"command\":[\"top\"],\"nodes\":[{\"id\":\"a\","
                                 "\"command\":[\"own\",\"-x\"]},{\"id\":\"b\"}]}"),
                       &manifest, NULL),
        0);
    words = manifest_command(&manifest, 0);
    assert_string_equal(words[0], "own");
    assert_string_equal(words[1], "-x");
    words_free(words);
    words = manifest_command(&manifest, 1);
    assert_string_equal(words[0], "top");
    assert_null(words[1]);
    words_free(words);
    manifest_fini(&manifest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_node_value_beats_the_top_level),
        cmocka_unit_test(a_missing_node_value_falls_back_to_the_top_level),
        cmocka_unit_test(nodes_without_names_are_told_apart),
        cmocka_unit_test(a_manifest_without_nodes_is_one_flat_model),
        cmocka_unit_test(shapes_seen_in_the_wild_are_tolerated),
        cmocka_unit_test(faults_are_named),
        cmocka_unit_test(a_huge_manifest_is_refused),
        cmocka_unit_test(a_process_extension_is_recognised),
        cmocka_unit_test(a_nodes_command_beats_the_top_levels),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

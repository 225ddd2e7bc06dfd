/* manifest.json out of any bytes: parse, build every model, look at the command. No disk. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "catalog/footprint.h"
#include "catalog/manifest.h"
#include "catalog/words.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Directories that do not exist, so that nothing is read but the text. */
static struct config CONFIG = {.models_dir = "/nonexistent/models", .clear_after = "job"};

static void use_model(const struct manifest *manifest, size_t index)
{
    struct model *model = manifest_model_new(manifest, index, "/nonexistent/ext", &CONFIG);
    char **words = manifest_command(manifest, index);

    assert(model->id[0] && model->input[0] && model->output[0]);
    assert(json_object_get_type(model->params_schema) == json_type_array);
    footprint_fill(model, manifest, index);
    if (footprint_check_download(model, manifest, index, &CONFIG, NULL) == 0)
        (void)model_param(model, "seed");
    words_free(words);
    model_free(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice text = slice_of((const char *)data, size);
    struct manifest manifest;
    struct err err = {0};

    (void)footprint_scan_generator(text);
    if (manifest_parse(text, &manifest, &err) != 0) {
        assert(err.code != 0 && err.msg[0]);
        return 0;
    }
    for (size_t i = 0; i < manifest_node_count(&manifest); i++)
        use_model(&manifest, i);
    manifest_fini(&manifest);
    return 0;
}

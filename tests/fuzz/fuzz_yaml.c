/* config.yaml out of any bytes: the tree, its places, the models: map, command lines. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "catalog/override.h"
#include "catalog/words.h"
#include "catalog/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void use_tree(const struct yaml_file *file)
{
    struct json_object *models = json_get(yaml_file_root(file), "models");
    struct schema_fault fault = {0};
    struct err err = {0};

    (void)json_text(yaml_file_root(file));
    if (models && override_check_all(models, 1, &fault, &err) != 0) {
        assert(err.msg[0]);
        (void)yaml_file_err_at(file, fault.path, fault.is_key, &err);
        assert(err.where[0]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice text = slice_of((const char *)data, size);
    struct yaml_file *file = NULL;
    struct err err = {0};
    char **words = NULL;

    if (words_split(text, &words, NULL) == 0)
        words_free(words);
    if (yaml_file_parse(text, "config.yaml", &file, &err) != 0) {
        assert(err.code != 0 && err.msg[0]);
        return 0;
    }
    if (yaml_file_root(file))
        use_tree(file);
    yaml_file_free(file);
    return 0;
}

#include "catalog/model.h"

#include "catalog/words.h"

void model_free(struct model *model)
{
    if (!model)
        return;
    mem_free(model->id);
    mem_free(model->ext_id);
    mem_free(model->node_id);
    mem_free(model->name);
    mem_free(model->description);
    mem_free(model->version);
    mem_free(model->hf_repo);
    mem_free(model->input);
    mem_free(model->output);
    json_object_put(model->tags);
    json_object_put(model->params_schema);
    mem_free(model->dir);
    mem_free(model->model_dir);
    words_free(model->argv);
    words_free(model->env);
    words_free(model->aliases);
    mem_free(model->clear_after);
    mem_free(model);
}

struct json_object *model_param(const struct model *model, const char *id)
{
    for (size_t i = 0; i < json_object_array_length(model->params_schema); i++) {
        struct json_object *item = json_object_array_get_idx(model->params_schema, i);
        const char *item_id = json_get_str(item, "id");
        if (item_id && strcmp(item_id, id) == 0)
            return item;
    }
    return NULL;
}

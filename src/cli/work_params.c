/* Parameters from NAME=VALUE texts, typed by the model's params_schema. */
#include "base/nearest.h"
#include "cli/work.h"

static struct json_object *schema_of(struct work *work)
{
    struct json_object *schema = json_get(work->model, "params_schema");

    return json_is(schema, json_type_array) ? schema : NULL;
}

static struct json_object *schema_item(struct json_object *schema, const char *name)
{
    for (size_t i = 0; schema && i < json_object_array_length(schema); i++) {
        struct json_object *item = json_object_array_get_idx(schema, i);
        if (strcmp(cli_str(item, "id"), name) == 0)
            return item;
    }
    return NULL;
}

/* Only talk: a worker may take more than it declares. */
static void warn_unknown(struct work *work, struct json_object *schema, const char *name)
{
    struct nearest near = {.word = slice_str(name)};

    for (size_t i = 0; i < json_object_array_length(schema); i++)
        nearest_offer(&near, cli_str(json_object_array_get_idx(schema, i), "id"));
    cli_talk("%s does not list a parameter `%s`%s%s%s", work->model_id, name,
             near.best ? "; did you mean `" : "", near.best ? near.best : "",
             near.best ? "`?" : "");
}

/* A text stays one where the schema says so; elsewhere numbers, booleans and JSON are read. */
static struct json_object *param_value(struct json_object *item, const char *text)
{
    struct json_object *value = NULL;
    bool is_text = strcmp(cli_str(item, "type"), "string") == 0 ||
                   json_is(json_get(item, "default"), json_type_string);

    if (is_text || json_parse(slice_str(text), &value, NULL) != 0)
        return json_object_new_string(text);
    return value;
}

void work_set_param(struct work *work, const char *name, const char *text)
{
    struct json_object *schema = schema_of(work);
    struct json_object *item = schema_item(schema, name);

    if (schema && json_object_array_length(schema) && !item)
        warn_unknown(work, schema, name);
    json_put(work->params, name, param_value(item, text));
}

int work_read_params(struct work *work)
{
    const char *text;
    size_t at = 0;

    while ((text = options_next(&work->cli->args, "param", &at)) != NULL) {
        const char *equals = strchr(text, '=');
        auto_free char *name = NULL;
        if (!equals || equals == text)
            return cli_usage("--param %s: write it as NAME=VALUE", text);
        name = mem_strndup(text, (size_t)(equals - text));
        work_set_param(work, name, equals + 1);
    }
    return 0;
}

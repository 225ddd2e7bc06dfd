/* `hotbunk models` */
#include "base/num.h"
#include "cli/cli.h"
#include "cli/table.h"

static void add_model(struct table *table, struct json_object *model)
{
    uint64_t held = (uint64_t)json_get_int(model, "held_bytes", 0);
    uint64_t reserved = (uint64_t)json_get_int(model, "reserved_bytes", 0);
    const char *state = json_get_str(model, "state");
    char size[NUM_SIZE_TEXT_MAX];
    bool is_active = json_get_bool(model, "active", false);

    table_addf(table, "%s%s", cli_str(model, "id"), is_active ? " *" : "");
    table_add(table, state);
    table_add(table, held || reserved ? num_size_text(held ? held : reserved, size) : "-");
    table_add(table, json_get_bool(model, "downloaded", false) ? "yes" : "no");
    table_addf(table, "%s to %s", cli_str(model, "input"), cli_str(model, "output"));
    table_add(table, json_get_str(model, "name"));
}

static void print_models(struct json_object *models)
{
    static const struct table_column columns[] = {
        {"ID", false, true},          {"STATE", false, false}, {"SIZE", true, false},
        {"DOWNLOADED", false, false}, {"DOES", false, true},   {"NAME", false, true},
    };
    struct table table;

    table_init(&table, columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < json_object_array_length(models); i++)
        add_model(&table, json_object_array_get_idx(models, i));
    cli_print_table(&table);
    table_fini(&table);
}

static void talk_errors(struct json_object *errors)
{
    for (size_t i = 0; i < json_object_array_length(errors); i++) {
        struct json_object *row = json_object_array_get_idx(errors, i);
        const char *where = cli_str(row, "where");
        cli_talk("extension %s: %s%s%s", cli_str(row, "id"), where, where[0] ? ": " : "",
                 cli_str(row, "text"));
    }
}

int cli_run_models(struct cli *cli)
{
    auto_json struct json_object *root = NULL;
    struct err err = {0};
    struct json_object *models, *errors;
    int code = cli_connect(cli);

    if (code != 0)
        return code;
    if (client_get_json(cli->client, "/api/v1/models", CLIENT_TIMEOUT_MS, &root, &err) != 0)
        return cli_fail(cli, &err);
    if (cli->wants_json) {
        cli_print_json(root);
        return CLI_EXIT_OK;
    }
    models = json_get(root, "models");
    errors = json_get(root, "errors");
    if (json_is(models, json_type_array) && json_object_array_length(models))
        print_models(models);
    else
        cli_talk("there is no model; put extensions where `serve --extensions-dir` says");
    if (json_is(errors, json_type_array))
        talk_errors(errors);
    return CLI_EXIT_OK;
}

/* Which model does the work when the user may not have said. */
#include "cli/work.h"

#define PICK_NAMES_MAX 512

static bool has_text(struct json_object *obj, const char *key, const char *text)
{
    const char *value = json_get_str(obj, key);

    return value && strcmp(value, text) == 0;
}

static bool is_called(struct json_object *model, const char *name)
{
    struct json_object *aliases = json_get(model, "aliases");

    if (has_text(model, "id", name))
        return true;
    for (size_t i = 0; json_is(aliases, json_type_array) && i < json_object_array_length(aliases);
         i++) {
        const char *alias = json_object_get_string(json_object_array_get_idx(aliases, i));
        if (alias && strcmp(alias, name) == 0)
            return true;
    }
    return false;
}

/* What a pass over the models found. */
struct pick {
    struct json_object *named, *active, *first;
    size_t fitting;
    struct buf names;
};

static void pick_look(struct pick *pick, struct json_object *model, const char *name,
                      const char *input, const char *kind)
{
    if (name && is_called(model, name))
        pick->named = model;
    if (!has_text(model, "input", input))
        return;
    if (json_get_bool(model, "active", false))
        pick->active = model;
    if (!has_text(model, "output", kind))
        return;
    if (!pick->first)
        pick->first = model;
    cli_add(&pick->names, "%s%s", pick->fitting++ ? ", " : "", cli_str(model, "id"));
}

static int pick_decide(struct work *work, const struct pick *pick, const char *name,
                       const char *input, const char *kind, bool takes_first)
{
    bool is_choice = takes_first || pick->fitting == 1;

    if (name) { /* one that the list lacks is left to the daemon, which names the known ones */
        work->model = pick->named;
        work->model_id = name;
        return 0;
    }
    work->model = takes_first && pick->active ? pick->active : is_choice ? pick->first : NULL;
    if (work->model) {
        work->model_id = cli_str(work->model, "id");
        return 0;
    }
    if (pick->fitting)
        return cli_usage("several models turn %s into %s: %s; choose one with --model", input, kind,
                         buf_str(&pick->names));
    return cli_usage("no model here turns %s into %s; `hotbunk models` lists what there is", input,
                     kind);
}

int work_pick_model(struct work *work, const char *input, const char *kind, bool takes_first)
{
    struct json_object *models = json_get(work->models, "models");
    const char *name = options_value(&work->cli->args, "model");
    struct pick pick = {0};
    int code;

    buf_init(&pick.names, PICK_NAMES_MAX);
    for (size_t i = 0; json_is(models, json_type_array) && i < json_object_array_length(models);
         i++)
        pick_look(&pick, json_object_array_get_idx(models, i), name, input, kind);
    code = pick_decide(work, &pick, name, input, kind, takes_first);
    buf_fini(&pick.names);
    return code;
}

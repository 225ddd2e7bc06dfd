/* work: what `generate` and `say` share: which model, which parameters, where the result goes, and
 * one job from its acceptance to its file. */
#ifndef HOTBUNK_CLI_WORK_H
#define HOTBUNK_CLI_WORK_H

#include "cli/cli.h"

struct work {
    struct cli *cli;
    const char *output;         /* -o, or NULL */
    uint64_t timeout_ms;        /* 0 = none */
    struct json_object *models; /* the answer of GET models */
    struct json_object *model;  /* the chosen one, borrowed from it; NULL when the list lacks it */
    const char *model_id;
    struct json_object *params; /* an object */
};

/* Options, connection, list of models, parameters of --param. 0 or an exit code. `input` and
 * `kind` ("image" to "mesh") choose the model when none is named. */
int work_init(struct work *work, struct cli *cli, const char *input, const char *kind);
void work_fini(struct work *work);

/* Follows the accepted job to its end, fetches the output, reports. An exit code. */
int work_finish(struct work *work, struct json_object *job);

/* work_pick.c: sets model and model_id: --model; else with `takes_first` the active one if it takes
 * `input`, then the first that fits; without it there must be exactly one that fits. */
int work_pick_model(struct work *work, const char *input, const char *kind, bool takes_first);

/* work_params.c: one value by the model's params_schema; talks when the schema lacks the name. */
void work_set_param(struct work *work, const char *name, const char *text);
int work_read_params(struct work *work);

/* output.c: before the work: can the result be written there? 0 or an exit code. */
int output_check(const struct cli *cli, const char *option);
bool output_is_stdout(const char *option);
/* Where a result named `name` goes: in new memory. A file that the user did not name is never
 * written over. */
char *output_path(const char *option, const char *name);

/* image_type.c: the media type by the first bytes of the file, then by its name. NULL when it
 * cannot be read (err). */
const char *image_type_of(const char *path, struct err *err);

#endif

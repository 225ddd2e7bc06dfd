/* The table of settings as text: the flags for --help, and docs/config.md. */
#include <errno.h>
#include <stdio.h>

#include "catalog/config_keys.h"

static const char *const TYPE_NAMES[] = {
    [CONFIG_TEXT] = "text",         [CONFIG_SECRET] = "secret text", [CONFIG_ADDRESS] = "address",
    [CONFIG_PATH] = "path",         [CONFIG_PATHS] = "paths",        [CONFIG_CHOICE] = "choice",
    [CONFIG_PORT] = "port",         [CONFIG_COUNT] = "number",       [CONFIG_SIZE] = "size",
    [CONFIG_DURATION] = "duration", [CONFIG_BOOL] = "true, false",   [CONFIG_SCALE] = "number",
    [CONFIG_LEVEL] = "level",
};

static const char *flag_operand(enum config_type type)
{
    switch (type) {
    case CONFIG_BOOL:
        return "";
    case CONFIG_PATH:
    case CONFIG_PATHS:
        return " DIR";
    case CONFIG_ADDRESS:
        return " ADDRESS";
    case CONFIG_SIZE:
        return " SIZE";
    case CONFIG_DURATION:
        return " TIME";
    case CONFIG_PORT:
    case CONFIG_COUNT:
    case CONFIG_SCALE:
        return " N";
    case CONFIG_TEXT:
    case CONFIG_SECRET:
    case CONFIG_CHOICE:
    case CONFIG_LEVEL:
        return " WORD";
    }
    return "";
}

int config_flags_help(struct buf *out)
{
    for (size_t i = 0; i < CONFIG_KEY_COUNT; i++) {
        const struct config_key *key = &CONFIG_KEYS[i];
        char flag[CONFIG_NAME_MAX], left[CONFIG_NAME_MAX + 16];
        int rc;
        if (!config_key_has_flag(key))
            continue;
        config_key_flag(key, flag);
        (void)snprintf(left, sizeof(left), "%s%s", flag, flag_operand(key->type));
        rc = buf_printf(out, "  %-28s %s%s%s%s\n", left, key->help, key->otherwise ? " [" : "",
                        key->otherwise ? key->otherwise : "", key->otherwise ? "]" : "");
        if (rc != 0)
            return rc;
    }
    return 0;
}

static const char HEAD[] =
    "# Configuration\n"
    "\n"
    "<!-- Made by tools/confdoc.c from src/catalog/config_keys.c: change it there. -->\n"
    "\n"
    "Every setting has a default, can stand in `config.yaml`, in the environment, and (secrets\n"
    "apart) on the command line of `hotbunk serve`. The later one wins:\n"
    "default < `config.yaml` < environment < flag.\n"
    "\n"
    "`config.yaml` is read from `$XDG_CONFIG_HOME/hotbunk/config.yaml` (`~/.config` when the\n"
    "variable is not set) or from where `-c FILE` says. An unknown or repeated key is an error "
    "that\n"
    "names the line. Relative paths in it begin at its own directory, `~` is the home directory.\n"
    "Sizes are written `512MiB` or `12GB` (powers of 1024 both), durations `250ms`, `30s`, `5m`,\n"
    "`1.5h`; a bare number is bytes or seconds. Only `true` and `false` are booleans.\n"
    "\n"
    "## Settings\n"
    "\n"
    "| key | flag | variable | kind | default | meaning |\n"
    "|---|---|---|---|---|---|\n";

static const char TAIL[] =
    "\n"
    "## Where hotbunk finds itself\n"
    "\n"
    "`libexec_dir`: the directory of the program when `hotbunk-shim` is in it or in `src/shim`\n"
    "below it (a build tree), else `../libexec/hotbunk`. `data_dir`: the parent of that directory\n"
    "when `runner/runner.py` is in it, else `../share/hotbunk`. Its `extensions` are the bundled\n"
    "ones, which come after the user's.\n"
    "\n"
    "## models\n"
    "\n"
    "The map `models:` changes what an extension declares of a model, by the model's id:\n"
    "\n"
    "```yaml\n"
    "models:\n"
    "  hunyuan3d-mini/generate:\n"
    "    vram: 6GB           # device memory it needs; ram: host memory\n"
    "    per_job: 512MB      # more for every job at once\n"
    "    parallel: 1         # jobs at once in one worker\n"
    "    run_timeout: 10m    # also load_, queue_, stall_, drain_timeout, cancel_grace, "
    "stop_grace\n"
    "    clear_after: job\n"
    "    aliases: [mini]\n"
    "    env: {OMP_NUM_THREADS: 4}\n"
    "```\n"
    "\n"
    "With `kind` and `cmd` an entry is a model of its own, in any language that speaks the worker\n"
    "protocol. `cmd` is a list of words, or a string that is taken apart as a shell would (no "
    "shell\n"
    "runs it). `${DIR}`, `${MODEL_DIR}`, `${DATA}`, `${LIBEXEC}` and `${PYTHON}` are replaced:\n"
    "\n"
    "```yaml\n"
    "models:\n"
    "  say/en:\n"
    "    kind: ndjson\n"
    "    cmd: [\"${LIBEXEC}/hotbunk-flite\"]\n"
    "    name: Speech\n"
    "    input: text\n"
    "    output: audio\n"
    "    params_schema: [{id: voice, type: select, default: slt}]\n"
    "```\n";

/* A cell of the table: `text`, or nothing. */
static int add_cell(struct buf *out, const char *text)
{
    return text && text[0] ? buf_printf(out, " `%s` |", text) : buf_add_str(out, " |");
}

static int add_variable_cell(struct buf *out, const struct config_key *key)
{
    char name[CONFIG_NAME_MAX];

    config_key_env(key, name);
    if (key->also_env)
        return buf_printf(out, " `%s`, `%s` |", name, key->also_env);
    return add_cell(out, name);
}

static int add_default_cell(struct buf *out, const struct config_key *key)
{
    if (key->modly)
        return buf_printf(out, " `%s`; `%s` with modly |", key->otherwise, key->modly);
    return add_cell(out, key->otherwise);
}

static int add_row(struct buf *out, const struct config_key *key)
{
    char flag[CONFIG_NAME_MAX];
    int rc = buf_printf(out, "| `%s` |", key->name);

    config_key_flag(key, flag);
    if (rc == 0)
        rc = add_cell(out, config_key_has_flag(key) ? flag : "");
    if (rc == 0)
        rc = add_variable_cell(out, key);
    if (rc == 0)
        rc = buf_printf(out, " %s |", TYPE_NAMES[key->type]);
    if (rc == 0)
        rc = add_default_cell(out, key);
    if (rc == 0)
        rc = buf_printf(out, " %s |\n", key->help);
    return rc;
}

int config_doc(struct buf *out)
{
    int rc = buf_add_str(out, HEAD);

    for (size_t i = 0; rc == 0 && i < CONFIG_KEY_COUNT; i++)
        rc = add_row(out, &CONFIG_KEYS[i]);
    return rc == 0 ? buf_add_str(out, TAIL) : rc;
}

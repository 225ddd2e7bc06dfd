/* The table of subcommands: parser, --help and completion are made of it. */
#include "cli/cli.h"

#define END_OF_TABLE                                                                               \
    {                                                                                              \
        0                                                                                          \
    }
#define OPTION_MODEL                                                                               \
    {                                                                                              \
        "model", 'm', "ID", "the model to use; `hotbunk models` lists them", false                 \
    }
#define OPTION_OUTPUT                                                                              \
    {                                                                                              \
        "output", 'o', "FILE", "where the result goes: a file, a directory, or - for stdout",      \
            false                                                                                  \
    }
#define OPTION_TIMEOUT                                                                             \
    {                                                                                              \
        "timeout", 0, "TIME", "give up (and cancel) after this; 0 never", false                    \
    }
#define OPTION_PARAM                                                                               \
    {                                                                                              \
        "param", 'p', "NAME=VALUE", "a parameter of the model; may be given again", true           \
    }

const struct cli_option CLI_COMMON_OPTIONS[] = {
    {"json", 0, NULL, "print JSON on stdout", false},
    {"url", 0, "URL", "the daemon; default HOTBUNK_URL, then the one that runs here", false},
    {"help", 'h', NULL, "print this and exit", false},
    END_OF_TABLE,
};

static const struct cli_option LOAD_OPTIONS[] = {
    {"wait", 0, "TIME", "wait this long for the load; default 10m", false},
    END_OF_TABLE,
};

static const struct cli_option UNLOAD_OPTIONS[] = {
    {"all", 0, NULL, "every model", false},
    {"force", 0, NULL, "end running jobs instead of waiting for them", false},
    {"wait", 0, "TIME", "wait this long for the memory to come back; default 75s", false},
    END_OF_TABLE,
};

static const struct cli_option GENERATE_OPTIONS[] = {
    OPTION_MODEL,
    OPTION_OUTPUT,
    OPTION_PARAM,
    {"collection", 'c', "NAME", "the workspace collection the result also stays in", false},
    OPTION_TIMEOUT,
    END_OF_TABLE,
};

static const struct cli_option SAY_OPTIONS[] = {
    OPTION_MODEL,
    OPTION_OUTPUT,
    {"voice", 0, "NAME", "the voice; the model says which it has", false},
    {"speed", 0, "N", "1 is normal", false},
    {"pitch", 0, "N", "1 is normal", false},
    {"format", 'f', "NAME", "wav, mp3 or pcm; default from the name of FILE, else wav", false},
    OPTION_PARAM,
    {"collection", 'c', "NAME", "the workspace collection the result also stays in", false},
    OPTION_TIMEOUT,
    END_OF_TABLE,
};

static const struct cli_option LOGS_OPTIONS[] = {
    {"bytes", 'n', "SIZE", "at most this much of the end; default 64KiB, at most 1MiB", false},
    END_OF_TABLE,
};

const struct cli_command CLI_COMMANDS[] = {
    {.name = "serve",
     .operands = "",
     .summary = "run the daemon until Ctrl-C",
     .run_raw = cli_run_serve,
     .add_help = cli_help_serve},
    {.name = "models",
     .operands = "",
     .summary = "list the models, and the extensions that could not be read",
     .run = cli_run_models},
    {.name = "ps",
     .operands = "",
     .summary = "list what is loaded, what runs and waits, and the devices' memory",
     .run = cli_run_ps},
    {.name = "load",
     .operands = "ID",
     .summary = "load a model and wait until it is ready",
     .options = LOAD_OPTIONS,
     .operands_min = 1,
     .operands_max = 1,
     .run = cli_run_load},
    {.name = "unload",
     .operands = "ID | --all",
     .summary = "give a model's memory back",
     .options = UNLOAD_OPTIONS,
     .operands_max = 1,
     .run = cli_run_unload},
    {.name = "switch",
     .operands = "ID",
     .summary = "make a model the active one; the one before it leaves",
     .operands_min = 1,
     .operands_max = 1,
     .run = cli_run_switch},
    {.name = "generate",
     .operands = "IMAGE",
     .summary = "turn a picture into a mesh",
     .details = "Without --model the active model is taken, else the first from image to mesh.\n",
     .options = GENERATE_OPTIONS,
     .operands_min = 1,
     .operands_max = 1,
     .run = cli_run_generate},
    {.name = "say",
     .operands = "TEXT",
     .summary = "turn a text into speech; TEXT - reads it from stdin",
     .options = SAY_OPTIONS,
     .operands_min = 1,
     .operands_max = 1,
     .run = cli_run_say},
    {.name = "logs",
     .operands = "ID",
     .summary = "print the end of what a model's worker wrote",
     .options = LOGS_OPTIONS,
     .operands_min = 1,
     .operands_max = 1,
     .run = cli_run_logs},
    {.name = "version",
     .operands = "",
     .summary = "print the version of this program, and of the daemon if one answers",
     .run = cli_run_version},
    {.name = "help",
     .operands = "[COMMAND]",
     .summary = "print the help of a subcommand",
     .operands_max = 1,
     .run = cli_run_help},
    {.name = "completion",
     .operands = "bash",
     .summary = "print a completion script: source <(hotbunk completion bash)",
     .operands_min = 1,
     .operands_max = 1,
     .run = cli_run_completion,
     .is_hidden = true},
    {.name = NULL},
};

const struct cli_command *cli_find(struct slice name)
{
    for (const struct cli_command *command = CLI_COMMANDS; command->name; command++) {
        if (slice_eq_str(name, command->name))
            return command;
    }
    return NULL;
}

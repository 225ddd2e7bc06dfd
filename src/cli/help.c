/* --help of the program and of each subcommand, and `hotbunk help`. */
#include "cli/cli.h"

#define HELP_MAX    (64u << 10)
#define HELP_COLUMN 24 /* where the explanations begin */

static const char TAIL[] =
    "\n"
    "Each has --help. Results go to stdout, everything else to stderr.\n"
    "\n"
    "Exit codes: 0 done, 1 the work failed, 2 wrong use or configuration, 3 no daemon answers,\n"
    "4 refused for now, 5 time is over, 130 interrupted.\n"
    "\n"
    "Environment: HOTBUNK_URL and HOTBUNK_API_KEY name the daemon and its key;\n"
    "HOTBUNK_RUNTIME_DIR is where a running daemon's address is found.\n";

void cli_help_all(struct buf *out)
{
    cli_add(out,
            "Usage: hotbunk COMMAND [OPTION...]\n\n"
            "Hotbunk owns a machine's accelerators: models share its memory, load on demand and\n"
            "leave when others need the room.\n\n");
    for (const struct cli_command *command = CLI_COMMANDS; command->name; command++) {
        if (!command->is_hidden)
            cli_add(out, "  %-10s %s\n", command->name, command->summary);
    }
    cli_add(out, "%s", TAIL);
}

static void add_option(const struct cli_option *opt, struct buf *out)
{
    auto_free char *letter = opt->letter ? mem_printf("-%c, ", opt->letter) : mem_strdup("    ");
    auto_free char *left = mem_printf("%s--%s%s%s", letter, opt->name, opt->operand ? " " : "",
                                      opt->operand ? opt->operand : "");

    cli_add(out, "  %-*s %s\n", HELP_COLUMN, left, opt->help);
}

static void add_options(const struct cli_option *table, struct buf *out)
{
    for (const struct cli_option *opt = table; opt && opt->name; opt++)
        add_option(opt, out);
}

void cli_help_command(const struct cli_command *command, struct buf *out)
{
    cli_add(out, "Usage: hotbunk %s%s%s [OPTION...]\n\n", command->name,
            command->operands[0] ? " " : "", command->operands);
    cli_add(out, "%c%s.\n", command->summary[0] - 'a' + 'A', command->summary + 1);
    if (command->details)
        cli_add(out, "%s", command->details);
    cli_add(out, "\n");
    add_options(command->options, out);
    if (command->run)
        add_options(CLI_COMMON_OPTIONS, out);
    if (command->add_help)
        command->add_help(out);
}

int cli_run_help(struct cli *cli)
{
    const char *word = cli->args.operand_count ? cli->args.operands[0] : NULL;
    const struct cli_command *command = word ? cli_find(slice_str(word)) : NULL;
    struct buf text;

    if (word && !command)
        return cli_usage("unknown subcommand `%s`; `hotbunk --help` lists what there is", word);
    buf_init(&text, HELP_MAX);
    if (command)
        cli_help_command(command, &text);
    else
        cli_help_all(&text);
    if (cli->wants_json) {
        auto_json struct json_object *root = json_object_new_object();
        json_put_str(root, "text", buf_str(&text));
        cli_print_json(root);
    } else {
        cli_print(&text);
    }
    buf_fini(&text);
    return CLI_EXIT_OK;
}

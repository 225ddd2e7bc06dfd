/* `hotbunk completion bash`: a script made of the table of subcommands. */
#include <stdio.h>

#include "cli/cli.h"

static void print_options(const struct cli_option *table)
{
    for (const struct cli_option *opt = table; opt && opt->name; opt++)
        printf(" --%s", opt->name);
}

static void print_case(const struct cli_command *command)
{
    printf("    %s) words=\"", command->name);
    print_options(command->options);
    if (command->run)
        print_options(CLI_COMMON_OPTIONS);
    printf("\" ;;\n");
}

int cli_run_completion(struct cli *cli)
{
    if (strcmp(cli->args.operands[0], "bash") != 0)
        return cli_usage("there is a completion script for bash only");
    printf("_hotbunk() {\n"
           "    local cur=${COMP_WORDS[COMP_CWORD]} words=\n"
           "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
           "        words=\"");
    for (const struct cli_command *command = CLI_COMMANDS; command->name; command++)
        printf("%s ", command->is_hidden ? "" : command->name);
    printf("\"\n"
           "    elif [[ $cur == -* ]]; then\n"
           "    case ${COMP_WORDS[1]} in\n");
    for (const struct cli_command *command = CLI_COMMANDS; command->name; command++)
        print_case(command);
    printf("    esac\n"
           "    fi\n"
           "    COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
           "}\n"
           "complete -o default -F _hotbunk hotbunk\n");
    return CLI_EXIT_OK;
}

/* hotbunk: the program. Everything it does is in cli.c and the file of each subcommand. */
#include "cli/cli.h"

int main(int argc, char **argv)
{
    return cli_main(argc, argv);
}

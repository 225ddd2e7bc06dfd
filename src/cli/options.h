/* options: a command line against a table: --name VALUE, --name=VALUE, -n VALUE, -nVALUE, "--".
 * Pure; what is found points into argv. */
#ifndef HOTBUNK_CLI_OPTIONS_H
#define HOTBUNK_CLI_OPTIONS_H

#include "base/err.h"
#include "base/slice.h"

#define OPTIONS_GIVEN_MAX    64
#define OPTIONS_OPERANDS_MAX 8

struct cli_option {
    const char *name;    /* without dashes; NULL ends a table */
    char letter;         /* or 0 */
    const char *operand; /* "FILE"; NULL = a switch */
    const char *help;
    bool is_repeated; /* may be given more than once */
};

struct cli_given {
    const struct cli_option *option;
    const char *value; /* NULL for a switch */
};

struct cli_args {
    size_t given_count, operand_count;
    struct cli_given given[OPTIONS_GIVEN_MAX];
    const char *operands[OPTIONS_OPERANDS_MAX];
};

/* argv without the program and the subcommand. `own` and `common` are tables, own may be NULL.
 * 0 or -EINVAL; an unknown option's error names the nearest known one. */
int options_parse(int argc, char *const *argv, const struct cli_option *own,
                  const struct cli_option *common, struct cli_args *out, struct err *err) MUSTCHECK;

/* Was the switch or option given? */
bool options_has(const struct cli_args *args, const char *name);

/* Its value, or NULL. */
const char *options_value(const struct cli_args *args, const char *name);

/* The values of a repeated option in their order; *at starts at 0. NULL at the end. */
const char *options_next(const struct cli_args *args, const char *name, size_t *at);

#endif

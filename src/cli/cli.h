/* cli: what every subcommand has: its row in the table, its parsed options, a client, and the one
 * way to end: an exit code. stdout is data, stderr is talk. */
#ifndef HOTBUNK_CLI_CLI_H
#define HOTBUNK_CLI_CLI_H

#include "cli/options.h"
#include "client/client.h"

enum cli_exit {
    CLI_EXIT_OK = 0,
    CLI_EXIT_FAILED = 1,    /* the work failed: a job, a load, a file that cannot be written */
    CLI_EXIT_USAGE = 2,     /* wrong use, wrong configuration, port in use */
    CLI_EXIT_NO_DAEMON = 3, /* no daemon answers */
    CLI_EXIT_REFUSED = 4,   /* not now */
    CLI_EXIT_TIMEOUT = 5,
    CLI_EXIT_SIGNAL = 128, /* plus the signal's number: 130 for Ctrl-C */
};

struct cli;
struct table;

struct cli_command {
    const char *name;
    const char *operands;             /* "IMAGE", for the usage line; "" = none */
    const char *summary;              /* one line of --help */
    const char *details;              /* more lines of `hotbunk NAME --help`, or NULL */
    const struct cli_option *options; /* its own; NULL = none */
    size_t operands_min, operands_max;
    int (*run)(struct cli *cli);
    /* Instead of the table's parser, for `serve`: argv without the program and subcommand. */
    int (*run_raw)(int argc, char **argv);
    void (*add_help)(struct buf *out); /* lines behind the options, or NULL */
    bool is_hidden;
};

struct cli {
    const struct cli_command *command;
    struct cli_args args;
    struct client *client; /* after cli_connect */
    bool wants_json;
};

/* The table, ended by a NULL name. */
extern const struct cli_command CLI_COMMANDS[];
const struct cli_command *cli_find(struct slice name);
extern const struct cli_option CLI_COMMON_OPTIONS[];

/* From the program's arguments to its exit code. */
int cli_main(int argc, char **argv);

/* Finds the daemon. 0, or the exit code after saying why. */
int cli_connect(struct cli *cli);

/* "hotbunk: …" on stderr. cli_fail gives the exit code that belongs to err->code. */
void cli_talk(const char *fmt, ...) PRINTF(1, 2);
int cli_fail(const struct cli *cli, const struct err *err);
int cli_usage(const char *fmt, ...) PRINTF(1, 2);

/* Data on stdout; stdout is checked once, at the end. */
void cli_print_json(struct json_object *root);
void cli_print(const struct buf *text);
void cli_print_table(const struct table *table);

/* Adds to a text for people; what would exceed the buffer's maximum is left out. */
void cli_add(struct buf *out, const char *fmt, ...) PRINTF(2, 3);

/* A member's text, "" when there is none. */
const char *cli_str(struct json_object *obj, const char *key);

/* "/api/v1/models/" + id encoded + after, in `out` (initialised here). */
void cli_model_target(struct buf *out, const char *id, const char *after);

/* A size or a time of an option, with `otherwise` when it is not given. 0 or the exit code. */
int cli_option_ms(const struct cli *cli, const char *name, uint64_t otherwise, uint64_t *out_ms);
int cli_option_bytes(const struct cli *cli, const char *name, uint64_t otherwise,
                     uint64_t *out_bytes);

/* The width for tables on stdout: 0 when it is no terminal. */
size_t cli_width(void);

/* What --help prints. */
void cli_help_all(struct buf *out);
void cli_help_command(const struct cli_command *command, struct buf *out);

/* Subcommands, one file each. */
int cli_run_serve(int argc, char **argv);
void cli_help_serve(struct buf *out);
int cli_run_models(struct cli *cli);
int cli_run_ps(struct cli *cli);
int cli_run_load(struct cli *cli);
int cli_run_unload(struct cli *cli);
int cli_run_switch(struct cli *cli);
int cli_run_generate(struct cli *cli);
int cli_run_say(struct cli *cli);
int cli_run_logs(struct cli *cli);
int cli_run_version(struct cli *cli);
int cli_run_help(struct cli *cli);
int cli_run_completion(struct cli *cli);

#endif

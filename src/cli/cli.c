#include "cli/cli.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/nearest.h"
#include "base/num.h"
#include "cli/table.h"
#include "cli/text.h"
#include "hotbunk.h"
#include "os/term.h"

#define CLI_TARGET_MAX 4096
#define CLI_HELP_MAX   (64u << 10)
#define CLI_TABLE_MAX  (16u << 20)
#define CLI_TALK_MAX   (256u << 10) /* a worker's traceback may be part of it */

/* What is told may come from a worker: nothing of it may steer the terminal. */
PRINTF(1, 0)
static void talk(const char *fmt, va_list args)
{
    struct buf text, clean;

    buf_init(&text, CLI_TALK_MAX);
    buf_init(&clean, CLI_TALK_MAX * 4);
    if (buf_vprintf(&text, fmt, args) == 0)
        text_add_clean(&clean, buf_slice(&text), true);
    fprintf(stderr, "hotbunk: %s\n", buf_str(&clean));
    buf_fini(&clean);
    buf_fini(&text);
}

void cli_talk(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    talk(fmt, args);
    va_end(args);
}

int cli_usage(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    talk(fmt, args);
    va_end(args);
    return CLI_EXIT_USAGE;
}

int cli_fail(const struct cli *cli, const struct err *err)
{
    cli_talk("%s%s%s", err->where, err->where[0] ? ": " : "", err->msg);
    switch (bunk_error_of(err->code)) {
    case BUNK_E_INVALID:
    case BUNK_E_DENIED:
        return CLI_EXIT_USAGE;
    case BUNK_E_NO_DAEMON:
    case BUNK_E_PROTOCOL:
        return CLI_EXIT_NO_DAEMON;
    case BUNK_E_REFUSED:
        return CLI_EXIT_REFUSED;
    case BUNK_E_TIMEOUT:
        return CLI_EXIT_TIMEOUT;
    case BUNK_E_INTERRUPTED:
        return CLI_EXIT_SIGNAL + (cli->client ? client_signal(cli->client) : SIGINT);
    default:
        return CLI_EXIT_FAILED;
    }
}

int cli_connect(struct cli *cli)
{
    struct err err = {0};

    if (client_new(options_value(&cli->args, "url"), &cli->client, &err) != 0)
        return cli_fail(cli, &err);
    client_catch_signals(cli->client);
    return CLI_EXIT_OK;
}

void cli_print_json(struct json_object *root)
{
    puts(json_text(root));
}

void cli_print(const struct buf *text)
{
    fwrite(buf_str(text), 1, text->len, stdout);
}

void cli_print_table(const struct table *table)
{
    struct buf text;

    buf_init(&text, CLI_TABLE_MAX);
    if (table_render(table, cli_width(), term_has_blocks(), &text) == 0)
        cli_print(&text);
    else
        cli_talk("the table is over %u bytes; --json prints everything", CLI_TABLE_MAX);
    buf_fini(&text);
}

void cli_add(struct buf *out, const char *fmt, ...)
{
    va_list args;
    int rc;

    va_start(args, fmt);
    rc = buf_vprintf(out, fmt, args);
    va_end(args);
    (void)rc; /* as promised */
}

const char *cli_str(struct json_object *obj, const char *key)
{
    const char *text = json_get_str(obj, key);

    return text ? text : "";
}

void cli_model_target(struct buf *out, const char *id, const char *after)
{
    static const char path[] = "/api/v1/models/";

    buf_init(out, CLI_TARGET_MAX);
    if (buf_add_str(out, path) == 0 && client_encode(out, id) == 0 && buf_add_str(out, after) == 0)
        return;
    buf_reset(out); /* no id is that long: the daemon will say that there is no such model */
    cli_add(out, "%s-%s", path, after);
}

int cli_option_ms(const struct cli *cli, const char *name, uint64_t otherwise, uint64_t *out_ms)
{
    const char *text = options_value(&cli->args, name);

    *out_ms = otherwise;
    if (text && num_parse_duration(slice_str(text), out_ms) != 0)
        return cli_usage("--%s %s is no time; write it as 30s, 5m or 1h", name, text);
    return 0;
}

int cli_option_bytes(const struct cli *cli, const char *name, uint64_t otherwise,
                     uint64_t *out_bytes)
{
    const char *text = options_value(&cli->args, name);

    *out_bytes = otherwise;
    if (text && num_parse_size(slice_str(text), out_bytes) != 0)
        return cli_usage("--%s %s is no size; write it as 65536 or 64KiB", name, text);
    return 0;
}

size_t cli_width(void)
{
    return term_is_tty(STDOUT_FILENO) ? term_width(STDOUT_FILENO) : 0;
}

/* ---- from argv to a subcommand ---- */

static int cli_check_operands(const struct cli *cli)
{
    const struct cli_command *command = cli->command;
    size_t count = cli->args.operand_count;

    if (count < command->operands_min)
        return cli_usage("`hotbunk %s` needs %s; see `hotbunk %s --help`", command->name,
                         command->operands, command->name);
    if (count > command->operands_max)
        return cli_usage("`hotbunk %s` has no use for `%s`; put a text in quotes, see `hotbunk %s "
                         "--help`",
                         command->name, cli->args.operands[command->operands_max], command->name);
    return 0;
}

static int cli_print_help(const struct cli_command *command)
{
    struct buf text;

    buf_init(&text, CLI_HELP_MAX);
    if (command)
        cli_help_command(command, &text);
    else
        cli_help_all(&text);
    cli_print(&text);
    buf_fini(&text);
    return CLI_EXIT_OK;
}

static int cli_run(const struct cli_command *command, int argc, char **argv)
{
    struct cli cli = {.command = command};
    struct err err = {0};
    int code;

    if (command->run_raw)
        return command->run_raw(argc, argv);
    if (options_parse(argc, argv, command->options, CLI_COMMON_OPTIONS, &cli.args, &err) != 0)
        return cli_usage("%s", err.msg);
    if (options_has(&cli.args, "help"))
        return cli_print_help(command);
    cli.wants_json = options_has(&cli.args, "json");
    code = cli_check_operands(&cli);
    if (code == 0)
        code = command->run(&cli);
    client_free(cli.client);
    return code;
}

static int cli_unknown(const char *word)
{
    struct nearest near = {.word = slice_str(word)};

    for (const struct cli_command *command = CLI_COMMANDS; command->name; command++)
        nearest_offer(&near, command->name);
    if (word[0] != '-' && near.best)
        return cli_usage("unknown subcommand `%s`; did you mean `hotbunk %s`?", word, near.best);
    return cli_usage("unknown subcommand `%s`; `hotbunk --help` lists what there is", word);
}

static int cli_dispatch(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "";
    const struct cli_command *command = cli_find(slice_str(word));

    if (argc < 2)
        return cli_usage("a subcommand is missing; `hotbunk --help` lists them");
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return cli_print_help(NULL);
    if (strcmp(word, "--version") == 0)
        command = cli_find(slice_str("version"));
    if (!command)
        return cli_unknown(word);
    return cli_run(command, argc - 2, argv + 2);
}

int cli_main(int argc, char **argv)
{
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    int code;

    (void)sigaction(SIGPIPE, &ignore, NULL); /* a reader that left is seen where it is written to */
    code = cli_dispatch(argc, argv);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return code;
    if (errno == EPIPE) /* the reader has what it wanted, as `head` does */
        return code;
    cli_talk("cannot write to stdout: %s", strerror(errno));
    return code != CLI_EXIT_OK ? code : CLI_EXIT_FAILED;
}

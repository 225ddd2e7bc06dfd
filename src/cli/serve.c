/* `hotbunk serve`: its options are the configuration's flags; the rest is the daemon's. */
#include <assert.h>
#include <stdio.h>
#include <unistd.h>

#include "base/nearest.h"
#include "cli/cli.h"
#include "daemon/daemon.h"

#define SERVE_FLAGS_MAX 128
#define SERVE_HELP_MAX  (32u << 10)

struct serve_args {
    const char *config_path;
    struct daemon_flag flags[SERVE_FLAGS_MAX];
    size_t flag_count;
    char *names[SERVE_FLAGS_MAX]; /* owned, of --name=value */
    bool wants_help, wants_json;
};

static void serve_add_flags(struct buf *out)
{
    int rc = daemon_flags_help(out);

    assert(rc == 0); /* SERVE_HELP_MAX is our own */
    (void)rc;
}

void cli_help_serve(struct buf *out)
{
    cli_add(out, "%s",
            "  -c, --config FILE            the configuration; default "
            "$XDG_CONFIG_HOME/hotbunk/config.yaml\n"
            "      --json                   print {\"url\",\"pid\"} on stdout once it answers\n"
            "  -h, --help                   print this and exit\n\n"
            "Settings, which can also stand in the configuration and the environment:\n");
    serve_add_flags(out);
}

static void serve_print_ready(const char *url)
{
    auto_json struct json_object *root = json_object_new_object();

    json_put_str(root, "url", url);
    json_put_int(root, "pid", getpid());
    cli_print_json(root);
    fflush(stdout);
}

/* The flags' names are taken from their help, so that there is one list of them. */
static int serve_unknown(struct slice name)
{
    auto_free char *word = slice_dup(name);
    struct nearest near = {.word = name};
    char *known[SERVE_FLAGS_MAX];
    size_t count = 0;
    struct buf help;
    struct slice rest, line;

    buf_init(&help, SERVE_HELP_MAX);
    cli_add(&help, "--config\n--json\n--help\n");
    serve_add_flags(&help);
    rest = buf_slice(&help);
    while (count < SERVE_FLAGS_MAX && slice_split(&rest, '\n', &line)) {
        line = slice_trim(line);
        if (slice_starts_with(line, "--"))
            known[count++] = slice_dup(slice_of(line.ptr + 2, slice_index(line, ' ') - 2));
    }
    for (size_t i = 0; i < count; i++)
        nearest_offer(&near, known[i]);
    if (near.best)
        cli_talk("unknown option --%s; did you mean --%s?", word, near.best);
    else
        cli_talk("unknown option --%s; `hotbunk serve --help` lists what there is", word);
    for (size_t i = 0; i < count; i++)
        mem_free(known[i]);
    buf_fini(&help);
    return CLI_EXIT_USAGE;
}

/* One "--name", "--name=value" or "--name value"; *at moves over what it takes. */
static int serve_long(struct serve_args *args, int argc, char **argv, int *at)
{
    struct slice text = slice_str(argv[*at] + 2);
    size_t equals = slice_index(text, '=');
    struct slice name = slice_of(text.ptr, equals);
    const char *value = equals < text.len ? text.ptr + equals + 1 : NULL;
    bool is_config = slice_eq_str(name, "config");
    bool takes_value = is_config;

    if (slice_eq_str(text, "help") || slice_eq_str(text, "json")) {
        *(text.ptr[0] == 'h' ? &args->wants_help : &args->wants_json) = true;
        return 0;
    }
    if (!is_config && !daemon_flag_known(name, &takes_value))
        return serve_unknown(name);
    if (takes_value && !value && *at + 1 >= argc)
        return cli_usage("--%.*s needs a value", SLICE_ARG(name));
    if (takes_value && !value)
        value = argv[++*at];
    if (is_config) {
        args->config_path = value;
        return 0;
    }
    if (args->flag_count == SERVE_FLAGS_MAX)
        return cli_usage("over %d options", SERVE_FLAGS_MAX);
    args->names[args->flag_count] = slice_dup(name);
    args->flags[args->flag_count] = (struct daemon_flag){args->names[args->flag_count], value};
    args->flag_count++;
    return 0;
}

static int serve_word(struct serve_args *args, int argc, char **argv, int *at)
{
    const char *word = argv[*at];

    if (strcmp(word, "-h") == 0) {
        args->wants_help = true;
        return 0;
    }
    if (word[0] == '-' && word[1] == 'c') {
        if (!word[2] && *at + 1 >= argc)
            return cli_usage("-c needs a value: -c FILE");
        args->config_path = word[2] ? word + 2 : argv[++*at];
        return 0;
    }
    if (word[0] == '-' && word[1] == '-' && word[2])
        return serve_long(args, argc, argv, at);
    return cli_usage("`hotbunk serve` has no use for `%s`; see `hotbunk serve --help`", word);
}

static int serve_run(const struct serve_args *args)
{
    const struct daemon_options options = {
        .config_path = args->config_path,
        .flags = args->flags,
        .flag_count = args->flag_count,
        .on_ready = args->wants_json ? serve_print_ready : NULL,
    };
    struct buf help;

    if (!args->wants_help)
        return daemon_run(&options);
    buf_init(&help, SERVE_HELP_MAX);
    cli_help_command(cli_find(slice_str("serve")), &help);
    cli_print(&help);
    buf_fini(&help);
    return CLI_EXIT_OK;
}

int cli_run_serve(int argc, char **argv)
{
    struct serve_args args = {0};
    int code = 0;

    for (int at = 0; code == 0 && at < argc; at++)
        code = serve_word(&args, argc, argv, &at);
    if (code == 0)
        code = serve_run(&args);
    for (size_t i = 0; i < args.flag_count; i++)
        mem_free(args.names[i]);
    return code;
}

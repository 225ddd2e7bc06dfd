#include "cli/options.h"

#include <errno.h>

#include "base/nearest.h"

struct scan {
    int argc;
    char *const *argv;
    int at;
    const struct cli_option *tables[2];
    struct cli_args *out;
    struct err *err;
};

static const struct cli_option *scan_find(const struct scan *scan, struct slice name, char letter)
{
    for (size_t t = 0; t < ARRAY_LEN(scan->tables); t++) {
        for (const struct cli_option *opt = scan->tables[t]; opt && opt->name; opt++) {
            if (letter ? opt->letter == letter : slice_eq_str(name, opt->name))
                return opt;
        }
    }
    return NULL;
}

static int scan_unknown(const struct scan *scan, struct slice name)
{
    struct nearest near = {.word = name};

    for (size_t t = 0; t < ARRAY_LEN(scan->tables); t++) {
        for (const struct cli_option *opt = scan->tables[t]; opt && opt->name; opt++)
            nearest_offer(&near, opt->name);
    }
    if (near.best)
        return err_set(scan->err, -EINVAL, "unknown option --%.*s; did you mean --%s?",
                       SLICE_ARG(name), near.best);
    return err_set(scan->err, -EINVAL, "unknown option --%.*s; --help lists what there is",
                   SLICE_ARG(name));
}

static int scan_add(struct scan *scan, const struct cli_option *opt, const char *value)
{
    struct cli_args *out = scan->out;

    if (!opt->is_repeated && options_has(out, opt->name))
        return err_set(scan->err, -EINVAL, "--%s is given twice", opt->name);
    if (out->given_count == OPTIONS_GIVEN_MAX)
        return err_set(scan->err, -EINVAL, "over %d options", OPTIONS_GIVEN_MAX);
    out->given[out->given_count++] = (struct cli_given){opt, value};
    return 0;
}

/* `inline_value` is what stood behind '=' or the letter, or NULL. */
static int scan_take(struct scan *scan, const struct cli_option *opt, const char *inline_value)
{
    if (!opt->operand) {
        if (inline_value)
            return err_set(scan->err, -EINVAL, "--%s takes no value", opt->name);
        return scan_add(scan, opt, NULL);
    }
    if (inline_value)
        return scan_add(scan, opt, inline_value);
    if (scan->at + 1 >= scan->argc)
        return err_set(scan->err, -EINVAL, "--%s needs a value: --%s %s", opt->name, opt->name,
                       opt->operand);
    return scan_add(scan, opt, scan->argv[++scan->at]);
}

static int scan_long(struct scan *scan, const char *word)
{
    struct slice text = slice_str(word + 2);
    size_t equals = slice_index(text, '=');
    struct slice name = slice_of(text.ptr, equals);
    const struct cli_option *opt = scan_find(scan, name, 0);

    if (!opt)
        return scan_unknown(scan, name);
    return scan_take(scan, opt, equals < text.len ? text.ptr + equals + 1 : NULL);
}

/* One letter; switches may be joined: -ab. */
static int scan_short(struct scan *scan, const char *word)
{
    for (const char *at = word + 1; *at; at++) {
        const struct cli_option *opt = scan_find(scan, slice_str(""), *at);
        int rc;
        if (!opt)
            return err_set(scan->err, -EINVAL, "unknown option -%c; --help lists what there is",
                           *at);
        if (opt->operand)
            return scan_take(scan, opt, at[1] ? at + 1 : NULL);
        rc = scan_take(scan, opt, NULL);
        if (rc != 0)
            return rc;
    }
    return 0;
}

static int scan_operand(struct scan *scan, const char *word)
{
    struct cli_args *out = scan->out;

    if (out->operand_count == OPTIONS_OPERANDS_MAX)
        return err_set(scan->err, -EINVAL, "over %d words; put a text in quotes",
                       OPTIONS_OPERANDS_MAX);
    out->operands[out->operand_count++] = word;
    return 0;
}

int options_parse(int argc, char *const *argv, const struct cli_option *own,
                  const struct cli_option *common, struct cli_args *out, struct err *err)
{
    struct scan scan = {
        .argc = argc, .argv = argv, .tables = {own, common}, .out = out, .err = err};
    bool is_text = false; /* "--" was seen */
    int rc = 0;

    *out = (struct cli_args){0};
    for (; rc == 0 && scan.at < argc; scan.at++) {
        const char *word = argv[scan.at];
        if (is_text || word[0] != '-' || word[1] == '\0')
            rc = scan_operand(&scan, word);
        else if (strcmp(word, "--") == 0)
            is_text = true;
        else if (word[1] == '-')
            rc = scan_long(&scan, word);
        else
            rc = scan_short(&scan, word);
    }
    return rc;
}

bool options_has(const struct cli_args *args, const char *name)
{
    for (size_t i = 0; i < args->given_count; i++) {
        if (strcmp(args->given[i].option->name, name) == 0)
            return true;
    }
    return false;
}

const char *options_next(const struct cli_args *args, const char *name, size_t *at)
{
    while (*at < args->given_count) {
        const struct cli_given *given = &args->given[(*at)++];
        if (strcmp(given->option->name, name) == 0)
            return given->value;
    }
    return NULL;
}

const char *options_value(const struct cli_args *args, const char *name)
{
    size_t at = 0;

    return options_next(args, name, &at);
}

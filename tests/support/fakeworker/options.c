#include "options.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPTIONS_EXIT_USAGE 64

enum options_kind {
    OPTIONS_KIND_FLAG = 0,
    OPTIONS_KIND_NUMBER = 1, /* K, M, G (also KiB...) are powers of 1024 */
    OPTIONS_KIND_TEXT = 2,
    OPTIONS_KIND_CHOICE = 3, /* the number of the word in `words`, from 1 */
};

struct options_row {
    const char *name;
    enum options_kind kind;
    size_t offset;
    const char *words;
    const char *help;
};

struct options options = {.exit_code = 1, .output_ext = ".bin", .fail_code = "error"};

#define AT(member) offsetof(struct options, member)

static const struct options_row options_rows[] = {
    {"--load-ms", OPTIONS_KIND_NUMBER, AT(load_ms), "", "how long a load takes"},
    {"--run-ms", OPTIONS_KIND_NUMBER, AT(run_ms), "", "how long a job takes"},
    {"--late-ready", OPTIONS_KIND_NUMBER, AT(late_ready_ms), "", "milliseconds before `ready`"},
    {"--heartbeat-ms", OPTIONS_KIND_NUMBER, AT(heartbeat_ms), "", "one heartbeat each"},
    {"--progress-every-ms", OPTIONS_KIND_NUMBER, AT(progress_every_ms), "", "while a job runs"},
    {"--progress-rate", OPTIONS_KIND_NUMBER, AT(progress_rate), "", "progress lines a second"},
    {"--alloc", OPTIONS_KIND_NUMBER, AT(alloc_bytes), "", "touched at load, freed at unload"},
    {"--job-alloc", OPTIONS_KIND_NUMBER, AT(job_alloc_bytes), "", "touched while a job runs"},
    {"--leak", OPTIONS_KIND_NUMBER, AT(leak_bytes), "", "touched by each job, never freed"},
    {"--output-bytes", OPTIONS_KIND_NUMBER, AT(output_bytes), "", "size of the result"},
    {"--output-ext", OPTIONS_KIND_TEXT, AT(output_ext), "", "its name's end (.bin)"},
    {"--stderr-noise", OPTIONS_KIND_NUMBER, AT(stderr_noise_bytes), "",
     "bytes of progress bars and invalid UTF-8 on stderr at each load"},
    {"--hang", OPTIONS_KIND_CHOICE, AT(hang), "start load run", "for ever, deaf to everything"},
    {"--crash", OPTIONS_KIND_CHOICE, AT(crash), "start load run", "see --exit-code, --signal"},
    {"--exit-code", OPTIONS_KIND_NUMBER, AT(exit_code), "", "of a crash (1)"},
    {"--signal", OPTIONS_KIND_NUMBER, AT(signal), "", "a crash by this signal's number"},
    {"--fail-load", OPTIONS_KIND_NUMBER, AT(fail_load), "", "that many loads, over all starts"},
    {"--fail-code", OPTIONS_KIND_TEXT, AT(fail_code), "", "their code (error)"},
    {"--state", OPTIONS_KIND_TEXT, AT(state), "", "file that counts the failed loads"},
    {"--grandchild", OPTIONS_KIND_CHOICE, AT(grandchild), "same setsid double", "a sleeping one"},
    {"--no-ids", OPTIONS_KIND_CHOICE, AT(no_ids), "modly all", "a foreign runner's answers"},
    {"--wrong-id", OPTIONS_KIND_CHOICE, AT(wrong_id), "extra only", "a stranger's `done`"},
    {"--double-done", OPTIONS_KIND_FLAG, AT(double_done), "", "every `done` twice"},
    {"--ignore-cancel", OPTIONS_KIND_FLAG, AT(ignore_cancel), "", ""},
    {"--ignore-term", OPTIONS_KIND_FLAG, AT(ignore_term), "", ""},
    {"--ignore-shutdown", OPTIONS_KIND_FLAG, AT(ignore_shutdown), "", ""},
    {"--ignore-eof", OPTIONS_KIND_FLAG, AT(ignore_eof), "", "lives on after its stdin has ended"},
    {"--noise", OPTIONS_KIND_FLAG, AT(noise), "", "stray lines between the protocol's"},
    {"--glue", OPTIONS_KIND_FLAG, AT(glue), "", "text without newline before each of them"},
    {"--never-read", OPTIONS_KIND_FLAG, AT(never_read), "", "stdin is never read"},
    {"--echo", OPTIONS_KIND_FLAG, AT(echo), "", "`done` and the result repeat text and params"},
    {"--stamp", OPTIONS_KIND_FLAG, AT(stamp), "", "`done` says when the request was read"},
    {"--spawn-log", OPTIONS_KIND_TEXT, AT(spawn_log), "", "file; one JSON line per start"},
    {"--tag", OPTIONS_KIND_TEXT, AT(tag), "", "any text"},
    {"--sleeper", OPTIONS_KIND_NUMBER, AT(sleeper), "", "internal"},
};

#define OPTIONS_COUNT (sizeof(options_rows) / sizeof(options_rows[0]))

static _Noreturn void options_refuse(const char *name, const char *why)
{
    fprintf(stderr, "fakeworker: %s: %s (see --help)\n", name, why);
    exit(OPTIONS_EXIT_USAGE);
}

static _Noreturn void options_help(void)
{
    printf("usage: fakeworker [FLAG [VALUE]]...\nA scriptable worker (JSON lines).\n\n");
    for (size_t i = 0; i < OPTIONS_COUNT; i++) {
        const struct options_row *row = &options_rows[i];
        const char *value = row->kind == OPTIONS_KIND_FLAG     ? ""
                            : row->kind == OPTIONS_KIND_NUMBER ? "N"
                            : row->kind == OPTIONS_KIND_TEXT   ? "TEXT"
                                                               : row->words;
        printf("  %-20s %-18s %s\n", row->name, value, row->help);
    }
    exit(0);
}

static uint64_t options_number(const char *name, const char *text)
{
    static const char units[] = "KMG";
    uint64_t value = 0;

    if (*text < '0' || *text > '9')
        options_refuse(name, "wants a number");
    for (; *text >= '0' && *text <= '9'; text++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(*text - '0'), &value))
            options_refuse(name, "is too large");
    if (*text == '\0')
        return value;
    const char *unit = strchr(units, *text);
    if (unit == NULL || (text[1] != '\0' && strcmp(text + 1, "iB") != 0))
        options_refuse(name, "wants a number, perhaps with K, M or G");
    return value << (10 * (unit - units + 1));
}

static uint64_t options_choice(const struct options_row *row, const char *text)
{
    uint64_t number = 1;
    size_t len = strlen(text);

    for (const char *word = row->words; *word != '\0'; number++) {
        size_t word_len = strcspn(word, " ");
        if (word_len == len && memcmp(word, text, len) == 0)
            return number;
        word += word_len;
        word += strspn(word, " ");
    }
    options_refuse(row->name, row->words);
}

static const struct options_row *options_find(const char *name)
{
    for (size_t i = 0; i < OPTIONS_COUNT; i++)
        if (strcmp(options_rows[i].name, name) == 0)
            return &options_rows[i];
    return NULL;
}

static void options_set(const struct options_row *row, const char *value)
{
    char *member = (char *)&options + row->offset;

    switch (row->kind) {
    case OPTIONS_KIND_FLAG:
        *(bool *)(void *)member = true;
        break;
    case OPTIONS_KIND_NUMBER:
        *(uint64_t *)(void *)member = options_number(row->name, value);
        break;
    case OPTIONS_KIND_TEXT:
        *(const char **)(void *)member = value;
        break;
    case OPTIONS_KIND_CHOICE:
        *(uint64_t *)(void *)member = options_choice(row, value);
        break;
    }
}

void options_parse(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0)
            options_help();
        const struct options_row *row = options_find(argv[i]);
        if (row == NULL)
            options_refuse(argv[i], "unknown flag");
        bool has_value = row->kind != OPTIONS_KIND_FLAG;
        if (has_value && i + 1 == argc)
            options_refuse(argv[i], "lacks its value");
        options_set(row, has_value ? argv[++i] : NULL);
    }
    if (options.fail_load > 0 && options.state == NULL)
        options_refuse("--fail-load", "needs --state FILE");
}

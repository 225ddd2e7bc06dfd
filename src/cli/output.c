/* Where a result is written. */
#include <unistd.h>

#include "base/id.h"
#include "cli/work.h"
#include "os/file.h"
#include "os/term.h"

#define OUTPUT_NAMES_MAX 10000 /* name-2.glb, name-3.glb, … */

bool output_is_stdout(const char *option)
{
    return option && strcmp(option, "-") == 0;
}

static char *parent_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return mem_strdup(".");
    return slash == path ? mem_strdup("/") : mem_strndup(path, (size_t)(slash - path));
}

int output_check(const struct cli *cli, const char *option)
{
    auto_free char *dir = NULL;

    if (output_is_stdout(option) && cli->wants_json)
        return cli_usage("--json and the result cannot both go to stdout; name a file with -o");
    if (output_is_stdout(option) && term_is_tty(STDOUT_FILENO))
        return cli_usage("the result is no text for a terminal; redirect stdout or name a file");
    if (output_is_stdout(option))
        return 0;
    if (option && !option[0])
        return cli_usage("-o needs the name of a file");
    dir = !option ? mem_strdup(".") : file_is_dir(option) ? mem_strdup(option) : parent_of(option);
    if (!file_is_dir(dir))
        return cli_usage("there is no directory %s for the result; make it, or name another with "
                         "-o",
                         dir);
    if (access(dir, W_OK | X_OK) != 0)
        return cli_usage("the result cannot be written to %s; name another place with -o", dir);
    return 0;
}

/* "a.glb", then "a-2.glb"… until there is no such file. */
static char *free_name(const char *dir, const char *name)
{
    const char *dot = strrchr(name, '.');
    int stem = (int)(dot && dot != name ? (size_t)(dot - name) : strlen(name));
    char *path = file_join(dir, name);

    for (unsigned i = 2; file_exists(path) && i < OUTPUT_NAMES_MAX; i++) {
        auto_free char *next = mem_printf("%.*s-%u%s", stem, name, i, name + stem);
        mem_free(path);
        path = file_join(dir, next);
    }
    return path;
}

char *output_path(const char *option, const char *name)
{
    if (!name || name[0] == '.' || !id_is_component(slice_str(name)))
        name = "output";
    if (!option)
        return free_name(".", name);
    return file_is_dir(option) ? free_name(option, name) : mem_strdup(option);
}

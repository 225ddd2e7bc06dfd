#include "shim/options.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <string.h>

#define OPTIONS_FD_MIN   3 /* 0, 1 and 2 are the worker's */
#define OPTIONS_FD_MAX   (1 << 20)
#define OPTIONS_NICE_MIN (-20)
#define OPTIONS_NICE_MAX 19

/* The shim uses libc alone, so base/num is out of reach. */
static int options_parse_int(const char *text, int min, int max, int *out_value)
{
    const char *digit = text + (*text == '-' ? 1 : 0);
    int value = 0;

    if (*digit == '\0')
        return -EINVAL;
    for (; *digit != '\0'; digit++) {
        if (*digit < '0' || *digit > '9' || value > OPTIONS_FD_MAX)
            return -EINVAL;
        value = value * 10 + (*digit - '0');
    }
    if (*text == '-')
        value = -value;
    if (value < min || value > max)
        return -EINVAL;
    *out_value = value;
    return 0;
}

static const char *options_set(struct options *options, const char *name, const char *value)
{
    if (strcmp(name, "--control") == 0)
        return options_parse_int(value, OPTIONS_FD_MIN, OPTIONS_FD_MAX, &options->control_fd) < 0
                   ? "--control wants the number of an open descriptor, 3 or more"
                   : NULL;
    if (strcmp(name, "--nice") == 0) {
        options->plan.has_nice = true;
        return options_parse_int(value, OPTIONS_NICE_MIN, OPTIONS_NICE_MAX, &options->plan.nice) < 0
                   ? "--nice wants a number from -20 to 19"
                   : NULL;
    }
    if (strcmp(name, "--chdir") == 0)
        options->plan.directory = value;
    else if (strcmp(name, "--cgroup") == 0)
        options->plan.cgroup = value;
    else
        return "unknown option";
    return NULL;
}

int options_parse(int argc, char **argv, struct options *out_options, const char **out_reason)
{
    struct options options = {0};
    const char *reason = NULL;
    int i = 1;

    for (; i < argc && strcmp(argv[i], "--") != 0 && reason == NULL; i += 2)
        reason = i + 1 < argc ? options_set(&options, argv[i], argv[i + 1])
                              : "an option lacks its value";
    if (reason == NULL && options.control_fd == 0)
        reason = "--control FD is missing";
    if (reason == NULL && i + 1 >= argc)
        reason = "no program after --";
    if (reason != NULL) {
        *out_reason = reason;
        return -EINVAL;
    }
    options.plan.argv = &argv[i + 1];
    *out_options = options;
    return 0;
}

/* options: the command line of hotbunk-shim.
 *
 *   hotbunk-shim --control FD [--chdir DIR] [--cgroup LEAFDIR] [--nice N] -- PROGRAM ARGS...
 *
 * Strings are borrowed from argv. */
#ifndef HOTBUNK_SHIM_OPTIONS_H
#define HOTBUNK_SHIM_OPTIONS_H

#include "shim/child.h"

struct options {
    int control_fd;
    struct child_plan plan; /* all but `shim` */
};

/* 0, or -EINVAL with `out_reason` naming what is wrong. */
int options_parse(int argc, char **argv, struct options *out_options, const char **out_reason);

#endif

/* daemon: `hotbunk serve`, from its options to its exit code. The only header of the daemon that
 * the command line may include. */
#ifndef HOTBUNK_DAEMON_DAEMON_H
#define HOTBUNK_DAEMON_DAEMON_H

#include "base/buf.h"

/* One `--name value` of `serve`; value NULL for a switch. */
struct daemon_flag {
    const char *name; /* without the dashes */
    const char *value;
};

struct daemon_options {
    const char *config_path; /* or NULL */
    const struct daemon_flag *flags;
    size_t flag_count;
    void (*on_ready)(const char *url); /* called once, when it answers; may be NULL */
};

/* Runs until it is told to stop. The exit code: 0, or 2 for a bad configuration or a port in use
 * (one line on stderr says which). */
int daemon_run(const struct daemon_options *options);

/* Does `serve` know the flag `name`, and does it take a value? */
bool daemon_flag_known(struct slice name, bool *out_takes_value);

/* Help text of all flags, one a line. What buf_add returns. */
int daemon_flags_help(struct buf *out) MUSTCHECK;

#endif

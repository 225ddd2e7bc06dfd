/* The command line without a daemon behind `serve`: it knows two flags. */
#include "daemon/daemon.h"

int daemon_run(const struct daemon_options *options)
{
    (void)options;
    return 99;
}

bool daemon_flag_known(struct slice name, bool *out_takes_value)
{
    *out_takes_value = slice_eq_str(name, "port");
    return *out_takes_value || slice_eq_str(name, "modly");
}

int daemon_flags_help(struct buf *out)
{
    return buf_add_str(out, "      --port N\n      --modly\n");
}

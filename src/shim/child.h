/* child: what the forked child does on its way to becoming the worker.
 *
 * Runs between fork and exec in the child only. A failure is written as one struct child_report
 * to a close-on-exec pipe: end-of-file there means that exec succeeded. */
#ifndef HOTBUNK_SHIM_CHILD_H
#define HOTBUNK_SHIM_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum child_step {
    CHILD_STEP_GUARD = 1, /* own session, death signal tied to the shim */
    CHILD_STEP_CGROUP = 2,
    CHILD_STEP_CHDIR = 3,
    CHILD_STEP_NICE = 4,
    CHILD_STEP_SIGNALS = 5,
    CHILD_STEP_DESCRIPTORS = 6,
    CHILD_STEP_EXEC = 7,
};

struct child_plan {
    const char *directory; /* NULL: stay */
    const char *cgroup;    /* leaf directory, or NULL */
    bool has_nice;
    int nice;
    pid_t shim;
    char *const *argv; /* NULL-terminated; argv[0] is looked up on PATH if it has no slash */
};

struct child_report {
    int32_t error; /* errno */
    int32_t step;  /* enum child_step */
};

const char *child_step_name(int step);

/* Never returns: becomes the worker, or reports to `status_fd` and exits. */
_Noreturn void child_run(const struct child_plan *plan, int status_fd);

#endif

#include "shim/child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CHILD_FIRST_OWN_FD 3
#define CHILD_EXIT_FAILED  126

static const char *const child_step_names[] = {
    [CHILD_STEP_GUARD] = "guard",     [CHILD_STEP_CGROUP] = "cgroup",
    [CHILD_STEP_CHDIR] = "chdir",     [CHILD_STEP_NICE] = "nice",
    [CHILD_STEP_SIGNALS] = "signals", [CHILD_STEP_DESCRIPTORS] = "descriptors",
    [CHILD_STEP_EXEC] = "exec",
};

const char *child_step_name(int step)
{
    if (step < CHILD_STEP_GUARD || step > CHILD_STEP_EXEC)
        return "unknown";
    return child_step_names[step];
}

/* prctl(2): the signal is sent when the parent ends, but not if it ended before this call. */
static int child_guard(pid_t shim)
{
    if (setsid() < 0)
        return -errno;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0)
        return -errno;
    return getppid() == shim ? 0 : -ESRCH;
}

static int child_join_cgroup(const char *leaf)
{
    char text[PATH_MAX];

    int len = snprintf(text, sizeof(text), "%s/cgroup.procs", leaf);
    if (len < 0 || (size_t)len >= sizeof(text))
        return -ENAMETOOLONG;
    int fd = open(text, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    len = snprintf(text, sizeof(text), "%ld\n", (long)getpid());
    int result = write(fd, text, (size_t)len) == len ? 0 : -errno;
    (void)close(fd);
    return result;
}

/* Ignored signals and the mask would survive exec: signal(7). */
static int child_reset_signals(void)
{
    const struct sigaction standard = {.sa_handler = SIG_DFL};
    sigset_t none;

    for (int signo = 1; signo < NSIG; signo++)
        (void)sigaction(signo, &standard, NULL); /* KILL, STOP and libc's own two refuse */
    sigemptyset(&none);
    return sigprocmask(SIG_SETMASK, &none, NULL) < 0 ? -errno : 0;
}

/* Marked, not closed: the status pipe must live until exec. */
static int child_mark_descriptors(void)
{
    if (syscall(SYS_close_range, CHILD_FIRST_OWN_FD, UINT_MAX, CLOSE_RANGE_CLOEXEC) == 0)
        return 0;
    if (errno != ENOSYS && errno != EINVAL)
        return -errno;
    struct rlimit limit; /* before Linux 5.11 */
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return -errno;
    for (rlim_t fd = CHILD_FIRST_OWN_FD; fd < limit.rlim_cur && fd < INT_MAX; fd++)
        (void)fcntl((int)fd, F_SETFD, FD_CLOEXEC);
    return 0;
}

static void child_try(int result, enum child_step step, int status_fd)
{
    if (result == 0)
        return;
    struct child_report report = {.error = -result, .step = (int32_t)step};
    /* Eight bytes into an empty pipe: whole or not at all. */
    (void)!write(status_fd, &report, sizeof(report));
    _exit(CHILD_EXIT_FAILED);
}

_Noreturn void child_run(const struct child_plan *plan, int status_fd)
{
    child_try(child_guard(plan->shim), CHILD_STEP_GUARD, status_fd);
    if (plan->cgroup != NULL)
        child_try(child_join_cgroup(plan->cgroup), CHILD_STEP_CGROUP, status_fd);
    if (plan->directory != NULL)
        child_try(chdir(plan->directory) < 0 ? -errno : 0, CHILD_STEP_CHDIR, status_fd);
    if (plan->has_nice)
        child_try(setpriority(PRIO_PROCESS, 0, plan->nice) < 0 ? -errno : 0, CHILD_STEP_NICE,
                  status_fd);
    child_try(child_reset_signals(), CHILD_STEP_SIGNALS, status_fd);
    child_try(child_mark_descriptors(), CHILD_STEP_DESCRIPTORS, status_fd);
    (void)execvp(plan->argv[0], plan->argv);
    child_try(-errno, CHILD_STEP_EXEC, status_fd);
    _exit(CHILD_EXIT_FAILED);
}

/* hotbunk-shim: parent, guardian and subreaper of one worker, for the worker's whole life.
 *
 * Started by the daemon with the worker's stdin, stdout and stderr as 0, 1 and 2 and one end of a
 * socket pair (control.h). It hands 0, 1 and 2 on and keeps none of them. Whatever ends first, the
 * worker, the daemon or its patience, the shim leaves nothing alive below itself. One thread. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "shim/child.h"
#include "shim/control.h"
#include "shim/options.h"
#include "shim/tree.h"

#define SHIM_CONTROL_FD       3 /* moved here, so that all above can be closed */
#define SHIM_KILL_NICE        (-20)
#define SHIM_KILL_TOTAL_MS    30000
#define SHIM_KILL_LIMIT_MS    5000 /* without a child that ends */
#define SHIM_KILL_WAIT_MIN_MS 2
#define SHIM_KILL_WAIT_MAX_MS 100
#define SHIM_EXIT_USAGE       64
#define SHIM_EXIT_SETUP       71
#define SHIM_EXIT_STUCK       75
#define SHIM_EXIT_NOT_STARTED 126
#define SHIM_EXIT_NOT_FOUND   127
#define SHIM_EXIT_SIGNAL_BASE 128

struct shim {
    struct control control;
    struct child_plan plan;
    int signal_fd;
    int status_fd; /* -1 once the worker has started or failed to */
    pid_t worker;
    bool has_ended;
    int exit_code;
    int64_t reaped_ms; /* when a child was last seen to have ended */
};

static int64_t shim_now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* What must not reach the worker is undone in child.c. */
static int shim_init_signals(void)
{
    static const int ignored[] = {SIGINT, SIGHUP, SIGQUIT, SIGPIPE, SIGTSTP, SIGTTIN, SIGTTOU};
    const struct sigaction ignore = {.sa_handler = SIG_IGN};
    const struct sigaction child = {.sa_handler = SIG_DFL, .sa_flags = SA_NOCLDSTOP};
    sigset_t watched;

    for (size_t i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
        (void)sigaction(ignored[i], &ignore, NULL);
    /* Inherited as ignored, the children would be reaped by the kernel. */
    (void)sigaction(SIGCHLD, &child, NULL);
    sigemptyset(&watched);
    sigaddset(&watched, SIGCHLD);
    sigaddset(&watched, SIGTERM);
    if (sigprocmask(SIG_SETMASK, &watched, NULL) < 0)
        return -errno;
    int fd = signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK);
    return fd < 0 ? -errno : fd;
}

/* Leaves 0, 1, 2 and the control socket open, nothing else that was inherited. */
static int shim_init_descriptors(int control_fd)
{
    /* A closed one would be taken by the next open and then handed to the worker. */
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
            return -EBADF;
    if (control_fd != SHIM_CONTROL_FD) {
        if (dup3(control_fd, SHIM_CONTROL_FD, O_CLOEXEC) < 0)
            return -errno;
    } else if (fcntl(SHIM_CONTROL_FD, F_SETFD, FD_CLOEXEC) < 0) {
        return -errno;
    }
    /* Best effort before Linux 5.9: the daemon's descriptors are close-on-exec anyway. */
    (void)syscall(SYS_close_range, SHIM_CONTROL_FD + 1, UINT_MAX, 0);
    return 0;
}

/* The worker's pipes must see end-of-file when the worker ends, so the shim holds none of them. */
static void shim_drop_stdio(void)
{
    int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (null_fd < 0 || dup2(null_fd, fd) < 0)
            (void)close(fd);
    if (null_fd > STDERR_FILENO)
        (void)close(null_fd);
}

static int shim_launch(struct shim *shim)
{
    int status[2];

    if (pipe2(status, O_CLOEXEC) < 0)
        return -errno;
    shim->plan.shim = getpid();
    /* fork is banned elsewhere for the pages a large parent would copy; here they are a few. */
    shim->worker = fork();
    if (shim->worker == 0)
        child_run(&shim->plan, status[1]);
    int result = shim->worker < 0 ? -errno : 0;
    (void)close(status[1]);
    shim->status_fd = status[0];
    return result;
}

/* End-of-file on the status pipe: exec has closed it. */
static void shim_on_status(struct shim *shim)
{
    struct child_report report;

    ssize_t got = read(shim->status_fd, &report, sizeof(report));
    if (got < 0 && errno == EINTR)
        return;
    if (got == (ssize_t)sizeof(report)) {
        control_say(&shim->control, "failed %d %s", report.error, child_step_name(report.step));
        bool is_missing = report.step == CHILD_STEP_EXEC && report.error == ENOENT;
        shim->exit_code = is_missing ? SHIM_EXIT_NOT_FOUND : SHIM_EXIT_NOT_STARTED;
        shim->has_ended = true;
    } else {
        control_say(&shim->control, "started %ld", (long)shim->worker);
    }
    (void)close(shim->status_fd);
    shim->status_fd = -1;
}

static void shim_on_worker_end(struct shim *shim, int status)
{
    if (shim->status_fd >= 0)
        shim_on_status(shim); /* a short life: its start comes first all the same */
    if (shim->has_ended)
        return; /* never started */
    shim->has_ended = true;
    if (WIFSIGNALED(status)) {
        shim->exit_code = SHIM_EXIT_SIGNAL_BASE + WTERMSIG(status);
        control_say(&shim->control, "signaled %d", WTERMSIG(status));
    } else {
        shim->exit_code = WEXITSTATUS(status);
        control_say(&shim->control, "exited %d", shim->exit_code);
    }
}

/* Takes the ended children; true while there is any other. The worker's group is killed before the
 * worker is reaped: until then nobody else can have its number. That call is atomic, also against a
 * group that forks as fast as it can. */
static bool shim_reap(struct shim *shim)
{
    for (;;) {
        siginfo_t info = {0};
        if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) < 0)
            return errno != ECHILD;
        if (info.si_pid == 0)
            return true;
        if (info.si_pid == shim->worker)
            (void)kill(-shim->worker, SIGKILL);
        int status;
        if (waitpid(info.si_pid, &status, __WALL) < 0)
            return true;
        shim->reaped_ms = shim_now_ms();
        if (info.si_pid == shim->worker)
            shim_on_worker_end(shim, status);
    }
}

/* The worker leads a group of its own number. SIGCONT: a stopped worker could not act on it. */
static void shim_send_term(const struct shim *shim)
{
    if (shim->has_ended)
        return;
    if (kill(-shim->worker, SIGTERM) < 0)
        (void)kill(shim->worker, SIGTERM); /* not yet in its own group */
    (void)kill(-shim->worker, SIGCONT);
}

static void shim_on_signal(struct shim *shim)
{
    struct signalfd_siginfo info;

    while (read(shim->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info))
        if (info.ssi_signo == SIGTERM)
            shim_send_term(shim);
    (void)shim_reap(shim);
}

/* Returns when it is time to end the tree. No time limit: it lives as long as its worker. */
static void shim_guard(struct shim *shim)
{
    while (!shim->has_ended) {
        struct pollfd polls[] = {
            {.fd = shim->control.fd, .events = POLLIN},
            {.fd = shim->signal_fd, .events = POLLIN},
            {.fd = shim->status_fd, .events = POLLIN},
        };
        if (poll(polls, sizeof(polls) / sizeof(polls[0]), -1) < 0)
            continue;
        if (polls[2].revents != 0)
            shim_on_status(shim);
        if (polls[1].revents != 0)
            shim_on_signal(shim);
        if (polls[0].revents == 0)
            continue;
        enum control_order order = control_read(&shim->control);
        if (order >= CONTROL_ORDER_KILL)
            return;
        if (order == CONTROL_ORDER_TERM)
            shim_send_term(shim);
    }
}

/* cgroups(7): ends what is in the leaf at one stroke, forks in flight included. */
static void shim_kill_cgroup(const char *leaf)
{
    char path[PATH_MAX];

    if (leaf == NULL)
        return;
    int len = snprintf(path, sizeof(path), "%s/cgroup.kill", leaf);
    if (len < 0 || (size_t)len >= sizeof(path))
        return;
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return; /* before Linux 5.14, or a v1 tree: the walk does it alone */
    (void)!write(fd, "1", 1);
    (void)close(fd);
}

/* Against a tree that takes all the CPU. Only root may, and the limit below holds for all. */
static void shim_raise_priority(void)
{
    const struct sched_param lowest = {.sched_priority = 1};

    if (sched_setscheduler(0, SCHED_RR, &lowest) < 0)
        (void)setpriority(PRIO_PROCESS, 0, SHIM_KILL_NICE);
}

static bool shim_is_late(const struct shim *shim, int64_t start_ms)
{
    int64_t last_ms = shim->reaped_ms > start_ms ? shim->reaped_ms : start_ms;
    int64_t now_ms = shim_now_ms();

    return now_ms - last_ms > SHIM_KILL_LIMIT_MS || now_ms - start_ms > SHIM_KILL_TOTAL_MS;
}

/* 0 when nothing is left below, -ETIMEDOUT when something cannot be killed. */
static int shim_end_tree(struct shim *shim)
{
    int64_t start_ms = shim_now_ms();
    int wait_ms = SHIM_KILL_WAIT_MIN_MS;

    if (!shim->has_ended)
        (void)kill(-shim->worker, SIGKILL);
    shim_kill_cgroup(shim->plan.cgroup);
    if (!shim_reap(shim))
        return 0;
    shim_raise_priority();
    do {
        if (shim_is_late(shim, start_ms))
            return -ETIMEDOUT;
        shim_kill_cgroup(shim->plan.cgroup);
        (void)tree_kill();
        struct pollfd signals = {.fd = shim->signal_fd, .events = POLLIN};
        if (poll(&signals, 1, wait_ms) > 0)
            shim_on_signal(shim);
        else if (wait_ms * 2 < SHIM_KILL_WAIT_MAX_MS)
            wait_ms *= 2;
    } while (shim_reap(shim));
    return 0;
}

static int shim_run(struct shim *shim)
{
    int result = shim_launch(shim);
    shim_drop_stdio();
    if (result < 0) {
        control_say(&shim->control, "failed %d fork", -result);
        control_say(&shim->control, "gone");
        return SHIM_EXIT_SETUP;
    }
    shim_guard(shim);
    if (shim_end_tree(shim) < 0) {
        control_say(&shim->control, "stuck %ld", (long)tree_find_survivor());
        return SHIM_EXIT_STUCK;
    }
    control_say(&shim->control, "gone");
    return shim->exit_code;
}

static int shim_refuse(const struct control *control, int result, const char *step)
{
    fprintf(stderr, "hotbunk-shim: %s: %s\n", step, strerror(-result));
    control_say(control, "failed %d %s", -result, step);
    control_say(control, "gone");
    return SHIM_EXIT_SETUP;
}

int main(int argc, char **argv)
{
    struct options options;
    struct shim shim = {.status_fd = -1};
    const char *reason = NULL;

    if (options_parse(argc, argv, &options, &reason) < 0) {
        fprintf(stderr,
                "hotbunk-shim: %s\nusage: hotbunk-shim --control FD [--chdir DIR] [--cgroup DIR] "
                "[--nice N] -- PROGRAM ARGS...\n",
                reason);
        return SHIM_EXIT_USAGE;
    }
    shim.plan = options.plan;
    control_init(&shim.control, options.control_fd);
    int result = shim_init_descriptors(options.control_fd);
    if (result < 0)
        return shim_refuse(&shim.control, result, "control");
    control_init(&shim.control, SHIM_CONTROL_FD);
    (void)setsid(); /* fails only where it already leads a session */
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
        return shim_refuse(&shim.control, -errno, "subreaper");
    shim.signal_fd = shim_init_signals();
    if (shim.signal_fd < 0)
        return shim_refuse(&shim.control, shim.signal_fd, "signals");
    result = tree_init();
    if (result < 0)
        return shim_refuse(&shim.control, result, "proc");
    return shim_run(&shim);
}

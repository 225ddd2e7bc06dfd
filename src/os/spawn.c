#include "os/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/num.h"

#define CHILD_ARGS_MAX     256
#define CHILD_CONTROL_MAX  4096 /* bytes of control lines that are kept */
#define CHILD_SHIM_CONTROL 3    /* the control socket's number inside the shim */
#define CHILD_STUCK_EXIT   75   /* EX_TEMPFAIL: the shim gave up on a process */

#ifndef P_PIDFD
#define P_PIDFD 3
#endif

struct child {
    struct loop *loop;
    const struct child_events *events;
    void *data;
    struct stream *control;
    struct loop_fd *pid_watch;
    int pidfd;
    pid_t shim_pid;
    pid_t pid;
    struct buf line;
    struct child_exit exit;
    bool is_exit_known;
};

struct child_pipes {
    int mine[4]; /* stdin, stdout, stderr, control */
    int theirs[4];
};

static void pipes_close(int fds[4])
{
    for (int i = 0; i < 4; i++) {
        if (fds[i] >= 0)
            (void)close(fds[i]);
        fds[i] = -1;
    }
}

/* stdin/stdout/stderr are pipes, so that /dev/stdout can be reopened; control is a socketpair. */
static int pipes_open(struct child_pipes *pipes)
{
    for (int i = 0; i < 4; i++)
        pipes->mine[i] = pipes->theirs[i] = -1;
    for (int i = 0; i < 4; i++) {
        int ends[2];
        int rc = i == 3 ? socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)
                        : pipe2(ends, O_CLOEXEC);
        if (rc != 0) {
            rc = -errno;
            pipes_close(pipes->mine);
            pipes_close(pipes->theirs);
            return rc;
        }
        pipes->mine[i] = ends[i == 0 ? 1 : 0];
        pipes->theirs[i] = ends[i == 0 ? 0 : 1];
    }
    return 0;
}

static int child_argv(const struct child_options *options, const char **out, size_t max)
{
    size_t n = 0;

    out[n++] = options->shim;
    out[n++] = "--control";
    out[n++] = "3";
    if (options->dir) {
        out[n++] = "--chdir";
        out[n++] = options->dir;
    }
    if (options->cgroup) {
        out[n++] = "--cgroup";
        out[n++] = options->cgroup;
    }
    out[n++] = "--";
    for (const char *const *arg = options->argv; *arg; arg++) {
        if (n + 1 >= max)
            return -E2BIG;
        out[n++] = *arg;
    }
    out[n] = NULL;
    return 0;
}

/* Everything of ours is close-on-exec; dup2 clears that for the four the shim is to have. */
static int child_spawn(const struct child_options *options, const int theirs[4], pid_t *out_pid)
{
    const char *argv[CHILD_ARGS_MAX];
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t set;
    int rc = child_argv(options, argv, ARRAY_LEN(argv));

    if (rc != 0)
        return rc;
    (void)posix_spawn_file_actions_init(&actions);
    (void)posix_spawnattr_init(&attr);
    for (int i = 0; i < 4 && rc == 0; i++)
        rc = posix_spawn_file_actions_adddup2(&actions, theirs[i], i == 3 ? CHILD_SHIM_CONTROL : i);
    (void)sigemptyset(&set);
    (void)posix_spawnattr_setsigmask(&attr, &set);
    (void)sigfillset(&set);
    (void)posix_spawnattr_setsigdefault(&attr, &set);
    (void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (rc == 0)
        rc = posix_spawn(out_pid, options->shim, &actions, &attr, (char *const *)(uintptr_t)argv,
                         (char *const *)(uintptr_t)options->envp);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)posix_spawnattr_destroy(&attr);
    return -rc;
}

/* ---- what the shim says ---- */

static void child_note_exit(struct child *child)
{
    if (child->is_exit_known)
        return;
    child->is_exit_known = true;
    if (child->events && child->events->on_worker_exit)
        child->events->on_worker_exit(child->data, &child->exit);
}

/* The number behind `word` in "word N…"; 0 when the line is another. */
static bool child_line_number(struct slice line, const char *word, uint64_t *out)
{
    struct slice rest;

    if (!slice_starts_with(line, word))
        return false;
    rest = slice_skip(line, strlen(word));
    rest.len = slice_index(rest, ' ');
    return num_parse_u64(rest, INT32_MAX, out) == 0;
}

static void child_line(struct child *child, struct slice line)
{
    uint64_t number;

    if (child_line_number(line, "started ", &number)) {
        child->pid = (pid_t)number;
        child->exit.was_started = true;
        if (child->events)
            child->events->on_started(child->data, child->pid);
    } else if (child_line_number(line, "failed ", &number)) {
        child->exit.error = -(int)number;
        child_note_exit(child);
    } else if (child_line_number(line, "exited ", &number)) {
        child->exit.code = (int)number;
        child_note_exit(child);
    } else if (child_line_number(line, "signaled ", &number)) {
        child->exit.signo = (int)number;
        child_note_exit(child);
    } else if (slice_starts_with(line, "stuck")) {
        child->exit.is_stuck = true;
    }
}

static void child_control_data(void *data, struct slice bytes)
{
    struct child *child = data;
    size_t end;

    if (buf_add_slice(&child->line, bytes) != 0)
        buf_reset(&child->line); /* our own shim never says that much */
    while (child->events && (end = slice_index(buf_slice(&child->line), '\n')) < child->line.len) {
        child_line(child, slice_of(child->line.data, end));
        buf_consume(&child->line, end + 1);
    }
}

static void child_control_end(void *data, int status)
{
    (void)data; /* the pidfd tells of the shim's end */
    (void)status;
}

static const struct stream_events CONTROL_EVENTS = {child_control_data, child_control_end, NULL};

/* Reads what is left on the control socket: the pidfd may be seen before the last lines. */
static void child_drain_control(struct child *child, int fd)
{
    char bytes[512];
    ssize_t got;

    while ((got = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT)) > 0)
        child_control_data(child, slice_of(bytes, (size_t)got));
}

static void child_release(struct child *child)
{
    loop_fd_free(child->pid_watch);
    if (child->pidfd >= 0)
        (void)close(child->pidfd);
    stream_free(child->control);
    buf_fini(&child->line);
    mem_free(child);
}

static void child_pid_ready(void *data)
{
    struct child *child = data;
    siginfo_t info = {0};

    int rc = waitid((idtype_t)P_PIDFD, (id_t)child->pidfd, &info, WEXITED | WNOHANG);

    if (rc == 0 && info.si_pid == 0)
        return;
    if (rc != 0 && errno == EINTR)
        return;
    if (rc != 0) /* reaped by somebody else (SIGCHLD is ignored): it is gone all the same */
        info = (siginfo_t){.si_code = CLD_KILLED, .si_status = SIGKILL};
    if (child->events)
        child_drain_control(child, stream_fd(child->control));
    if (info.si_code == CLD_EXITED && info.si_status == CHILD_STUCK_EXIT)
        child->exit.is_stuck = true;
    if (!child->is_exit_known) {
        /* The shim itself was killed: the worker died with it by its death signal. */
        child->exit.signo = info.si_code == CLD_EXITED ? 0 : info.si_status;
        child->exit.code = info.si_code == CLD_EXITED ? info.si_status : 0;
        child_note_exit(child);
    }
    if (child->events)
        child->events->on_exit(child->data, &child->exit);
    child_release(child);
}

/* ---- API ---- */

static int child_watch(struct child *child, struct err *err)
{
    child->pidfd = (int)syscall(SYS_pidfd_open, child->shim_pid, 0);
    if (child->pidfd < 0)
        return err_set(err, -errno, "pidfd_open: %s", strerror(errno));
    (void)fcntl(child->pidfd, F_SETFD, FD_CLOEXEC);
    child->pid_watch = loop_fd_new(child->loop, child->pidfd, child_pid_ready, child);
    return child->pid_watch ? 0 : err_set(err, -EMFILE, "cannot watch a process");
}

int child_open(struct loop *loop, const struct child_options *options,
               const struct child_events *events, void *data, struct child **out_child,
               struct stream **out_in, struct stream **out_out, struct stream **out_err,
               struct err *err)
{
    struct child_pipes pipes;
    struct child *child;
    pid_t pid = 0;
    int rc = pipes_open(&pipes);

    if (rc != 0)
        return err_set(err, rc, "cannot make pipes: %s", strerror(-rc));
    rc = child_spawn(options, pipes.theirs, &pid);
    pipes_close(pipes.theirs);
    if (rc != 0) {
        pipes_close(pipes.mine);
        return err_set(err, rc, "cannot start %s: %s", options->shim, strerror(-rc));
    }
    child = mem_new(1, sizeof(*child));
    child->loop = loop;
    child->events = events;
    child->data = data;
    child->shim_pid = pid;
    buf_init(&child->line, CHILD_CONTROL_MAX);
    child->control = stream_open_fd(loop, pipes.mine[3]);
    rc = child_watch(child, err);
    if (rc != 0) {
        pipes.mine[3] = -1;
        pipes_close(pipes.mine);
        (void)kill(pid, SIGKILL);
        (void)waitpid(pid, NULL, 0); /* it was killed: this ends at once */
        child_release(child);
        return rc;
    }
    stream_listen(child->control, &CONTROL_EVENTS, child);
    stream_read_start(child->control);
    *out_in = stream_open_fd(loop, pipes.mine[0]);
    *out_out = stream_open_fd(loop, pipes.mine[1]);
    *out_err = stream_open_fd(loop, pipes.mine[2]);
    *out_child = child;
    return 0;
}

pid_t child_pid(const struct child *child)
{
    return child->pid;
}

pid_t child_guard_pid(const struct child *child)
{
    return child->shim_pid;
}

void child_term(struct child *child)
{
    (void)stream_write(child->control, "term\n", 5); /* a broken one means it is ending */
}

void child_kill(struct child *child)
{
    (void)stream_write(child->control, "kill\n", 5); /* as above */
}

void child_free(struct child *child)
{
    if (!child)
        return;
    /* The shim sees end-of-file and ends the tree; we stay on the loop to reap it. */
    child->events = NULL;
    stream_free(child->control);
    child->control = NULL;
}

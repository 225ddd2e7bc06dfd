/* spawn: starts a program behind hotbunk-shim and watches it to its proven end.
 *
 * posix_spawn of the shim (never fork: the daemon may be large), its pidfd on the loop. The shim
 * is the worker's guardian: it ends the whole tree when `child` is freed or the daemon dies.
 * Loop thread. on_exit comes once and last, after the shim itself is gone. */
#ifndef HOTBUNK_OS_SPAWN_H
#define HOTBUNK_OS_SPAWN_H

#include <sys/types.h>

#include "os/loop.h"
#include "os/stream.h"

struct child;

struct child_options {
    const char *shim;        /* path of hotbunk-shim */
    const char *const *argv; /* the worker's, NULL at the end; argv[0] is a path */
    const char *const *envp; /* the worker's whole environment, NULL at the end */
    const char *dir;         /* working directory, or NULL */
    const char *cgroup;      /* an existing cgroup v2 leaf for the worker, or NULL */
};

struct child_exit {
    bool was_started; /* the program ran; if not, `error` says why */
    int error;        /* negative errno of the failed start, or 0 */
    int code;         /* exit code when signo is 0 */
    int signo;        /* the signal that ended it, or 0 */
    bool is_stuck;    /* something of the tree could not be killed (it hangs in the kernel) */
};

struct child_events {
    void (*on_started)(void *data, pid_t pid);
    /* The worker itself has ended; its descendants are being ended. May be NULL. */
    void (*on_worker_exit)(void *data, const struct child_exit *exit);
    /* Nothing of the tree is left (or it is stuck); the last event. */
    void (*on_exit)(void *data, const struct child_exit *exit);
};

/* Starts it. out_in, out_out, out_err become streams on its stdin, stdout and stderr, owned by
 * the caller. `events` must outlive the child. 0 or a negative errno. */
int child_open(struct loop *loop, const struct child_options *options,
               const struct child_events *events, void *data, struct child **out_child,
               struct stream **out_in, struct stream **out_out, struct stream **out_err,
               struct err *err) MUSTCHECK;

/* The worker's pid, 0 until it is known. */
pid_t child_pid(const struct child *child);

/* The guardian's pid: the root of everything this child may own. */
pid_t child_guard_pid(const struct child *child);

/* SIGTERM to the worker's session; SIGKILL to the whole tree. */
void child_term(struct child *child);
void child_kill(struct child *child);

/* Before on_exit: kills the tree and waits for nothing; no events come any more. */
void child_free(struct child *child);

#endif

#include "shim/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TREE_PID_MAX       (4 * 1024 * 1024) /* PID_MAX_LIMIT of 64-bit kernels, proc(5) */
#define TREE_STAT_MAX      512               /* enough for the fields up to the parent's pid */
#define TREE_FREEZE_PASSES 8                 /* what still forks then is met by the next attempt */
#define TREE_WORD_BITS     64

/* One bit per pid: known to be a descendant in this attempt. */
static uint64_t tree_known[TREE_PID_MAX / TREE_WORD_BITS];
static DIR *tree_proc;

static bool tree_is_known(pid_t pid)
{
    return pid > 0 && pid < TREE_PID_MAX &&
           (tree_known[pid / TREE_WORD_BITS] >> (pid % TREE_WORD_BITS) & 1) != 0;
}

static void tree_mark(pid_t pid)
{
    tree_known[pid / TREE_WORD_BITS] |= (uint64_t)1 << (pid % TREE_WORD_BITS);
}

/* Digits only; 0 for anything else. */
static pid_t tree_parse_pid(const char *text)
{
    pid_t pid = 0;

    for (; *text >= '0' && *text <= '9'; text++) {
        pid = pid * 10 + (*text - '0');
        if (pid >= TREE_PID_MAX)
            return 0;
    }
    return *text == '\0' || *text == ' ' ? pid : 0;
}

/* The parent's pid out of /proc/PID/stat; 0 if the process is no more. The name before it is in
 * parentheses and may itself hold any byte, also ')'. The state is not looked at: a process whose
 * first thread has ended shows as a zombie while the others run on. */
static pid_t tree_read_parent(pid_t pid)
{
    char text[TREE_STAT_MAX];

    (void)snprintf(text, sizeof(text), "%ld/stat", (long)pid);
    int fd = openat(dirfd(tree_proc), text, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t len = read(fd, text, sizeof(text) - 1);
    (void)close(fd);
    if (len <= 0)
        return 0;
    text[len] = '\0';
    const char *end = strrchr(text, ')'); /* then " S 123 " */
    if (end == NULL || end[1] != ' ' || end[2] == '\0' || end[3] != ' ')
        return 0;
    return tree_parse_pid(end + 4);
}

static bool tree_is_descendant(pid_t pid)
{
    pid_t parent = tree_read_parent(pid);

    return parent == getpid() || tree_is_known(parent);
}

/* Holding a pidfd pins the process, not the number: what is read after opening it is about that
 * process, or the signal below goes nowhere. */
static bool tree_signal(pid_t pid, int signo)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0);
    if (fd < 0)
        return false;
    bool is_sent = tree_is_descendant(pid) &&
                   syscall(SYS_pidfd_send_signal, fd, signo, NULL, 0) == 0;
    (void)close(fd);
    return is_sent;
}

/* Calls for each process of the machine; pids ascend, so a parent mostly comes first. */
static size_t tree_each_process(size_t (*visit)(pid_t pid))
{
    size_t sum = 0;
    const struct dirent *entry;

    rewinddir(tree_proc);
    while ((entry = readdir(tree_proc)) != NULL) {
        pid_t pid = tree_parse_pid(entry->d_name);
        if (pid > 0)
            sum += visit(pid);
    }
    return sum;
}

/* Stopped processes start no others, and keep their pids until they are killed. */
static size_t tree_stop_if_new(pid_t pid)
{
    if (tree_is_known(pid) || !tree_is_descendant(pid) || !tree_signal(pid, SIGSTOP))
        return 0;
    tree_mark(pid);
    return 1;
}

static size_t tree_kill_known(void)
{
    size_t count = 0;

    for (size_t word = 0; word < TREE_PID_MAX / TREE_WORD_BITS; word++) {
        for (int bit = 0; tree_known[word] != 0 && bit < TREE_WORD_BITS; bit++) {
            pid_t pid = (pid_t)(word * TREE_WORD_BITS) + bit;
            if (tree_is_known(pid) && tree_signal(pid, SIGKILL))
                count++;
        }
    }
    return count;
}

static void tree_forget(void)
{
    /* Word by word, as writing zeros over untouched pages would make them resident. */
    for (size_t word = 0; word < TREE_PID_MAX / TREE_WORD_BITS; word++)
        if (tree_known[word] != 0)
            tree_known[word] = 0;
}

int tree_init(void)
{
    tree_proc = opendir("/proc");
    if (tree_proc == NULL)
        return -errno;
    return tree_read_parent(getpid()) == getppid() ? 0 : -ENOENT;
}

size_t tree_kill(void)
{
    for (int pass = 0; pass < TREE_FREEZE_PASSES; pass++)
        if (tree_each_process(tree_stop_if_new) == 0)
            break;
    size_t count = tree_kill_known();
    tree_forget();
    return count;
}

static size_t tree_mark_if_new(pid_t pid)
{
    if (tree_is_known(pid) || !tree_is_descendant(pid))
        return 0;
    tree_mark(pid);
    return 1;
}

pid_t tree_find_survivor(void)
{
    pid_t survivor = 0;

    for (int pass = 0; pass < TREE_FREEZE_PASSES; pass++)
        if (tree_each_process(tree_mark_if_new) == 0)
            break;
    for (pid_t pid = 1; survivor == 0 && pid < TREE_PID_MAX; pid++)
        if (tree_is_known(pid))
            survivor = pid;
    tree_forget();
    return survivor;
}

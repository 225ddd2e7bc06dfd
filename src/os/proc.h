/* proc: what /proc says of processes: trees below a pid and the host memory they hold.
 *
 * Blocking reads of /proc; the daemon calls them on a pool thread. Any thread. */
#ifndef HOTBUNK_OS_PROC_H
#define HOTBUNK_OS_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/mem.h"

#define PROC_TREE_MAX 4096 /* processes of one tree that are followed */

struct proc_entry {
    pid_t pid;
    pid_t parent;
    char state; /* R S D Z T … */
    uint64_t start_ticks;
};

/* All processes at one moment. */
struct proc_table {
    struct proc_entry *items; /* sorted by pid */
    size_t count;
};

int proc_table_read(struct proc_table *out) MUSTCHECK;
void proc_table_fini(struct proc_table *table);
const struct proc_entry *proc_table_find(const struct proc_table *table, pid_t pid);

/* `root` and all that descends from it, into out[0..max). Returns their number. */
size_t proc_tree(const struct proc_table *table, pid_t root, pid_t *out, size_t max);

/* Bytes of host memory only this process keeps: RssAnon + RssShmem + VmSwap, plus RssFile when
 * `with_files`. 0 when it is gone. */
uint64_t proc_memory(pid_t pid, bool with_files);

/* A process that listens on the TCP port, 0 when none is found (it may belong to another user). */
pid_t proc_port_holder(uint16_t port);

/* True while the process exists and is neither a zombie nor dead. */
bool proc_is_alive(pid_t pid);

#endif

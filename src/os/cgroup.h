/* cgroup: the memory limits this process lives under (cgroup v2, or v1's memory controller).
 *
 * Blocking reads of small files. Any thread. */
#ifndef HOTBUNK_OS_CGROUP_H
#define HOTBUNK_OS_CGROUP_H

#include <stdint.h>

#include "base/mem.h"

#define CGROUP_UNLIMITED UINT64_MAX

struct cgroup_memory {
    uint64_t limit_bytes;     /* the smallest limit up to the root; CGROUP_UNLIMITED = none */
    uint64_t available_bytes; /* min over the chain of limit − current + inactive file */
};

/* What the process's own group and its parents allow. Always fills *out. `proc_cgroup` and `root`
 * are /proc/self/cgroup and /sys/fs/cgroup but for tests. */
void cgroup_memory_read(const char *proc_cgroup, const char *root, struct cgroup_memory *out);

#endif

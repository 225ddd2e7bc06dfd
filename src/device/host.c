/* host: the machine's RAM as a device: cgroup limits and MemAvailable, trees out of /proc. */
#include <errno.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/num.h"
#include "device/probe.h"
#include "os/cgroup.h"
#include "os/file.h"
#include "os/proc.h"

#define MEMINFO_MAX 16384

/* "MemTotal:       24618016 kB" in bytes; 0 when absent. */
static uint64_t meminfo_bytes(struct slice text, const char *key)
{
    struct slice line;
    uint64_t kib;

    while (slice_split(&text, '\n', &line)) {
        if (!slice_starts_with(line, key))
            continue;
        line = slice_trim(slice_skip(line, strlen(key)));
        line.len = slice_index(line, ' ');
        return num_parse_u64(line, UINT64_MAX >> 10, &kib) == 0 ? kib << 10 : 0;
    }
    return 0;
}

static size_t host_list(struct device_info *out, size_t max)
{
    if (max == 0)
        return 0;
    (void)snprintf(out->id, sizeof(out->id), "host");
    (void)snprintf(out->name, sizeof(out->name), "host memory");
    (void)snprintf(out->accelerator, sizeof(out->accelerator), "cpu");
    return 1;
}

static int host_memory(size_t index, struct device_memory *out)
{
    struct cgroup_memory group;
    struct buf text;
    uint64_t total, available;
    int rc;

    (void)index; /* there is one */
    buf_init(&text, MEMINFO_MAX);
    rc = file_read("/proc/meminfo", &text, NULL);
    total = meminfo_bytes(buf_slice(&text), "MemTotal:");
    available = meminfo_bytes(buf_slice(&text), "MemAvailable:");
    buf_fini(&text);
    if (rc != 0 || total == 0)
        return rc != 0 ? rc : -ENODATA;
    cgroup_memory_read("/proc/self/cgroup", "/sys/fs/cgroup", &group);
    out->known = DEVICE_KNOWN_MEMORY | DEVICE_KNOWN_PROCESSES;
    out->total_bytes = group.limit_bytes < total ? group.limit_bytes : total;
    out->free_bytes = group.available_bytes < available ? group.available_bytes : available;
    return 0;
}

static void host_holder(const struct proc_table *table, struct device_holder *holder, pid_t *pids)
{
    size_t count = proc_tree(table, holder->root, pids, PROC_TREE_MAX);

    holder->bytes = 0;
    holder->is_alive = false;
    for (size_t i = 0; i < count; i++) {
        const struct proc_entry *entry = proc_table_find(table, pids[i]);
        if (entry && (entry->state == 'Z' || entry->state == 'X'))
            continue;
        holder->is_alive = true;
        holder->bytes += proc_memory(pids[i], false);
    }
}

static int host_holders(size_t index, struct device_holder *holders, size_t count)
{
    struct proc_table table;
    pid_t *pids;
    int rc;

    (void)index; /* there is one */
    rc = count ? proc_table_read(&table) : 0;
    if (rc != 0 || count == 0)
        return rc;
    pids = mem_new(PROC_TREE_MAX, sizeof(*pids));
    for (size_t i = 0; i < count; i++)
        host_holder(&table, &holders[i], pids);
    mem_free(pids);
    proc_table_fini(&table);
    return 0;
}

const struct device_driver device_host = {
    .name = "host", .list = host_list, .memory = host_memory, .holders = host_holders};

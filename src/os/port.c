/* port: who listens on a TCP port, out of /proc/net/tcp* and the descriptors of processes. */
#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/num.h"
#include "os/file.h"
#include "os/proc.h"

#define NET_TCP_MAX (4u << 20)
#define TCP_LISTEN  "0A" /* proc(5), the state field of /proc/net/tcp */

/* Field `index` of a line whose fields are separated by runs of spaces. */
static struct slice port_field(struct slice line, unsigned index)
{
    struct slice part = {0};

    while (slice_split(&line, ' ', &part)) {
        if (part.len && index-- == 0)
            return part;
    }
    return (struct slice){0};
}

/* The inode of the listening socket, 0 when there is none in this file. */
static uint64_t port_inode(const char *path, uint16_t port)
{
    uint64_t inode = 0, number;
    struct slice rest, line;
    struct buf text;

    buf_init(&text, NET_TCP_MAX);
    if (file_read(path, &text, NULL) != 0) {
        buf_fini(&text);
        return 0;
    }
    rest = buf_slice(&text);
    while (inode == 0 && slice_split(&rest, '\n', &line)) {
        struct slice local = port_field(line, 1);
        local = slice_skip(local, slice_index(local, ':') + 1);
        if (num_parse_hex(local, &number) != 0 || number != port ||
            !slice_eq_str(port_field(line, 3), TCP_LISTEN))
            continue;
        if (num_parse_u64(port_field(line, 9), UINT64_MAX, &inode) != 0)
            inode = 0;
    }
    buf_fini(&text);
    return inode;
}

static bool port_process_has(pid_t pid, const char *target)
{
    auto_free char *dir_name = mem_printf("/proc/%ld/fd", (long)pid);
    DIR *dir = opendir(dir_name);
    struct dirent *entry;
    bool has = false;

    if (!dir)
        return false;
    while (!has && (entry = readdir(dir)) != NULL) {
        char link[64];
        ssize_t len = readlinkat(dirfd(dir), entry->d_name, link, sizeof(link));
        has = len > 0 && slice_eq_str(slice_of(link, (size_t)len), target);
    }
    (void)closedir(dir);
    return has;
}

pid_t proc_port_holder(uint16_t port)
{
    uint64_t inode = port_inode("/proc/net/tcp", port);
    auto_free char *target = NULL;
    struct proc_table table;
    pid_t holder = 0;

    if (inode == 0)
        inode = port_inode("/proc/net/tcp6", port);
    if (inode == 0 || proc_table_read(&table) != 0)
        return 0;
    target = mem_printf("socket:[%llu]", (unsigned long long)inode);
    for (size_t i = 0; i < table.count && holder == 0; i++) {
        if (port_process_has(table.items[i].pid, target))
            holder = table.items[i].pid;
    }
    proc_table_fini(&table);
    return holder;
}

#include "os/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/num.h"
#include "base/slice.h"

#define PROC_FIRST_ENTRIES 256
#define PROC_FILE_MAX      4096

/* Reads a small /proc file. The length, or a negative errno. */
static ssize_t proc_read(pid_t pid, const char *name, char *out, size_t cap)
{
    char path[64];
    ssize_t got;
    int fd;

    (void)snprintf(path, sizeof(path), "/proc/%ld/%s", (long)pid, name); /* always fits */
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    got = read(fd, out, cap - 1);
    if (got < 0)
        got = -errno;
    else
        out[got] = '\0';
    (void)close(fd);
    return got;
}

/* Field `index` (0 = the first) of a space-separated text. */
static struct slice proc_field(struct slice text, unsigned index)
{
    struct slice part = {0};

    for (unsigned i = 0; i <= index; i++) {
        if (!slice_split(&text, ' ', &part))
            return (struct slice){0};
    }
    return part;
}

/* proc(5), /proc/pid/stat: the command may hold anything, so count from its last ')'. */
static int proc_entry_read(pid_t pid, struct proc_entry *out)
{
    char text[PROC_FILE_MAX];
    ssize_t len = proc_read(pid, "stat", text, sizeof(text));
    const char *after;
    struct slice rest;
    uint64_t parent, start;

    if (len < 0)
        return (int)len;
    after = strrchr(text, ')');
    if (!after || after[1] != ' ')
        return -EINVAL;
    rest = slice_str(after + 2);
    if (num_parse_u64(proc_field(rest, 1), INT32_MAX, &parent) != 0 ||
        num_parse_u64(proc_field(rest, 19), UINT64_MAX, &start) != 0)
        return -EINVAL;
    *out = (struct proc_entry){pid, (pid_t)parent, rest.ptr[0], start};
    return 0;
}

static int proc_entry_compare(const void *a, const void *b)
{
    const struct proc_entry *x = a, *y = b;

    return (x->pid > y->pid) - (x->pid < y->pid);
}

static int proc_table_add(struct proc_table *table, size_t *cap, pid_t pid)
{
    struct proc_entry entry;

    if (proc_entry_read(pid, &entry) != 0)
        return 0; /* it ended meanwhile */
    if (table->count == *cap) {
        size_t bigger = *cap ? *cap * 2 : PROC_FIRST_ENTRIES;
        struct proc_entry *grown = mem_try_resize(table->items, bigger * sizeof(*grown));
        if (!grown)
            return -ENOMEM;
        table->items = grown;
        *cap = bigger;
    }
    table->items[table->count++] = entry;
    return 0;
}

int proc_table_read(struct proc_table *out)
{
    struct proc_table table = {0};
    struct dirent *entry;
    size_t cap = 0;
    DIR *dir = opendir("/proc");
    int rc = 0;

    if (!dir)
        return -errno;
    while (rc == 0 && (entry = readdir(dir)) != NULL) {
        uint64_t pid;
        if (num_parse_u64(slice_str(entry->d_name), INT32_MAX, &pid) == 0)
            rc = proc_table_add(&table, &cap, (pid_t)pid);
    }
    (void)closedir(dir);
    if (rc != 0) {
        proc_table_fini(&table);
        return rc;
    }
    if (table.count)
        qsort(table.items, table.count, sizeof(table.items[0]), proc_entry_compare);
    *out = table;
    return 0;
}

void proc_table_fini(struct proc_table *table)
{
    mem_free(table->items);
    *table = (struct proc_table){0};
}

const struct proc_entry *proc_table_find(const struct proc_table *table, pid_t pid)
{
    struct proc_entry key = {.pid = pid};

    if (!table->count)
        return NULL;
    return bsearch(&key, table->items, table->count, sizeof(key), proc_entry_compare);
}

size_t proc_tree(const struct proc_table *table, pid_t root, pid_t *out, size_t max)
{
    size_t count = 0;

    if (max == 0 || !proc_table_find(table, root))
        return 0;
    out[count++] = root;
    for (size_t at = 0; at < count; at++) {
        for (size_t i = 0; i < table->count && count < max; i++) {
            if (table->items[i].parent == out[at] && table->items[i].pid != out[at])
                out[count++] = table->items[i].pid;
        }
    }
    return count;
}

/* The value in bytes of a "Name:   123 kB" line. */
static uint64_t proc_status_bytes(struct slice status, const char *name)
{
    struct slice line;
    uint64_t kib;

    while (slice_split(&status, '\n', &line)) {
        struct slice value;
        if (!slice_starts_with(line, name))
            continue;
        value = slice_skip(line, strlen(name));
        while (value.len && (value.ptr[0] == ' ' || value.ptr[0] == '\t'))
            value = slice_skip(value, 1);
        value.len = slice_index(value, ' ');
        return num_parse_u64(value, UINT64_MAX >> 10, &kib) == 0 ? kib << 10 : 0;
    }
    return 0;
}

uint64_t proc_memory(pid_t pid, bool with_files)
{
    char text[PROC_FILE_MAX];
    ssize_t len = proc_read(pid, "status", text, sizeof(text));
    struct slice status;
    uint64_t bytes;

    if (len < 0)
        return 0;
    status = slice_of(text, (size_t)len);
    bytes = proc_status_bytes(status, "RssAnon:") + proc_status_bytes(status, "RssShmem:") +
            proc_status_bytes(status, "VmSwap:");
    if (with_files)
        bytes += proc_status_bytes(status, "RssFile:");
    return bytes;
}

bool proc_is_alive(pid_t pid)
{
    struct proc_entry entry;

    return proc_entry_read(pid, &entry) == 0 && entry.state != 'Z' && entry.state != 'X';
}

#include "os/cgroup.h"

#include <stdbool.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/num.h"
#include "os/file.h"

#define CGROUP_FILE_MAX  65536
#define CGROUP_DEPTH_MAX 32
#define CGROUP_V1_HUGE   (1ull << 60) /* v1 writes "no limit" as a number near 2^63 */

/* The names that differ between the two hierarchies. */
struct cgroup_names {
    const char *mount; /* below the root */
    const char *limit, *usage, *inactive;
};

static const struct cgroup_names V2 = {"", "memory.max", "memory.current", "inactive_file "};
static const struct cgroup_names V2_HYBRID = {"unified", "memory.max", "memory.current",
                                              "inactive_file "};
static const struct cgroup_names V1 = {"memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                                       "total_inactive_file "};

static int cgroup_read(const char *dir, const char *name, struct buf *out)
{
    auto_free char *path = file_join(dir, name);

    buf_reset(out);
    return file_read(path, out, NULL);
}

static bool cgroup_number(const char *dir, const char *name, struct buf *scratch, uint64_t *out)
{
    struct slice text;

    if (cgroup_read(dir, name, scratch) != 0)
        return false;
    text = buf_slice(scratch);
    text.len = slice_index(text, '\n');
    return num_parse_u64(text, UINT64_MAX, out) == 0;
}

/* The value behind `key` in memory.stat, 0 when absent. */
static uint64_t cgroup_stat(const char *dir, const char *key, struct buf *scratch)
{
    struct slice text, line;
    uint64_t value;

    if (cgroup_read(dir, "memory.stat", scratch) != 0)
        return 0;
    text = buf_slice(scratch);
    while (slice_split(&text, '\n', &line)) {
        if (slice_starts_with(line, key) &&
            num_parse_u64(slice_skip(line, strlen(key)), UINT64_MAX, &value) == 0)
            return value;
    }
    return 0;
}

static void cgroup_note_level(const struct cgroup_names *names, const char *dir,
                              struct buf *scratch, struct cgroup_memory *out)
{
    uint64_t limit, usage, inactive, available;

    if (!cgroup_number(dir, names->limit, scratch, &limit) || limit >= CGROUP_V1_HUGE ||
        !cgroup_number(dir, names->usage, scratch, &usage))
        return;
    inactive = cgroup_stat(dir, names->inactive, scratch);
    usage = usage > inactive ? usage - inactive : 0;
    available = limit > usage ? limit - usage : 0;
    if (out->limit_bytes > limit)
        out->limit_bytes = limit;
    if (out->available_bytes > available)
        out->available_bytes = available;
}

/* From the group up to the hierarchy's root. The root is looked at in every case: a container may
 * see its own group there, and a path that is the host's. */
static void cgroup_walk(const struct cgroup_names *names, const char *root, struct slice path,
                        struct buf *scratch, struct cgroup_memory *out)
{
    auto_free char *base = file_join(root, names->mount);

    for (int depth = 0; depth < CGROUP_DEPTH_MAX && path.len; depth++) {
        auto_free char *dir = mem_printf("%s%.*s", base, SLICE_ARG(path));
        if (path.len > 1)
            cgroup_note_level(names, dir, scratch, out);
        while (path.len && path.ptr[path.len - 1] != '/')
            path.len--;
        path.len -= path.len > 0;
    }
    cgroup_note_level(names, base, scratch, out);
}

/* "memory", alone or among others: "cpu,memory". */
static bool cgroup_has_memory(struct slice controllers)
{
    struct slice name;

    while (slice_split(&controllers, ',', &name)) {
        if (slice_eq_str(name, "memory"))
            return true;
    }
    return false;
}

/* cgroups(7): a line of /proc/self/cgroup is "number:controllers:path", v2's is "0::path". */
static void cgroup_line(struct slice line, const char *root, struct buf *scratch,
                        struct cgroup_memory *out)
{
    struct slice number, controllers;

    if (!slice_split(&line, ':', &number) || !slice_split(&line, ':', &controllers) || !line.ptr)
        return;
    if (cgroup_has_memory(controllers)) {
        cgroup_walk(&V1, root, line, scratch, out);
    } else if (controllers.len == 0 && slice_eq_str(number, "0")) {
        cgroup_walk(&V2, root, line, scratch, out);
        cgroup_walk(&V2_HYBRID, root, line, scratch, out);
    }
}

void cgroup_memory_read(const char *proc_cgroup, const char *root, struct cgroup_memory *out)
{
    struct buf list, scratch;
    struct slice rest, line;

    *out = (struct cgroup_memory){CGROUP_UNLIMITED, CGROUP_UNLIMITED};
    buf_init(&list, CGROUP_FILE_MAX);
    buf_init(&scratch, CGROUP_FILE_MAX);
    if (file_read(proc_cgroup, &list, NULL) == 0) {
        rest = buf_slice(&list);
        while (slice_split(&rest, '\n', &line))
            cgroup_line(line, root, &scratch, out);
    }
    buf_fini(&list);
    buf_fini(&scratch);
}

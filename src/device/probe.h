/* probe: what the machine's devices are and how full they are.
 *
 * One vtable for every kind of device; this version has the host's RAM. Calls block (they read
 * /proc and /sys) and are made on a pool thread, one at a time. */
#ifndef HOTBUNK_DEVICE_PROBE_H
#define HOTBUNK_DEVICE_PROBE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

#define DEVICE_NAME_MAX    96
#define DEVICE_SAMPLES_MAX 256 /* workers that one sample looks at */

/* Which fields of a figure are known: never a magic zero. */
enum device_known {
    DEVICE_KNOWN_MEMORY = 1,
    DEVICE_KNOWN_PROCESSES = 2,
};

struct device_info {
    char id[DEVICE_NAME_MAX];   /* stable: "host", a GPU's UUID */
    char name[DEVICE_NAME_MAX]; /* for people */
    char accelerator[16];       /* cpu, cuda, rocm, xpu, mps */
};

struct device_memory {
    unsigned known; /* bits of enum device_known */
    uint64_t total_bytes, free_bytes;
};

/* Device bytes held by the processes below one root. */
struct device_holder {
    pid_t root;
    uint64_t bytes;
    bool is_alive; /* something of the tree still exists */
};

struct device_driver {
    const char *name;
    /* Fills out[0..max) and returns how many there are; 0 = none of this kind here. */
    size_t (*list)(struct device_info *out, size_t max);
    int (*memory)(size_t index, struct device_memory *out);
    /* Fills bytes and is_alive of each holder. */
    int (*holders)(size_t index, struct device_holder *holders, size_t count);
};

extern const struct device_driver device_host;

#endif

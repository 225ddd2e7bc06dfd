#include "memory.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define STATUS_MAX 4096

void memory_reset_peak(void)
{
    int fd = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);

    if (fd < 0)
        return;
    (void)!write(fd, "5", 1); /* proc(5): resets VmHWM; without it the peak is of all jobs */
    (void)close(fd);
}

/* The value of a "Name:   123 kB" line, in bytes. */
static int64_t status_bytes(const char *status, const char *name)
{
    const char *at = strstr(status, name);
    int64_t kib = 0;

    if (!at)
        return 0;
    for (at += strlen(name); *at == ' ' || *at == '\t'; at++)
        continue;
    for (; *at >= '0' && *at <= '9'; at++)
        kib = kib * 10 + (*at - '0');
    return kib * 1024;
}

int64_t memory_peak_bytes(void)
{
    char status[STATUS_MAX];
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t got;
    int64_t bytes;

    if (fd < 0)
        return 0;
    got = read(fd, status, sizeof(status) - 1);
    (void)close(fd);
    if (got <= 0)
        return 0;
    status[got] = '\0';
    bytes = status_bytes(status, "\nVmHWM:") - status_bytes(status, "\nRssFile:");
    return bytes > 0 ? bytes : 0;
}

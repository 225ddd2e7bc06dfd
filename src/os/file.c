#include "os/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pwd.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILE_READ_BYTES 16384

static int file_fail(struct err *err, const char *what, const char *path)
{
    int code = -errno;

    return err_set(err, code, "cannot %s %s: %s", what, path, strerror(-code));
}

/* Adds what one read gives. 1 = go on, 0 = end-of-file, or a negative errno. */
static int fd_read_some(int fd, struct buf *out)
{
    char bytes[FILE_READ_BYTES];
    ssize_t got = read(fd, bytes, sizeof(bytes));
    int rc;

    if (got < 0)
        return errno == EINTR ? 1 : -errno;
    if (got == 0)
        return 0;
    rc = buf_add(out, bytes, (size_t)got);
    return rc == 0 ? 1 : rc;
}

int file_read(const char *path, struct buf *out, struct err *err)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a FIFO must not hold us */
    struct stat st;
    int rc;

    if (fd < 0)
        return file_fail(err, "open", path);
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        (void)close(fd);
        return err_set(err, -EINVAL, "%s is not a regular file", path);
    }
    do {
        rc = fd_read_some(fd, out);
    } while (rc == 1);
    (void)close(fd); /* it was only read */
    if (rc == -EMSGSIZE)
        return err_set(err, rc, "%s is over %zu bytes", path, out->max);
    return rc == 0 ? 0 : err_set(err, rc, "cannot read %s: %s", path, strerror(-rc));
}

static int fd_write_all(int fd, struct slice bytes)
{
    while (bytes.len) {
        ssize_t put = write(fd, bytes.ptr, bytes.len);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return -errno;
        bytes = slice_skip(bytes, (size_t)put);
    }
    return 0;
}

int file_write_atomic(const char *path, struct slice bytes, mode_t mode, struct err *err)
{
    static atomic_uint serial;
    auto_free char *tmp = mem_printf("%s.%ld.%u.tmp", path, (long)getpid(), serial++);
    int fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    int rc;

    if (fd < 0)
        return file_fail(err, "create", tmp);
    rc = fd_write_all(fd, bytes);
    if (close(fd) != 0 && rc == 0)
        rc = -errno;
    if (rc == 0 && rename(tmp, path) != 0)
        rc = -errno;
    if (rc == 0)
        return 0;
    (void)unlink(tmp); /* best effort: the error below matters more */
    return err_set(err, rc, "cannot write %s: %s", path, strerror(-rc));
}

int file_make_dirs(const char *path, struct err *err)
{
    auto_free char *copy = mem_strdup(path);

    for (char *at = copy + 1; *copy; at++) {
        char kept = *at;
        if (kept != '/' && kept != '\0')
            continue;
        *at = '\0';
        if (mkdir(copy, 0700) != 0 && errno != EEXIST)
            return file_fail(err, "make the directory", copy);
        if (kept == '\0')
            break;
        *at = kept;
    }
    if (!file_is_dir(path)) {
        errno = ENOTDIR;
        return file_fail(err, "use", path);
    }
    return 0;
}

static int remove_at(int dir_fd, const char *name, unsigned depth)
{
    struct dirent *entry;
    DIR *dir;
    int fd, rc = 0;

    if (unlinkat(dir_fd, name, 0) == 0)
        return 0;
    if (errno != EISDIR && errno != EPERM)
        return errno == ENOENT ? 0 : -errno;
    if (depth >= FILE_TREE_DEPTH_MAX)
        return -ELOOP;
    fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    dir = fd < 0 ? NULL : fdopendir(fd);
    if (!dir)
        return -errno;
    while (rc == 0 && (entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            rc = remove_at(fd, entry->d_name, depth + 1);
    }
    (void)closedir(dir); /* it was only read */
    if (rc == 0 && unlinkat(dir_fd, name, AT_REMOVEDIR) != 0)
        rc = -errno;
    return rc;
}

int file_remove_tree(const char *path)
{
    return remove_at(AT_FDCWD, path, 0);
}

bool file_exists(const char *path)
{
    return access(path, F_OK) == 0;
}

bool file_is_dir(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

char *file_join(const char *dir, const char *name)
{
    size_t len = strlen(dir);

    while (len > 1 && dir[len - 1] == '/')
        len--;
    while (*name == '/')
        name++;
    return mem_printf("%.*s/%s", (int)(len == 1 && dir[0] == '/' ? 0 : len), dir, name);
}

int file_open_beneath(const char *root, const char *relative)
{
    struct open_how how = {.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK,
                           .resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
    int root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
    long fd;

    if (root_fd < 0)
        return -errno;
    fd = syscall(SYS_openat2, root_fd, relative, &how, sizeof(how));
    if (fd < 0)
        fd = -errno;
    (void)close(root_fd);
    return (int)fd;
}

static const char *home_dir(void)
{
    const char *home = getenv("HOME");
    const struct passwd *user;

    if (home && home[0] == '/')
        return home;
    user = getpwuid(getuid());
    return user ? user->pw_dir : "/";
}

char *file_xdg_dir(const char *env, const char *fallback)
{
    const char *value = getenv(env);
    auto_free char *base = value && value[0] == '/' ? mem_strdup(value)
                                                    : file_join(home_dir(), fallback);

    return file_join(base, "hotbunk");
}

char *file_exe_dir(void)
{
    char path[4096];
    ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);
    char *slash;

    if (len <= 0)
        return mem_strdup(".");
    path[len] = '\0';
    slash = strrchr(path, '/');
    if (slash)
        *slash = '\0';
    return mem_strdup(path[0] ? path : "/");
}

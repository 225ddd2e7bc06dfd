#include "os/dirs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/file.h"

static char *dirs_shared(void)
{
    return mem_printf("/tmp/hotbunk-%lu", (unsigned long)geteuid());
}

char *dirs_runtime(void)
{
    const char *own = getenv("HOTBUNK_RUNTIME_DIR");
    const char *session = getenv("XDG_RUNTIME_DIR");

    if (own && own[0])
        return mem_strdup(own);
    if (session && session[0] == '/')
        return file_join(session, "hotbunk");
    return dirs_shared();
}

int dirs_runtime_check(const char *path, struct err *err)
{
    auto_free char *shared = dirs_shared();
    struct stat st;

    if (lstat(path, &st) != 0) {
        int code = -errno;
        return err_set(err, code, "cannot use %s: %s", path, strerror(-code));
    }
    if (strcmp(path, shared) != 0)
        return 0;
    if (S_ISDIR(st.st_mode) && st.st_uid == geteuid() && (st.st_mode & 077) == 0)
        return 0;
    return err_set(err, -EPERM,
                   "%s is not a directory of yours with mode 0700, so it is not trusted; remove it "
                   "or set HOTBUNK_RUNTIME_DIR",
                   path);
}

int dirs_runtime_make(const char *path, struct err *err)
{
    int rc = file_make_dirs(path, err);

    return rc != 0 ? rc : dirs_runtime_check(path, err);
}

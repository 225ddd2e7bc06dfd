/* dirs: where daemon and clients meet: the runtime directory and the address file in it.
 *
 * One place for both sides, so that they always agree. Blocking. Any thread. */
#ifndef HOTBUNK_OS_DIRS_H
#define HOTBUNK_OS_DIRS_H

#include "base/err.h"

#define DIRS_ADDRESS_FILE "address" /* holds "http://127.0.0.1:PORT\n" */

/* $HOTBUNK_RUNTIME_DIR, else $XDG_RUNTIME_DIR/hotbunk (if it is absolute, as its specification
 * says), else /tmp/hotbunk-<uid>. In new memory; it need not exist. */
char *dirs_runtime(void) __attribute__((returns_nonnull));

/* Whether what lies in `path` can be trusted: anybody may make the directory in /tmp first, so it
 * must be a real directory of this user with mode 0700. Others are as their owner wants them.
 * 0, -ENOENT (not there) or -EPERM. */
int dirs_runtime_check(const char *path, struct err *err) MUSTCHECK;

/* Makes it with mode 0700 if it is missing, then checks it. */
int dirs_runtime_make(const char *path, struct err *err) MUSTCHECK;

#endif

/* file: whole files, atomic replacement, directories, paths that must stay inside a root.
 *
 * Blocking: for start-up, for offloaded work and for small files. Any thread. */
#ifndef HOTBUNK_OS_FILE_H
#define HOTBUNK_OS_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

/* Reads a whole file of at most out->max bytes. */
int file_read(const char *path, struct buf *out, struct err *err) MUSTCHECK;

/* Writes to a temporary name beside `path`, then renames: readers see the old or the new whole. */
int file_write_atomic(const char *path, struct slice bytes, mode_t mode, struct err *err) MUSTCHECK;

/* mkdir -p with mode 0700 for what is missing. */
int file_make_dirs(const char *path, struct err *err) MUSTCHECK;

/* Removes a tree, without following links, at most FILE_TREE_DEPTH_MAX deep. */
#define FILE_TREE_DEPTH_MAX 32
int file_remove_tree(const char *path) MUSTCHECK;

bool file_exists(const char *path);
bool file_is_dir(const char *path);

/* "a/b" in new memory; no slash is doubled. */
char *file_join(const char *dir, const char *name) __attribute__((returns_nonnull));

/* Opens `relative` below `root` for reading, refusing everything that would leave it (links
 * included; openat2 RESOLVE_BENEATH). The descriptor, or a negative errno. */
int file_open_beneath(const char *root, const char *relative) MUSTCHECK;

/* $XDG-style directory: value of `env` if absolute, else home + `fallback`, plus "/hotbunk". */
char *file_xdg_dir(const char *env, const char *fallback) __attribute__((returns_nonnull));

/* The directory of the running executable (without a slash at the end), in new memory. */
char *file_exe_dir(void) __attribute__((returns_nonnull));

#endif

/* What the catalog's tests share: cmocka, and a temporary tree of files. */
#ifndef HOTBUNK_TESTS_CATALOG_UNIT_H
#define HOTBUNK_TESTS_CATALOG_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "os/file.h"

#define assert_contains(text, part)                                                                \
    do {                                                                                           \
        if (!strstr((text), (part)))                                                               \
            fail_msg("\"%s\" does not contain \"%s\"", (text), (part));                            \
    } while (0)

struct tree {
    char root[64];
};

static inline int tree_setup(void **state)
{
    struct tree *tree = mem_new(1, sizeof(*tree));

    (void)snprintf(tree->root, sizeof(tree->root), "/tmp/hotbunk-unit-XXXXXX");
    *state = tree;
    return mkdtemp(tree->root) ? 0 : -1;
}

static inline int tree_teardown(void **state)
{
    struct tree *tree = *state;
    int rc = file_remove_tree(tree->root);

    mem_free(tree);
    return rc;
}

/* root/path, new memory. */
static inline char *tree_path(const struct tree *tree, const char *path)
{
    return file_join(tree->root, path);
}

static inline void tree_write(const struct tree *tree, const char *path, const char *text)
{
    auto_free char *full = tree_path(tree, path);
    auto_free char *dir = mem_strdup(full);

    *strrchr(dir, '/') = '\0';
    assert_int_equal(file_make_dirs(dir, NULL), 0);
    assert_int_equal(file_write_atomic(full, slice_str(text), 0644, NULL), 0);
}

static inline void env_set(const char *name, const char *value)
{
    assert_int_equal(setenv(name, value, 1), 0); /* banned-ok: a test without threads */
}

/* Leaves nothing in the environment but a home of its own (and how cmocka is to print). */
static inline void env_begin(const struct tree *tree)
{
    static const char OUTPUT[] = "CMOCKA_MESSAGE_OUTPUT";
    auto_free char *output = mem_strdup(getenv(OUTPUT));

    assert_int_equal(clearenv(), 0);
    if (output)
        env_set(OUTPUT, output);
    env_set("HOME", tree->root);
    env_set("XDG_RUNTIME_DIR", tree->root);
}

static inline void tree_chmod(const struct tree *tree, const char *path, mode_t mode)
{
    auto_free char *full = tree_path(tree, path);

    assert_int_equal(chmod(full, mode), 0);
}

#endif

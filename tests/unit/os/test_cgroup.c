/* cgroup: limits out of made-up trees of both hierarchies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "os/cgroup.h"
#include "os/file.h"

#define GIB (1ull << 30)

struct tree {
    char root[64];
};

static int setup(void **state)
{
    struct tree *tree = mem_new(1, sizeof(*tree));

    (void)snprintf(tree->root, sizeof(tree->root), "/tmp/hotbunk-cgroup-XXXXXX");
    *state = tree;
    return mkdtemp(tree->root) ? 0 : -1;
}

static int teardown(void **state)
{
    struct tree *tree = *state;
    int rc = file_remove_tree(tree->root);

    mem_free(tree);
    return rc;
}

static void put(const struct tree *tree, const char *path, const char *text)
{
    auto_free char *full = file_join(tree->root, path);
    auto_free char *dir = mem_strdup(full);

    *strrchr(dir, '/') = '\0';
    assert_int_equal(file_make_dirs(dir, NULL), 0);
    assert_int_equal(file_write_atomic(full, slice_str(text), 0644, NULL), 0);
}

static struct cgroup_memory look(const struct tree *tree)
{
    auto_free char *list = file_join(tree->root, "proc");
    auto_free char *root = file_join(tree->root, "sys");
    struct cgroup_memory out;

    cgroup_memory_read(list, root, &out);
    return out;
}

static void check(const struct tree *tree, uint64_t limit, uint64_t available)
{
    struct cgroup_memory memory = look(tree);

    assert_int_equal(memory.limit_bytes, limit);
    assert_int_equal(memory.available_bytes, available);
}

static void test_without_any_group_nothing_is_limited(void **state)
{
    check(*state, CGROUP_UNLIMITED, CGROUP_UNLIMITED);
}

static void test_max_means_no_limit(void **state)
{
    put(*state, "proc", "0::/a\n");
    put(*state, "sys/a/memory.max", "max\n");
    put(*state, "sys/a/memory.current", "1000\n");
    check(*state, CGROUP_UNLIMITED, CGROUP_UNLIMITED);
}

static void test_v2_gives_limit_less_usage_plus_what_can_be_dropped(void **state)
{
    put(*state, "proc", "0::/user.slice/a.scope\n");
    put(*state, "sys/user.slice/a.scope/memory.max", "4294967296\n");
    put(*state, "sys/user.slice/a.scope/memory.current", "3221225472\n");
    put(*state, "sys/user.slice/a.scope/memory.stat", "anon 5\ninactive_file 1073741824\nx 1\n");
    check(*state, 4 * GIB, 2 * GIB);
}

static void test_the_smaller_limit_of_a_parent_counts(void **state)
{
    put(*state, "proc", "0::/a/b/c\n");
    put(*state, "sys/a/b/c/memory.max", "8589934592\n");
    put(*state, "sys/a/b/c/memory.current", "0\n");
    put(*state, "sys/a/memory.max", "2147483648\n");
    put(*state, "sys/a/memory.current", "1073741824\n");
    check(*state, 2 * GIB, 1 * GIB);
}

static void test_limit_and_available_may_come_from_different_levels(void **state)
{
    put(*state, "proc", "0::/a/b\n");
    put(*state, "sys/a/b/memory.max", "2147483648\n");
    put(*state, "sys/a/b/memory.current", "0\n");
    put(*state, "sys/a/memory.max", "4294967296\n");
    put(*state, "sys/a/memory.current", "4294967296\n");
    check(*state, 2 * GIB, 0);
}

static void test_usage_over_the_limit_leaves_nothing(void **state)
{
    put(*state, "proc", "0::/a\n");
    put(*state, "sys/a/memory.max", "1000\n");
    put(*state, "sys/a/memory.current", "5000\n");
    check(*state, 1000, 0);
}

static void test_hybrid_v2_lies_below_unified(void **state)
{
    put(*state, "proc", "1:name=systemd:/a\n0::/a\n");
    put(*state, "sys/unified/a/memory.max", "1073741824\n");
    put(*state, "sys/unified/a/memory.current", "0\n");
    check(*state, 1 * GIB, 1 * GIB);
}

static void test_v1_reads_its_memory_controller(void **state)
{
    put(*state, "proc", "9:name=systemd:/x\n4:memory:/docker/abc\n0::/\n");
    put(*state, "sys/memory/docker/abc/memory.limit_in_bytes", "2147483648\n");
    put(*state, "sys/memory/docker/abc/memory.usage_in_bytes", "1610612736\n");
    put(*state, "sys/memory/docker/abc/memory.stat",
        "inactive_file 1\ntotal_inactive_file 536870912\n");
    check(*state, 2 * GIB, 1 * GIB);
}

static void test_v1_reads_it_also_beside_another_controller(void **state)
{
    put(*state, "proc", "4:cpu,memory,pids:/a\n");
    put(*state, "sys/memory/a/memory.limit_in_bytes", "1073741824\n");
    put(*state, "sys/memory/a/memory.usage_in_bytes", "0\n");
    check(*state, 1 * GIB, 1 * GIB);
}

static void test_v1_without_a_limit_writes_a_huge_number(void **state)
{
    put(*state, "proc", "4:memory:/a\n");
    put(*state, "sys/memory/a/memory.limit_in_bytes", "9223372036854771712\n");
    put(*state, "sys/memory/a/memory.usage_in_bytes", "1000\n");
    check(*state, CGROUP_UNLIMITED, CGROUP_UNLIMITED);
}

static void test_a_container_sees_its_own_group_as_the_root(void **state)
{
    put(*state, "proc", "4:memory:/docker/abc\n"); /* a path of the host's */
    put(*state, "sys/memory/memory.limit_in_bytes", "1073741824\n");
    put(*state, "sys/memory/memory.usage_in_bytes", "0\n");
    check(*state, 1 * GIB, 1 * GIB);
}

static void test_files_that_hold_nonsense_limit_nothing(void **state)
{
    put(*state, "proc", "0::/a\nnonsense\n::::\n\n0::\n");
    put(*state, "sys/a/memory.max", "many\n");
    put(*state, "sys/a/memory.current", "-1\n");
    check(*state, CGROUP_UNLIMITED, CGROUP_UNLIMITED);
}

static void test_a_very_deep_path_ends(void **state)
{
    char path[3000] = "0::";

    for (int i = 0; i < 1000; i++)
        memcpy(path + 3 + 2 * i, "/a", 3);
    put(*state, "proc", path);
    check(*state, CGROUP_UNLIMITED, CGROUP_UNLIMITED);
}

static void test_this_machine_says_something_sensible(void **state)
{
    struct cgroup_memory memory;

    (void)state;
    cgroup_memory_read("/proc/self/cgroup", "/sys/fs/cgroup", &memory);
    assert_true(memory.limit_bytes > 0);
    assert_true(memory.available_bytes <= memory.limit_bytes);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_without_any_group_nothing_is_limited),
        TEST(test_max_means_no_limit),
        TEST(test_v2_gives_limit_less_usage_plus_what_can_be_dropped),
        TEST(test_the_smaller_limit_of_a_parent_counts),
        TEST(test_limit_and_available_may_come_from_different_levels),
        TEST(test_usage_over_the_limit_leaves_nothing),
        TEST(test_hybrid_v2_lies_below_unified),
        TEST(test_v1_reads_its_memory_controller),
        TEST(test_v1_reads_it_also_beside_another_controller),
        TEST(test_v1_without_a_limit_writes_a_huge_number),
        TEST(test_a_container_sees_its_own_group_as_the_root),
        TEST(test_files_that_hold_nonsense_limit_nothing),
        TEST(test_a_very_deep_path_ends),
        TEST(test_this_machine_says_something_sensible),
    };

    return cmocka_run_group_tests_name("os/cgroup", tests, NULL, NULL);
}

/* proc: trees and memory of real processes. The test starts itself again as the process to look
 * at: `test_os_proc touch BYTES` holds so much memory until its stdin ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/num.h"
#include "os/proc.h"

#define TOUCHED_BYTES (32u << 20)
#define SLACK_BYTES   (24u << 20) /* what an instrumented process holds anyway, at most */
#define WAIT_TRIES    2000

extern char **environ;

struct child {
    pid_t pid;
    int in; /* the write end of its stdin */
    int out;
};

/* Starts this program again and waits until it says that it is ready. */
static struct child start(const char *word, const char *value)
{
    char *argv[] = {(char *)(uintptr_t) "self", (char *)(uintptr_t)word, (char *)(uintptr_t)value,
                    NULL};
    posix_spawn_file_actions_t actions;
    struct child child;
    int in[2], out[2];
    char ready;

    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
    assert_int_equal(posix_spawn_file_actions_adddup2(&actions, in[0], 0), 0);
    assert_int_equal(posix_spawn_file_actions_adddup2(&actions, out[1], 1), 0);
    assert_int_equal(posix_spawn(&child.pid, "/proc/self/exe", &actions, NULL, argv, environ), 0);
    (void)posix_spawn_file_actions_destroy(&actions);
    (void)close(in[0]);
    (void)close(out[1]);
    child.in = in[1];
    child.out = out[0];
    assert_int_equal(read(child.out, &ready, 1), 1);
    return child;
}

static void finish(struct child *child)
{
    (void)close(child->in);
    (void)close(child->out);
    assert_int_equal(waitpid(child->pid, NULL, 0), child->pid);
}

/* By a bare system call: a sanitizer would touch shadow memory of its own with it. */
static int touch_and_wait(const char *bytes_text)
{
    uint64_t bytes = 0;
    char byte;

    if (num_parse_u64(slice_str(bytes_text), UINT32_MAX, &bytes) != 0)
        return 2;
    if (syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0) < 0)
        return 3;
    if (write(STDOUT_FILENO, "r", 1) != 1)
        return 4;
    return read(STDIN_FILENO, &byte, 1) == 0 ? 0 : 5;
}

static void test_the_table_is_sorted_and_knows_this_process(void **state)
{
    struct proc_table table;
    const struct proc_entry *self;

    (void)state;
    assert_int_equal(proc_table_read(&table), 0);
    for (size_t i = 1; i < table.count; i++)
        assert_true(table.items[i - 1].pid < table.items[i].pid);
    self = proc_table_find(&table, getpid());
    assert_non_null(self);
    assert_int_equal(self->parent, getppid());
    assert_true(self->start_ticks > 0);
    proc_table_fini(&table);
    assert_null(proc_table_find(&table, getpid()));
}

static void test_a_name_that_looks_like_fields_confuses_nobody(void **state)
{
    struct proc_table table;
    const struct proc_entry *self;
    char name[16];

    (void)state;
    assert_int_equal(prctl(PR_GET_NAME, name), 0);
    assert_int_equal(prctl(PR_SET_NAME, ") Z 1 1 (\n x"), 0);
    assert_int_equal(proc_table_read(&table), 0);
    assert_int_equal(prctl(PR_SET_NAME, name), 0);
    self = proc_table_find(&table, getpid());
    assert_non_null(self);
    assert_int_equal(self->parent, getppid());
    assert_int_equal(self->state, 'R');
    proc_table_fini(&table);
}

static void test_a_tree_is_its_root_and_all_below_it(void **state)
{
    struct child child = start("touch", "4096");
    struct proc_table table;
    pid_t pids[PROC_TREE_MAX];
    bool has_child = false;
    size_t count;

    (void)state;
    assert_int_equal(proc_table_read(&table), 0);
    count = proc_tree(&table, getpid(), pids, PROC_TREE_MAX);
    assert_true(count >= 2);
    assert_int_equal(pids[0], getpid());
    for (size_t i = 0; i < count; i++)
        has_child |= pids[i] == child.pid;
    assert_true(has_child);
    assert_int_equal(proc_tree(&table, child.pid, pids, PROC_TREE_MAX), 1);
    assert_int_equal(proc_tree(&table, getpid(), pids, 1), 1); /* no more than there is room */
    assert_int_equal(proc_tree(&table, getpid(), pids, 0), 0);
    assert_int_equal(proc_tree(&table, INT32_MAX, pids, PROC_TREE_MAX), 0);
    proc_table_fini(&table);
    finish(&child);
}

static void test_memory_of_a_child_that_touches_32_mib(void **state)
{
    struct child small = start("touch", "4096");
    struct child large = start("touch", "33554432");
    uint64_t before = proc_memory(small.pid, false);
    uint64_t held = proc_memory(large.pid, false);

    (void)state;
    assert_true(held >= TOUCHED_BYTES);
    assert_true(held < TOUCHED_BYTES + SLACK_BYTES);
    assert_true(held - before > TOUCHED_BYTES - (2u << 20));
    assert_true(held - before < TOUCHED_BYTES + (2u << 20));
    assert_true(proc_memory(large.pid, true) > held); /* its program's file, too */
    finish(&small);
    finish(&large);
    assert_int_equal(proc_memory(large.pid, false), 0);
}

static void test_a_zombie_is_not_alive(void **state)
{
    struct child child = start("touch", "4096");
    int tries = 0;

    (void)state;
    assert_true(proc_is_alive(child.pid));
    assert_int_equal(kill(child.pid, SIGKILL), 0);
    while (proc_is_alive(child.pid) && tries++ < WAIT_TRIES)
        (void)usleep(1000);
    assert_false(proc_is_alive(child.pid)); /* nobody has collected it yet */
    assert_int_equal(proc_memory(child.pid, true), 0);
    finish(&child);
    assert_false(proc_is_alive(child.pid));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_table_is_sorted_and_knows_this_process),
        cmocka_unit_test(test_a_name_that_looks_like_fields_confuses_nobody),
        cmocka_unit_test(test_a_tree_is_its_root_and_all_below_it),
        cmocka_unit_test(test_memory_of_a_child_that_touches_32_mib),
        cmocka_unit_test(test_a_zombie_is_not_alive),
    };

    if (argc == 3 && strcmp(argv[1], "touch") == 0)
        return touch_and_wait(argv[2]);
    return cmocka_run_group_tests_name("os/proc", tests, NULL, NULL);
}

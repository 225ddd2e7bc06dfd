/* host: the machine's RAM as a device, looked at for real. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/probe.h"

#define TOUCHED_BYTES (32u << 20)

static void test_there_is_one_host(void **state)
{
    struct device_info info[2] = {0};

    (void)state;
    assert_int_equal(device_host.list(info, 2), 1);
    assert_string_equal(info[0].id, "host");
    assert_string_equal(info[0].accelerator, "cpu");
    assert_true(info[0].name[0] != '\0');
    assert_int_equal(device_host.list(info, 0), 0);
}

static void test_its_memory_is_known_and_within_bounds(void **state)
{
    struct device_memory memory = {0};
    uint64_t installed = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

    (void)state;
    assert_int_equal(device_host.memory(0, &memory), 0);
    assert_true(memory.known & DEVICE_KNOWN_MEMORY);
    assert_true(memory.known & DEVICE_KNOWN_PROCESSES);
    assert_true(memory.free_bytes > 0);
    assert_true(memory.free_bytes <= memory.total_bytes);
    assert_true(memory.total_bytes <= installed);
}

static void test_what_a_tree_holds_grows_with_what_it_touches(void **state)
{
    struct device_holder holder = {.root = getpid()};
    uint64_t before;
    char *memory;

    (void)state;
    assert_int_equal(device_host.holders(0, &holder, 1), 0);
    assert_true(holder.is_alive);
    before = holder.bytes;
    assert_true(before > 0);
    memory = test_malloc(TOUCHED_BYTES);
    memset(memory, 'x', TOUCHED_BYTES);
    assert_int_equal(device_host.holders(0, &holder, 1), 0);
    assert_true(holder.bytes >= before + TOUCHED_BYTES - (1u << 20));
    test_free(memory);
}

static void test_a_tree_that_is_gone_holds_nothing(void **state)
{
    struct device_holder holders[] = {{.root = INT32_MAX, .bytes = 5, .is_alive = true},
                                      {.root = getpid()}};

    (void)state;
    assert_int_equal(device_host.holders(0, holders, 2), 0);
    assert_false(holders[0].is_alive);
    assert_int_equal(holders[0].bytes, 0);
    assert_true(holders[1].is_alive);
}

static void test_nobody_to_look_at_is_fine(void **state)
{
    (void)state;
    assert_int_equal(device_host.holders(0, NULL, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_is_one_host),
        cmocka_unit_test(test_its_memory_is_known_and_within_bounds),
        cmocka_unit_test(test_what_a_tree_holds_grows_with_what_it_touches),
        cmocka_unit_test(test_a_tree_that_is_gone_holds_nothing),
        cmocka_unit_test(test_nobody_to_look_at_is_fine),
    };

    return cmocka_run_group_tests_name("device/host", tests, NULL, NULL);
}

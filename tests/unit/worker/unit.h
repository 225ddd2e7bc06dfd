/* What the worker's tests share: cmocka, and a check that says what it looked at. */
#ifndef HOTBUNK_TESTS_WORKER_UNIT_H
#define HOTBUNK_TESTS_WORKER_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#define assert_contains(text, part)                                                                \
    do {                                                                                           \
        if (!strstr((text), (part)))                                                               \
            fail_msg("\"%s\" does not contain \"%s\"", (text), (part));                            \
    } while (0)

#define assert_lacks(text, part)                                                                   \
    do {                                                                                           \
        if (strstr((text), (part)))                                                                \
            fail_msg("\"%s\" contains \"%s\"", (text), (part));                                    \
    } while (0)

#endif

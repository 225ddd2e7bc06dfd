/* cmocka with what it wants included before it. */
#ifndef HOTBUNK_TESTS_UNIT_NET_CMOCKA_ALL_H
#define HOTBUNK_TESTS_UNIT_NET_CMOCKA_ALL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif

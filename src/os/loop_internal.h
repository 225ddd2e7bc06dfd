/* What the uv files of this folder share; nobody else includes it. */
#ifndef HOTBUNK_OS_LOOP_INTERNAL_H
#define HOTBUNK_OS_LOOP_INTERNAL_H

#include <uv.h>

#include "os/loop.h"

#define LOOP_READ_BYTES 65536 /* one read buffer for all streams of a loop */

struct loop {
    uv_loop_t uv;
    uv_check_t turn;
    uv_idle_t poke; /* while active, poll does not wait */
    void (*on_turn)(void *data);
    void *turn_data;
    char read_buf[LOOP_READ_BYTES];
};

#endif

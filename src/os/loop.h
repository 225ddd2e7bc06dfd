/* loop: one thread's event loop (libuv) with timers, signals, descriptors and offloaded work.
 *
 * Everything here belongs to the thread that runs the loop, except loop_wall_ms, loop_async_send
 * and the `work` function of loop_offload. Handles are heap objects; x_free closes them and gives
 * the memory back once the loop has let go of it, and no callback comes after x_free. */
#ifndef HOTBUNK_OS_LOOP_H
#define HOTBUNK_OS_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct loop;
struct timer;
struct loop_signal;
struct loop_fd;
struct loop_async;

struct loop *loop_new(void);

/* Every handle must have been freed before. */
void loop_free(struct loop *loop);

/* Runs until loop_stop or until nothing is left to wait for. */
void loop_run(struct loop *loop);
void loop_stop(struct loop *loop);

/* CLOCK_MONOTONIC: as of the start of this loop turn (ms), and right now (ns). */
uint64_t loop_now_ms(const struct loop *loop);
uint64_t loop_now_ns(void);

/* Milliseconds of CLOCK_BOOTTIME, which also counts while the machine sleeps. */
uint64_t loop_boot_ms(void);

/* Milliseconds since 1970 (CLOCK_REALTIME). Any thread. */
int64_t loop_wall_ms(void);

/* `fn` runs once in every loop turn, after all I/O of that turn was delivered. NULL = none. */
void loop_on_turn(struct loop *loop, void (*fn)(void *data), void *data);

/* Makes this turn end without waiting for I/O, so that the function above runs soon. */
void loop_poke(struct loop *loop);

/* One-shot timers. Starting a running timer moves it. */
struct timer *timer_new(struct loop *loop, void (*fn)(void *data), void *data);
void timer_start(struct timer *timer, uint64_t ms);
void timer_stop(struct timer *timer);
void timer_free(struct timer *timer);

/* `fn` is called with the signal's number. */
struct loop_signal *loop_signal_new(struct loop *loop, int signo, void (*fn)(void *data, int signo),
                                    void *data);
void loop_signal_free(struct loop_signal *signal);

/* `fn` is called while `fd` is readable. The fd stays the caller's; free this before closing it. */
struct loop_fd *loop_fd_new(struct loop *loop, int fd, void (*fn)(void *data), void *data);
void loop_fd_free(struct loop_fd *watch);

/* Runs `work(data)` on a pool thread, then `done(data)` on the loop. 0 or a negative errno. */
int loop_offload(struct loop *loop, void (*work)(void *data), void (*done)(void *data),
                 void *data) MUSTCHECK;

/* `fn` is called on the loop some time after loop_async_send, once for several sends. Only
 * loop_async_send may be called by any thread. It does not keep loop_run from returning. */
struct loop_async *loop_async_new(struct loop *loop, void (*fn)(void *data), void *data);
void loop_async_send(struct loop_async *async);
void loop_async_free(struct loop_async *async);

/* A new 16-byte random value, from the kernel. Never fails for long. */
void loop_random(uint8_t out[16]);

#endif

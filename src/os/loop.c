#include "os/loop.h"

#include <assert.h>
#include <errno.h>
#include <time.h>

#include "os/loop_internal.h"

static void loop_turn_cb(uv_check_t *check)
{
    struct loop *loop = check->data;

    uv_idle_stop(&loop->poke);
    if (loop->on_turn)
        loop->on_turn(loop->turn_data);
}

static void loop_poke_cb(uv_idle_t *idle)
{
    (void)idle; /* being active is all it is for */
}

void loop_poke(struct loop *loop)
{
    (void)uv_idle_start(&loop->poke, loop_poke_cb); /* cannot fail */
}

struct loop *loop_new(void)
{
    struct loop *loop = mem_new(1, sizeof(*loop));
    int rc = uv_loop_init(&loop->uv);

    assert(rc == 0);
    rc = uv_check_init(&loop->uv, &loop->turn);
    assert(rc == 0);
    rc = uv_idle_init(&loop->uv, &loop->poke);
    assert(rc == 0);
    (void)rc;
    loop->turn.data = loop;
    return loop;
}

void loop_free(struct loop *loop)
{
    int rc;

    if (!loop)
        return;
    uv_close((uv_handle_t *)&loop->turn, NULL);
    uv_close((uv_handle_t *)&loop->poke, NULL);
    while (uv_run(&loop->uv, UV_RUN_DEFAULT) != 0)
        continue; /* a stop from before ends a run early */
    rc = uv_loop_close(&loop->uv);
    assert(rc == 0); /* a handle was not freed: our bug */
    (void)rc;
    mem_free(loop);
}

void loop_run(struct loop *loop)
{
    (void)uv_run(&loop->uv, UV_RUN_DEFAULT); /* says only whether handles are left */
}

void loop_stop(struct loop *loop)
{
    uv_stop(&loop->uv);
}

uint64_t loop_now_ms(const struct loop *loop)
{
    return uv_now(&loop->uv);
}

uint64_t loop_now_ns(void)
{
    return uv_hrtime();
}

static int64_t loop_clock_ms(clockid_t clock)
{
    struct timespec ts;

    (void)clock_gettime(clock, &ts); /* these clocks always exist on Linux */
    return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

uint64_t loop_boot_ms(void)
{
    return (uint64_t)loop_clock_ms(CLOCK_BOOTTIME);
}

int64_t loop_wall_ms(void)
{
    return loop_clock_ms(CLOCK_REALTIME);
}

void loop_on_turn(struct loop *loop, void (*fn)(void *data), void *data)
{
    loop->on_turn = fn;
    loop->turn_data = data;
    if (!fn) {
        uv_check_stop(&loop->turn);
        return;
    }
    uv_check_start(&loop->turn, loop_turn_cb);
    uv_unref((uv_handle_t *)&loop->turn);
}

void loop_random(uint8_t out[16])
{
    int rc = uv_random(NULL, NULL, out, 16, 0, NULL);

    assert(rc == 0); /* getrandom does not fail for 16 bytes */
    (void)rc;
}

/* ---- timers ---- */

struct timer {
    uv_timer_t uv;
    void (*fn)(void *data);
    void *data;
};

static void handle_free_cb(uv_handle_t *handle)
{
    mem_free(handle); /* each wrapper starts with its uv handle */
}

static void timer_cb(uv_timer_t *uv)
{
    struct timer *timer = (struct timer *)uv;

    timer->fn(timer->data);
}

struct timer *timer_new(struct loop *loop, void (*fn)(void *data), void *data)
{
    struct timer *timer = mem_new(1, sizeof(*timer));

    (void)uv_timer_init(&loop->uv, &timer->uv); /* cannot fail */
    timer->fn = fn;
    timer->data = data;
    return timer;
}

void timer_start(struct timer *timer, uint64_t ms)
{
    (void)uv_timer_start(&timer->uv, timer_cb, ms, 0); /* fails only while closing */
}

void timer_stop(struct timer *timer)
{
    (void)uv_timer_stop(&timer->uv);
}

void timer_free(struct timer *timer)
{
    if (timer)
        uv_close((uv_handle_t *)&timer->uv, handle_free_cb);
}

/* ---- signals ---- */

struct loop_signal {
    uv_signal_t uv;
    void (*fn)(void *data, int signo);
    void *data;
};

static void signal_cb(uv_signal_t *uv, int signo)
{
    struct loop_signal *signal = (struct loop_signal *)uv;

    signal->fn(signal->data, signo);
}

struct loop_signal *loop_signal_new(struct loop *loop, int signo, void (*fn)(void *data, int signo),
                                    void *data)
{
    struct loop_signal *signal = mem_new(1, sizeof(*signal));
    int rc;

    signal->fn = fn;
    signal->data = data;
    rc = uv_signal_init(&loop->uv, &signal->uv);
    if (rc == 0)
        rc = uv_signal_start(&signal->uv, signal_cb, signo);
    assert(rc == 0);
    (void)rc;
    uv_unref((uv_handle_t *)&signal->uv);
    return signal;
}

void loop_signal_free(struct loop_signal *signal)
{
    if (signal)
        uv_close((uv_handle_t *)&signal->uv, handle_free_cb);
}

/* ---- descriptors ---- */

struct loop_fd {
    uv_poll_t uv;
    void (*fn)(void *data);
    void *data;
};

static void fd_cb(uv_poll_t *uv, int status, int events)
{
    struct loop_fd *watch = (struct loop_fd *)uv;

    (void)status; /* the reader finds out by reading */
    (void)events;
    watch->fn(watch->data);
}

struct loop_fd *loop_fd_new(struct loop *loop, int fd, void (*fn)(void *data), void *data)
{
    struct loop_fd *watch = mem_new(1, sizeof(*watch));

    watch->fn = fn;
    watch->data = data;
    if (uv_poll_init(&loop->uv, &watch->uv, fd) != 0) {
        mem_free(watch);
        return NULL;
    }
    (void)uv_poll_start(&watch->uv, UV_READABLE | UV_DISCONNECT, fd_cb);
    return watch;
}

void loop_fd_free(struct loop_fd *watch)
{
    if (watch)
        uv_close((uv_handle_t *)&watch->uv, handle_free_cb);
}

/* ---- calls from other threads ---- */

struct loop_async {
    uv_async_t uv;
    void (*fn)(void *data);
    void *data;
};

static void async_cb(uv_async_t *uv)
{
    struct loop_async *async = (struct loop_async *)uv;

    async->fn(async->data);
}

struct loop_async *loop_async_new(struct loop *loop, void (*fn)(void *data), void *data)
{
    struct loop_async *async = mem_new(1, sizeof(*async));
    int rc = uv_async_init(&loop->uv, &async->uv, async_cb);

    assert(rc == 0);
    (void)rc;
    async->fn = fn;
    async->data = data;
    uv_unref((uv_handle_t *)&async->uv);
    return async;
}

void loop_async_send(struct loop_async *async)
{
    (void)uv_async_send(&async->uv); /* fails only while closing */
}

void loop_async_free(struct loop_async *async)
{
    if (async)
        uv_close((uv_handle_t *)&async->uv, handle_free_cb);
}

/* ---- work on other threads ---- */

struct offload {
    uv_work_t uv;
    void (*work)(void *data);
    void (*done)(void *data);
    void *data;
};

static void offload_work_cb(uv_work_t *uv)
{
    struct offload *job = (struct offload *)uv;

    job->work(job->data);
}

static void offload_done_cb(uv_work_t *uv, int status)
{
    struct offload *job = (struct offload *)uv;

    (void)status; /* never cancelled here */
    job->done(job->data);
    mem_free(job);
}

int loop_offload(struct loop *loop, void (*work)(void *data), void (*done)(void *data), void *data)
{
    struct offload *job = mem_new(1, sizeof(*job));
    int rc;

    job->work = work;
    job->done = done;
    job->data = data;
    rc = uv_queue_work(&loop->uv, &job->uv, offload_work_cb, offload_done_cb);
    if (rc != 0)
        mem_free(job);
    return rc;
}

#include "api/wait.h"

static void wait_on_gone(void *data)
{
    struct waiter *waiter = data;

    waiter->ex = NULL;
    (void)wait_end(waiter);
}

void *wait_new(struct api *api, struct exchange *ex, size_t size)
{
    struct waiter *waiter = mem_new(1, size);

    waiter->api = api;
    waiter->ex = ex;
    exchange_on_gone(ex, wait_on_gone, waiter);
    return waiter;
}

static void wait_on_timer(void *data)
{
    struct waiter *waiter = data;

    waiter->on_limit(waiter);
}

void wait_limit(struct waiter *waiter, uint64_t ms, void (*on_limit)(void *waiter))
{
    waiter->on_limit = on_limit;
    if (!waiter->timer)
        waiter->timer = timer_new(exchange_loop(waiter->ex), wait_on_timer, waiter);
    timer_start(waiter->timer, ms);
}

void wait_ask(struct waiter *waiter)
{
    waiter->is_asking = true;
}

void wait_asked(struct waiter *waiter, struct api_ticket *ticket)
{
    waiter->is_asking = false;
    if (waiter->is_over)
        mem_free(waiter);
    else
        waiter->ticket = ticket;
}

struct exchange *wait_end(void *data)
{
    struct waiter *waiter = data;
    struct exchange *ex = waiter->ex;

    if (ex)
        exchange_on_gone(ex, NULL, NULL);
    if (waiter->timer)
        timer_free(waiter->timer);
    if (waiter->ticket)
        waiter->api->ops->drop(waiter->api->app, waiter->ticket);
    waiter->is_over = true;
    if (!waiter->is_asking)
        mem_free(waiter);
    return ex;
}

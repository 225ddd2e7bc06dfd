/* wait: one exchange that waits for the backend, with an optional time limit.
 *
 * The family's own struct begins with a struct waiter and comes from wait_new. It is over when the
 * backend called back, the limit passed or the client left, whichever comes first; the backend's
 * callback may come from inside the call that asks for it. Loop thread. */
#ifndef HOTBUNK_API_WAIT_H
#define HOTBUNK_API_WAIT_H

#include "api/internal.h"

struct waiter {
    struct api *api;
    struct exchange *ex; /* NULL once the client left */
    struct api_ticket *ticket;
    struct timer *timer;
    void (*on_limit)(void *waiter);
    bool is_asking; /* inside the backend's call */
    bool is_over;
};

/* `size` zeroed bytes that begin with the waiter. The request's body was read before. */
void *wait_new(struct api *api, struct exchange *ex, size_t size);

/* `on_limit(waiter)` comes after `ms` unless the wait was over before; it ends the wait. */
void wait_limit(struct waiter *waiter, uint64_t ms, void (*on_limit)(void *waiter));

/* Around the backend's call: wait_ask(w); t = ops->…(w); wait_asked(w, t). The waiter may be gone
 * after wait_asked. */
void wait_ask(struct waiter *waiter);
void wait_asked(struct waiter *waiter, struct api_ticket *ticket);

/* Drops the ticket and frees the waiter. What it returns is to be answered now (NULL: the client
 * left). */
struct exchange *wait_end(void *waiter);

#endif

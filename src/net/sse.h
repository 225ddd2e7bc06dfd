/* sse: an event stream (text/event-stream) as the answer of an exchange.
 *
 * A comment line is sent every SSE_KEEPALIVE_MS while nothing else is. A client with more than
 * SSE_QUEUE_MAX_BYTES unsent is dropped. Loop thread. */
#ifndef HOTBUNK_NET_SSE_H
#define HOTBUNK_NET_SSE_H

#include "net/exchange.h"

#define SSE_KEEPALIVE_MS    15000u
#define SSE_QUEUE_MAX_BYTES (1u << 20)

struct sse;

/* Begins the answer; the exchange belongs to the stream from here on. `on_gone` comes once, from
 * the loop (never from inside sse_send), when the client left or was dropped; the stream is freed
 * after it. It does not come after sse_close. */
struct sse *sse_open(struct exchange *ex, void (*on_gone)(void *data), void *data);

/* One event. id 0 and event NULL leave those lines out; data may hold newlines. Negative when the
 * client is gone or too slow (on_gone follows). */
int sse_send(struct sse *sse, uint64_t id, const char *event, struct slice data);

/* Ends the stream cleanly and frees it. NULL is fine. */
void sse_close(struct sse *sse);

#endif
